//! What can be wrong with received bytes.

/// Received bytes that are not what they should be. Small and `Copy`: making one never allocates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The buffer ends before the structure does.
    #[error("{what} needs {need} bytes, got {got}")]
    TooShort {
        /// The structure that was looked for.
        what: &'static str,
        /// Bytes that it takes.
        need: usize,
        /// Bytes that there were.
        got: usize,
    },
    /// A field has a value that rules out what was asked.
    #[error("{what}: value {value:#x} is not valid here")]
    BadValue {
        /// The field.
        what: &'static str,
        /// What it held.
        value: u64,
    },
}
