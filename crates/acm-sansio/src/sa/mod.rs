//! Client of the subnet administrator: one queue per port, credits, retries, and notices.
mod check;
mod client;
mod gauge;
mod load;
mod notices;
mod pace;
mod query;
mod queue;
mod subscriptions;

pub(crate) use client::SaClient;
pub use notices::Notice;
pub use query::SaQuery;
pub(crate) use queue::Purpose;
