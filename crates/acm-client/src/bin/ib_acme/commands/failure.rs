//! The reason why a command failed.
use acm_client::fabric::FabricError;
use std::io;

/// The reason why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A message to print.
    Text(String),
    /// The message was printed already.
    Printed,
    /// The output is complete but for parts that cannot be had, which were named already.
    Partial,
    /// The reader of the output closed the pipe.
    BrokenPipe,
}

impl From<io::Error> for Failure {
    fn from(_: io::Error) -> Self {
        Self::BrokenPipe
    }
}

impl From<FabricError> for Failure {
    fn from(error: FabricError) -> Self {
        Self::Text(error.to_string())
    }
}
