//! Which speeds and widths of a link go together.
use crate::{
    LinkWidths, wire,
    wire::{Octets, Reserved},
};

wire! {
    /// Which speeds and widths of a link go together (IBTA 14.2.5.17), 64 bytes.
    pub struct LinkSpeedWidthPairsTable [64] {
        /// How many different tables the node has.
        pub num_tables: u8,
        /// Ports that this table is for, one bit each, port 255 first.
        pub port_mask: Octets<32>,
        /// Widths at 2.5 Gb/s.
        pub speed_2_5: LinkWidths,
        /// Widths at 5 Gb/s.
        pub speed_5: LinkWidths,
        /// Widths at 10 Gb/s.
        pub speed_10: LinkWidths,
        /// Zero, or speeds that came later.
        pub reserved: Reserved<28>,
    }
}
