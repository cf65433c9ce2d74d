//! Records of the tables of ports and switches.
use super::record::sa_record;
use crate::{
    Guid, Lid, bits,
    smp::{
        LinearForwardingTable, LinkSpeedWidthPairsTable, MulticastForwardingTable, PkeyTable, RandomForwardingTable,
        SlToVlMappingTable, VlArbitrationTable,
    },
    wire,
    wire::{Be16, Reserved},
};

wire! {
    /// A block of a port's GUID table (IBTA 15.2.5.18), 72 bytes.
    pub struct GuidInfoRecord [72] {
        /// LID of the port.
        pub lid: Lid,
        /// Number of the block of eight GUIDs.
        pub block_num: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<5>,
        /// Eight GUIDs of the table, from index 8 x the block number.
        pub guids: [Guid; 8],
    }
}

sa_record! {
    /// Component mask of a [`GuidInfoRecord`].
    GuidInfoRecord GUID_INFO_RECORD GuidInfoMask;
    /// LID of the port.
    LID = 0x1 lid: Lid;
    /// Number of the block of eight GUIDs.
    BLOCK_NUM = 0x2 block_num: u8;
    /// One of the eight GUIDs, index 0 to 7; one bit each.
    GUIDS = 0xff0 guids [guid: Guid];
}

wire! {
    /// A block of a switch's linear forwarding table (IBTA 15.2.5.6), 72 bytes.
    pub struct LinearForwardingTableRecord [72] {
        /// LID of the switch.
        pub lid: Lid,
        /// Number of the block of 64 LIDs.
        pub block_num: Be16,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<4>,
        /// Output ports of 64 LIDs, from 64 x the block number.
        pub table: LinearForwardingTable,
    }
}

sa_record! {
    /// Component mask of a [`LinearForwardingTableRecord`].
    LinearForwardingTableRecord LINEAR_FORWARDING_TABLE_RECORD LinearForwardingTableMask;
    /// LID of the switch.
    LID = 0x1 lid: Lid;
    /// Number of the block of 64 LIDs.
    BLOCK_NUM = 0x2 block_num: u16;
}

wire! {
    /// A block of a switch's random forwarding table (IBTA 15.2.5.7), 72 bytes. No public source names its component
    /// mask bits.
    pub struct RandomForwardingTableRecord [72] {
        /// LID of the switch.
        pub lid: Lid,
        /// Number of the block of 16 entries.
        pub block_num: Be16,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<4>,
        /// 16 entries, from index 16 x the block number.
        pub table: RandomForwardingTable,
    }
}

sa_record! {
    /// Component mask of a [`RandomForwardingTableRecord`].
    RandomForwardingTableRecord RANDOM_FORWARDING_TABLE_RECORD RandomForwardingTableMask;
}

bits! {
    /// Ports and multicast LIDs of the block.
    pub struct PositionBlock [2] in MulticastForwardingTableRecord.position_block {
        /// Position of the ports: `16 p ..= 16 p + 15`.
        position / with_position: u8 = 4,
        _: 3,
        /// Number of the block of 32 multicast LIDs, `0xC000 + 32 n ..`.
        block_num / with_block_num: u16 = 9,
    }
}

wire! {
    /// A block of a switch's multicast forwarding table (IBTA 15.2.5.8), 72 bytes.
    pub struct MulticastForwardingTableRecord [72] {
        /// LID of the switch.
        pub lid: Lid,
        /// Ports and multicast LIDs of the block.
        pub position_block: PositionBlock,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<4>,
        /// Output ports of 32 multicast LIDs, among the 16 ports of the block.
        pub table: MulticastForwardingTable,
    }
}

sa_record! {
    /// Component mask of a [`MulticastForwardingTableRecord`].
    MulticastForwardingTableRecord MULTICAST_FORWARDING_TABLE_RECORD MulticastForwardingTableMask;
    /// LID of the switch.
    LID = 0x1 lid: Lid;
    /// Position of the 16 ports, from port 16 x the position.
    POSITION = 0x2 position_block.position / with_position: u8;
    /// Number of the block of 32 multicast LIDs.
    BLOCK_NUM = 0x8 position_block.block_num / with_block_num: u16;
}

wire! {
    /// A block of a port's P_Key table (IBTA 15.2.5.11), 72 bytes.
    pub struct PkeyTableRecord [72] {
        /// LID of the node.
        pub lid: Lid,
        /// Number of the block of 32 keys. OpenSM 3.3.23 sends it with the least significant byte first.
        pub block_num: Be16,
        /// Number of the port; used only for a switch.
        pub port_num: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<3>,
        /// 32 P_Keys, from index 32 x the block number.
        pub table: PkeyTable,
    }
}

sa_record! {
    /// Component mask of a [`PkeyTableRecord`].
    PkeyTableRecord PKEY_TABLE_RECORD PkeyTableMask;
    /// LID of the node.
    LID = 0x1 lid: Lid;
    /// Number of the block of 32 keys.
    BLOCK_NUM = 0x2 block_num: u16;
    /// Number of the port; used only for a switch.
    PORT_NUM = 0x4 port_num: u8;
}

wire! {
    /// Virtual lane of each service level, from one port to another (IBTA 15.2.5.4), 16 bytes.
    pub struct SlToVlMappingTableRecord [16] {
        /// LID of the node.
        pub lid: Lid,
        /// Number of the input port; 0 for a channel adapter.
        pub input_port_num: u8,
        /// Number of the output port.
        pub output_port_num: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<4>,
        /// Virtual lane of each of the 16 service levels.
        pub table: SlToVlMappingTable,
    }
}

sa_record! {
    /// Component mask of a [`SlToVlMappingTableRecord`].
    SlToVlMappingTableRecord SL_TO_VL_MAPPING_TABLE_RECORD SlToVlMask;
    /// LID of the node.
    LID = 0x1 lid: Lid;
    /// Number of the input port.
    INPUT_PORT_NUM = 0x2 input_port_num: u8;
    /// Number of the output port.
    OUTPUT_PORT_NUM = 0x4 output_port_num: u8;
}

wire! {
    /// Half of one of a port's two VL arbitration tables (IBTA 15.2.5.9), 72 bytes.
    pub struct VlArbitrationTableRecord [72] {
        /// LID of the node.
        pub lid: Lid,
        /// Number of the output port.
        pub output_port_num: u8,
        /// Number of the half: 1 and 2 are the low-priority table, 3 and 4 the high-priority table.
        pub block_num: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<4>,
        /// 32 entries of the table.
        pub table: VlArbitrationTable,
    }
}

sa_record! {
    /// Component mask of a [`VlArbitrationTableRecord`].
    VlArbitrationTableRecord VL_ARBITRATION_TABLE_RECORD VlArbitrationMask;
    /// LID of the node.
    LID = 0x1 lid: Lid;
    /// Number of the output port.
    OUTPUT_PORT_NUM = 0x2 output_port_num: u8;
    /// Half of a table, 1 to 4.
    BLOCK_NUM = 0x4 block_num: u8;
}

wire! {
    /// Link speeds and widths that can be combined (IBTA 15.2.5.20), 68 bytes. No public source names its component
    /// mask bits.
    pub struct LinkSpeedWidthPairsTableRecord [68] {
        /// LID of the node.
        pub lid: Lid,
        /// Number of the port at the node.
        pub port_num: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Link widths at each speed, and the ports that they are for.
        pub table: LinkSpeedWidthPairsTable,
    }
}

sa_record! {
    /// Component mask of a [`LinkSpeedWidthPairsTableRecord`].
    LinkSpeedWidthPairsTableRecord LINK_SPEED_WIDTH_PAIRS_TABLE_RECORD LinkSpeedWidthPairsMask;
}
