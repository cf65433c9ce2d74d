//! Subnet administration's client: one queue for each port, credits, repetitions; its notices.
mod answers;
mod client;
mod credit;
mod error;
mod notices;
mod question;
mod queue;
mod subscriptions;

pub use error::SaError;
pub use question::Question;
pub(crate) use queue::{Progress, Purpose, SaQueues};
pub(crate) use subscriptions::Notices;
