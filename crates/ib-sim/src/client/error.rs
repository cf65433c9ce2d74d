//! Errors between a program and the server.
use crate::proto::Refusal;
use ib_mad::DecodeError;
use std::io;

/// An error between a program and the server.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The socket failed.
    #[error("the simulated subnet's socket: {0}")]
    Io(#[from] io::Error),
    /// The server refused the connection.
    #[error("the simulated subnet refused: {0}")]
    Refused(Refusal),
    /// The server sent a message that is invalid in this version of the protocol.
    #[error("the simulated subnet sent a bad message: {0}")]
    BadMessage(#[from] DecodeError),
    /// The server closed the connection.
    #[error("the simulated subnet is gone")]
    Gone,
    /// The server is too slow: the datagram was not sent.
    #[error("no room to send")]
    Full,
    /// The node has no such port.
    #[error("the node has no port {0}")]
    NoSuchPort(u8),
    /// The port has no such P_Key index.
    #[error("the port has no P_Key index {0}")]
    NoSuchPkey(u16),
    /// Every queue pair number of the connection is in use.
    #[error("no queue pair number is left")]
    QpnsUsedUp,
}
