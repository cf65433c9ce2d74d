//! The reliable multi-packet protocol (IBTA 13.6): here, its header.
use crate::{bits, code, wire, wire::Be32};

code! {
    /// What an RMPP packet is.
    pub struct RmppType(u8) {
        /// Not RMPP: the datagram stands alone.
        NONE = 0 "none",
        /// A segment.
        DATA = 1 "DATA",
        /// Segments received.
        ACK = 2 "ACK",
        /// Stop: out of resources.
        STOP = 3 "STOP",
        /// Abort: protocol error.
        ABORT = 4 "ABORT",
    }
}

bits! {
    /// Response time and flags.
    pub struct RmppFlags [1] {
        /// Response time: 4.096 us x 2^n; 31 = not given.
        resp_time / with_resp_time: u8 = 5,
        /// Last segment.
        last / with_last: bool = 1,
        /// First segment.
        first / with_first: bool = 1,
        /// The header is in use.
        active / with_active: bool = 1,
    }
}

wire! {
    /// RMPP header (IBTA 13.6.2.1), all zero in a datagram that stands alone.
    pub struct RmppHeader [12] {
        /// Version: 1 when active.
        pub version: u8,
        /// What the packet is.
        pub rmpp_type: RmppType,
        /// Response time and flags.
        pub flags: RmppFlags,
        /// Reason of a stop or abort.
        pub status: u8,
        /// DATA: segment number; ACK: the last segment received.
        pub data1: Be32,
        /// DATA: payload length of first and last segments; ACK: the last segment of the window.
        pub data2: Be32,
    }
}
