//! Subnet administration's client: one queue for each port, credits, repetitions; its notices.
mod answers;
mod client;
mod credit;
mod error;
mod notices;
mod question;
mod queue;

pub use error::SaError;
pub(crate) use notices::{Notices, check as check_notices};
pub use question::Question;
pub(crate) use queue::{Progress, Purpose, SaQueues};
