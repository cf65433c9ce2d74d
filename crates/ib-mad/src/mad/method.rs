//! Methods.
use crate::code;

code! {
    /// What a datagram asks or answers; the top bit marks answers (IBTA 13.4.5).
    pub struct Method(u8) {
        /// Read an attribute.
        GET = 0x01 "Get",
        /// Change an attribute.
        SET = 0x02 "Set",
        /// Answer to Get and Set.
        GET_RESP = 0x81 "GetResp",
        /// One datagram without an answer.
        SEND = 0x03 "Send",
        /// A notice.
        TRAP = 0x05 "Trap",
        /// A forwarded notice.
        REPORT = 0x06 "Report",
        /// Answer to Report.
        REPORT_RESP = 0x86 "ReportResp",
        /// Stop repeating a notice.
        TRAP_REPRESS = 0x07 "TrapRepress",
        /// Read a table (subnet administration).
        GET_TABLE = 0x12 "GetTable",
        /// Answer to GetTable.
        GET_TABLE_RESP = 0x92 "GetTableResp",
        /// Paths through a switch (subnet administration).
        GET_TRACE_TABLE = 0x13 "GetTraceTable",
        /// Answer to GetTraceTable.
        GET_TRACE_TABLE_RESP = 0x93 "GetTraceTableResp",
        /// Read paths between groups of ports (subnet administration).
        GET_MULTI = 0x14 "GetMulti",
        /// Answer to GetMulti.
        GET_MULTI_RESP = 0x94 "GetMultiResp",
        /// Remove a record (subnet administration).
        DELETE = 0x15 "Delete",
        /// Answer to Delete.
        DELETE_RESP = 0x95 "DeleteResp",
    }
}

impl Method {
    /// Whether this answers a request or a trap. Baseboard management has answers with other methods:
    /// [`MadHeader::is_response`](crate::MadHeader::is_response).
    #[must_use]
    pub const fn is_response(self) -> bool {
        self.get() & 0x80 != 0 || matches!(self, Self::TRAP_REPRESS)
    }

    /// The method of the answer to this (IBTA 13.4.5): to Get and Set `GetResp`, to Trap `TrapRepress`, and so on.
    /// `None` if nothing answers it: a Send, and what is an answer itself.
    #[must_use]
    pub const fn response(self) -> Option<Self> {
        match self {
            Self::SEND => None,
            Self::SET => Some(Self::GET_RESP),
            Self::TRAP => Some(Self::TRAP_REPRESS),
            own if own.is_response() => None,
            own => Some(Self::new(own.get() | 0x80)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_has_its_answer() {
        for (request, answer) in [
            (Method::GET, Method::GET_RESP),
            (Method::SET, Method::GET_RESP),
            (Method::TRAP, Method::TRAP_REPRESS),
            (Method::REPORT, Method::REPORT_RESP),
            (Method::GET_TABLE, Method::GET_TABLE_RESP),
            (Method::GET_TRACE_TABLE, Method::GET_TRACE_TABLE_RESP),
            (Method::GET_MULTI, Method::GET_MULTI_RESP),
            (Method::DELETE, Method::DELETE_RESP),
            // A vendor's.
            (Method::new(0x41), Method::new(0xc1)),
        ] {
            assert_eq!((request.response(), request.is_response()), (Some(answer), false));
            assert_eq!((answer.response(), answer.is_response()), (None, true));
        }
        assert_eq!((Method::SEND.response(), Method::SEND.is_response()), (None, false));
    }
}
