//! Methods of management datagrams.
use crate::code;

code! {
    /// Method of a request or response; the top bit marks responses (IBTA 13.4.5).
    pub struct Method(u8) {
        /// Request to read an attribute.
        GET = 0x01 "Get",
        /// Request to change an attribute.
        SET = 0x02 "Set",
        /// Response to Get and Set.
        GET_RESP = 0x81 "GetResp",
        /// Datagram without a response.
        SEND = 0x03 "Send",
        /// Notice sent to the subnet manager.
        TRAP = 0x05 "Trap",
        /// Notice forwarded to a subscriber.
        REPORT = 0x06 "Report",
        /// Response to Report.
        REPORT_RESP = 0x86 "ReportResp",
        /// Response to Trap: stops its repetition.
        TRAP_REPRESS = 0x07 "TrapRepress",
        /// Request for every matching record (subnet administration).
        GET_TABLE = 0x12 "GetTable",
        /// Response to GetTable.
        GET_TABLE_RESP = 0x92 "GetTableResp",
        /// Request for the nodes on a path (subnet administration).
        GET_TRACE_TABLE = 0x13 "GetTraceTable",
        /// Response to GetTraceTable.
        GET_TRACE_TABLE_RESP = 0x93 "GetTraceTableResp",
        /// Request for paths between groups of ports (subnet administration).
        GET_MULTI = 0x14 "GetMulti",
        /// Response to GetMulti.
        GET_MULTI_RESP = 0x94 "GetMultiResp",
        /// Request to remove a record (subnet administration).
        DELETE = 0x15 "Delete",
        /// Response to Delete.
        DELETE_RESP = 0x95 "DeleteResp",
    }
}

impl Method {
    /// True for a response to a request or a trap. Responses of baseboard management may have other methods; see
    /// [`MadHeader::is_response`](crate::MadHeader::is_response).
    #[must_use]
    pub const fn is_response(self) -> bool {
        self.get() & 0x80 != 0 || matches!(self, Self::TRAP_REPRESS)
    }

    /// Returns the method of the response (IBTA 13.4.5): `GetResp` for Get and Set, `TrapRepress` for Trap, and so on.
    /// `None` for Send and for responses.
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
    fn each_request_method_has_a_response_method() {
        for (request, answer) in [
            (Method::GET, Method::GET_RESP),
            (Method::SET, Method::GET_RESP),
            (Method::TRAP, Method::TRAP_REPRESS),
            (Method::REPORT, Method::REPORT_RESP),
            (Method::GET_TABLE, Method::GET_TABLE_RESP),
            (Method::GET_TRACE_TABLE, Method::GET_TRACE_TABLE_RESP),
            (Method::GET_MULTI, Method::GET_MULTI_RESP),
            (Method::DELETE, Method::DELETE_RESP),
            // A method of a vendor.
            (Method::new(0x41), Method::new(0xc1)),
        ] {
            assert_eq!((request.response(), request.is_response()), (Some(answer), false));
            assert_eq!((answer.response(), answer.is_response()), (None, true));
        }
        assert_eq!((Method::SEND.response(), Method::SEND.is_response()), (None, false));
    }
}
