//! A destination: its key, its states, the operations on it, and who needs them.
mod claim;
mod destination;
mod key;
mod lookup;
mod remote;
mod request;
mod state;

pub(crate) use {
    claim::{Claim, Next, Outcome},
    destination::{BY_CLASS, BY_GID, Dest, EvictionClass, Origin},
    key::{DestKey, RouteKey},
    lookup::{Lookup, Responder},
    remote::{Remote, are_of_one_adapter},
    request::{MulticastRequest, Stage},
    state::{Confirmation, DestState, Failed, Ready, Recheck, Renewal, Routing, StateKind, Verification},
};
