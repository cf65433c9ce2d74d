//! Errors of messages.
use super::attribute::AttributeType;
use ib_mad::DecodeError;

/// Error of a message that is not a valid request, or not a valid response. A request gets an error response for each
/// error except the first two.
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
    /// A mandatory attribute is unknown, or has no meaning in this request.
    #[error("unknown mandatory attribute {}", .0.get())]
    UnknownMandatory(AttributeType),
    /// A required attribute is missing.
    #[error("no attribute {}", .0.get())]
    Missing(AttributeType),
    /// The bytes of the message are malformed.
    #[error(transparent)]
    Malformed(#[from] DecodeError),
}
