//! How a resolution protocol plugs in.
//!
//! A provider gets verbs and acts through the [`Context`] that comes with each; it has no other way out. Which client
//! waits for what is not its business: it gives a [`Token`] for what is under way and completes it once.
use crate::{
    Config, Event, Time,
    core_state::Core,
    id::{EndpointId, PortId},
    input::DatagramSource,
    output::{Output, SendTo, Stats},
    ports::{Endpoint, PortAttributes},
    sa::{Purpose, SaError},
    timers::TimerKey,
};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter},
};
use core::{fmt, time::Duration};
use ib_mad::{
    AttributeId, Gid, Lid, Method, TransactionId,
    acm::AcmMad,
    sa::{PathRecord, Query, SaMad, SaRecord},
};

/// Names something that a provider does; the core gives it back. The parts are the provider's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Token {
    /// What kind of thing.
    pub kind: u32,
    /// Which.
    pub index: u32,
    /// How often that number was used before.
    pub generation: u32,
}

/// What a provider says to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "the answer from the cache must not need a heap")]
pub enum Answer {
    /// Here it is.
    Ready(PathRecord),
    /// It is under way: [`Context::complete`] will be called with this token.
    Pending(Token),
    /// It cannot be had.
    Failed(ClientStatus),
}

/// What happened to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortEvent {
    /// It is active, or has another MTU or rate. `moved`: with another LID, GID or subnet manager than before.
    Up {
        /// Routes that start at the old LID or GID are void.
        moved: bool,
    },
    /// It is not active any more.
    Down,
    /// The subnet manager forgot who is in which group.
    Reregister,
}

/// A resolution protocol.
pub trait Provider: fmt::Debug {
    /// Its name, as EP answers give it.
    fn name(&self) -> &'static str;
    /// An endpoint has a queue pair. Also when it has another one than before.
    fn open_endpoint(&mut self, cx: &mut Context<'_>, endpoint: EndpointId);
    /// An endpoint goes away: what is under way on it must be completed now.
    fn close_endpoint(&mut self, cx: &mut Context<'_>, endpoint: EndpointId);
    /// An endpoint has an address.
    fn add_address(&mut self, cx: &mut Context<'_>, endpoint: EndpointId, address: &Address);
    /// An endpoint has an address no more.
    fn remove_address(&mut self, cx: &mut Context<'_>, endpoint: EndpointId, address: &Address);
    /// The path from an endpoint's address to another address.
    fn resolve(&mut self, cx: &mut Context<'_>, endpoint: EndpointId, source: &Address, dest: &Address) -> Answer;
    /// The path from an endpoint to a port that is known by LID or GID; other fields of `wanted` narrow it.
    fn route(&mut self, cx: &mut Context<'_>, endpoint: EndpointId, wanted: &PathRecord) -> Answer;
    /// A datagram arrived.
    fn datagram(&mut self, cx: &mut Context<'_>, endpoint: EndpointId, source: &DatagramSource, payload: &[u8]);
    /// Subnet administration answered a [`Context::sa_request`], or will not.
    fn sa_done(&mut self, cx: &mut Context<'_>, endpoint: EndpointId, token: Token, answer: Result<&SaMad, SaError>);
    /// A [`Context::set_timer`] is due.
    fn timeout(&mut self, cx: &mut Context<'_>, token: Token);
    /// Something happened to an endpoint's port.
    fn port_event(&mut self, cx: &mut Context<'_>, endpoint: EndpointId, event: PortEvent);
}

/// What a provider may do.
#[derive(Debug)]
pub struct Context<'a> {
    pub(crate) core: &'a mut Core,
}

impl Context<'_> {
    /// Now.
    #[must_use]
    pub fn now(&self) -> Time {
        self.core.now
    }

    /// The options.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.core.config
    }

    /// An endpoint.
    #[must_use]
    pub fn endpoint(&self, id: EndpointId) -> Option<&Endpoint> {
        self.core.ports.endpoint(id)
    }

    /// The attributes of an endpoint's port; `None` while it is down.
    #[must_use]
    pub fn port_of(&self, id: EndpointId) -> Option<&PortAttributes> {
        self.core.ports.attributes(self.endpoint(id)?.port)
    }

    /// A number that nobody else can guess.
    pub fn random(&mut self) -> u64 {
        self.core.rng.next()
    }

    /// A time between 3/4 and 5/4 of this one.
    pub fn jitter(&mut self, around: Duration) -> Duration {
        let nanos = u64::try_from(around.as_nanos()).unwrap_or(u64::MAX);
        let half = nanos / 2;
        Duration::from_nanos((nanos - nanos / 4).saturating_add(self.random() % half.max(1)))
    }

    /// Counts for the endpoint and for the daemon.
    pub fn count(&mut self, endpoint: EndpointId, counter: Counter) {
        self.core.counters.count(counter);
        if let Some(endpoint) = self.core.ports.endpoint_mut(endpoint) {
            endpoint.counters.count(counter);
        }
    }

    /// What the core counts beside the protocol's counters.
    pub fn stats(&mut self) -> &mut Stats {
        &mut self.core.stats
    }

    /// Says something to the administrator.
    pub fn log(&mut self, event: Event) {
        self.core.log(event);
    }

    /// Asks subnet administration; [`Provider::sa_done`] follows with `token`.
    ///
    /// # Errors
    /// [`SaError`] if the port is down or too many requests wait: nothing follows then.
    pub fn sa_request<R: SaRecord>(
        &mut self,
        endpoint: EndpointId,
        token: Token,
        method: Method,
        query: &Query<R>,
    ) -> Result<(), SaError> {
        let port = self.endpoint(endpoint).ok_or(SaError::PortDown)?.port;
        let tid = self.core.sa_tid();
        if R::ID == AttributeId::PATH_RECORD {
            self.count(endpoint, Counter::RouteQuery);
        }
        self.core.sa_push(port, Purpose::Provider(endpoint, token), query.mad(method, tid))
    }

    /// Leaves a group; nothing follows.
    pub fn sa_leave<R: SaRecord>(&mut self, endpoint: EndpointId, query: &Query<R>) {
        let Some(port) = self.endpoint(endpoint).map(|endpoint| endpoint.port) else { return };
        let tid = self.core.sa_tid();
        // A group that cannot be left now is left by the subnet manager when the port is gone.
        let _ = self.core.sa_push(port, Purpose::Leave, query.delete(tid));
    }

    /// A transaction id that nobody else can guess.
    pub fn transaction_id(&mut self) -> TransactionId {
        TransactionId::new(self.random())
    }

    /// Sends a datagram.
    pub fn send(&mut self, endpoint: EndpointId, to: SendTo, mad: AcmMad) {
        self.core.output(Output::Send { endpoint, to, mad });
    }

    /// Receives what is sent to a group.
    pub fn attach(&mut self, endpoint: EndpointId, mgid: Gid, mlid: Lid) {
        self.core.output(Output::Attach { endpoint, mgid, mlid });
    }

    /// Receives no more what is sent to a group.
    pub fn detach(&mut self, endpoint: EndpointId, mgid: Gid, mlid: Lid) {
        self.core.output(Output::Detach { endpoint, mgid, mlid });
    }

    /// [`Provider::timeout`] is called with `token` then, and not at an earlier time that was set for it.
    pub fn set_timer(&mut self, token: Token, at: Time) {
        self.core.timers.set(TimerKey::Provider(token), at);
    }

    /// Takes a timer back.
    pub fn clear_timer(&mut self, token: Token) {
        self.core.timers.clear(TimerKey::Provider(token));
    }

    /// What [`Answer::Pending`] promised: all who wait for it are answered.
    pub fn complete(&mut self, token: Token, result: Result<&PathRecord, ClientStatus>) {
        self.core.complete(token, result);
    }

    /// Whether anybody waits for it.
    #[must_use]
    pub fn is_waited_for(&self, token: Token) -> bool {
        self.core.clients.is_waited_for(token)
    }

    /// The port of an endpoint.
    #[must_use]
    pub fn port_id(&self, id: EndpointId) -> Option<PortId> {
        self.endpoint(id).map(|endpoint| endpoint.port)
    }
}
