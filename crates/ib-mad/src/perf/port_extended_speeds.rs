//! Counters of links with 64/66 coding and error correction.
use crate::{
    wire,
    wire::{Be16, Be64, Counter32, Reserved},
};

wire! {
    /// Counters of links of 14 Gb/s lanes and more (IBTA 16.1.4.13), 152 bytes; element `n` is lane `n`.
    ///
    /// A port with Reed-Solomon correction uses the layout of [`PortExtendedSpeedsCountersRsFec`] instead; the attribute
    /// does not say which, PortInfoExtended does.
    pub struct PortExtendedSpeedsCounters [152] {
        /// Zero.
        pub reserved: Reserved<1>,
        /// Port to read or to clear.
        pub port_select: u8,
        /// Zero.
        pub reserved2: Reserved<6>,
        /// Set: which counters to clear.
        pub counter_select: Be64,
        /// Blocks with a bad header.
        pub sync_header_error_counter: Be16,
        /// Blocks of an unknown kind.
        pub unknown_block_counter: Be16,
        /// Errors that were detected.
        pub error_detection_counter_lane: [Be16; 12],
        /// Blocks that were corrected.
        pub fec_correctable_block_ctr_lane: [Counter32; 12],
        /// Blocks that could not be corrected.
        pub fec_uncorrectable_block_ctr_lane: [Counter32; 12],
        /// Blocks of the port that were corrected.
        pub port_fec_correctable_block_ctr: Counter32,
        /// Blocks of the port that could not be corrected.
        pub port_fec_uncorrectable_block_ctr: Counter32,
        /// Symbols of the port that were corrected.
        pub port_fec_corrected_symbol_ctr: Counter32,
    }
}

wire! {
    /// Counters of links with Reed-Solomon error correction (IBTA 16.1.4.13), 152 bytes; element `n` is lane `n`.
    pub struct PortExtendedSpeedsCountersRsFec [152] {
        /// Zero.
        pub reserved: Reserved<1>,
        /// Port to read or to clear.
        pub port_select: u8,
        /// Zero.
        pub reserved2: Reserved<6>,
        /// Set: which counters to clear.
        pub counter_select: Be64,
        /// Blocks with a bad header.
        pub sync_header_error_counter: Be16,
        /// Blocks of an unknown kind.
        pub unknown_block_counter: Be16,
        /// Zero.
        pub reserved3: Reserved<24>,
        /// Symbols that were corrected.
        pub fec_correctable_symbol_ctr_lane: [Counter32; 12],
        /// Zero.
        pub reserved4: Reserved<48>,
        /// Blocks of the port that were corrected.
        pub port_fec_correctable_block_ctr: Counter32,
        /// Blocks of the port that could not be corrected.
        pub port_fec_uncorrectable_block_ctr: Counter32,
        /// Symbols of the port that were corrected.
        pub port_fec_corrected_symbol_ctr: Counter32,
    }
}
