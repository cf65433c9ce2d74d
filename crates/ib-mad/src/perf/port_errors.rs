//! Why packets were dropped.
use crate::{
    perf::CounterSelect,
    wire,
    wire::{Be16, Reserved},
};

wire! {
    /// Why received packets counted as errors (IBTA 16.1.4.1), 16 bytes.
    pub struct PortRcvErrorDetails [16] {
        /// Zero.
        pub reserved: Reserved<1>,
        /// Port to read or to clear; 255 = all ports, if the node can.
        pub port_select: u8,
        /// Set: which counters to clear, one bit each from the first on.
        pub counter_select: CounterSelect,
        /// Errors of their coding or check.
        pub port_local_physical_errors: Be16,
        /// Fields that do not fit together.
        pub port_malformed_packet_errors: Be16,
        /// No room.
        pub port_buffer_overrun_errors: Be16,
        /// A switch knew no port for their LID.
        pub port_dlid_mapping_errors: Be16,
        /// A switch knew no lane for their service level.
        pub port_vl_mapping_errors: Be16,
        /// They would have left by the port that they came in by.
        pub port_looping_errors: Be16,
    }
}

wire! {
    /// Why packets were dropped instead of sent (IBTA 16.1.4.2), 12 bytes.
    pub struct PortXmitDiscardDetails [12] {
        /// Zero.
        pub reserved: Reserved<1>,
        /// Port to read or to clear; 255 = all ports, if the node can.
        pub port_select: u8,
        /// Set: which counters to clear, one bit each from the first on.
        pub counter_select: CounterSelect,
        /// The port was not active.
        pub port_inactive_discards: Be16,
        /// They were too long for the neighbour.
        pub port_neighbor_mtu_discards: Be16,
        /// They were too long in the switch.
        pub port_sw_lifetime_limit_discards: Be16,
        /// They were too long at the head of the queue.
        pub port_sw_hoq_lifetime_limit_discards: Be16,
    }
}
