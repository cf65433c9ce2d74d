//! MulticastForwardingTableRecord: output ports of a switch by multicast LID.
use super::record::sa_record;
use crate::{Lid, bits, smp::MulticastForwardingTable, wire, wire::Reserved};

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
    LID = 0x1 "lid" lid(value: Lid) |r| r.lid = value;
    /// Position of the 16 ports, from port 16 x the position.
    POSITION = 0x2 "position_block.position" position(value: u8)
        |r| r.position_block = r.position_block.with_position(value);
    /// Number of the block of 32 multicast LIDs.
    BLOCK_NUM = 0x8 "position_block.block_num" block_num(value: u16)
        |r| r.position_block = r.position_block.with_block_num(value);
}
