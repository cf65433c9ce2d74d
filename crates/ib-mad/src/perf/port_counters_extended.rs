//! The counters that every port has, in 64 bits.
use crate::{
    perf::CounterSelect,
    wire,
    wire::{Be32, Counter64, Reserved},
};

wire! {
    /// Counters of a port, in 64 bits (IBTA 16.1.4.11), 184 bytes.
    pub struct PortCountersExtended [184] {
        /// Zero.
        pub reserved: Reserved<1>,
        /// Port to read or to clear; 255 = all ports, if the node can.
        pub port_select: u8,
        /// Set: which counters to clear, one bit each from the first on.
        pub counter_select: CounterSelect,
        /// Set: more counters to clear.
        pub counter_select2: Be32,
        /// Data sent, in units of 4 bytes.
        pub port_xmit_data: Counter64,
        /// Data received, in units of 4 bytes.
        pub port_rcv_data: Counter64,
        /// Packets sent.
        pub port_xmit_pkts: Counter64,
        /// Packets received.
        pub port_rcv_pkts: Counter64,
        /// Unicast packets sent.
        pub port_unicast_xmit_pkts: Counter64,
        /// Unicast packets received.
        pub port_unicast_rcv_pkts: Counter64,
        /// Multicast packets sent.
        pub port_multicast_xmit_pkts: Counter64,
        /// Multicast packets received.
        pub port_multicast_rcv_pkts: Counter64,
        /// Errors of symbols on the link.
        pub symbol_error_counter: Counter64,
        /// Times the link recovered by itself.
        pub link_error_recovery_counter: Counter64,
        /// Times the link went down.
        pub link_downed_counter: Counter64,
        /// Received packets with errors.
        pub port_rcv_errors: Counter64,
        /// Received packets that were marked bad by who sent them on.
        pub port_rcv_remote_physical_errors: Counter64,
        /// Received packets that a switch could not send on.
        pub port_rcv_switch_relay_errors: Counter64,
        /// Packets that were dropped instead of sent.
        pub port_xmit_discards: Counter64,
        /// Packets that a switch may not send.
        pub port_xmit_constraint_errors: Counter64,
        /// Received packets that a switch may not take.
        pub port_rcv_constraint_errors: Counter64,
        /// Times that physical errors passed their limit.
        pub local_link_integrity_errors: Counter64,
        /// Times that overruns passed their limit.
        pub excessive_buffer_overrun_errors: Counter64,
        /// Datagrams of subnet management that were dropped.
        pub vl15_dropped: Counter64,
        /// Ticks in which something was to be sent and could not be.
        pub port_xmit_wait: Counter64,
        /// Datagrams to QP 1 that were dropped.
        pub qp1_dropped: Counter64,
    }
}
