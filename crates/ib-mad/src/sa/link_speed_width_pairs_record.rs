//! LinkSpeedWidthPairsTableRecord: link speeds and widths that can be combined.
use super::record::sa_record;
use crate::{Lid, smp::LinkSpeedWidthPairsTable, wire, wire::Reserved};

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
