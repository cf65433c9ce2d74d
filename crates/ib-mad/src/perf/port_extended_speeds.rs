//! Counters of links with 64/66 coding and forward error correction.
use crate::{
    wire,
    wire::{Be16, Be64, Counter32, Reserved},
};

wire! {
    /// Counters of links of 14 Gb/s per lane and more (IBTA 16.1.4.13), 152 bytes; element `n` is lane `n`.
    ///
    /// A port with Reed-Solomon correction uses the layout of [`PortExtendedSpeedsCountersRsFec`] instead. The mode of
    /// correction is in PortInfoExtended.
    pub struct PortExtendedSpeedsCounters [152] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Port to read or clear.
        pub port_select: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<6>,
        /// In a Set: counters to clear.
        pub counter_select: Be64,
        /// Number of blocks with a bad sync header.
        pub sync_header_error_counter: Be16,
        /// Number of blocks of an unknown type.
        pub unknown_block_counter: Be16,
        /// Number of detected errors of each lane.
        pub error_detection_counter_lane: [Be16; 12],
        /// Number of corrected blocks of each lane.
        pub fec_correctable_block_ctr_lane: [Counter32; 12],
        /// Number of uncorrectable blocks of each lane.
        pub fec_uncorrectable_block_ctr_lane: [Counter32; 12],
        /// Number of corrected blocks of the port.
        /// libibmad is the only public source of this position.
        pub port_fec_correctable_block_ctr: Counter32,
        /// Number of uncorrectable blocks of the port.
        /// libibmad is the only public source of this position.
        pub port_fec_uncorrectable_block_ctr: Counter32,
        /// Number of corrected symbols of the port.
        /// libibmad is the only public source of this position.
        pub port_fec_corrected_symbol_ctr: Counter32,
    }
}

wire! {
    /// Counters of links with Reed-Solomon error correction (IBTA 16.1.4.13), 152 bytes; element `n` is lane `n`.
    pub struct PortExtendedSpeedsCountersRsFec [152] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Port to read or clear.
        pub port_select: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<6>,
        /// In a Set: counters to clear.
        pub counter_select: Be64,
        /// Number of blocks with a bad sync header.
        pub sync_header_error_counter: Be16,
        /// Number of blocks of an unknown type.
        pub unknown_block_counter: Be16,
        /// Reserved: zero when sent, ignored when received.
        pub reserved3: Reserved<24>,
        /// Number of corrected symbols of each lane.
        pub fec_correctable_symbol_ctr_lane: [Counter32; 12],
        /// Reserved: zero when sent, ignored when received.
        pub reserved4: Reserved<48>,
        /// Number of corrected blocks of the port.
        pub port_fec_correctable_block_ctr: Counter32,
        /// Number of uncorrectable blocks of the port.
        pub port_fec_uncorrectable_block_ctr: Counter32,
        /// Number of corrected symbols of the port.
        pub port_fec_corrected_symbol_ctr: Counter32,
    }
}
