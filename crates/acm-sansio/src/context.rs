//! The core's own state, and all that a provider may touch or do.
use crate::{
    Config, Time,
    account::{AccountId, Accounts, Holding},
    client::{Connections, FailedRequests, Requests},
    door::{CallId, Event, Input, Level, Output, ProviderCall, ProviderEvent, ProviderId, SendTo, Stats},
    failure::Bound,
    histogram::{Latencies, Phase},
    id::{EndpointId, PortId, Token},
    port::{Endpoint, PortAttributes, Ports},
    random::{Purpose, Random, Seed},
    retry,
    sa::{Notices, SaQueues},
    timers::{TimerKey, Timers},
};
use acm_wire::client::{Counter, Counters};
use alloc::{collections::VecDeque, vec::Vec};
use core::time::Duration;
use ib_mad::{Gid, Lid, TransactionId, acm::AcmMad, id::Lmc};

/// The core's own state. A provider acts through it and has no other way out.
#[derive(Debug)]
pub struct Context {
    pub(crate) config: Config,
    /// The widest bounds that there were: for [`Acm::check`](crate::Acm::check).
    pub(crate) widest: Config,
    pub(crate) now: Time,
    pub(crate) transaction_ids: Random,
    pub(crate) jitter: Random,
    expiry: Random,
    pub(crate) outputs: VecDeque<Output>,
    /// Facts that came of carrying out outputs, to be told in their order.
    pub(crate) facts: VecDeque<Input<'static>>,
    pub(crate) timers: Timers,
    pub(crate) ports: Ports,
    pub(crate) accounts: Accounts,
    pub(crate) connections: Connections,
    pub(crate) requests: Requests,
    pub(crate) sa: SaQueues,
    pub(crate) notices: Notices,
    pub(crate) counters: Counters,
    pub(crate) stats: Stats,
    pub(crate) latencies: Latencies,
    /// Requests that failed, and that nobody was told of.
    pub(crate) failed: FailedRequests,
    pub(crate) running: Running,
    /// How long the kernel waits for its answers, if somebody told it another time than its own.
    pub(crate) kernel_waits: Option<Duration>,
}

/// Whether the core serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Running {
    /// Endpoints are opened, groups joined, requests answered.
    Serving,
    /// Groups are being left.
    Leaving,
    /// They are left, or had their time.
    Stopped,
}

impl Context {
    pub(crate) fn new(config: Config, seed: Seed) -> Self {
        let mut maps = Random::new(seed, Purpose::Maps);
        Self {
            now: Time::ZERO,
            transaction_ids: Random::new(seed, Purpose::TransactionIds),
            jitter: Random::new(seed, Purpose::Jitter),
            expiry: Random::new(seed, Purpose::Expiry),
            outputs: VecDeque::new(),
            facts: VecDeque::new(),
            timers: Timers::default(),
            ports: Ports::new(maps.next()),
            accounts: Accounts::new(),
            connections: Connections::default(),
            requests: Requests::new(),
            sa: SaQueues::new(config.sa_depth),
            notices: Notices::new(),
            counters: Counters::default(),
            stats: Stats::default(),
            latencies: Latencies::default(),
            failed: FailedRequests::default(),
            running: Running::Serving,
            kernel_waits: None,
            widest: config.clone(),
            config,
        }
    }

    /// The instant of the input or deadline that is being handled.
    #[must_use]
    pub const fn now(&self) -> Time {
        self.now
    }

    /// The options in force.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// An endpoint that there is.
    #[must_use]
    pub fn endpoint(&self, id: EndpointId) -> Option<&Endpoint> {
        self.ports.endpoint(id)
    }

    /// The attributes of an endpoint's port; `None` while it is down.
    #[must_use]
    pub fn port_of(&self, id: EndpointId) -> Option<&PortAttributes> {
        self.ports.attributes(self.endpoint(id)?.port)
    }

    /// How many low bits of a LID tell the ways to the endpoint's port apart; none while it is down.
    #[must_use]
    pub fn lmc_of(&self, id: EndpointId) -> Lmc {
        self.port_of(id).map(|port| port.lmc).unwrap_or_default()
    }

    /// The endpoints of a port.
    #[must_use]
    pub fn endpoints_of(&self, port: PortId) -> Vec<EndpointId> {
        self.ports.endpoints_of(port).collect()
    }

    /// The port of an endpoint.
    #[must_use]
    pub fn port_id(&self, id: EndpointId) -> Option<PortId> {
        self.endpoint(id).map(|endpoint| endpoint.port)
    }

    /// A transaction id that nobody else can guess.
    pub fn transaction_id(&mut self) -> TransactionId {
        TransactionId::new(self.transaction_ids.next())
    }

    /// A time between 3/4 and 5/4 of this one.
    pub fn jitter(&mut self, around: Duration) -> Duration {
        retry::jitter(around, self.jitter.next())
    }

    /// A time below this one.
    pub fn spread(&mut self, below: Duration) -> Duration {
        retry::spread(below, self.jitter.next())
    }

    /// The end of what is found now and stays known for so long, or up to an eighth less: what was found together does
    /// not end together.
    pub fn end_of(&mut self, lifetime: Duration) -> Time {
        let eighth = retry::spread(lifetime / 8, self.expiry.next());
        self.now + lifetime.saturating_sub(eighth)
    }

    /// Counts for the endpoint and for the daemon.
    pub fn count(&mut self, endpoint: EndpointId, counter: Counter) {
        self.counters.count(counter);
        if let Some(endpoint) = self.ports.endpoint_mut(endpoint) {
            endpoint.counters.count(counter);
        }
    }

    /// Says something to the administrator, if it is important enough.
    pub fn log(&mut self, event: Event) {
        if self.logs(event.level()) {
            self.output(Output::Log(event));
        }
    }

    /// Whether events of this level are told.
    #[must_use]
    pub fn logs(&self, level: Level) -> bool {
        level <= self.config.log_level
    }

    /// Counts how long something took.
    pub fn took(&mut self, phase: Phase, time: Duration) {
        self.latencies.count(phase, time);
    }

    /// Whether the account may need one more lookup; a refusal is counted.
    ///
    /// # Errors
    /// [`Bound::Lookups`].
    pub fn charge_lookup(&mut self, account: AccountId) -> Result<(), Bound> {
        let mut share = self.config.limits.lookups;
        if account == crate::account::STRANGERS {
            share = crate::config::Share { total: self.config.limits.strangers, percent: 100 };
        }
        if !self.accounts.may_take(account, Holding::Lookups, share) {
            self.stats.lookups_refused.count(self.accounts.account(account).kind());
            return Err(Bound::Lookups);
        }
        self.accounts.take(account, Holding::Lookups);
        Ok(())
    }

    /// The account does not need a lookup any more that it was charged for.
    pub fn refund_lookup(&mut self, account: AccountId) {
        self.accounts.give_back(account, Holding::Lookups);
    }

    /// Sends a datagram.
    pub fn send(&mut self, endpoint: EndpointId, to: SendTo, mad: AcmMad) {
        self.output(Output::Send { endpoint, to, mad });
    }

    /// Receives what is sent to a group.
    pub fn attach(&mut self, endpoint: EndpointId, mgid: Gid, mlid: Lid) {
        self.output(Output::Attach { endpoint, mgid, mlid });
    }

    /// Receives no more what is sent to a group.
    pub fn detach(&mut self, endpoint: EndpointId, mgid: Gid, mlid: Lid) {
        self.output(Output::Detach { endpoint, mgid, mlid });
    }

    /// An endpoint is open that has no queue pair of ours, for the first time or again.
    pub fn opened(&mut self, endpoint: EndpointId) {
        if let Some(found) = self.ports.endpoint_mut(endpoint) {
            (found.open, found.opening, found.failures) = (true, false, 0);
            self.timers.clear(TimerKey::Endpoint(endpoint));
        }
    }

    /// It is not open now, and its provider will open it again by itself.
    pub fn not_open(&mut self, endpoint: EndpointId) {
        if let Some(found) = self.ports.endpoint_mut(endpoint) {
            (found.open, found.opening) = (false, true);
        }
    }

    /// An endpoint could not be opened; it is tried again after a while, and at the port's next change.
    pub fn not_opened(&mut self, endpoint: EndpointId) {
        let Some(found) = self.ports.endpoint_mut(endpoint) else { return };
        found.opening = false;
        found.failures = found.failures.saturating_add(1);
        let provider = found.provider;
        let pause = retry::OPEN_ENDPOINT.pause(found.failures);
        let pause = self.jitter(pause);
        let pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        if provider == ProviderId::BUILT_IN {
            self.stats.endpoints_failed += 1;
            self.log(Event::EndpointFailed(endpoint, pause_ms));
        } else {
            self.stats.provider_refused += 1;
            self.log(Event::Provider(provider, ProviderEvent::EndpointRefused(endpoint, pause_ms)));
        }
        self.timers.set(TimerKey::Endpoint(endpoint), self.now + pause);
    }

    /// Calls a provider outside of the core.
    pub(crate) fn call(&mut self, provider: ProviderId, call: Option<CallId>, what: ProviderCall) {
        self.output(Output::Provider { provider, call, what });
    }

    /// [`Provider::timeout`](crate::provider::Provider::timeout) is called with `token` then, and not at an earlier
    /// time that was set for it.
    pub fn set_timer(&mut self, token: Token, at: Time) {
        self.timers.set(TimerKey::Provider(token), at);
    }

    /// Takes a timer back.
    pub fn clear_timer(&mut self, token: Token) {
        self.timers.clear(TimerKey::Provider(token));
    }

    /// When a timer is due, if it is set.
    #[must_use]
    pub fn timer(&self, token: Token) -> Option<Time> {
        self.timers.get(TimerKey::Provider(token))
    }

    pub(crate) fn output(&mut self, output: Output) {
        self.outputs.push_back(output);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_wire::Address;

    /// What is seen of others' purposes says nothing of the next transaction id.
    #[test]
    fn transaction_ids_have_a_key_of_their_own() {
        let mut cx = Context::new(Config::default(), 1.into());
        let ids = [(); 4].map(|()| cx.transaction_id().get());
        let others = [(); 4].map(|()| [cx.jitter.next(), cx.expiry.next()]);
        assert!(others.as_flattened().iter().all(|other| !ids.contains(other)), "{ids:x?} {others:x?}");
    }

    #[test]
    fn timers_are_set_and_cleared() {
        let mut cx = Context::new(Config::default(), 1.into());
        let (token, at) =
            (Token { provider: ProviderId::BUILT_IN, kind: 1, index: 2, generation: 3 }, Time::from_nanos(5));
        cx.set_timer(token, at);
        assert_eq!(cx.timer(token), Some(at));
        cx.clear_timer(token);
        assert_eq!((cx.timer(token), cx.timers.next()), (None, None));
    }

    #[test]
    fn an_endpoint_has_its_port() {
        let mut cx = Context::new(Config::default(), 1.into());
        let port = PortId(3);
        let endpoint = cx.ports.open(port, 0, ib_mad::Pkey::DEFAULT_FULL, ProviderId::BUILT_IN);
        assert_eq!((cx.port_id(endpoint), cx.port_id(EndpointId::new(9, 9))), (Some(port), None));
        assert!(cx.port_of(endpoint).is_none() && cx.lmc_of(endpoint) == Lmc::default(), "it is down");
        let lmc = Lmc::new(3).unwrap();
        cx.ports.up(port, &PortAttributes { port_number: 2, lmc, ..PortAttributes::default() });
        assert_eq!(cx.port_of(endpoint).map(|port| port.port_number), Some(2));
        assert_eq!(cx.lmc_of(endpoint), lmc);
    }

    #[test]
    fn only_what_is_important_enough_is_told() {
        let told = |log_level| {
            let mut cx = Context::new(Config { log_level, ..Config::default() }, 1.into());
            cx.log(Event::PortDown(PortId(0)));
            cx.log(Event::NoPartition(PortId(0), Address::from_text("a"), None));
            cx.log(Event::Answered(
                crate::door::RequestedBy::Kernel(crate::KernelRequestId(1)),
                Address::from_text("a"),
            ));
            assert!(cx.outputs.iter().all(|output| matches!(output, Output::Log(_))));
            cx.outputs.len()
        };
        assert_eq!([Level::Always, Level::Verbose, Level::Debug].map(told), [1, 2, 3]);
    }

    #[test]
    fn times_are_spread() {
        let mut cx = Context::new(Config::default(), 1.into());
        let second = Duration::from_secs(1);
        let around: Vec<Duration> = (0..50).map(|_| cx.jitter(second)).collect();
        assert!(around.iter().all(|time| (second * 3 / 4..=second * 5 / 4).contains(time)), "{around:?}");
        assert!(around.iter().any(|time| *time < second) && around.iter().any(|time| *time > second));
        let below: Vec<Duration> = (0..50).map(|_| cx.spread(second)).collect();
        assert!(below.iter().all(|time| *time < second), "{below:?}");
        assert!(below.iter().any(|time| *time < second / 2) && below.iter().any(|time| *time > second / 2));
    }
}
