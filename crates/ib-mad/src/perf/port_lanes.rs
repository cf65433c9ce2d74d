//! Counters of each virtual lane of a port; element `n` is lane `n`.
use crate::{
    perf::CounterSelect,
    wire,
    wire::{Be16, Counter32, Packed, Reserved},
};

wire! {
    /// Packets of one operation by lane (IBTA 16.1.4.5), 36 bytes.
    pub struct PortVlOpPackets [36] {
        /// Zero.
        pub reserved: Reserved<1>,
        /// Port to read or to clear; 255 = all ports, if the node can.
        pub port_select: u8,
        /// Set: which counters to clear, one bit each from the first on.
        pub counter_select: CounterSelect,
        /// Packets.
        pub port_vl_op_packets: [Be16; 16],
    }
}

wire! {
    /// Data of one operation by lane (IBTA 16.1.4.6), 68 bytes.
    pub struct PortVlOpData [68] {
        /// Zero.
        pub reserved: Reserved<1>,
        /// Port to read or to clear; 255 = all ports, if the node can.
        pub port_select: u8,
        /// Set: which counters to clear, one bit each from the first on.
        pub counter_select: CounterSelect,
        /// Data, in units of 4 bytes.
        pub port_vl_op_data: [Counter32; 16],
    }
}

wire! {
    /// Errors of flow control by lane (IBTA 16.1.4.7), 8 bytes.
    pub struct PortVlXmitFlowCtlUpdateErrors [8] {
        /// Zero.
        pub reserved: Reserved<1>,
        /// Port to read or to clear; 255 = all ports, if the node can.
        pub port_select: u8,
        /// Set: which counters to clear, one bit each from the first on.
        pub counter_select: CounterSelect,
        /// Errors, in 2 bits each.
        pub port_vl_xmit_flow_ctl_update_errors: Packed<u8, 2, 4>,
    }
}

wire! {
    /// Waiting by lane (IBTA 16.1.4.8), 36 bytes.
    pub struct PortVlXmitWaitCounters [36] {
        /// Zero.
        pub reserved: Reserved<1>,
        /// Port to read or to clear; 255 = all ports, if the node can.
        pub port_select: u8,
        /// Set: which counters to clear, one bit each from the first on.
        pub counter_select: CounterSelect,
        /// Ticks in which something was to be sent and could not be.
        pub port_vl_xmit_wait: [Be16; 16],
    }
}

wire! {
    /// Congestion of a switch's port by lane (IBTA A10.5), 36 bytes.
    pub struct SwPortVlCongestion [36] {
        /// Zero.
        pub reserved: Reserved<1>,
        /// Port to read or to clear; 255 = all ports, if the node can.
        pub port_select: u8,
        /// Set: which counters to clear, one bit each from the first on.
        pub counter_select: CounterSelect,
        /// Times that the lane was congested.
        pub sw_port_vl_congestion: [Be16; 16],
    }
}

wire! {
    /// Time of congestion by lane (IBTA A10.5), 64 bytes: lanes 0 to 14.
    pub struct PortVlXmitTimeCong [64] {
        /// Zero.
        pub reserved: Reserved<1>,
        /// Port to read or to clear; 255 = all ports, if the node can.
        pub port_select: u8,
        /// Set: which counters to clear, one bit each from the first on.
        pub counter_select: CounterSelect,
        /// Ticks that the lane was congested for.
        pub port_vl_xmit_time_cong: [Counter32; 15],
    }
}
