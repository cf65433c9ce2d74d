//! Congestion control settings of channel adapters.
use crate::{
    bits, wire,
    wire::{Be16, Reserved},
};

wire! {
    /// Settings of the flows of one service level.
    pub struct CaCongestionEntry [8] {
        /// Time after which a flow's index in the congestion control table (CCTI) decreases by one, in units of 1.024
        /// us.
        pub ccti_timer: Be16,
        /// Increase of a flow's CCTI for each received backward congestion mark (BECN).
        pub ccti_increase: u8,
        /// CCTI from which events are logged.
        pub trigger_threshold: u8,
        /// Minimum CCTI of a flow.
        pub ccti_min: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<3>,
    }
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
    /// Entry of the congestion control table: the delay between packets of a flow.
    pub struct CctEntry [2] {
        /// Exponent of the delay.
        cct_shift / with_cct_shift: u8 = 2,
        /// Factor of the delay.
        cct_multiplier / with_cct_multiplier: u16 = 14,
    }
}

wire! {
    /// A block of a channel adapter's congestion control table (IBTA A10.4.3.9), 132 bytes; the attribute modifier is
    /// the block's number.
    pub struct CongestionControlTable [132] {
        /// Highest CCTI in use.
        pub ccti_limit: Be16,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// 64 entries of the congestion control table.
        pub entries: [CctEntry; 64],
    }
}
