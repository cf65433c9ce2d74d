//! Operations and flow control of a port.
use crate::{
    perf::CounterSelect,
    wire,
    wire::{Counter32, Reserved},
};

wire! {
    /// What a port received of one operation (IBTA 16.1.4.3), 12 bytes.
    pub struct PortOpRcvCounters [12] {
        /// Zero.
        pub reserved: Reserved<1>,
        /// Port to read or to clear; 255 = all ports, if the node can.
        pub port_select: u8,
        /// Set: which counters to clear, one bit each from the first on.
        pub counter_select: CounterSelect,
        /// Packets.
        pub port_op_rcv_pkts: Counter32,
        /// Data, in units of 4 bytes.
        pub port_op_rcv_data: Counter32,
    }
}

wire! {
    /// Flow control packets of a port (IBTA 16.1.4.4), 12 bytes.
    pub struct PortFlowCtlCounters [12] {
        /// Zero.
        pub reserved: Reserved<1>,
        /// Port to read or to clear; 255 = all ports, if the node can.
        pub port_select: u8,
        /// Set: which counters to clear, one bit each from the first on.
        pub counter_select: CounterSelect,
        /// Sent.
        pub port_xmit_flow_pkts: Counter32,
        /// Received.
        pub port_rcv_flow_pkts: Counter32,
    }
}

wire! {
    /// Congestion marks that a port received (IBTA A10.5), 12 bytes.
    pub struct PortRcvConCtrl [12] {
        /// Zero.
        pub reserved: Reserved<1>,
        /// Port to read or to clear; 255 = all ports, if the node can.
        pub port_select: u8,
        /// Set: which counters to clear, one bit each from the first on.
        pub counter_select: CounterSelect,
        /// Packets with a forward mark.
        pub port_pkt_rcv_fecn: Counter32,
        /// Packets with a backward mark.
        pub port_pkt_rcv_becn: Counter32,
    }
}

wire! {
    /// Congestion of a port (IBTA A10.5), 8 bytes.
    pub struct PortXmitConCtrl [8] {
        /// Zero.
        pub reserved: Reserved<1>,
        /// Port to read or to clear; 255 = all ports, if the node can.
        pub port_select: u8,
        /// Set: which counters to clear, one bit each from the first on.
        pub counter_select: CounterSelect,
        /// Ticks that the port was congested for.
        pub port_xmit_time_cong: Counter32,
    }
}
