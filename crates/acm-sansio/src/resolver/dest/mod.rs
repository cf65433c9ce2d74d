//! A destination: its key, its states, its events, and who needs it.
//!
//! An event changes the state and returns an [`Action`]. The resolver carries the action out; nothing here sends,
//! queries or sets a timer.
mod destination;
mod events;
mod history;
mod key;
mod lookup;
mod recheck;
mod remote;
mod request;
mod state;

pub(crate) use {
    destination::{BY_CLASS, BY_GID, Dest, EvictionClass, Origin},
    events::Action,
    history::History,
    key::{DestKey, RouteKey},
    lookup::{Lookup, Responder},
    recheck::{Claim, Outcome, Recheck, Renewal, Verification},
    remote::{Remote, are_of_one_adapter},
    request::{MulticastRequest, Stage},
    state::{Checks, Confirmation, DestState, Failed, Ready, Routing, StateKind},
};
