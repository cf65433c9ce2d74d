//! RandomForwardingTableRecord: output ports of a switch, as a list of LIDs.
use super::record::sa_record;
use crate::{
    Lid,
    smp::RandomForwardingTable,
    wire,
    wire::{Be16, Reserved},
};

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
