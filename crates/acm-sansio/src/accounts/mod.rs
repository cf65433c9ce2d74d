//! Accounts: shares and floors, fair queues, credits and windows. Nothing here knows the ACM protocol.
pub(crate) mod credit;
pub mod fair;
mod table;
pub(crate) mod window;

pub(crate) use table::{Accounts, CONNECTIONS_FLOOR, ENDING, FLOOR, Holding, most_connections};
