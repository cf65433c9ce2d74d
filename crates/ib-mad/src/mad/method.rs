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
    /// Whether this answers a request.
    #[must_use]
    pub const fn is_response(self) -> bool {
        self.get() & 0x80 != 0
    }

    /// The method of the answer to this request: Set is answered by GetResp, as Get is.
    #[must_use]
    pub const fn response(self) -> Self {
        match self {
            Self::SET => Self::GET_RESP,
            other => Self::new(other.get() | 0x80),
        }
    }
}
