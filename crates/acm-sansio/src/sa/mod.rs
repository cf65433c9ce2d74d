//! Client of the subnet administrator: one queue per port, credits, retries, and notices.
mod client;
mod dispatch;
mod error;
mod notices;
mod pace;
mod query;
mod queue;
mod subscriptions;

pub use error::SaError;
pub use query::SaQuery;
pub(crate) use queue::{Progress, Purpose, SaQueues};
pub(crate) use subscriptions::Notices;
