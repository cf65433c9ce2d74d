//! Why a message says nothing.
use super::attribute::AttributeType;
use ib_mad::DecodeError;

/// A message that asks for nothing that can be answered, or answers nothing. As a request, all but the first two
/// deserve an error answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelMessageError {
    /// It is not a message of the local service.
    #[error("a message of netlink client {client}, operation {operation}")]
    OtherClient {
        /// Netlink client, 6 bits; the local service is 4.
        client: u8,
        /// Operation of that client, 10 bits.
        operation: u16,
    },
    /// It says that there is no answer.
    #[error("an error answer")]
    ErrorAnswer,
    /// The local service has no such operation, or none known here.
    #[error("unknown operation {operation} of the local service")]
    UnknownOperation {
        /// Operation of that client, 10 bits.
        operation: u16,
    },
    /// An attribute that nobody may ignore is not known, or has no meaning in this request.
    #[error("unknown mandatory attribute {}", .0.get())]
    UnknownMandatory(AttributeType),
    /// The request lacks what it is about.
    #[error("no attribute {}", .0.get())]
    Missing(AttributeType),
    /// Its bytes are not what they should be.
    #[error(transparent)]
    Malformed(#[from] DecodeError),
}
