//! Codes of communication management.
use crate::code;

code! {
    /// Message to which an MRA or REJ responds (IBTA 12.6.6, 12.6.7).
    pub struct CmMessage(u8) {
        /// REQ, the request for a connection.
        REQ = 0 "REQ",
        /// REP, the reply to a request.
        REP = 1 "REP",
        /// LAP; in a REJ, no message.
        LAP = 2 "LAP or none",
    }
    /// Requested transport (IBTA 12.7.24).
    pub struct TransportService(u8) {
        /// Reliable connection (RC).
        RC = 0 "RC",
        /// Unreliable connection (UC).
        UC = 1 "UC",
        /// Reliable datagram (RD).
        RD = 2 "RD",
        /// Another transport, named by [`ExtendedTransport`].
        EXTENDED = 3 "extended",
    }
    /// Requested transport, if the service type is extended (IBTA A14).
    pub struct ExtendedTransport(u8) {
        /// No extended transport.
        NONE = 0 "none",
        /// Extended reliable connection.
        XRC = 1 "XRC",
    }
    /// Reason of a rejected connection (IBTA 12.6.7.2).
    pub struct RejectReason(u16) {
        /// No queue pair is available.
        NO_QP = 1 "no QP available",
        /// No end-to-end context is available.
        NO_EEC = 2 "no EEC available",
        /// The sender has no resources for the connection.
        NO_RESOURCES = 3 "no resources available",
        /// A message did not arrive in time.
        TIMEOUT = 4 "timeout",
        /// The request is not supported.
        UNSUPPORTED = 5 "unsupported request",
        /// The communication id is invalid.
        INVALID_COMM_ID = 6 "invalid communication id",
        /// The communication instance is invalid.
        INVALID_COMM_INSTANCE = 7 "invalid communication instance",
        /// No service has this service id.
        INVALID_SERVICE_ID = 8 "invalid service id",
        /// The transport service type is invalid.
        INVALID_TRANSPORT = 9 "invalid transport service type",
        /// The connection is stale: the id belongs to an older connection.
        STALE_CONNECTION = 10 "stale connection",
        /// The reliable datagram channel does not exist.
        RDC_NOT_EXIST = 11 "RDC does not exist",
        /// Primary path: the port GID is rejected.
        INVALID_GID = 12 "primary port GID rejected",
        /// Primary path: the port LID is rejected.
        INVALID_LID = 13 "primary port LID rejected",
        /// Primary path: the service level is invalid.
        INVALID_SL = 14 "invalid primary SL",
        /// Primary path: the traffic class is invalid.
        INVALID_TRAFFIC_CLASS = 15 "invalid primary traffic class",
        /// Primary path: the hop limit is invalid.
        INVALID_HOP_LIMIT = 16 "invalid primary hop limit",
        /// Primary path: the static rate is invalid.
        INVALID_PACKET_RATE = 17 "invalid primary packet rate",
        /// Alternate path: the port GID is rejected.
        INVALID_ALT_GID = 18 "alternate port GID rejected",
        /// Alternate path: the port LID is rejected.
        INVALID_ALT_LID = 19 "alternate port LID rejected",
        /// Alternate path: the service level is invalid.
        INVALID_ALT_SL = 20 "invalid alternate SL",
        /// Alternate path: the traffic class is invalid.
        INVALID_ALT_TRAFFIC_CLASS = 21 "invalid alternate traffic class",
        /// Alternate path: the hop limit is invalid.
        INVALID_ALT_HOP_LIMIT = 22 "invalid alternate hop limit",
        /// Alternate path: the static rate is invalid.
        INVALID_ALT_PACKET_RATE = 23 "invalid alternate packet rate",
        /// The requester is redirected to another port or connection manager.
        REDIRECT = 24 "port and CM redirection",
        /// The responder cannot use the path MTU.
        INVALID_MTU = 26 "invalid path MTU",
        /// The responder resources are insufficient.
        INSUFFICIENT_RESPONDER_RESOURCES = 27 "insufficient responder resources",
        /// The service itself rejects the connection.
        CONSUMER = 28 "consumer reject",
        /// The RNR retry count is rejected.
        INVALID_RNR_RETRY = 29 "RNR retry count rejected",
        /// The local communication id is in use.
        DUPLICATE_COMM_ID = 30 "duplicate local communication id",
        /// The class version is not supported.
        INVALID_CLASS_VERSION = 31 "unsupported class version",
        /// Primary path: the flow label is invalid.
        INVALID_FLOW_LABEL = 32 "invalid primary flow label",
        /// Alternate path: the flow label is invalid.
        INVALID_ALT_FLOW_LABEL = 33 "invalid alternate flow label",
        /// The service was handed off to another provider.
        SERVICE_HANDOFF = 0xffff "service handoff",
    }
    /// Status of a service id resolution (IBTA 12.11.2).
    pub struct SidrStatus(u8) {
        /// The response contains the queue pair.
        VALID = 0 "valid",
        /// No service has this service id.
        UNSUPPORTED = 1 "service id not supported",
        /// The service provider rejects the request.
        REJECTED = 2 "rejected by the service provider",
        /// No queue pair is available.
        NO_QP = 3 "no QP available",
        /// The service is elsewhere; the additional information has its address.
        REDIRECT = 4 "redirect",
        /// The class version is not supported.
        UNSUPPORTED_VERSION = 5 "unsupported version",
    }
    /// Status of an alternate path (IBTA 12.8.2).
    pub struct AprStatus(u8) {
        /// The alternate path is loaded.
        SUCCESS = 0 "success",
        /// The communication id is invalid.
        INVALID_COMM_ID = 1 "invalid communication id",
        /// Alternate paths are not supported.
        UNSUPPORTED = 2 "not supported",
        /// The receiver rejects the alternate path.
        REJECT = 3 "rejected",
        /// The requester is redirected.
        REDIRECT = 4 "redirect",
        /// The path is already the current path.
        IS_CURRENT = 5 "already the current path",
        /// The queue pair or end-to-end context is invalid.
        INVALID_QPN = 6 "invalid QPN or EECN",
        /// The LID of the alternate path is rejected.
        INVALID_LID = 7 "LID rejected",
        /// The GID of the alternate path is rejected.
        INVALID_GID = 8 "GID rejected",
        /// The flow label is invalid.
        INVALID_FLOW_LABEL = 9 "invalid flow label",
        /// The traffic class is invalid.
        INVALID_TRAFFIC_CLASS = 10 "invalid traffic class",
        /// The hop limit is invalid.
        INVALID_HOP_LIMIT = 11 "invalid hop limit",
        /// The static rate of the alternate path is invalid.
        INVALID_PACKET_RATE = 12 "invalid packet rate",
        /// The service level is invalid.
        INVALID_SL = 13 "invalid SL",
    }
}
