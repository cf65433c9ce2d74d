//! How a resolution protocol plugs in.
//!
//! A provider gets verbs and acts through the [`Context`] that comes with each; it has no other way out. Which client
//! waits for what is not its business: it gives a [`Token`] for what is under way and completes it once. Who pays is:
//! it charges each account that needs a lookup.
use crate::{
    account::AccountId,
    context::Context,
    door::{DatagramSource, Names, Tell},
    failure::{Attempt, Failure, Tried},
    id::{EndpointId, PortId, Token},
    preload::Preload,
    sa::SaError,
};
use acm_wire::Address;
use alloc::string::String;
use core::fmt;
use ib_mad::{
    Gid,
    sa::{PathRecord, SaMad},
};

/// Who needs an answer, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Who pays for the lookup.
    pub account: AccountId,
    /// What becomes of the asker if the answer is not known yet.
    pub if_pending: IfPending,
}

/// What becomes of an asker whose answer is not known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfPending {
    /// It waits until it is told that the lookup is complete, or leaves.
    Waits,
    /// It does not wait (NODELAY), and the provider itself says what it knows: it waits for that alone.
    Asks,
    /// It does not wait (NODELAY) and leaves a ticket: the lookup goes on for the cache.
    LeavesTicket,
    /// It may not wait: there is no room for another request that waits. Only what is known now helps it.
    HasNoRoom,
}

/// What a provider says to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Here it is.
    Ready(PathRecord),
    /// It is under way: [`Context::complete`] will be called with this token.
    Pending(Token),
    /// It cannot be had.
    Failed(Attempt),
}

/// What a provider says when it is asked for the counters of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountersAnswer {
    /// They are those that the core counts.
    OfCore,
    /// It counts itself: [`Context::complete_counters`] will be called with this token.
    Pending(Token),
    /// They cannot be had.
    Failed(Failure),
}

impl From<Failure> for Answer {
    /// A failure for which nothing was tried.
    fn from(failure: Failure) -> Self {
        Self::Failed(failure.into())
    }
}

/// What happened to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortEvent {
    /// It is active and was not before.
    Up,
    /// It is active with another LID, LMC or GID than before: routes that start at the old one are void.
    Moved,
    /// The subnet manager is elsewhere; it may not know who is in which group.
    OtherManager,
    /// It has another MTU or rate.
    OtherLink,
    /// It is not active any more.
    Down,
    /// The subnet manager forgot who is in which group.
    Reregister,
}

/// What subnet administration says of a port's subnet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The port with this GID can be reached: it may have another LID than before.
    GidInService(Gid),
    /// The port with this GID cannot be reached any more.
    GidOutOfService(Gid),
    /// The group with this GID was made.
    GroupCreated(Gid),
    /// The group with this GID is gone, and with it every membership.
    GroupDeleted(Gid),
}

/// A resolution protocol.
pub trait Provider: fmt::Debug {
    /// Its name, as EP answers give it.
    fn name(&self) -> &str;
    /// Whether its endpoints have a queue pair of ours. Those of a provider that has its own are opened without one, and
    /// it says when they are open: [`Context::opened`], [`Context::not_opened`].
    fn has_queue_pairs(&self) -> bool {
        true
    }
    /// Whether it answers by itself who does not wait ([`IfPending::Asks`]).
    fn answers_no_delay(&self) -> bool {
        false
    }
    /// A port of its subnets is active. Also when it is still, with other attributes or the same.
    fn open_port(&mut self, _cx: &mut Context, _port: PortId) {}
    /// A port is not active any more, or another provider's. Its endpoints are closed before, or heard
    /// [`PortEvent::Down`].
    fn close_port(&mut self, _cx: &mut Context, _port: PortId) {}
    /// Whether nothing is open: the daemon waits for that before it ends, for a while.
    fn is_closed(&self) -> bool {
        true
    }
    /// An endpoint has a queue pair. Also when it has another one than before.
    fn open_endpoint(&mut self, cx: &mut Context, endpoint: EndpointId);
    /// An endpoint goes away: what is under way on it must be completed now.
    fn close_endpoint(&mut self, cx: &mut Context, endpoint: EndpointId);
    /// An endpoint has an address.
    fn add_address(&mut self, cx: &mut Context, endpoint: EndpointId, address: &Address);
    /// An endpoint has an address no more.
    fn remove_address(&mut self, cx: &mut Context, endpoint: EndpointId, address: &Address);
    /// An address is another endpoint's of this machine now, or was until now: whatever is known of it here does not hold.
    fn forget_address(&mut self, cx: &mut Context, endpoint: EndpointId, address: &Address);
    /// The path from an endpoint's address to another address.
    fn resolve(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        source: &Address,
        dest: &Address,
        need: Need,
    ) -> Answer;
    /// The path from an endpoint to a port that is known by LID or GID; other fields of `wanted` narrow it.
    fn route(&mut self, cx: &mut Context, endpoint: EndpointId, wanted: &PathRecord, need: Need) -> Answer;
    /// The counters of an endpoint.
    fn counters(&mut self, _cx: &mut Context, _endpoint: EndpointId, _need: Need) -> CountersAnswer {
        CountersAnswer::OfCore
    }
    /// One request less of an account waits for what a token names: its client left. With `ticket` the lookup goes on
    /// for the cache all the same, charged to the account.
    fn waiter_left(&mut self, cx: &mut Context, token: Token, account: AccountId, ticket: bool);
    /// What was tried so far for what a token names.
    fn tried(&self, _cx: &Context, _token: Token) -> Tried {
        Tried::default()
    }
    /// Routes or addresses were loaded from a file; they take the place of those before.
    fn preload(&mut self, cx: &mut Context, preload: Preload);
    /// A datagram arrived.
    fn datagram(&mut self, cx: &mut Context, endpoint: EndpointId, source: &DatagramSource, payload: &[u8]);
    /// Subnet administration answered a [`Context::sa_ask`], or will not.
    fn sa_done(&mut self, cx: &mut Context, endpoint: EndpointId, token: Token, answer: Result<&SaMad, SaError>);
    /// A [`Context::set_timer`] is due.
    fn timeout(&mut self, cx: &mut Context, token: Token);
    /// What a timer is for, in the words of a log.
    fn timer_name(&self, token: Token) -> &'static str;
    /// Something happened to an endpoint's port.
    fn port_event(&mut self, cx: &mut Context, endpoint: EndpointId, event: PortEvent);
    /// Subnet administration says what it noticed in the subnet of a port.
    fn noticed(&mut self, cx: &mut Context, port: PortId, notice: Notice);
    /// Every counter of its own, by name.
    fn each_stat(&self, tell: &mut dyn FnMut(&'static str, u64));
    /// How much it has of everything now, by name: without looking at all that it keeps.
    fn each_gauge(&self, cx: &Context, tell: Tell<'_>);
    /// What it has, a line for each thing of interest, for [`Acm::report`](crate::Acm::report).
    ///
    /// # Errors
    /// Those of the formatter.
    fn report(&self, cx: &Context, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result;
    /// Each account that is charged for a lookup, once for each: for [`Acm::check`](crate::Acm::check).
    fn each_lookup(&self, _tell: &mut dyn FnMut(AccountId)) {}
    /// Whether what it keeps fits together: for tests and fuzzing. It may look at everything.
    ///
    /// # Errors
    /// What does not fit.
    fn check(&self, cx: &Context) -> Result<(), String>;
}
