//! Why the loop ends before it is told to.
use crate::fabric::FabricError;
use std::io;

/// Why the loop ends before it is told to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoopError {
    /// It cannot wait for events.
    #[error("event loop: {0}")]
    Poll(io::Error),
    /// The fabric went away.
    #[error("{0}; start the fabric, then this daemon again")]
    FabricLost(FabricError),
}
