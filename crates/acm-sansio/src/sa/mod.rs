//! Client of the subnet administrator: one queue per port, credits, retries, and notices.
mod client;
mod notices;
mod pace;
mod query;
mod queue;
mod subscriptions;

pub(crate) use client::Outcome;
pub use query::SaQuery;
pub(crate) use queue::{Progress, Purpose, SaQueues};
pub(crate) use subscriptions::Notices;
