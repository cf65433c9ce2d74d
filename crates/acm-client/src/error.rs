//! Errors of the client.
use crate::service::{Service, ServiceError};
use acm_wire::client::{ClientStatus, FrameError, Operation};
use core::time::Duration;
use std::io;

/// A violation of the protocol by the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// The bytes are not a message.
    #[error("not a message: {0}")]
    Frame(#[from] FrameError),
    /// The transaction id of the response belongs to no request in flight.
    #[error("a response without a request (transaction id {0:02x?})")]
    UnknownRequest([u8; 8]),
    /// The operation of the response differs from that of the request.
    #[error("requested {expected:?}, received {received:?}")]
    WrongOperation {
        /// The operation of the request.
        expected: Operation,
        /// The operation of the response.
        received: Operation,
    },
    /// A successful response lacks its content.
    #[error("a successful {operation:?} of {length} bytes has no content")]
    NoContent {
        /// The operation of the response.
        operation: Operation,
        /// Length of the message in bytes.
        length: usize,
    },
}

/// The reason why a request has no response, without the address of the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    Refused(ClientStatus),
    TimedOut(Duration),
    Queued(Duration),
    /// An error number.
    Connect(i32),
    Closed,
    Protocol(ProtocolError),
    Cancelled,
}

impl Failure {
    pub(crate) fn at(self, service: &Service) -> ClientError {
        let service = service.clone();
        match self {
            Self::Refused(status) => ClientError::Refused { service, status },
            Self::TimedOut(after) => ClientError::TimedOut { service, after },
            Self::Queued(after) => ClientError::Queued { service, after },
            Self::Connect(errno) => ClientError::Connect { service, source: io::Error::from_raw_os_error(errno) },
            Self::Closed => ClientError::Closed { service },
            Self::Protocol(source) => ClientError::Protocol { service, source },
            Self::Cancelled => ClientError::Cancelled,
        }
    }
}

/// The reason why there is no response.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The address of the daemon is unknown.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// The daemon cannot be reached. During a restart of the daemon, a request waits for its whole time limit before
    /// this error.
    #[error("{service}: {source}; is ibacm or acm-mio running?")]
    Connect {
        /// The address of the daemon.
        service: Service,
        /// The error of the system.
        source: io::Error,
    },
    /// The daemon closed three connections without a response to the request, the last one when nothing else was in
    /// flight: the request may be the cause.
    #[error("{service}: the daemon closed three connections without a response")]
    Closed {
        /// The address of the daemon.
        service: Service,
    },
    /// The daemon has the request, and has not responded within the time limit.
    #[error("{service}: no answer within {after:?}")]
    TimedOut {
        /// The address of the daemon.
        service: Service,
        /// The time limit.
        after: Duration,
    },
    /// The request was not sent within the time limit, because requests before it have no responses.
    #[error("{service}: {after:?} have passed before requests in front of this one were answered")]
    Queued {
        /// The address of the daemon.
        service: Service,
        /// The time limit.
        after: Duration,
    },
    /// The number of open requests has reached [`Options::depth`](crate::Options::depth).
    #[error("{service}: {open} requests are not answered yet")]
    Full {
        /// The address of the daemon.
        service: Service,
        /// The number of open requests.
        open: usize,
    },
    /// The caller has cancelled the request.
    #[error("cancelled")]
    Cancelled,
    /// The daemon violated the protocol.
    #[error("{service}: {source}")]
    Protocol {
        /// The address of the daemon.
        service: Service,
        /// The violation.
        source: ProtocolError,
    },
    /// The daemon responded with an error status.
    #[error("{service}: {status}")]
    Refused {
        /// The address of the daemon.
        service: Service,
        /// The status.
        status: ClientStatus,
    },
}

impl ClientError {
    /// Returns the daemon's status, if there is one.
    #[must_use]
    pub const fn status(&self) -> Option<ClientStatus> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }
}
