//! The RMPP header.
use super::RMPP_VERSION;
use crate::{bits, code, wire, wire::Be32};

code! {
    /// Type of an RMPP packet.
    pub struct RmppType(u8) {
        /// Not RMPP: the datagram is a whole message.
        NONE = 0 "none",
        /// Segment of a message.
        DATA = 1 "DATA",
        /// Acknowledgement of received segments.
        ACK = 2 "ACK",
        /// End of the transfer: out of resources.
        STOP = 3 "STOP",
        /// End of the transfer: protocol error.
        ABORT = 4 "ABORT",
    }
    /// Reason why a transfer ends early (IBTA 13.6.2.1.2).
    pub struct RmppStatus(u8) {
        /// The transfer has no error.
        OK = 0 "success",
        /// STOP: resources are exhausted.
        NO_RESOURCES = 1 "resources exhausted",
        /// ABORT: the transfer took too long.
        TOO_LONG = 118 "total time too long",
        /// ABORT: the payload length of the first or last segment is inconsistent.
        BAD_LENGTH = 119 "inconsistent last and payload length",
        /// ABORT: the flag "first" and segment number 1 do not agree.
        BAD_SEGMENT = 120 "inconsistent first and segment number",
        /// ABORT: the packet has an unknown type.
        BAD_TYPE = 121 "bad RMPP type",
        /// ABORT: the window of an acknowledgement ends before its segment.
        WINDOW_TOO_SMALL = 122 "new window too small",
        /// ABORT: an acknowledged segment was not sent.
        SEGMENT_TOO_BIG = 123 "segment number too big",
        /// ABORT: the status does not belong to the packet type.
        BAD_STATUS = 124 "illegal status",
        /// ABORT: the version of the protocol is not supported.
        BAD_VERSION = 125 "unsupported version",
        /// ABORT: the number of retries is exceeded.
        TOO_MANY_RETRIES = 126 "too many retries",
        /// ABORT: another reason.
        UNSPECIFIED = 127 "unspecified",
    }
}

bits! {
    /// Response time and flags of an RMPP packet.
    pub struct RmppFlags [1] in RmppHeader.flags {
        /// Response time: 4.096 us x 2^n; 31 means not given.
        resp_time / with_resp_time: u8 = 5,
        /// The segment is the last of the message.
        last / with_last: bool = 1,
        /// The segment is the first of the message.
        first / with_first: bool = 1,
        /// The RMPP header is in use.
        active / with_active: bool = 1,
    }
}

wire! {
    /// RMPP header (IBTA 13.6.2.1); all zero in a datagram that is a whole message.
    pub struct RmppHeader [12] {
        /// Version of the protocol: 1 if active.
        pub version: u8,
        /// Type of the packet.
        pub rmpp_type: RmppType,
        /// Response time and flags.
        pub flags: RmppFlags,
        /// Reason of a STOP or ABORT.
        pub status: u8,
        /// Segment number (DATA), or number of the last segment received in order (ACK).
        pub data1: Be32,
        /// Payload length in the first and last segment (DATA), or number of the window's last segment (ACK).
        pub data2: Be32,
    }
}

impl RmppHeader {
    /// Returns the header of a datagram with RMPP; the words depend on the type.
    pub(crate) const fn new(rmpp_type: RmppType, flags: RmppFlags, data1: u32, data2: u32) -> Self {
        let flags = flags.with_active(true);
        let (data1, data2) = (Be32::new(data1), Be32::new(data2));
        Self { version: RMPP_VERSION, rmpp_type, flags, status: 0, data1, data2 }
    }

    /// Returns the status as a code.
    #[must_use]
    pub const fn reason(&self) -> RmppStatus {
        RmppStatus::new(self.status)
    }
}
