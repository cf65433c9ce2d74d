//! A destination: its key, its states, its events, and who needs it.
//!
//! An event changes the state and returns an [`Action`]. The resolver carries the action out; nothing here sends,
//! queries or sets a timer.
mod checks;
mod destination;
mod doubts;
mod events;
mod freshness;
mod history;
mod key;
mod lookup;
mod remote;
mod request;
mod state;

pub(crate) use {
    checks::{CheckReason, Claim, HostCheck, Outcome, Renewal},
    destination::{BY_CLASS, BY_GID, Dest, EvictionClass, Origin},
    doubts::{Doubts, Proof},
    events::Action,
    freshness::Freshness,
    history::History,
    key::{DestKey, RouteKey},
    lookup::{Lookup, Responder},
    remote::{Remote, are_of_one_adapter},
    request::{MulticastRequest, Stage},
    state::{Checks, DestState, Failed, Routing, ServedPath, StateKind},
};
