//! How adapters slow down.
use crate::{
    bits, wire,
    wire::{Be16, Reserved},
};

wire! {
    /// How the flows of one service level slow down.
    pub struct CaCongestionEntry [8] {
        /// Time after which a flow goes one step faster, in units of 1.024 us.
        pub ccti_timer: Be16,
        /// Steps that a mark makes a flow slower.
        pub ccti_increase: u8,
        /// Step from which on an event is logged.
        pub trigger_threshold: u8,
        /// Step that a flow never goes below.
        pub ccti_min: u8,
        /// Zero.
        pub reserved: Reserved<3>,
    }
}

wire! {
    /// How an adapter slows down (IBTA A10.4.3.8), 132 bytes.
    pub struct CaCongestionSetting [132] {
        /// Bit 0: by service level, not by queue pair.
        pub port_control: Be16,
        /// Service levels that count, one bit each.
        pub control_map: Be16,
        /// Sixteen service levels.
        pub entries: [CaCongestionEntry; 16],
    }
}

bits! {
    /// One step: the delay between packets.
    pub struct CctEntry [2] {
        /// Exponent of the delay.
        cct_shift / with_cct_shift: u8 = 2,
        /// Factor of the delay.
        cct_multiplier / with_cct_multiplier: u16 = 14,
    }
}

wire! {
    /// A block of an adapter's table of delays (IBTA A10.4.3.9), 132 bytes; the attribute modifier is its number.
    pub struct CongestionControlTable [132] {
        /// Last step that is used.
        pub ccti_limit: Be16,
        /// Zero.
        pub reserved: Reserved<2>,
        /// 64 steps.
        pub entries: [CctEntry; 64],
    }
}
