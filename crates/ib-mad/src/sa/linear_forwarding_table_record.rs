//! LinearForwardingTableRecord: where a switch sends packets.
use super::record::sa_record;
use crate::{
    Lid,
    smp::LinearForwardingTable,
    wire,
    wire::{Be16, Reserved},
};

wire! {
    /// A block of a switch's linear forwarding table (IBTA 15.2.5.6), 72 bytes.
    pub struct LinearForwardingTableRecord [72] {
        /// LID of the switch that has the table.
        pub lid: Lid,
        /// Block of 64 LIDs.
        pub block_num: Be16,
        /// Zero.
        pub reserved: Reserved<4>,
        /// 64 ports, for the LIDs from 64 x the block number on.
        pub table: LinearForwardingTable,
    }
}

sa_record! {
    /// Which fields of a [`LinearForwardingTableRecord`] count.
    LinearForwardingTableRecord LINEAR_FORWARDING_TABLE_RECORD LinearForwardingTableMask;
    /// LID of the switch that has the table.
    LID = 0x1 "lid" lid(value: Lid) |r| r.lid = value;
    /// Block of 64 LIDs.
    BLOCK_NUM = 0x2 "block_num" block_num(value: u16) |r| r.block_num = value.into();
}
