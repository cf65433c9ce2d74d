//! The core's state, and everything that a provider may do.
use crate::{
    Config, Time,
    accounts::{Accounts, Holding},
    api::{
        CallId, Event, Input, Level, Output, ProviderCall, ProviderEvent, ProviderId, SendTo, Stats,
        account::AccountId,
        failure::{Bound, FailureSummary},
        histogram::{Latencies, Phase},
        id::{EndpointId, PortId, Token},
        port::PortAttributes,
    },
    clients::{Connections, Requests},
    cx::{
        Running,
        fabric_size::FabricSize,
        random::{Purpose, Random, Seed},
        timers::{TimerKey, Timers},
    },
    ports::{Endpoint, Ports},
    retry::{self, Spread},
    sa::{Notices, SaQueues},
};
use acm_wire::client::{Counter, Counters};
use alloc::{collections::VecDeque, vec::Vec};
use core::time::Duration;
use ib_mad::{Gid, Lid, TransactionId, acm::AcmMad, id::Lmc};

/// The core's state. A provider acts only through it.
#[derive(Debug)]
pub struct Context {
    pub(crate) config: Config,
    /// The largest limits so far, for [`Acm::check`](crate::Acm::check).
    pub(crate) widest: Config,
    pub(crate) now: Time,
    pub(crate) transaction_ids: Random,
    pub(crate) jitter: Random,
    expiry: Random,
    pub(crate) outputs: VecDeque<Output>,
    /// Inputs that result from carrying out outputs, to be handled in order.
    pub(crate) pending_inputs: VecDeque<Input<'static>>,
    pub(crate) timers: Timers,
    pub(crate) ports: Ports,
    fabric_size: FabricSize,
    pub(crate) accounts: Accounts,
    pub(crate) connections: Connections,
    pub(crate) requests: Requests,
    pub(crate) sa: SaQueues,
    pub(crate) notices: Notices,
    pub(crate) counters: Counters,
    pub(crate) stats: Stats,
    pub(crate) latencies: Latencies,
    /// Failed requests since the last summary for the administrator.
    pub(crate) failed: FailureSummary,
    pub(crate) running: Running,
    /// The kernel's time-out, if it is not the default.
    pub(crate) kernel_timeout: Option<Duration>,
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
            pending_inputs: VecDeque::new(),
            timers: Timers::default(),
            ports: Ports::new(maps.next()),
            fabric_size: FabricSize::default(),
            accounts: Accounts::new(),
            connections: Connections::default(),
            requests: Requests::new(),
            sa: SaQueues::new(config.sa_depth),
            notices: Notices::new(),
            counters: Counters::default(),
            stats: Stats::default(),
            latencies: Latencies::default(),
            failed: FailureSummary::default(),
            running: Running::Serving,
            kernel_timeout: None,
            widest: config.clone(),
            config,
        }
    }

    /// Returns the time of the input or timer that is being handled.
    #[must_use]
    pub const fn now(&self) -> Time {
        self.now
    }

    /// Returns the options in force.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// Returns an endpoint, if it exists.
    #[must_use]
    pub fn endpoint(&self, id: EndpointId) -> Option<&Endpoint> {
        self.ports.endpoint(id)
    }

    /// Returns the attributes of an endpoint's port, or `None` while the port is down.
    #[must_use]
    pub fn port_of(&self, id: EndpointId) -> Option<&PortAttributes> {
        self.ports.attributes(self.endpoint(id)?.port)
    }

    /// Returns the LID mask control of the endpoint's port, or zero while the port is down.
    #[must_use]
    pub fn lmc_of(&self, id: EndpointId) -> Lmc {
        self.port_of(id).map(|port| port.lmc).unwrap_or_default()
    }

    /// Returns the endpoints of a port.
    #[must_use]
    pub fn endpoints_of(&self, port: PortId) -> Vec<EndpointId> {
        self.ports.endpoints_of(port).collect()
    }

    /// Returns the port of an endpoint.
    #[must_use]
    pub fn port_id(&self, id: EndpointId) -> Option<PortId> {
        self.endpoint(id).map(|endpoint| endpoint.port)
    }

    /// Returns a transaction id that others cannot predict.
    pub fn transaction_id(&mut self) -> TransactionId {
        TransactionId::new(self.transaction_ids.next())
    }

    /// Returns a random time between 3/4 and 5/4 of `around`.
    pub fn jitter(&mut self, around: Duration) -> Duration {
        retry::jitter(around, self.jitter.next())
    }

    /// Returns a random time within a spread for this fabric.
    pub fn spread(&mut self, spread: Spread) -> Duration {
        retry::spread(spread.below(self.fabric_size()), self.jitter.next())
    }

    /// Returns the time at which an endpoint renews its path to a peer that moved just now. No two ports of the fabric
    /// have the same slot.
    #[must_use]
    pub fn move_slot(&self, endpoint: EndpointId) -> Time {
        let number = self.port_of(endpoint).map_or(0, |port| port.lid.get() >> port.lmc.get());
        self.now + retry::MOVE_SLOT * u32::from(number)
    }

    /// Returns an estimate of the number of ports of the fabric.
    #[must_use]
    pub fn fabric_size(&self) -> u32 {
        self.fabric_size.ports()
    }

    /// Records a LID of the fabric for [`Context::fabric_size`].
    pub(crate) fn saw_lid(&mut self, port: PortId, lid: Lid) {
        if let Some(attributes) = self.ports.attributes(port) {
            self.fabric_size.saw(lid, attributes.lmc);
        }
    }

    /// Returns the expiry time of an entry that is created now: `lifetime` from now, or up to an eighth earlier, so
    /// that entries created together do not expire together.
    pub fn expiry_of(&mut self, lifetime: Duration) -> Time {
        let eighth = retry::spread(lifetime / 8, self.expiry.next());
        self.now + lifetime.saturating_sub(eighth)
    }

    /// Increments a counter of the endpoint and of the daemon.
    pub fn count(&mut self, endpoint: EndpointId, counter: Counter) {
        self.counters.count(counter);
        if let Some(endpoint) = self.ports.endpoint_mut(endpoint) {
            endpoint.counters.count(counter);
        }
    }

    /// Logs an event, if its level is enabled.
    pub fn log(&mut self, event: Event) {
        if self.logs(event.level()) {
            self.output(Output::Log(event));
        }
    }

    /// Reports whether events of this level are logged.
    #[must_use]
    pub fn logs(&self, level: Level) -> bool {
        level <= self.config.log_level
    }

    /// Adds a measured time to a latency histogram.
    pub fn record_latency(&mut self, phase: Phase, time: Duration) {
        self.latencies.count(phase, time);
    }

    /// Charges an account for one more lookup. A refusal is counted.
    ///
    /// # Errors
    /// [`Bound::Lookups`] if the account's share is used up.
    pub fn charge_lookup(&mut self, account: AccountId) -> Result<(), Bound> {
        let mut share = self.config.limits.lookups;
        if account == crate::api::account::REMOTE {
            share = crate::api::config::Share { total: self.config.limits.remote_lookups, percent: 100 };
        }
        if !self.accounts.may_take(account, Holding::Lookups, share) {
            self.stats.lookups_refused.count(self.accounts.account(account).kind());
            return Err(Bound::Lookups);
        }
        self.accounts.take(account, Holding::Lookups);
        Ok(())
    }

    /// Returns the charge for a lookup that the account no longer needs.
    pub fn refund_lookup(&mut self, account: AccountId) {
        self.accounts.give_back(account, Holding::Lookups);
    }

    /// Sends a datagram.
    pub fn send(&mut self, endpoint: EndpointId, to: SendTo, mad: AcmMad) {
        self.output(Output::Send { endpoint, to, mad });
    }

    /// Attaches an endpoint to a group.
    pub fn attach(&mut self, endpoint: EndpointId, mgid: Gid, mlid: Lid) {
        self.output(Output::Attach { endpoint, mgid, mlid });
    }

    /// Detaches an endpoint from a group.
    pub fn detach(&mut self, endpoint: EndpointId, mgid: Gid, mlid: Lid) {
        self.output(Output::Detach { endpoint, mgid, mlid });
    }

    /// Marks an endpoint without a queue pair of ours as open.
    pub fn set_endpoint_open(&mut self, endpoint: EndpointId) {
        if let Some(found) = self.ports.endpoint_mut(endpoint) {
            (found.open, found.opening, found.failures) = (true, false, 0);
            self.timers.clear(TimerKey::Endpoint(endpoint));
        }
    }

    /// Marks an endpoint as closed. Its provider will open it again on its own.
    pub fn set_endpoint_closed(&mut self, endpoint: EndpointId) {
        if let Some(found) = self.ports.endpoint_mut(endpoint) {
            (found.open, found.opening) = (false, true);
        }
    }

    /// Records that an endpoint could not be opened. It is retried after a pause, and at the port's next change.
    pub fn endpoint_open_failed(&mut self, endpoint: EndpointId) {
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

    /// Sets a timer: [`Provider::timeout`](crate::provider::Provider::timeout) is called with `token` at `at`. An
    /// earlier setting for the same token is replaced.
    pub fn set_timer(&mut self, token: Token, at: Time) {
        self.timers.set(TimerKey::Provider(token), at);
    }

    /// Clears a timer.
    pub fn clear_timer(&mut self, token: Token) {
        self.timers.clear(TimerKey::Provider(token));
    }

    /// Returns the time at which a timer is due, if it is set.
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

    /// Random numbers for other purposes reveal nothing about the next transaction id.
    #[test]
    fn transaction_ids_have_a_separate_key() {
        let mut cx = Context::new(Config::default(), 1.into());
        let ids = [(); 4].map(|()| cx.transaction_id().get());
        let others = [(); 4].map(|()| [cx.jitter.next(), cx.expiry.next()]);
        assert!(others.as_flattened().iter().all(|other| !ids.contains(other)), "{ids:x?} {others:x?}");
    }

    #[test]
    fn timer_can_be_set_and_cleared() {
        let mut cx = Context::new(Config::default(), 1.into());
        let (token, at) =
            (Token { provider: ProviderId::BUILT_IN, kind: 1, index: 2, generation: 3 }, Time::from_nanos(5));
        cx.set_timer(token, at);
        assert_eq!(cx.timer(token), Some(at));
        cx.clear_timer(token);
        assert_eq!((cx.timer(token), cx.timers.next()), (None, None));
    }

    #[test]
    fn endpoint_finds_its_port() {
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
    fn only_enabled_levels_are_logged() {
        let logged = |log_level| {
            let mut cx = Context::new(Config { log_level, ..Config::default() }, 1.into());
            cx.log(Event::PortDown(PortId(0)));
            cx.log(Event::NoPartition(PortId(0), Address::from_text("a"), None));
            cx.log(Event::Answered(
                crate::api::RequestedBy::Kernel(crate::KernelRequestId(1)),
                Address::from_text("a"),
            ));
            assert!(cx.outputs.iter().all(|output| matches!(output, Output::Log(_))));
            cx.outputs.len()
        };
        assert_eq!([Level::Always, Level::Verbose, Level::Debug].map(logged), [1, 2, 3]);
    }

    #[test]
    fn jitter_and_spread_stay_in_range() {
        let mut cx = Context::new(Config::default(), 1.into());
        let second = Duration::from_secs(1);
        let around: Vec<Duration> = (0..50).map(|_| cx.jitter(second)).collect();
        assert!(around.iter().all(|time| (second * 3 / 4..=second * 5 / 4).contains(time)), "{around:?}");
        assert!(around.iter().any(|time| *time < second) && around.iter().any(|time| *time > second));
        let below: Vec<Duration> =
            (0..50).map(|_| cx.spread(Spread { per_port: Duration::ZERO, least: second })).collect();
        assert!(below.iter().all(|time| *time < second), "{below:?}");
        assert!(below.iter().any(|time| *time < second / 2) && below.iter().any(|time| *time > second / 2));
    }
}
