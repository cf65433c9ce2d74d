//! The interface of a resolution protocol.
//!
//! A provider acts only through the [`Context`] that it gets with each call. It does not know which client waits: it
//! returns a [`Token`] for an operation in progress and completes the token once. It charges each account that needs a
//! lookup.
mod context;

pub use crate::sa::Notice;
use crate::{
    accounts::fair::Urgency,
    api::{
        CacheEntry, DatagramSource, GaugeSink, Names, SaError,
        account::AccountId,
        failure::{Attempt, AttemptDetails, Failure},
        id::{DestId, EndpointId, PortId, Token},
        preload::Preload,
    },
};
pub use crate::{ports::Endpoint, shared::Shared};
use acm_wire::Address;
use alloc::string::String;
pub use context::Context;
use core::fmt;
use ib_mad::{
    Gid, Lid, MadRef, Wire,
    sa::{PathRecord, Query, SaMad},
};

/// The account that a request is charged to, and what happens if the result is not available at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// The account to charge for the lookup.
    pub account: AccountId,
    /// The behaviour of the requester if the result is not available at once.
    pub if_pending: IfPending,
}

/// The behaviour of a requester if the result is not available at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfPending {
    /// The requester waits until the lookup is complete, or disconnects.
    Waits,
    /// The requester does not wait (NODELAY), and the provider decides the result. Only its response is awaited.
    AsksProvider,
    /// The requester does not wait (NODELAY) and leaves a ticket: the lookup continues and fills the cache.
    LeavesTicket,
    /// The requester must not wait, because a limit is reached: without an available result the request fails.
    MayNotWait,
}

impl Need {
    /// Returns the position of the requester among the requests of its account.
    pub(crate) fn urgency(self) -> Urgency {
        match self.if_pending {
            IfPending::LeavesTicket => Urgency::Ticket,
            IfPending::Waits | IfPending::AsksProvider | IfPending::MayNotWait => Urgency::Waited,
        }
    }
}

/// A provider's result for a path request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// The path.
    Ready(PathRecord),
    /// A lookup is in progress: [`Context::complete`] will be called with this token.
    Pending(Token),
    /// The request fails.
    Failed(Attempt),
}

impl From<Failure> for Resolution {
    /// Creates a failure without any attempts.
    fn from(failure: Failure) -> Self {
        Self::Failed(failure.into())
    }
}

/// A change of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortEvent {
    /// The port became active.
    Up,
    /// The port is active with another LID, LMC or GID: paths from the old one are invalid.
    Moved,
    /// The subnet manager has another address. It may not have our multicast memberships, and may give other paths.
    OtherManager,
    /// The port has another MTU or rate.
    OtherLink,
    /// The port is no longer active.
    Down,
    /// The subnet manager lost its multicast memberships.
    Reregister,
}

/// The destination of a path.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// A name or an IP address.
    Address {
        /// The address of the endpoint that the requester named.
        source: &'a Address,
        /// The address to resolve.
        dest: &'a Address,
    },
    /// A port, given by LID or GID. The other fields restrict the path.
    Port(&'a PathRecord),
}

/// A change of a port of the provider's subnets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortChange {
    /// The port is active: it came up, or its attributes may have changed.
    Active,
    /// The port is no longer active, or another provider serves it. Its endpoints were closed before, or got
    /// [`PortEvent::Down`].
    Inactive,
    /// The subnet administrator sent a notice.
    Noticed(Notice),
}

/// A change of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointChange<'a> {
    /// It has a queue pair, or another one than before.
    Opened,
    /// Its queue pair is attached to the group with this GID and LID.
    Attached(Gid, Lid),
    /// It is removed after the call. Operations in progress on it must be completed now.
    Closing,
    /// It has a new address.
    AddressAdded(&'a Address),
    /// It has lost an address.
    AddressRemoved(&'a Address),
    /// An address moved to or from another endpoint of this machine: information cached for this one is invalid.
    AddressMoved(&'a Address),
    /// Its port changed.
    Port(PortEvent),
    /// The subnet administrator has no path for the query of a client.
    NoPath(&'a Query<PathRecord>),
}

/// Returns the response to a query that has at most one record. A response with further segments is cut.
///
/// # Errors
/// Those of the query; [`SaError::BadResponse`] if the response is shorter than a MAD.
pub fn single(result: Result<MadRef<'_>, SaError>) -> Result<&SaMad, SaError> {
    let mad = result?;
    SaMad::parse_prefix(mad.as_bytes()).map(|(mad, _)| mad).map_err(|_| SaError::BadResponse)
}

/// A resolution protocol: the built-in one, or the adapter for a provider outside of the core.
///
/// All methods act through the [`Context`]. They are in four groups: local changes, requests, what arrives from the
/// fabric, and time.
pub trait Provider: Observe {
    /// Called when a port of its subnets changed.
    fn port_changed(&mut self, _cx: &mut Context, _port: PortId, _change: PortChange) {}
    /// Called when an endpoint, or its port, changed.
    fn endpoint_changed(&mut self, cx: &mut Context, endpoint: EndpointId, change: EndpointChange<'_>);
    /// Called when routes or addresses were loaded from a file. They replace the previous table.
    fn preload(&mut self, _cx: &mut Context, _preload: Preload) {}

    /// Called to remove these destinations from the cache, so that the next request for each starts a new lookup.
    fn flush(&mut self, _cx: &mut Context, _ids: &[DestId]) {}

    /// Returns the path from an endpoint to a target.
    fn resolve(&mut self, cx: &mut Context, endpoint: EndpointId, target: Target<'_>, need: Need) -> Resolution;
    /// Called when a waiting request of an account ends before its lookup, because its client disconnected or its
    /// deadline passed. With `ticket`, the lookup continues for the cache and stays charged to the account. Returns
    /// what was tried so far.
    fn waiter_left(&mut self, cx: &mut Context, token: Token, account: AccountId, ticket: bool) -> AttemptDetails;
    /// Ends an account's need of the lookup that it queued last with this urgency, because an account below its floor
    /// needs room. Its requests fail with [`Bound::Lookups`](crate::api::failure::Bound::Lookups); those of other
    /// accounts wait on. Returns `false` if no such lookup is queued.
    fn cancel_queued(&mut self, _cx: &mut Context, _account: AccountId, _urgency: Urgency) -> bool {
        false
    }

    /// Called when a datagram arrived at an endpoint with a queue pair of the core.
    fn datagram(&mut self, _cx: &mut Context, _endpoint: EndpointId, _source: &DatagramSource, _payload: &[u8]) {}
    /// Called when the subnet administrator has answered a [`Context::sa_query`], or when it will not. The response is
    /// a MAD; the response to [`SaQuery::PathTable`](crate::sa::SaQuery::PathTable) is a message of any length.
    fn sa_done(&mut self, cx: &mut Context, endpoint: EndpointId, token: Token, result: Result<MadRef<'_>, SaError>);

    /// Called when the timer of [`Shared::set_timer`] is due.
    fn timeout(&mut self, cx: &mut Context, token: Token);

    /// Called after each input and timer: emits the changes of published paths before all other outputs, if
    /// [`Config::shared_cache`](crate::Config::shared_cache) is set.
    fn emit_publications(&mut self, _cx: &mut Context) {}
}

/// The state of a provider, for logs, metrics, reports and tests. These methods change nothing.
pub trait Observe: fmt::Debug {
    /// Returns the purpose of a timer, for the log.
    fn timer_name(&self, token: Token) -> &'static str;
    /// Calls `emit` for each counter that is not one of the core's.
    fn each_stat(&self, _emit: &mut dyn FnMut(&'static str, u64)) {}
    /// Calls `emit` for each gauge. The cost does not grow with the cache.
    fn each_gauge(&self, cx: &Context, emit: GaugeSink<'_>);
    /// Returns a path of [`Acm::fresh_path`](crate::Acm::fresh_path).
    fn fresh_path(&self, _cx: &Context, _endpoint: EndpointId, _dest: &Address) -> Option<PathRecord> {
        None
    }
    /// Calls `emit` for the cache entries in the next slots from `from` on, of which it visits a limited number.
    /// Returns the slot after them, or `None` at the end.
    fn entries(&self, _from: usize, _emit: &mut dyn FnMut(CacheEntry)) -> Option<usize> {
        None
    }
    /// Returns the GID that a preload file has for an address.
    fn host_in_file(&self, _address: &Address) -> Option<Gid> {
        None
    }
    /// Writes its part of [`Acm::report`](crate::Acm::report).
    ///
    /// # Errors
    /// Those of the formatter.
    fn report(&self, cx: &Context, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result;
    /// Checks its invariants, for tests and fuzzing, and calls `charged` once for each account and each lookup that the
    /// account is charged for. The cost may grow with the state.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    fn check(&self, cx: &Context, charged: &mut dyn FnMut(AccountId)) -> Result<(), String>;
}
