//! Counters of operations, flow control and congestion of a port.
use crate::{
    perf::CounterBits,
    wire,
    wire::{Counter32, Reserved},
};

wire! {
    /// Packets and data of one operation that a port received (IBTA 16.1.4.3), 12 bytes.
    /// libibmad is the only public source of this layout.
    pub struct PortOpRcvCounters [12] {
        /// Operation whose packets are counted, as in the base transport header (IBTA; no public program reads it).
        pub op_code: u8,
        /// Port to read or clear; 255 for all ports, if the node supports it.
        pub port_select: u8,
        /// In a Set: counters to clear, one bit each; bit 0 is the first counter.
        pub counter_select: CounterBits,
        /// Number of received packets of the operation.
        pub port_op_rcv_pkts: Counter32,
        /// Received data of the operation, in units of 4 bytes.
        pub port_op_rcv_data: Counter32,
    }
}

wire! {
    /// Flow control packets of a port (IBTA 16.1.4.4), 12 bytes.
    /// libibmad is the only public source of this layout.
    pub struct PortFlowCtlCounters [12] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Port to read or clear; 255 for all ports, if the node supports it.
        pub port_select: u8,
        /// In a Set: counters to clear, one bit each; bit 0 is the first counter.
        pub counter_select: CounterBits,
        /// Number of sent flow control packets.
        pub port_xmit_flow_pkts: Counter32,
        /// Number of received flow control packets.
        pub port_rcv_flow_pkts: Counter32,
    }
}

wire! {
    /// Congestion marks that a port received (IBTA A10.5), 12 bytes.
    /// libibmad is the only public source of this layout.
    pub struct PortRcvConCtrl [12] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Port to read or clear; 255 for all ports, if the node supports it.
        pub port_select: u8,
        /// In a Set: counters to clear, one bit each; bit 0 is the first counter.
        pub counter_select: CounterBits,
        /// Number of received packets with a forward mark.
        pub port_pkt_rcv_fecn: Counter32,
        /// Number of received packets with a backward mark.
        pub port_pkt_rcv_becn: Counter32,
    }
}

wire! {
    /// Congestion of a port (IBTA A10.5), 8 bytes.
    /// libibmad is the only public source of this layout.
    pub struct PortXmitConCtrl [8] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Port to read or clear; 255 for all ports, if the node supports it.
        pub port_select: u8,
        /// In a Set: counters to clear, one bit each; bit 0 is the first counter.
        pub counter_select: CounterBits,
        /// Number of ticks in which the port was congested.
        pub port_xmit_time_cong: Counter32,
    }
}
