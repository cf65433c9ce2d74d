//! Error of received bytes.

/// Error of received bytes that are too short or have an invalid value.
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
}
