//! Counters of each virtual lane of a port; element `n` is lane `n`.
use crate::{
    perf::CounterBits,
    wire,
    wire::{Be16, Counter32, Packed, Reserved},
};

wire! {
    /// Packets of one operation by lane (IBTA 16.1.4.5), 36 bytes.
    /// libibmad is the only public source of this layout.
    pub struct PortVlOpPackets [36] {
        /// Operation whose packets are counted, as in the base transport header (IBTA; no public program reads it).
        pub op_code: u8,
        /// Port to read or clear; 255 for all ports, if the node supports it.
        pub port_select: u8,
        /// In a Set: counters to clear, one bit each; bit 0 is the first counter.
        pub counter_select: CounterBits,
        /// Number of received packets of the operation.
        pub port_vl_op_packets: [Be16; 16],
    }
}

wire! {
    /// Data of one operation by lane (IBTA 16.1.4.6), 68 bytes.
    /// libibmad is the only public source of this layout.
    pub struct PortVlOpData [68] {
        /// Operation whose packets are counted, as in the base transport header (IBTA; no public program reads it).
        pub op_code: u8,
        /// Port to read or clear; 255 for all ports, if the node supports it.
        pub port_select: u8,
        /// In a Set: counters to clear, one bit each; bit 0 is the first counter.
        pub counter_select: CounterBits,
        /// Received data of the operation, in units of 4 bytes.
        pub port_vl_op_data: [Counter32; 16],
    }
}

wire! {
    /// Flow control update errors by lane (IBTA 16.1.4.7), 8 bytes.
    pub struct PortVlXmitFlowCtlUpdateErrors [8] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Port to read or clear; 255 for all ports, if the node supports it.
        pub port_select: u8,
        /// In a Set: counters to clear, one bit each; bit 0 is the first counter.
        pub counter_select: CounterBits,
        /// Number of errors, in 2 bits each.
        pub port_vl_xmit_flow_ctl_update_errors: Packed<u8, 2, 4>,
    }
}

wire! {
    /// Transmit wait by lane (IBTA 16.1.4.8), 36 bytes.
    pub struct PortVlXmitWaitCounters [36] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Port to read or clear; 255 for all ports, if the node supports it.
        pub port_select: u8,
        /// In a Set: counters to clear, one bit each; bit 0 is the first counter.
        pub counter_select: CounterBits,
        /// Number of ticks in which data were ready and could not be sent.
        pub port_vl_xmit_wait: [Be16; 16],
    }
}

wire! {
    /// Congestion of a switch's port by lane (IBTA A10.5), 36 bytes.
    /// libibmad is the only public source of this layout.
    pub struct SwPortVlCongestion [36] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Port to read or clear; 255 for all ports, if the node supports it.
        pub port_select: u8,
        /// In a Set: counters to clear, one bit each; bit 0 is the first counter.
        pub counter_select: CounterBits,
        /// Number of times that the lane was congested.
        pub sw_port_vl_congestion: [Be16; 16],
    }
}

wire! {
    /// Time of congestion by lane (IBTA A10.5), 64 bytes; lanes 0 to 14.
    pub struct PortVlXmitTimeCong [64] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Port to read or clear; 255 for all ports, if the node supports it.
        pub port_select: u8,
        /// In a Set: counters to clear, one bit each; bit 0 is the first counter.
        pub counter_select: CounterBits,
        /// Number of ticks in which the lane was congested.
        pub port_vl_xmit_time_cong: [Counter32; 15],
    }
}
