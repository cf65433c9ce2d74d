//! LinearForwardingTableRecord: output ports of a switch by LID.
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
    LID = 0x1 "lid" lid(value: Lid) |r| r.lid = value;
    /// Number of the block of 64 LIDs.
    BLOCK_NUM = 0x2 "block_num" block_num(value: u16) |r| r.block_num = value.into();
}
