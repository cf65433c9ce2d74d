//! Sets of bits of performance management: capabilities, and the counters that a Set clears.
use crate::{flags, id};

flags! {
    /// Counters of [`PortCounters`](super::PortCounters) that a Set clears (IBTA 16.1.3.5).
    pub struct CounterSelect(u16) {
        /// Symbol errors.
        SYMBOL_ERRORS = 0x0001 "symbol_error_counter",
        /// Link recoveries.
        LINK_ERROR_RECOVERY = 0x0002 "link_error_recovery_counter",
        /// Times that the link went down.
        LINK_DOWNED = 0x0004 "link_downed_counter",
        /// Received packets with errors.
        RCV_ERRORS = 0x0008 "port_rcv_errors",
        /// Received packets that a switch marked as bad.
        RCV_REMOTE_PHYSICAL_ERRORS = 0x0010 "port_rcv_remote_physical_errors",
        /// Received packets that the switch could not forward.
        RCV_SWITCH_RELAY_ERRORS = 0x0020 "port_rcv_switch_relay_errors",
        /// Packets that were dropped instead of sent.
        XMIT_DISCARDS = 0x0040 "port_xmit_discards",
        /// Packets that the switch is not permitted to send.
        XMIT_CONSTRAINT_ERRORS = 0x0080 "port_xmit_constraint_errors",
        /// Received packets that the switch is not permitted to accept.
        RCV_CONSTRAINT_ERRORS = 0x0100 "port_rcv_constraint_errors",
        /// Local link integrity errors.
        LOCAL_LINK_INTEGRITY_ERRORS = 0x0200 "local_link_integrity_errors",
        /// Excessive buffer overruns.
        EXCESSIVE_BUFFER_OVERRUNS = 0x0400 "excessive_buffer_overrun_errors",
        /// Dropped datagrams of subnet management.
        VL15_DROPPED = 0x0800 "vl15_dropped",
        /// Sent data.
        XMIT_DATA = 0x1000 "port_xmit_data",
        /// Received data.
        RCV_DATA = 0x2000 "port_rcv_data",
        /// Sent packets.
        XMIT_PKTS = 0x4000 "port_xmit_pkts",
        /// Received packets.
        RCV_PKTS = 0x8000 "port_rcv_pkts",
    }
}

flags! {
    /// Further counters of [`PortCounters`](super::PortCounters) that a Set clears.
    pub struct CounterSelect2(u8) {
        /// Ticks in which data were ready and could not be sent.
        XMIT_WAIT = 0x01 "port_xmit_wait",
    }
}

flags! {
    /// Counters of [`PortCountersExtended`](super::PortCountersExtended) that a Set clears (IBTA 16.1.4.11).
    pub struct ExtendedCounterSelect(u16) {
        /// Sent data.
        XMIT_DATA = 0x01 "port_xmit_data",
        /// Received data.
        RCV_DATA = 0x02 "port_rcv_data",
        /// Sent packets.
        XMIT_PKTS = 0x04 "port_xmit_pkts",
        /// Received packets.
        RCV_PKTS = 0x08 "port_rcv_pkts",
        /// Sent unicast packets.
        UNICAST_XMIT_PKTS = 0x10 "port_unicast_xmit_pkts",
        /// Received unicast packets.
        UNICAST_RCV_PKTS = 0x20 "port_unicast_rcv_pkts",
        /// Sent multicast packets.
        MULTICAST_XMIT_PKTS = 0x40 "port_multicast_xmit_pkts",
        /// Received multicast packets.
        MULTICAST_RCV_PKTS = 0x80 "port_multicast_rcv_pkts",
    }
}

id! {
    /// Counters of one of the other attributes that a Set clears: bit 0 is the attribute's first counter.
    pub struct CounterBits(u16), "{:#06x}"
}

flags! {
    /// Capability bits of performance management in [`ClassPortInfo::capability_mask`](crate::notice::ClassPortInfo)
    /// (IBTA 16.1.3.1).
    pub struct PerfCapability(u16) {
        /// Port 255 stands for all ports.
        ALL_PORT_SELECT = 0x0100 "AllPortSelect",
        /// Supports `PortCountersExtended`.
        EXTENDED_WIDTH = 0x0200 "IsExtendedWidthSupported",
        /// Supports `PortCountersExtended` without the counters of unicast and multicast packets.
        EXTENDED_WIDTH_NO_IETF = 0x0400 "IsExtendedWidthSupportedNoIETF",
        /// Has counters that can be read only by sampling.
        SAMPLES_ONLY = 0x0800 "SamplesOnlySupported",
        /// `PortCounters` contains the transmit wait.
        XMIT_WAIT = 0x1000 "PortCountersXmitWaitSupported",
        /// Counts dropped datagrams to QP 1.
        QP1_DROPPED = 0x8000 "IsQP1DroppedSupported",
    }
}
crate::notice::class_capability!(PerfCapability);

flags! {
    /// Capability bits of performance management in the second capability mask (IBTA 16.1.3.1).
    pub struct PerfCapability2(u32) {
        /// Requires a key.
        PM_KEY = 0x01 "IsPMKeySupported",
        /// `PortCountersExtended` contains the error counters.
        ADDITIONAL_PORT_COUNTERS_EXTENDED = 0x02 "IsAdditionalPortCountersExtendedSupported",
        /// Unit of the data counters, two bits.
        DATA_SIZE = 0xc0 "DataSize",
    }
}
