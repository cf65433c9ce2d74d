//! What numbers of the moment are of.
use crate::{
    account::AccountKind,
    id::{PortId, ProviderId},
};
use ib_mad::Pkey;

/// What a number is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Of {
    /// The whole daemon, not one of its parts.
    Daemon,
    /// All accounts of a kind.
    Account(AccountKind),
    /// A port, with all of its partitions.
    Port(PortId),
    /// Those who wait at a port: accounts here, or strangers.
    PortQueue(PortId, Waiting),
    /// An endpoint: a port in a partition.
    Endpoint(PortId, Pkey),
    /// Those who wait at an endpoint.
    EndpointQueue(PortId, Pkey, Waiting),
    /// A provider outside of the core.
    Provider(ProviderId),
    /// Destinations in this state.
    State(&'static str),
}

/// For whom something waits in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Waiting {
    /// Accounts of this node: its users, its kernel, the daemon itself, and peers by TCP.
    Local,
    /// Peers on the fabric that nobody here asked for.
    Strangers,
}

/// Takes a number: its name, what it is of, its value.
pub type Tell<'a> = &'a mut dyn FnMut(&'static str, Of, usize);
