//! Reasons of receive errors and discarded packets.
use crate::{
    perf::CounterBits,
    wire,
    wire::{Be16, Reserved},
};

wire! {
    /// Reasons of receive errors of a port (IBTA 16.1.4.1), 16 bytes.
    pub struct PortRcvErrorDetails [16] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Port to read or clear; 255 for all ports, if the node supports it.
        pub port_select: u8,
        /// In a Set: counters to clear, one bit each; bit 0 is the first counter.
        pub counter_select: CounterBits,
        /// Number of packets with an error of coding or CRC.
        pub port_local_physical_errors: Be16,
        /// Number of packets whose fields are inconsistent.
        pub port_malformed_packet_errors: Be16,
        /// Number of packets for which the buffer had no room.
        pub port_buffer_overrun_errors: Be16,
        /// Number of packets for whose destination LID the switch has no output port.
        pub port_dlid_mapping_errors: Be16,
        /// Number of packets for whose service level the switch has no lane.
        pub port_vl_mapping_errors: Be16,
        /// Number of packets whose output port is their input port.
        pub port_looping_errors: Be16,
    }
}

wire! {
    /// Reasons of discarded packets of a port (IBTA 16.1.4.2), 12 bytes.
    pub struct PortXmitDiscardDetails [12] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Port to read or clear; 255 for all ports, if the node supports it.
        pub port_select: u8,
        /// In a Set: counters to clear, one bit each; bit 0 is the first counter.
        pub counter_select: CounterBits,
        /// Number of packets discarded because the port was not active.
        pub port_inactive_discards: Be16,
        /// Number of packets discarded because they exceed the MTU of the neighbour.
        pub port_neighbor_mtu_discards: Be16,
        /// Number of packets discarded because they stayed too long in the switch.
        pub port_sw_lifetime_limit_discards: Be16,
        /// Number of packets discarded because they stayed too long at the head of the queue.
        pub port_sw_hoq_lifetime_limit_discards: Be16,
    }
}
