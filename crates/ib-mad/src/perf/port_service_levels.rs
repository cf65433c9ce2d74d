//! Counters of each service level of a port; element `n` is service level `n`.
use crate::{
    perf::CounterBits,
    wire,
    wire::{Counter32, Counter64, Reserved},
};

wire! {
    /// Forward congestion marks by service level (IBTA A10.5), 68 bytes.
    /// libibmad is the only public source of this layout.
    pub struct PortSlRcvFecn [68] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Port to read or clear; 255 for all ports, if the node supports it.
        pub port_select: u8,
        /// In a Set: counters to clear, one bit each; bit 0 is the first counter.
        pub counter_select: CounterBits,
        /// Number of received packets with a forward mark.
        pub port_sl_rcv_fecn: [Counter32; 16],
    }
}

wire! {
    /// Backward congestion marks by service level (IBTA A10.5), 68 bytes.
    /// libibmad is the only public source of this layout.
    pub struct PortSlRcvBecn [68] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Port to read or clear; 255 for all ports, if the node supports it.
        pub port_select: u8,
        /// In a Set: counters to clear, one bit each; bit 0 is the first counter.
        pub counter_select: CounterBits,
        /// Number of received packets with a backward mark.
        pub port_sl_rcv_becn: [Counter32; 16],
    }
}

wire! {
    /// Data sent by service level (IBTA A13), 68 bytes.
    pub struct PortXmitDataSl [68] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Port to read or clear; 255 for all ports, if the node supports it.
        pub port_select: u8,
        /// In a Set: counters to clear, one bit each; bit 0 is the first counter.
        pub counter_select: CounterBits,
        /// Sent data, in units of 4 bytes.
        pub port_xmit_data_sl: [Counter32; 16],
    }
}

wire! {
    /// Data received by service level (IBTA A13), 68 bytes.
    pub struct PortRcvDataSl [68] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Port to read or clear; 255 for all ports, if the node supports it.
        pub port_select: u8,
        /// In a Set: counters to clear, one bit each; bit 0 is the first counter.
        pub counter_select: CounterBits,
        /// Received data, in units of 4 bytes.
        pub port_rcv_data_sl: [Counter32; 16],
    }
}

wire! {
    /// Data sent by service level, in wide counters (attribute of NVIDIA's ibutils2), 136 bytes.
    pub struct PortXmitDataSlExt [136] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Port to read or clear; 255 for all ports, if the node supports it.
        pub port_select: u8,
        /// In a Set: counters to clear, one bit each; bit 0 is the first counter.
        pub counter_select: CounterBits,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<4>,
        /// Sent data, in units of 4 bytes.
        pub port_xmit_data_sl: [Counter64; 16],
    }
}

wire! {
    /// Data received by service level, in wide counters (attribute of NVIDIA's ibutils2), 136 bytes.
    pub struct PortRcvDataSlExt [136] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Port to read or clear; 255 for all ports, if the node supports it.
        pub port_select: u8,
        /// In a Set: counters to clear, one bit each; bit 0 is the first counter.
        pub counter_select: CounterBits,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<4>,
        /// Received data, in units of 4 bytes.
        pub port_rcv_data_sl: [Counter64; 16],
    }
}
