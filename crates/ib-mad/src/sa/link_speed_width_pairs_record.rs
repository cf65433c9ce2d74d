//! LinkSpeedWidthPairsTableRecord: which speeds and widths of a link go together.
use super::record::sa_record;
use crate::{Lid, smp::LinkSpeedWidthPairsTable, wire, wire::Reserved};

wire! {
    /// Which speeds and widths of a link go together (IBTA 15.2.5.20), 68 bytes. No public source names its component
    /// mask bits.
    pub struct LinkSpeedWidthPairsTableRecord [68] {
        /// LID of the node.
        pub lid: Lid,
        /// Number of the port at that node.
        pub port_num: u8,
        /// Zero.
        pub reserved: Reserved<1>,
        /// Link widths at each speed, and the ports that they are for.
        pub table: LinkSpeedWidthPairsTable,
    }
}

sa_record! {
    /// Which fields of a [`LinkSpeedWidthPairsTableRecord`] count.
    LinkSpeedWidthPairsTableRecord LINK_SPEED_WIDTH_PAIRS_TABLE_RECORD LinkSpeedWidthPairsMask;
}
