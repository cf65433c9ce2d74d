//! Counters of every port, in 64 bits.
use crate::{
    perf::ExtendedCounterSelect,
    wire,
    wire::{Be32, Counter64, Reserved},
};

wire! {
    /// Counters of a port, in 64 bits (IBTA 16.1.4.11), 184 bytes.
    pub struct PortCountersExtended [184] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Port to read or clear; 255 for all ports, if the node supports it.
        pub port_select: u8,
        /// In a Set: counters to clear, one bit each; bit 0 is the first counter.
        pub counter_select: ExtendedCounterSelect,
        /// In a Set: further counters to clear.
        pub counter_select2: Be32,
        /// Sent data, in units of 4 bytes.
        pub port_xmit_data: Counter64,
        /// Received data, in units of 4 bytes.
        pub port_rcv_data: Counter64,
        /// Number of sent packets.
        pub port_xmit_pkts: Counter64,
        /// Number of received packets.
        pub port_rcv_pkts: Counter64,
        /// Number of sent unicast packets.
        pub port_unicast_xmit_pkts: Counter64,
        /// Number of received unicast packets.
        pub port_unicast_rcv_pkts: Counter64,
        /// Number of sent multicast packets.
        pub port_multicast_xmit_pkts: Counter64,
        /// Number of received multicast packets.
        pub port_multicast_rcv_pkts: Counter64,
        /// Number of symbol errors on the link.
        pub symbol_error_counter: Counter64,
        /// Number of successful link recoveries.
        pub link_error_recovery_counter: Counter64,
        /// Number of times that the link went down.
        pub link_downed_counter: Counter64,
        /// Number of received packets with errors.
        pub port_rcv_errors: Counter64,
        /// Number of received packets that a switch on the path marked as bad.
        pub port_rcv_remote_physical_errors: Counter64,
        /// Number of received packets that the switch could not forward.
        pub port_rcv_switch_relay_errors: Counter64,
        /// Number of packets that were dropped instead of sent.
        pub port_xmit_discards: Counter64,
        /// Number of packets that the switch is not permitted to send.
        pub port_xmit_constraint_errors: Counter64,
        /// Number of received packets that the switch is not permitted to accept.
        pub port_rcv_constraint_errors: Counter64,
        /// Number of times that physical errors reached their limit.
        pub local_link_integrity_errors: Counter64,
        /// Number of times that buffer overruns reached their limit.
        pub excessive_buffer_overrun_errors: Counter64,
        /// Number of dropped datagrams of subnet management.
        pub vl15_dropped: Counter64,
        /// Number of ticks in which data were ready and could not be sent.
        pub port_xmit_wait: Counter64,
        /// Number of dropped datagrams to QP 1.
        pub qp1_dropped: Counter64,
    }
}
