//! Codes of communication management.
use crate::code;

code! {
    /// Which message another one is about (IBTA 12.6.6, 12.6.7).
    pub struct CmMessage(u8) {
        /// A request for a connection (REQ).
        REQ = 0 "REQ",
        /// The reply to such a request (REP).
        REP = 1 "REP",
        /// An LAP; in a REJ: no message, but something else.
        LAP = 2 "LAP or none",
    }
}

code! {
    /// Transport that is asked for (IBTA 12.7.24).
    pub struct TransportService(u8) {
        /// Reliable connection.
        RC = 0 "RC",
        /// Unreliable connection.
        UC = 1 "UC",
        /// Reliable datagram.
        RD = 2 "RD",
        /// See [`ExtendedTransport`].
        EXTENDED = 3 "extended",
    }
}

code! {
    /// More transports (IBTA A14).
    pub struct ExtendedTransport(u8) {
        /// No extended transport.
        NONE = 0 "none",
        /// Extended reliable connection.
        XRC = 1 "XRC",
    }
}

code! {
    /// Why a connection is refused (IBTA 12.6.7.2).
    pub struct RejectReason(u16) {
        /// No queue pair is free.
        NO_QP = 1 "no QP available",
        /// No end-to-end context is free.
        NO_EEC = 2 "no EEC available",
        /// The sender has no resources for the connection.
        NO_RESOURCES = 3 "no resources available",
        /// No answer in time.
        TIMEOUT = 4 "timeout",
        /// The request is not supported.
        UNSUPPORTED = 5 "unsupported request",
        /// Wrong communication id.
        INVALID_COMM_ID = 6 "invalid communication id",
        /// Wrong communication instance.
        INVALID_COMM_INSTANCE = 7 "invalid communication instance",
        /// Nobody serves this service id.
        INVALID_SERVICE_ID = 8 "invalid service id",
        /// Wrong transport service type in the request.
        INVALID_TRANSPORT = 9 "invalid transport service type",
        /// The id is of an older connection.
        STALE_CONNECTION = 10 "stale connection",
        /// There is no reliable datagram channel.
        RDC_NOT_EXIST = 11 "RDC does not exist",
        /// Primary path: wrong GID.
        INVALID_GID = 12 "primary port GID rejected",
        /// Primary path: wrong LID.
        INVALID_LID = 13 "primary port LID rejected",
        /// Primary path: wrong service level.
        INVALID_SL = 14 "invalid primary SL",
        /// Primary path: wrong traffic class.
        INVALID_TRAFFIC_CLASS = 15 "invalid primary traffic class",
        /// Primary path: wrong hop limit.
        INVALID_HOP_LIMIT = 16 "invalid primary hop limit",
        /// Primary path: wrong rate.
        INVALID_PACKET_RATE = 17 "invalid primary packet rate",
        /// Alternate path: wrong GID.
        INVALID_ALT_GID = 18 "alternate port GID rejected",
        /// Alternate path: wrong LID.
        INVALID_ALT_LID = 19 "alternate port LID rejected",
        /// Alternate path: wrong service level.
        INVALID_ALT_SL = 20 "invalid alternate SL",
        /// Alternate path: wrong traffic class.
        INVALID_ALT_TRAFFIC_CLASS = 21 "invalid alternate traffic class",
        /// Alternate path: wrong hop limit.
        INVALID_ALT_HOP_LIMIT = 22 "invalid alternate hop limit",
        /// Alternate path: wrong rate.
        INVALID_ALT_PACKET_RATE = 23 "invalid alternate packet rate",
        /// Ask another port or manager.
        REDIRECT = 24 "port and CM redirection",
        /// Wrong MTU: the receiver of the request cannot use it.
        INVALID_MTU = 26 "invalid path MTU",
        /// Too few responder resources.
        INSUFFICIENT_RESPONDER_RESOURCES = 27 "insufficient responder resources",
        /// The service itself says no.
        CONSUMER = 28 "consumer reject",
        /// Wrong count of retries of a receiver that is not ready.
        INVALID_RNR_RETRY = 29 "RNR retry count rejected",
        /// The id is in use.
        DUPLICATE_COMM_ID = 30 "duplicate local communication id",
        /// Wrong class version.
        INVALID_CLASS_VERSION = 31 "unsupported class version",
        /// Primary path: wrong flow label.
        INVALID_FLOW_LABEL = 32 "invalid primary flow label",
        /// Alternate path: wrong flow label.
        INVALID_ALT_FLOW_LABEL = 33 "invalid alternate flow label",
        /// The service is elsewhere.
        SERVICE_HANDOFF = 0xffff "service handoff",
    }
}

code! {
    /// How a question about a service's queue pair went (IBTA 12.11.2).
    pub struct SidrStatus(u8) {
        /// The queue pair is in the answer.
        VALID = 0 "valid",
        /// Nobody serves this service id.
        UNSUPPORTED = 1 "service id not supported",
        /// The service says no.
        REJECTED = 2 "rejected by the service provider",
        /// No queue pair is free.
        NO_QP = 3 "no QP available",
        /// Ask elsewhere: the additional information says where.
        REDIRECT = 4 "redirect",
        /// Wrong class version.
        UNSUPPORTED_VERSION = 5 "unsupported version",
    }
}

code! {
    /// How the change to another path went (IBTA 12.8.2).
    pub struct AprStatus(u8) {
        /// The other path is loaded.
        SUCCESS = 0 "success",
        /// Wrong communication id.
        INVALID_COMM_ID = 1 "invalid communication id",
        /// Other paths are not supported.
        UNSUPPORTED = 2 "not supported",
        /// The receiver refuses the alternate path.
        REJECT = 3 "rejected",
        /// Ask elsewhere.
        REDIRECT = 4 "redirect",
        /// It is the path in use.
        IS_CURRENT = 5 "already the current path",
        /// Wrong queue pair or end-to-end context.
        INVALID_QPN = 6 "invalid QPN or EECN",
        /// Wrong LID in the alternate path.
        INVALID_LID = 7 "LID rejected",
        /// Wrong GID in the alternate path.
        INVALID_GID = 8 "GID rejected",
        /// Wrong flow label.
        INVALID_FLOW_LABEL = 9 "invalid flow label",
        /// Wrong traffic class.
        INVALID_TRAFFIC_CLASS = 10 "invalid traffic class",
        /// Wrong hop limit.
        INVALID_HOP_LIMIT = 11 "invalid hop limit",
        /// Wrong static rate in the alternate path.
        INVALID_PACKET_RATE = 12 "invalid packet rate",
        /// Wrong service level.
        INVALID_SL = 13 "invalid SL",
    }
}
