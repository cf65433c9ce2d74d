//! Subnet administration's client: one queue for each port, credits, repetitions.
mod answers;
mod client;
mod credit;
mod error;
mod question;
mod queue;

pub use error::SaError;
pub use question::Question;
pub(crate) use queue::{Progress, Purpose, SaQueues};
