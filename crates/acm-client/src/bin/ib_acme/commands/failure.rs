//! What ended a command.
use acm_client::fabric::FabricError;
use std::io;

/// Why there is no more to do.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A line that says it.
    Text(String),
    /// The output has it already.
    Said,
    /// Nobody reads any more.
    NoReader,
}

impl From<io::Error> for Failure {
    fn from(_: io::Error) -> Self {
        Self::NoReader
    }
}

impl From<FabricError> for Failure {
    fn from(error: FabricError) -> Self {
        Self::Text(error.to_string())
    }
}
