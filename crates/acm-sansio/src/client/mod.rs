//! Clients: connections, messages, requests that wait, and an answer for each opcode.
mod about;
mod answers;
mod connections;
mod counters;
mod endpoint;
mod failed;
mod messages;
mod query_sa;
mod requests;
mod resolve;
mod source;

pub(crate) use about::FailedRequests;
pub(crate) use connections::Connections;
#[cfg(test)]
pub(crate) use requests::OpenRequest;
pub(crate) use requests::{Asker, Requests, Waiting};
