//! What performance management can do at a port.
use crate::{flags, id};

id! {
    /// Which counters a Set clears, one bit each from the first on (IBTA 16.1.3.5).
    pub struct CounterSelect(u16), "{:#06x}"
}

id! {
    /// Which further counters a Set clears: bit 0 is the transmit wait.
    pub struct CounterSelect2(u8), "{:#04x}"
}

flags! {
    /// Performance management's bits of [`ClassPortInfo::capability_mask`](crate::notice::ClassPortInfo) (IBTA 16.1.3.1).
    pub struct PerfCapability(u16) {
        /// Port 255 stands for all ports.
        ALL_PORT_SELECT = 0x0100 "AllPortSelect",
        /// Has `PortCountersExtended`.
        EXTENDED_WIDTH = 0x0200 "IsExtendedWidthSupported",
        /// Has it without the counters of unicast and multicast packets.
        EXTENDED_WIDTH_NO_IETF = 0x0400 "IsExtendedWidthSupportedNoIETF",
        /// Has counters that can only be sampled.
        SAMPLES_ONLY = 0x0800 "SamplesOnlySupported",
        /// `PortCounters` has the transmit wait.
        XMIT_WAIT = 0x1000 "PortCountersXmitWaitSupported",
        /// Counts datagrams to QP 1 that were dropped.
        QP1_DROPPED = 0x8000 "IsQP1DroppedSupported",
    }
}

flags! {
    /// Performance management's bits of the second capability mask (IBTA 16.1.3.1).
    pub struct PerfCapability2(u32) {
        /// Guarded by a key.
        PM_KEY = 0x01 "IsPMKeySupported",
        /// `PortCountersExtended` has the error counters.
        ADDITIONAL_PORT_COUNTERS_EXTENDED = 0x02 "IsAdditionalPortCountersExtendedSupported",
        /// Unit of the data counters, two bits.
        DATA_SIZE = 0xc0 "DataSize",
    }
}
