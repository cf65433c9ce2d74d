//! Counters of each service level of a port; element `n` is service level `n`.
use crate::{
    perf::CounterSelect,
    wire,
    wire::{Counter32, Reserved},
};

wire! {
    /// Forward congestion marks by service level (IBTA A10.5), 68 bytes.
    pub struct PortSlRcvFecn [68] {
        /// Zero.
        pub reserved: Reserved<1>,
        /// Port to read or to clear; 255 = all ports, if the node can.
        pub port_select: u8,
        /// Set: which counters to clear, one bit each from the first on.
        pub counter_select: CounterSelect,
        /// Packets with the mark.
        pub port_sl_rcv_fecn: [Counter32; 16],
    }
}

wire! {
    /// Backward congestion marks by service level (IBTA A10.5), 68 bytes.
    pub struct PortSlRcvBecn [68] {
        /// Zero.
        pub reserved: Reserved<1>,
        /// Port to read or to clear; 255 = all ports, if the node can.
        pub port_select: u8,
        /// Set: which counters to clear, one bit each from the first on.
        pub counter_select: CounterSelect,
        /// Packets with the mark.
        pub port_sl_rcv_becn: [Counter32; 16],
    }
}

wire! {
    /// Data sent by service level (IBTA A13), 68 bytes.
    pub struct PortXmitDataSl [68] {
        /// Zero.
        pub reserved: Reserved<1>,
        /// Port to read or to clear; 255 = all ports, if the node can.
        pub port_select: u8,
        /// Set: which counters to clear, one bit each from the first on.
        pub counter_select: CounterSelect,
        /// Data, in units of 4 bytes.
        pub port_xmit_data_sl: [Counter32; 16],
    }
}

wire! {
    /// Data received by service level (IBTA A13), 68 bytes.
    pub struct PortRcvDataSl [68] {
        /// Zero.
        pub reserved: Reserved<1>,
        /// Port to read or to clear; 255 = all ports, if the node can.
        pub port_select: u8,
        /// Set: which counters to clear, one bit each from the first on.
        pub counter_select: CounterSelect,
        /// Data, in units of 4 bytes.
        pub port_rcv_data_sl: [Counter32; 16],
    }
}
