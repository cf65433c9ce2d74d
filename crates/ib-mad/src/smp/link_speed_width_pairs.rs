//! Combinations of link speeds and widths.
use crate::{
    LinkWidths, wire,
    wire::{Octets, Reserved},
};

wire! {
    /// Link speeds and widths that can be combined (IBTA 14.2.5.17), 64 bytes.
    pub struct LinkSpeedWidthPairsTable [64] {
        /// Number of different tables of the node.
        pub num_tables: u8,
        /// Ports that this table is for, one bit each; the first bit is port 255.
        pub port_mask: Octets<32>,
        /// Link widths that can be used at 2.5 Gb/s.
        pub speed_2_5: LinkWidths,
        /// Link widths that can be used at 5 Gb/s.
        pub speed_5: LinkWidths,
        /// Link widths that can be used at 10 Gb/s.
        pub speed_10: LinkWidths,
        /// Reserved for link widths at higher speeds; not interpreted.
        pub reserved: Reserved<28>,
    }
}
