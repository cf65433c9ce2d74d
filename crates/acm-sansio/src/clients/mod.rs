//! Clients: connections, messages, open requests, responses.
mod check;
mod completion;
mod conditions;
mod connections;
mod failures;
mod kernel;
mod messages;
mod requests;
mod state;

pub(crate) use completion::PathRequest;
pub(crate) use conditions::{Conditions, ResolvedAddress};
pub(crate) use failures::RequestSubject;
pub(crate) use messages::{Received, Room, Terms};
pub(crate) use requests::{OpenRequest, Requester, WaitingFor};
pub(crate) use state::Clients;
