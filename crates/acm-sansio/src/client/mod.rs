//! Clients: connections, messages, requests that wait, and an answer for each opcode.
mod about;
mod connections;
mod counters;
mod endpoint;
mod failed;
mod messages;
mod query_sa;
mod requests;
mod resolve;
mod source;

pub(crate) use about::{About, FailedRequests};
pub(crate) use connections::Connections;
pub(crate) use requests::{Asker, OpenRequest, Requests, Waiting};
