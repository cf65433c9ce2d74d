//! Errors of received bytes, of texts, and of numbers.

/// Error of received bytes that are too short, have an invalid value, or are a response without data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The buffer ends before the structure does.
    #[error("{what} needs {need} bytes, got {got}")]
    TooShort {
        /// Name of the expected structure.
        what: &'static str,
        /// Size of the structure, in bytes.
        need: usize,
        /// Number of bytes in the buffer.
        got: usize,
    },
    /// A field has a value that is invalid for the operation.
    #[error("{what}: value {value:#x} is not valid here")]
    BadValue {
        /// Name of the field.
        what: &'static str,
        /// Value of the field.
        value: u64,
    },
    /// The datagram is a response that reports an error. Its data is not what was requested.
    /// [`DecodeError::status`] returns the status.
    #[error("the response has no data: status {status:#06x}")]
    ErrorResponse {
        /// Status of the response, without the direction bit of a directed route.
        status: u16,
    },
}

/// Error of a text that is not the expected identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a {what}")]
#[non_exhaustive]
pub struct ParseIdError {
    /// The expected identifier.
    pub what: &'static str,
}

/// Error of a number that is too large for its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {value:#x} is over {max:#x}")]
#[non_exhaustive]
pub struct OutOfRange {
    /// Name of the type.
    pub what: &'static str,
    /// The number.
    pub value: u64,
    /// The largest value of the type.
    pub max: u64,
}
