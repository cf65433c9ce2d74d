//! Congestion control settings of channel adapters.
use crate::{
    bits, wire,
    wire::{Be16, Reserved},
};

wire! {
    /// Settings of the flows of one service level.
    pub struct CaCongestionEntry [8] {
        /// Time after which the index of a flow decreases by one, in units of 1.024 us.
        pub ccti_timer: Be16,
        /// Increase of a flow's index for each mark.
        pub ccti_increase: u8,
        /// Index from which events are logged.
        pub trigger_threshold: u8,
        /// Minimum index of a flow.
        pub ccti_min: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<3>,
    }
}

wire! {
    /// Congestion control settings of a channel adapter (IBTA A10.4.3.8), 132 bytes.
    pub struct CaCongestionSetting [132] {
        /// Port control: bit 0 selects control by service level instead of by queue pair.
        pub port_control: Be16,
        /// Controlled service levels, one bit each.
        pub control_map: Be16,
        /// Settings of the sixteen service levels.
        pub entries: [CaCongestionEntry; 16],
    }
}

bits! {
    /// Entry of the table of delays: the delay between packets.
    pub struct CctEntry [2] {
        /// Exponent of the delay.
        cct_shift / with_cct_shift: u8 = 2,
        /// Factor of the delay.
        cct_multiplier / with_cct_multiplier: u16 = 14,
    }
}

wire! {
    /// A block of a channel adapter's table of delays (IBTA A10.4.3.9), 132 bytes; the attribute modifier is its
    /// number.
    pub struct CongestionControlTable [132] {
        /// Highest index in use.
        pub ccti_limit: Be16,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// 64 entries of the table of delays.
        pub entries: [CctEntry; 64],
    }
}
