//! What numbers of the moment are of.
use crate::{
    account::AccountKind,
    id::{PortId, ProviderId},
};
use ib_mad::Pkey;

/// What a number is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Of {
    /// The daemon.
    Daemon,
    /// All accounts of a kind.
    Account(AccountKind),
    /// A port.
    Port(PortId),
    /// Those who wait at a port: accounts here, or strangers.
    PortQueue(PortId, Waiting),
    /// An endpoint.
    Endpoint(PortId, Pkey),
    /// Those who wait at an endpoint.
    EndpointQueue(PortId, Pkey, Waiting),
    /// A provider outside of the core.
    Provider(ProviderId),
    /// Destinations in this state.
    State(&'static str),
}

/// Who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Waiting {
    /// Accounts here.
    Local,
    /// Strangers.
    Strangers,
}

/// Takes a number: its name, what it is of, its value.
pub type Tell<'a> = &'a mut dyn FnMut(&'static str, Of, usize);
