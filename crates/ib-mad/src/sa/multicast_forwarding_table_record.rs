//! MulticastForwardingTableRecord: where a switch sends multicast packets.
use super::record::sa_record;
use crate::{Lid, bits, smp::MulticastForwardingTable, wire, wire::Reserved};

bits! {
    /// Which ports and which multicast LIDs the block is about.
    pub struct PositionBlock [2] in MulticastForwardingTableRecord.position_block {
        /// Ports `16 p ..= 16 p + 15`.
        position / with_position: u8 = 4,
        _: 3,
        /// Groups `0xC000 + 32 n ..`.
        block_num / with_block_num: u16 = 9,
    }
}

wire! {
    /// A block of a switch's multicast forwarding table (IBTA 15.2.5.8), 72 bytes.
    pub struct MulticastForwardingTableRecord [72] {
        /// LID of the switch that has the table.
        pub lid: Lid,
        /// Which ports and which multicast LIDs the block is about.
        pub position_block: PositionBlock,
        /// Zero.
        pub reserved: Reserved<4>,
        /// For each of 32 multicast LIDs: to which of 16 ports.
        pub table: MulticastForwardingTable,
    }
}

sa_record! {
    /// Which fields of a [`MulticastForwardingTableRecord`] count.
    MulticastForwardingTableRecord MULTICAST_FORWARDING_TABLE_RECORD MulticastForwardingTableMask;
    /// LID of the switch that has the table.
    LID = 0x1 "lid" lid(value: Lid) |r| r.lid = value;
    /// Which 16 ports: from port 16 x the position on.
    POSITION = 0x2 "position_block.position" position(value: u8)
        |r| r.position_block = r.position_block.with_position(value);
    /// Block of 32 groups.
    BLOCK_NUM = 0x8 "position_block.block_num" block_num(value: u16)
        |r| r.position_block = r.position_block.with_block_num(value);
}
