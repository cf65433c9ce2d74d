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

/// The reason why a [`Connection`](crate::Connection) did not accept a request.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The number of requests in flight has reached [`Options::depth`](crate::Options::depth).
    #[error("{0} requests are not answered yet")]
    Full(usize),
    /// The connection is unusable.
    #[error(transparent)]
    Connection(#[from] ClientError),
}

/// The reason why there is no response.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The address of the daemon is unknown.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// The daemon cannot be reached.
    #[error("{service}: {source}; is ibacm or acm-mio running?")]
    Connect {
        /// The address of the daemon.
        service: Service,
        /// The error of the system.
        source: io::Error,
    },
    /// Reading from or writing to the connection failed.
    #[error("{service}: {source}")]
    Io {
        /// The address of the daemon.
        service: Service,
        /// The error of the system.
        source: io::Error,
    },
    /// The daemon closed the connection or exited.
    #[error("{service}: the daemon closed the connection")]
    Closed {
        /// The address of the daemon.
        service: Service,
    },
    /// No response was received within the time limit.
    #[error("{service}: no answer within {after:?}")]
    TimedOut {
        /// The address of the daemon.
        service: Service,
        /// The time limit.
        after: Duration,
    },
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

    /// Reports whether the connection is lost. A new connection may succeed.
    #[must_use]
    pub const fn is_lost(&self) -> bool {
        matches!(self, Self::Io { .. } | Self::Closed { .. })
    }
}
