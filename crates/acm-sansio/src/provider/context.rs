//! Everything that a provider may do.
use crate::{
    accounts::fair::Urgency,
    api::{
        CallId, Event, Output, ProviderCall, ProviderEvent, ProviderId, SaError, SendTo, Time,
        account::{AccountId, DAEMON},
        config::Config,
        failure::{Attempt, Failure, SaAttempt},
        id::{EndpointId, PortId, SaQueryId, Token},
        port::PortAttributes,
    },
    clients::Clients,
    ports::{Endpoint, Ports},
    retry,
    sa::{Purpose, SaClient, SaQuery},
    shared::{
        Shared,
        random::{self, Random, Seed},
        timers::TimerKey,
    },
};
use acm_wire::client::{Counter, Counters};
use alloc::vec::Vec;
use ib_mad::{Gid, Lid, Pkey, Qpn, acm::AcmMad, id::Lmc, sa::PathRecord};

/// The shared state, and the components that a provider uses: ports, the client of the subnet administrator (SA), and
/// the clients that wait for results. A provider acts only through it.
#[derive(Debug)]
pub struct Context {
    /// Time, options, random numbers, timers, outputs, accounts and counters.
    pub shared: Shared,
    pub(crate) ports: Ports,
    pub(crate) sa: SaClient,
    pub(crate) clients: Clients,
}

impl Context {
    pub(crate) fn new(config: Config, seed: Seed) -> Self {
        let mut maps = Random::new(seed, random::Purpose::Maps);
        Self {
            ports: Ports::new(maps.next()),
            sa: SaClient::new(config.sa_depth),
            clients: Clients::new(),
            shared: Shared::new(config, seed),
        }
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

    /// Returns the set of partitions of which the subnet administrator chooses one for a path from an endpoint whose
    /// request leaves it open. `None`: the path is in the endpoint's partition.
    #[must_use]
    pub fn partition_choice(&self, id: EndpointId) -> Option<u32> {
        self.ports.choice(id)
    }

    /// Reports whether the port of an endpoint has an endpoint in a partition.
    #[must_use]
    pub fn serves_partition(&self, id: EndpointId, pkey: Pkey) -> bool {
        self.ports.is_served(id, pkey)
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

    /// Returns the time at which an endpoint renews its path to a peer that moved just now. No two ports of the fabric
    /// have the same slot.
    #[must_use]
    pub fn move_slot(&self, endpoint: EndpointId) -> Time {
        let number = self.port_of(endpoint).map_or(0, |port| port.lid.get() >> port.lmc.get());
        self.shared.now + retry::MOVE_SLOT * u32::from(number)
    }

    /// Increments a counter of the endpoint and of the daemon.
    pub fn count(&mut self, endpoint: EndpointId, counter: Counter) {
        self.shared.count_total(counter);
        self.ports.count(endpoint, counter);
    }

    /// Sends a datagram.
    pub fn send(&mut self, endpoint: EndpointId, to: SendTo, mad: AcmMad) {
        self.shared.output(Output::Send { endpoint, to, mad });
    }

    /// Attaches an endpoint to a group.
    pub fn attach(&mut self, endpoint: EndpointId, mgid: Gid, mlid: Lid) {
        self.shared.output(Output::Attach { endpoint, mgid, mlid });
    }

    /// Detaches an endpoint from a group.
    pub fn detach(&mut self, endpoint: EndpointId, mgid: Gid, mlid: Lid) {
        self.shared.output(Output::Detach { endpoint, mgid, mlid });
    }

    /// Records that an endpoint is open: with a queue pair of the core, or by its provider without one.
    pub(crate) fn endpoint_opened(&mut self, id: EndpointId, qpn: Option<Qpn>) {
        if let Some(endpoint) = self.shared.existing(self.ports.endpoint_mut(id)) {
            endpoint.opened(qpn);
            self.shared.timers.clear(TimerKey::Endpoint(id));
        }
    }

    /// Records that the provider of an endpoint closed it. The provider will open it again on its own.
    pub(crate) fn endpoint_closed(&mut self, id: EndpointId) {
        if let Some(endpoint) = self.shared.existing(self.ports.endpoint_mut(id)) {
            endpoint.closed_by_provider();
        }
    }

    /// Records that an endpoint could not be opened. It is retried after a pause, and at the port's next change.
    pub(crate) fn endpoint_open_failed(&mut self, id: EndpointId) {
        let Some(endpoint) = self.shared.existing(self.ports.endpoint_mut(id)) else { return };
        let (provider, pause) = (endpoint.provider, retry::OPEN_ENDPOINT.pause(endpoint.open_failed()));
        let pause = self.shared.jitter(pause);
        let pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        if provider.is_external() {
            self.shared.stats.provider_refused += 1;
            self.shared.log(Event::Provider(provider, ProviderEvent::EndpointRefused(id, pause_ms)));
        } else {
            self.shared.stats.endpoints_failed += 1;
            self.shared.log(Event::EndpointFailed(id, pause_ms));
        }
        let at = self.shared.now + pause;
        self.shared.timers.set(TimerKey::Endpoint(id), at);
    }

    /// Calls a provider outside of the core.
    pub(crate) fn call(&mut self, provider: ProviderId, call: Option<CallId>, what: ProviderCall) {
        self.shared.output(Output::Provider { provider, call, what });
    }

    /// Starts a query to the SA for the provider. [`Provider::sa_done`](crate::provider::Provider::sa_done) follows
    /// with `token`, exactly once, unless [`Context::sa_cancel`] returns `true` or [`Context::sa_discard`] is called.
    ///
    /// # Errors
    /// [`SaError::PortDown`] if the port is down; nothing follows then.
    pub fn sa_query(
        &mut self,
        endpoint: EndpointId,
        token: Token,
        query: SaQuery,
        account: AccountId,
    ) -> Result<SaQueryId, SaError> {
        self.sa_request(endpoint, Purpose::Provider(endpoint, token), query, account)
    }

    /// Leaves a group. No result follows.
    pub fn sa_leave_group(&mut self, endpoint: EndpointId, query: SaQuery) {
        // A port that is down is no longer in any group.
        let _ = self.sa_request(endpoint, Purpose::Discard, query, DAEMON);
    }

    pub(crate) fn sa_request(
        &mut self,
        endpoint: EndpointId,
        purpose: Purpose,
        query: SaQuery,
        account: AccountId,
    ) -> Result<SaQueryId, SaError> {
        let port = self.port_id(endpoint).ok_or(SaError::PortDown)?;
        self.sa.request(&mut self.shared, &self.ports, port, purpose, query, account)
    }

    /// Records that another account needs the response: the query also gets that account's turns. The urgency of an
    /// account that needs it already changes.
    pub fn sa_join(&mut self, id: SaQueryId, account: AccountId, urgency: Urgency) {
        self.sa.join(&mut self.shared, id, account, urgency);
    }

    /// Records that an account no longer needs the response.
    pub fn sa_leave(&mut self, id: SaQueryId, account: AccountId) {
        self.sa.leave(&mut self.shared, id, account);
    }

    /// Cancels a query that is not in flight. Returns `true` if it was cancelled; no result follows then.
    pub fn sa_cancel(&mut self, id: SaQueryId) -> bool {
        self.sa.cancel(&mut self.shared, id)
    }

    /// Cancels a query, or ignores its response if it is in flight: no result follows.
    pub fn sa_discard(&mut self, id: SaQueryId) {
        self.sa.discard(&mut self.shared, id);
    }

    /// Returns the expiry time of an address that is found now, or of a port given by LID or GID.
    pub(crate) fn addr_end(&mut self) -> Option<Time> {
        self.shared.config().addr_timeout.map(|timeout| self.shared.expiry_of(timeout))
    }

    /// Returns the expiry time of a path that is found now.
    pub(crate) fn route_end(&mut self) -> Option<Time> {
        self.shared.config().route_timeout.map(|timeout| self.shared.expiry_of(timeout))
    }

    /// Returns the duration of a query from an endpoint since `since`, or `None` if the port is down.
    #[must_use]
    pub fn sa_attempt(&self, endpoint: EndpointId, since: Time) -> Option<SaAttempt> {
        Some(SaAttempt { lid: self.port_of(endpoint)?.sm_lid, time: self.shared.now.since(since) })
    }

    /// Completes a [`Resolution::Pending`](crate::provider::Resolution::Pending): all requests that wait for `token`
    /// are answered.
    pub fn complete(&mut self, token: Token, result: Result<&PathRecord, Attempt>) {
        self.clients.complete(&mut self.shared, &mut self.ports, token, result);
    }

    /// Fails the requests of one account that wait for `token`. The requests of other accounts wait on.
    pub fn fail_for(&mut self, token: Token, account: AccountId, failure: Failure) {
        self.clients.fail_for(&mut self.shared, &mut self.ports, token, account, failure);
    }

    /// Answers all requests for counters that wait for `token`.
    pub(crate) fn complete_counters(&mut self, token: Token, result: Result<&Counters, Failure>) {
        self.clients.complete_counters(&mut self.shared, &self.ports, token, result);
    }

    /// Returns the number of requests that wait for a token.
    #[must_use]
    pub fn waiting_for(&self, token: Token) -> usize {
        self.clients.waiting_for(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoint_finds_its_port() {
        let mut cx = Context::new(Config::default(), 1.into());
        let port = PortId(3);
        let endpoint = cx.ports.open(port, 0, Pkey::DEFAULT_FULL, ProviderId::BUILT_IN);
        assert_eq!((cx.port_id(endpoint), cx.port_id(EndpointId::new(9, 9))), (Some(port), None));
        assert!(cx.port_of(endpoint).is_none() && cx.lmc_of(endpoint) == Lmc::default(), "it is down");
        let lmc = Lmc::checked(3).unwrap();
        cx.ports.up(port, &PortAttributes { port_number: 2, lmc, ..PortAttributes::default() });
        assert_eq!(cx.port_of(endpoint).map(|port| port.port_number), Some(2));
        assert_eq!(cx.lmc_of(endpoint), lmc);
    }

    #[test]
    fn endpoint_is_opened_again_after_growing_pauses() {
        let mut cx = Context::new(Config::default(), 1.into());
        let id = cx.ports.open(PortId(3), 0, Pkey::DEFAULT_FULL, ProviderId::BUILT_IN);
        let mut pauses = [(); 3].map(|()| {
            cx.endpoint_open_failed(id);
            cx.shared.timers.get(TimerKey::Endpoint(id)).unwrap()
        });
        assert!(pauses.is_sorted() && pauses[0] > cx.shared.now(), "{pauses:?}");
        pauses.reverse();
        cx.endpoint_opened(id, Some(Qpn::of::<7>()));
        assert_eq!((cx.shared.timers.next(), cx.shared.stats.endpoints_failed), (None, 3));
        assert_eq!(cx.endpoint(id).and_then(Endpoint::qpn), Some(Qpn::of::<7>()));
        cx.endpoint_open_failed(id);
        assert!(cx.shared.timers.get(TimerKey::Endpoint(id)) < Some(pauses[0]), "the pauses begin again");
        cx.endpoint_closed(id);
        assert!(!cx.endpoint(id).unwrap().is_open());
    }
}
