//! The header of the protocol.
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

code! {
    /// Why a transfer ends early (IBTA 13.6.2.1.2).
    pub struct RmppStatus(u8) {
        /// Nothing is wrong.
        OK = 0 "success",
        /// STOP: no resources.
        NO_RESOURCES = 1 "resources exhausted",
        /// ABORT: it took too long.
        TOO_LONG = 118 "total time too long",
        /// ABORT: the length of the first or last segment does not fit.
        BAD_LENGTH = 119 "inconsistent last and payload length",
        /// ABORT: the first segment is not number 1, or number 1 not the first.
        BAD_SEGMENT = 120 "inconsistent first and segment number",
        /// ABORT: a packet of an unknown kind.
        BAD_TYPE = 121 "bad RMPP type",
        /// ABORT: an acknowledgement whose window ends before its segment.
        WINDOW_TOO_SMALL = 122 "new window too small",
        /// ABORT: an acknowledgement of a segment that was not sent.
        SEGMENT_TOO_BIG = 123 "segment number too big",
        /// ABORT: a status that does not belong to the packet.
        BAD_STATUS = 124 "illegal status",
        /// ABORT: the version of the protocol is not supported.
        BAD_VERSION = 125 "unsupported version",
        /// ABORT: too many repeats.
        TOO_MANY_RETRIES = 126 "too many retries",
        /// ABORT: something else.
        UNSPECIFIED = 127 "unspecified",
    }
}

bits! {
    /// Response time and flags.
    pub struct RmppFlags [1] in RmppHeader.flags {
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

impl RmppHeader {
    /// The status as a code.
    #[must_use]
    pub const fn reason(&self) -> RmppStatus {
        RmppStatus::new(self.status)
    }
}
