//! Clients: connections, messages, open requests, and the response to each opcode.
mod completion;
mod connections;
mod failures;
mod requests;

pub(crate) use connections::Connections;
pub(crate) use failures::RequestSubject;
pub(crate) use requests::{OpenRequest, Requester, Requests, WaitingFor};
