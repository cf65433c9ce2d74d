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
        DatagramSource, GaugeSink, Names, SaError,
        account::AccountId,
        failure::{Attempt, AttemptDetails, Failure},
        id::{EndpointId, PortId, Token},
        preload::Preload,
    },
};
pub use crate::{cx::Cx, ports::Endpoint};
use acm_wire::Address;
use alloc::string::String;
pub use context::Context;
use core::fmt;
use ib_mad::{
    MadRef,
    sa::{PathRecord, SaMad},
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

/// A provider's result for the counters of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountersResolution {
    /// The core's counters apply.
    OfCore,
    /// The provider has counters of its own: [`Context::complete_counters`] will be called with this token.
    Pending(Token),
    /// The request fails.
    Failed(Failure),
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
    /// The subnet manager has another address. It may not have our multicast memberships.
    OtherManager,
    /// The port has another MTU or rate.
    OtherLink,
    /// The port is no longer active.
    Down,
    /// The subnet manager lost its multicast memberships.
    Reregister,
}

/// A resolution protocol.
pub trait Provider: fmt::Debug {
    /// Returns its name, as in EP responses.
    fn name(&self) -> &str;
    /// Reports whether its endpoints use queue pairs of the core. A provider with queue pairs of its own reports the
    /// state of its endpoints: [`Context::set_endpoint_open`], [`Context::endpoint_open_failed`].
    fn has_queue_pairs(&self) -> bool {
        true
    }
    /// Reports whether it answers NODELAY requests itself ([`IfPending::AsksProvider`]).
    fn handles_no_delay(&self) -> bool {
        false
    }
    /// Called when a port of its subnets is active: when it comes up, and whenever its attributes may have changed.
    fn open_port(&mut self, _cx: &mut Context, _port: PortId) {}
    /// Called when a port is no longer active, or another provider serves it. Its endpoints were closed before, or got
    /// [`PortEvent::Down`].
    fn close_port(&mut self, _cx: &mut Context, _port: PortId) {}
    /// Reports whether nothing is open. The shutdown waits for this, within its time-out.
    fn is_closed(&self) -> bool {
        true
    }
    /// Called when an endpoint has a queue pair, or another one than before.
    fn open_endpoint(&mut self, cx: &mut Context, endpoint: EndpointId);
    /// Called before an endpoint is removed. Operations in progress on it must be completed now.
    fn close_endpoint(&mut self, cx: &mut Context, endpoint: EndpointId);
    /// Called when an endpoint has a new address.
    fn add_address(&mut self, cx: &mut Context, endpoint: EndpointId, address: &Address);
    /// Called when an endpoint has lost an address.
    fn remove_address(&mut self, cx: &mut Context, endpoint: EndpointId, address: &Address);
    /// Called when an address moved to or from another endpoint of this machine: information cached for `endpoint` is
    /// invalid.
    fn invalidate_address(&mut self, cx: &mut Context, endpoint: EndpointId, address: &Address);
    /// Returns the path from an endpoint's address to another address.
    fn resolve(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        source: &Address,
        dest: &Address,
        need: Need,
    ) -> Resolution;
    /// Returns the path from an endpoint to a port given by LID or GID. Other fields of `path` restrict the result.
    fn route(&mut self, cx: &mut Context, endpoint: EndpointId, path: &PathRecord, need: Need) -> Resolution;
    /// Returns the counters of an endpoint.
    fn counters(&mut self, _cx: &mut Context, _endpoint: EndpointId, _need: Need) -> CountersResolution {
        CountersResolution::OfCore
    }
    /// Called when a waiting request of an account ends because its client disconnected. With `ticket`, the lookup
    /// continues for the cache and stays charged to the account.
    fn waiter_left(&mut self, cx: &mut Context, token: Token, account: AccountId, ticket: bool);
    /// Ends an account's need of the lookup that it queued last with this urgency, because an account below its floor
    /// needs room. Its requests fail with [`Bound::Lookups`](crate::api::failure::Bound::Lookups); those of other accounts
    /// wait on. Returns `false` if no such lookup is queued.
    fn cancel_queued(&mut self, _cx: &mut Context, _account: AccountId, _urgency: Urgency) -> bool {
        false
    }
    /// Returns what was tried so far for the operation of a token.
    fn attempt_details(&self, _cx: &Context, _token: Token) -> AttemptDetails {
        AttemptDetails::default()
    }
    /// Called when routes or addresses were loaded from a file. They replace the previous table.
    fn preload(&mut self, cx: &mut Context, preload: Preload);
    /// Called when a datagram arrived.
    fn datagram(&mut self, cx: &mut Context, endpoint: EndpointId, source: &DatagramSource, payload: &[u8]);
    /// Called when the subnet administrator has answered a [`Context::sa_query`], or when it will not.
    fn sa_done(&mut self, cx: &mut Context, endpoint: EndpointId, token: Token, result: Result<&SaMad, SaError>);
    /// Called instead of [`Provider::sa_done`] with a table: the response to
    /// [`SaQuery::PathTable`](crate::sa::SaQuery::PathTable), a message of any length.
    fn sa_table(&mut self, _cx: &mut Context, _endpoint: EndpointId, _token: Token, _table: MadRef<'_>) {}
    /// Called when the timer of [`Context::set_timer`] is due.
    fn timeout(&mut self, cx: &mut Context, token: Token);
    /// Returns the purpose of a timer, for the log.
    fn timer_name(&self, token: Token) -> &'static str;
    /// Called when something happened to an endpoint's port.
    fn port_event(&mut self, cx: &mut Context, endpoint: EndpointId, event: PortEvent);
    /// Called when the subnet administrator sent a notice about the subnet of a port.
    fn noticed(&mut self, cx: &mut Context, port: PortId, notice: Notice);
    /// Calls `emit` for each of its counters.
    fn each_stat(&self, emit: &mut dyn FnMut(&'static str, u64));
    /// Calls `emit` for each of its gauges. The cost does not grow with the cache.
    fn each_gauge(&self, cx: &Context, emit: GaugeSink<'_>);
    /// Writes its part of [`Acm::report`](crate::Acm::report).
    ///
    /// # Errors
    /// Those of the formatter.
    fn report(&self, cx: &Context, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result;
    /// Calls `emit` once for each account and each lookup that it is charged for: for
    /// [`Acm::check`](crate::Acm::check).
    fn each_lookup(&self, _tell: &mut dyn FnMut(AccountId)) {}
    /// Checks its invariants, for tests and fuzzing. The cost may grow with the state.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    fn check(&self, cx: &Context) -> Result<(), String>;
}
