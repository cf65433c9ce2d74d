//! Errors of messages.
use super::attribute::AttributeType;
use ib_mad::DecodeError;

/// Error of an invalid request or response. An invalid request gets an error response, except for
/// [`OtherClient`](Self::OtherClient) and [`ErrorResponse`](Self::ErrorResponse).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelMessageError {
    /// The message is not from the local service.
    #[error("a message of netlink client {client}, operation {operation}")]
    OtherClient {
        /// Netlink client, 6 bits; the local service is 4.
        client: u8,
        /// Operation of that client, 10 bits.
        operation: u16,
    },
    /// The message is an error response.
    #[error("an error answer")]
    ErrorResponse,
    /// The operation of the local service is unknown.
    #[error("unknown operation {operation} of the local service")]
    UnknownOperation {
        /// Operation of the local service, 10 bits.
        operation: u16,
    },
    /// A mandatory attribute is unknown or unexpected in this message.
    #[error("unknown mandatory attribute {}", .0.get())]
    UnknownMandatory(AttributeType),
    /// A required attribute is missing.
    #[error("no attribute {}", .0.get())]
    Missing(AttributeType),
    /// The bytes of the message are malformed.
    #[error(transparent)]
    Malformed(#[from] DecodeError),
}
