//! Clients: connections, messages, open requests, and the response to each opcode.
mod completion;
mod connections;
mod endpoint;
mod failures;
mod messages;
mod query_sa;
mod requests;
mod resolve;
mod source;
mod yielding;

pub(crate) use connections::Connections;
#[cfg(test)]
pub(crate) use requests::OpenRequest;
pub(crate) use requests::{Requester, Requests, WaitingFor};
