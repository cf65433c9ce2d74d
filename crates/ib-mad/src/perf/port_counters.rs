//! Counters of every port.
use crate::{
    bits,
    perf::{CounterSelect, CounterSelect2},
    wire,
    wire::{Be16, Counter32, Reserved},
};

bits! {
    /// Local link integrity errors and excessive buffer overruns.
    pub struct LinkErrors [1] in PortCounters.link_errors {
        /// Number of times that physical errors reached their limit.
        local_link_integrity_errors / with_local_link_integrity_errors: u8 = 4,
        /// Number of times that buffer overruns reached their limit.
        excessive_buffer_overrun_errors / with_excessive_buffer_overrun_errors: u8 = 4,
    }
}

wire! {
    /// Counters of a port (IBTA 16.1.3.5), 44 bytes. A counter stops at its maximum.
    ///
    /// ```text
    ///  0  reserved | port select | counter select
    ///  4  symbol errors       | link recoveries | link downs
    ///  8  receive errors      | remote physical errors
    /// 12  switch relay errors | transmit discards
    /// 16  transmit constraints | receive constraints | counter select 2 | integrity 4, overruns 4
    /// 20  QP1 dropped         | VL15 dropped
    /// 24  transmit data | receive data | transmit packets | receive packets | transmit wait (4 each)
    /// ```
    pub struct PortCounters [44] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Port to read or clear; 255 for all ports, if the node supports it.
        pub port_select: u8,
        /// In a Set: counters to clear, one bit each; bit 0 is the first counter.
        pub counter_select: CounterSelect,
        /// Number of symbol errors on the link.
        pub symbol_error_counter: Be16,
        /// Number of successful link recoveries.
        pub link_error_recovery_counter: u8,
        /// Number of times that the link went down.
        pub link_downed_counter: u8,
        /// Number of received packets with errors.
        pub port_rcv_errors: Be16,
        /// Number of received packets that a switch on the path marked as bad.
        pub port_rcv_remote_physical_errors: Be16,
        /// Number of received packets that the switch could not forward.
        pub port_rcv_switch_relay_errors: Be16,
        /// Number of packets that were dropped instead of sent.
        pub port_xmit_discards: Be16,
        /// Number of packets that the switch is not permitted to send.
        pub port_xmit_constraint_errors: u8,
        /// Number of received packets that the switch is not permitted to accept.
        pub port_rcv_constraint_errors: u8,
        /// In a Set: further counters to clear.
        pub counter_select2: CounterSelect2,
        /// Local link integrity errors and excessive buffer overruns.
        pub link_errors: LinkErrors,
        /// Number of dropped datagrams to QP 1.
        pub qp1_dropped: Be16,
        /// Number of dropped datagrams of subnet management.
        pub vl15_dropped: Be16,
        /// Sent data, in units of 4 bytes.
        pub port_xmit_data: Counter32,
        /// Received data, in units of 4 bytes.
        pub port_rcv_data: Counter32,
        /// Number of sent packets.
        pub port_xmit_pkts: Counter32,
        /// Number of received packets.
        pub port_rcv_pkts: Counter32,
        /// Number of ticks in which data were ready and could not be sent.
        pub port_xmit_wait: Counter32,
    }
}
