//! RandomForwardingTableRecord: where a switch sends packets, in another form.
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
        /// LID of the switch that has the table.
        pub lid: Lid,
        /// Block of 16 entries.
        pub block_num: Be16,
        /// Zero.
        pub reserved: Reserved<4>,
        /// 16 entries, from 16 x the block number on.
        pub table: RandomForwardingTable,
    }
}

sa_record! {
    /// Which fields of a [`RandomForwardingTableRecord`] count.
    RandomForwardingTableRecord RANDOM_FORWARDING_TABLE_RECORD RandomForwardingTableMask;
}
