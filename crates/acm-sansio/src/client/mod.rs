//! Clients: connections, messages, requests that wait, and an answer for each opcode.
mod connections;
mod counters;
mod endpoint;
mod failed;
mod messages;
mod query_sa;
mod requests;
mod resolve;
mod source;

pub(crate) use connections::Connections;
pub(crate) use failed::{About, FailedRequests};
pub(crate) use requests::{Asker, OpenRequest, Requests, Waiting};
