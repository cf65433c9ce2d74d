//! Capabilities of performance management.
use crate::{flags, id};

id! {
    /// Counters that a Set clears, one bit each; bit 0 is the first counter (IBTA 16.1.3.5).
    pub struct CounterSelect(u16), "{:#06x}"
}

id! {
    /// Further counters that a Set clears; bit 0 is the transmit wait.
    pub struct CounterSelect2(u8), "{:#04x}"
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
