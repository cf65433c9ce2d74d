//! The counters that every port has.
use crate::{
    bits,
    perf::{CounterSelect, CounterSelect2},
    wire,
    wire::{Be16, Counter32, Reserved},
};

bits! {
    /// Local link integrity errors, excessive buffer overruns.
    pub struct LinkErrors [1] in PortCounters.link_errors {
        /// Times that physical errors passed their limit.
        local_link_integrity_errors / with_local_link_integrity_errors: u8 = 4,
        /// Times that overruns passed their limit.
        excessive_buffer_overrun_errors / with_excessive_buffer_overrun_errors: u8 = 4,
    }
}

wire! {
    /// Counters of a port (IBTA 16.1.3.5), 44 bytes. A counter stops at its largest value.
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
        /// Zero.
        pub reserved: Reserved<1>,
        /// Port to read or to clear; 255 = all ports, if the node can.
        pub port_select: u8,
        /// Set: which counters to clear, one bit each from the first on.
        pub counter_select: CounterSelect,
        /// Errors of symbols on the link.
        pub symbol_error_counter: Be16,
        /// Times the link recovered by itself.
        pub link_error_recovery_counter: u8,
        /// Times the link went down.
        pub link_downed_counter: u8,
        /// Received packets with errors.
        pub port_rcv_errors: Be16,
        /// Received packets that were marked bad by who sent them on.
        pub port_rcv_remote_physical_errors: Be16,
        /// Received packets that a switch could not send on.
        pub port_rcv_switch_relay_errors: Be16,
        /// Packets that were dropped instead of sent.
        pub port_xmit_discards: Be16,
        /// Packets that a switch may not send.
        pub port_xmit_constraint_errors: u8,
        /// Received packets that a switch may not take.
        pub port_rcv_constraint_errors: u8,
        /// Set: more counters to clear.
        pub counter_select2: CounterSelect2,
        /// Local link integrity errors, excessive buffer overruns.
        pub link_errors: LinkErrors,
        /// Datagrams to QP 1 that were dropped.
        pub qp1_dropped: Be16,
        /// Datagrams of subnet management that were dropped.
        pub vl15_dropped: Be16,
        /// Data sent, in units of 4 bytes.
        pub port_xmit_data: Counter32,
        /// Data received, in units of 4 bytes.
        pub port_rcv_data: Counter32,
        /// Packets sent.
        pub port_xmit_pkts: Counter32,
        /// Packets received.
        pub port_rcv_pkts: Counter32,
        /// Ticks in which something was to be sent and could not be.
        pub port_xmit_wait: Counter32,
    }
}
