//! What can go wrong.
use crate::service::{Service, ServiceError};
use acm_wire::client::{ClientStatus, FrameError, Operation};
use core::time::Duration;
use std::io;

/// Bytes that are no answer to what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// They are no message.
    #[error("not a message: {0}")]
    Frame(#[from] FrameError),
    /// No request that is open has this transaction id.
    #[error("an answer to what was not asked (transaction id {0:02x?})")]
    NotAsked([u8; 8]),
    /// The answer is one to another kind of request.
    #[error("asked for {asked:?}, answered {answered:?}")]
    Other {
        /// The operation of the request.
        asked: Operation,
        /// The operation of the answer.
        answered: Operation,
    },
    /// It says success, and does not hold what it should.
    #[error("a successful {operation:?} of {length} bytes has nothing in it")]
    NoContent {
        /// The answer's operation.
        operation: Operation,
        /// Bytes of the message.
        length: usize,
    },
}

/// Why a [`Connection`](crate::Connection) takes no request.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// So many requests are not answered yet, [`Options::depth`](crate::Options::depth).
    #[error("{0} requests are not answered yet")]
    Full(usize),
    /// The connection is of no use any more.
    #[error(transparent)]
    Connection(#[from] ClientError),
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// It is not known where the daemon is.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// The daemon cannot be reached.
    #[error("{service}: {source}; is ibacm or acm-mio running?")]
    Connect {
        /// Where it was looked for.
        service: Service,
        /// What the system says.
        source: io::Error,
    },
    /// The connection broke.
    #[error("{service}: {source}")]
    Io {
        /// The daemon's place.
        service: Service,
        /// What the system says.
        source: io::Error,
    },
    /// The daemon closed the connection, or ended.
    #[error("{service}: the daemon closed the connection")]
    Closed {
        /// The daemon's place.
        service: Service,
    },
    /// No answer came in time.
    #[error("{service}: no answer within {after:?}")]
    TimedOut {
        /// The daemon's place.
        service: Service,
        /// How long was waited.
        after: Duration,
    },
    /// What came is no answer.
    #[error("{service}: {source}")]
    Protocol {
        /// The daemon's place.
        service: Service,
        /// What is wrong with it.
        source: ProtocolError,
    },
    /// The daemon answered that it has no answer.
    #[error("{service}: {status}")]
    Refused {
        /// The daemon's place.
        service: Service,
        /// What it says.
        status: ClientStatus,
    },
}

impl ClientError {
    /// The status that the daemon gave, if it gave one.
    #[must_use]
    pub const fn status(&self) -> Option<ClientStatus> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Whether the connection is gone, so that another one may work.
    #[must_use]
    pub const fn is_lost(&self) -> bool {
        matches!(self, Self::Io { .. } | Self::Closed { .. })
    }
}
