//! Dispatch of inputs and timers to the components.

pub(crate) mod check;
mod clients;
mod configure;
mod endpoint;
mod gauge;
mod ports;
pub(crate) mod providers;
mod report;
mod requests;
mod sa;
mod shutdown;
mod yielding;

pub use report::Report;

use self::providers::Providers;
use crate::{
    Config, Stats, Time,
    api::{
        Deadline, Event, Input, Output, ProviderId, Reason, SaError, SendFailure,
        account::{AccountId, AccountKind},
        histogram::Latencies,
        id::{ClientId, EndpointId, PortId},
        port::PortAttributes,
    },
    cx::{random::Seed, timers::TimerKey},
    ports::{Endpoint, LocalAddress},
    provider::{Context, PortEvent, Provider},
    resolver::Ibacmp,
};
use acm_wire::client::Counters;
use alloc::{boxed::Box, collections::VecDeque, string::String};

/// The core. The [crate documentation](crate) describes its API.
#[derive(Debug)]
pub struct Acm {
    pub(crate) context: Context,
    pub(crate) providers: Providers,
    /// Inputs that result from carrying out outputs, to be handled in order.
    pending_inputs: VecDeque<Input<'static>>,
}

impl Acm {
    /// Creates a core with the built-in provider.
    ///
    /// `seed` determines transaction ids and jitter, so it must be secret.
    #[must_use]
    pub fn new(config: Config, seed: impl Into<Seed>) -> Self {
        let seed = seed.into();
        Self::with_provider(config, seed, Box::new(Ibacmp::new(seed)))
    }

    /// Creates a core with another provider in place of the built-in one.
    #[must_use]
    pub fn with_provider(mut config: Config, seed: impl Into<Seed>, provider: Box<dyn Provider>) -> Self {
        let names = core::mem::take(&mut config.providers);
        let mut acm = Self {
            context: Context::new(config, seed.into()),
            providers: Providers::new(provider),
            pending_inputs: VecDeque::new(),
        };
        for name in names {
            acm.add_provider(&name);
        }
        acm
    }

    /// The greatest number of providers beside the built-in one.
    pub const MAX_PROVIDERS: u8 = providers::MAX;

    /// Adds a provider outside of the core and returns its id, or `None` if there are too many.
    ///
    /// The provider serves the subnets that [`Config::subnets`] assigns to it, from the next input on. Add providers
    /// before the first input, so that a trace records them.
    pub fn add_provider(&mut self, name: &str) -> Option<ProviderId> {
        let id = self.providers.add(name)?;
        self.context.config.providers.push(name.into());
        Some(id)
    }

    /// Handles one input. The outputs of the previous input must have been drained, and `now` must not go back.
    pub fn handle_input(&mut self, now: Time, input: Input<'_>) {
        self.advance(now);
        match input {
            Input::ClientOpened { client, account } => self.client_opened(client, account),
            Input::ClientMessage { client, message } => self.client_message(client, message),
            Input::ClientClosed(client) => self.client_closed(client),
            Input::KernelRequest { id, port, path } => self.kernel_request(id, port, &path),
            Input::KernelAddressRequest { id, source, dest } => self.kernel_address_request(id, source, dest),
            Input::KernelTimeout(timeout) => self.context.clients.set_kernel_timeout(timeout),
            Input::SourceSelected { request, source } => self.source_selected(request, source),
            Input::SaResponse { id, mad } => self.sa_response(id, mad),
            Input::SaReport { port, lid, qpn, mad } => self.sa_report(port, lid, qpn, mad),
            Input::SaFailed { id, failure: SendFailure::TimedOut } => self.sa_failed(id, SaError::TimedOut),
            Input::SaFailed { id, failure: SendFailure::NotSent } => self.sa_failed(id, SaError::NotSent),
            Input::Datagram { endpoint, source, payload } => {
                if let Some(&mut Endpoint { port, provider, .. }) = self.with_queue_pair(endpoint) {
                    self.saw_lids(port, [source.lid]);
                    self.providers.get_mut(provider).datagram(&mut self.context, endpoint, &source, payload);
                }
            }
            Input::EndpointOpened { endpoint, qpn } => self.endpoint_opened(endpoint, qpn),
            Input::EndpointFailed(endpoint) => self.endpoint_failed(endpoint),
            Input::EndpointLost(endpoint) => self.endpoint_lost(endpoint),
            Input::PortUp { port, attributes } => self.port_up(port, &attributes),
            Input::PortDown(port) => self.port_down(port),
            Input::ClientReregister(port) => {
                self.renew_notices(port);
                self.port_event(port, PortEvent::Reregister);
            }
            Input::AddressAdded { port, pkey, address } => self.address_added(LocalAddress { port, pkey, address }),
            Input::AddressRemoved { port, pkey, address } => {
                if self.context.ports.remove_address(&LocalAddress { port, pkey, address }) {
                    self.reconcile(port);
                }
            }
            // The files belong to the built-in provider.
            Input::Preloaded(preload) => {
                self.providers.get_mut(ProviderId::BUILT_IN).preload(&mut self.context, preload);
            }
            Input::Configure(config) => self.configure(&config),
            Input::Interfaces(all) => self.interfaces(&all),
            Input::Provider { provider, message } => match self.providers.external(provider) {
                Some(provider) => provider.handle_message(&mut self.context, &message),
                None => self.context.stats.stale_inputs += 1,
            },
            Input::Shutdown => self.shutdown(),
        }
        self.check_shutdown();
    }

    /// Runs all timers that are due at `now`. Does nothing if none is due.
    pub fn handle_timeout(&mut self, now: Time) {
        self.advance(now);
        while let Some(key) = self.context.timers.pop_due(now) {
            match key {
                TimerKey::Provider(token) => {
                    self.providers.get_mut(token.provider).timeout(&mut self.context, token);
                }
                TimerKey::SaQuery(id) => self.sa_due(id),
                TimerKey::SaTurn(port) => self.sa_pump(port),
                TimerKey::Kernel(id) => self.kernel_late(id),
                TimerKey::Notices(port) => self.notices_due(port),
                TimerKey::Endpoint(id) => self.reopen_endpoint(id),
                TimerKey::Failures => self.context.clients.report_failures(&mut self.context.cx),
                TimerKey::Shutdown => self.stopped(),
            }
        }
        self.check_shutdown();
    }

    /// Handles one input and carries out all outputs that follow from it.
    pub fn drive(&mut self, now: Time, input: Input<'_>, carry_out: impl FnMut(Output) -> Option<Input<'static>>) {
        self.handle_input(now, input);
        self.drain(now, carry_out);
    }

    /// Carries out all outputs in order.
    ///
    /// Inputs that `carry_out` returns are handled in order after the last output. Call this method after each
    /// `handle_*` call, unless you use [`Acm::drive`].
    pub fn drain(&mut self, now: Time, mut carry_out: impl FnMut(Output) -> Option<Input<'static>>) {
        loop {
            while let Some(output) = self.poll_output() {
                if let Some(fact) = carry_out(output) {
                    self.pending_inputs.push_back(fact);
                }
            }
            let Some(fact) = self.pending_inputs.pop_front() else { return };
            self.handle_input(now, fact);
        }
    }

    /// Returns the next output, or `None` if there is none left.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.context.outputs.pop_front()
    }

    /// Returns the next instant at which [`Acm::handle_timeout`] must run. It may change with every `handle_*` call.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        self.context.timers.next().map(|(at, _)| at)
    }

    /// Returns the instant of [`Acm::poll_timeout`] with its reason.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Deadline> {
        let (at, key) = self.context.timers.next()?;
        let reason = match key {
            TimerKey::SaQuery(_) | TimerKey::SaTurn(_) => Reason::SaRequest,
            TimerKey::Kernel(_) => Reason::KernelRequest,
            TimerKey::Endpoint(_) => Reason::OpenEndpoint,
            TimerKey::Notices(_) => Reason::Notices,
            TimerKey::Failures => Reason::Failures,
            TimerKey::Provider(token) => Reason::Provider(self.providers.get(token.provider).timer_name(token)),
            TimerKey::Shutdown => Reason::Shutdown,
        };
        Some(Deadline { at, reason })
    }

    /// Reports whether a port is active.
    #[must_use]
    pub fn is_active(&self, port: PortId) -> bool {
        self.context.ports.attributes(port).is_some()
    }

    /// Returns the account of a client, or `None` if the client was refused or is closed. The id stays valid until the
    /// client is closed.
    #[must_use]
    pub fn account_of(&self, client: ClientId) -> Option<AccountId> {
        self.context.clients.connections.account(client)
    }

    /// Reports whether a client may send another request. If not, the caller stops reading from the connection.
    #[must_use]
    pub fn takes_requests(&self, client: ClientId) -> bool {
        self.context.clients.takes_requests(&self.context.cx, client)
    }

    /// Reports whether a client waits for a response. If so, the caller keeps the connection, even if it is
    /// half-closed.
    #[must_use]
    pub fn has_requests(&self, client: ClientId) -> bool {
        self.context.clients.connections.requests(client).is_some_and(|requests| requests.len() > 0)
    }

    /// Returns the daemon's seven client protocol counters.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.context.counters()
    }

    /// Returns the seven counters of an endpoint, or `None` if the endpoint does not exist.
    #[must_use]
    pub fn endpoint_counters(&self, endpoint: EndpointId) -> Option<&Counters> {
        self.context.ports.endpoint(endpoint).map(|endpoint| &endpoint.counters)
    }

    /// Returns the core's own counters.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.context.stats
    }

    /// Calls `emit` for each of the daemon's seven counters with its name in reports.
    pub fn each_counter(&self, mut emit: impl FnMut(&'static str, u64)) {
        for (name, counter) in report::COUNTERS {
            emit(name, self.context.counters().get(counter));
        }
    }

    /// Returns the latency histograms.
    #[must_use]
    pub fn latencies(&self) -> &Latencies {
        self.context.latencies()
    }

    /// Calls `emit` for every counter except the seven, including those of providers: its name, the kind of account if
    /// it is counted by account, and its value.
    pub fn each_stat(&self, mut emit: impl FnMut(&'static str, Option<AccountKind>, u64)) {
        self.context.stats.each(&mut emit);
        self.providers.iter().for_each(|provider| provider.each_stat(&mut |name, value| emit(name, None, value)));
    }

    /// Returns one counter by its name, summed over all kinds of account, or `None` if there is no such counter.
    #[must_use]
    pub fn stat(&self, name: &str) -> Option<u64> {
        let mut found = None;
        self.each_stat(|other, _, value| {
            if other == name {
                found = Some(found.unwrap_or(0) + value);
            }
        });
        found
    }

    /// Returns a report for the administrator: ports, endpoints, accounts, queues, counters.
    #[must_use]
    pub fn report(&self) -> Report<'_> {
        Report::new(&self.context, &self.providers)
    }

    /// Returns the active ports.
    pub fn ports(&self) -> impl Iterator<Item = (PortId, &PortAttributes)> {
        self.context.ports.iter().filter(|(_, up, _)| *up).map(|(port, _, attributes)| (port, attributes))
    }

    /// Returns the options in force: those of the constructor, or of the last [`Input::Configure`].
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.context.config
    }

    /// Checks the invariants of the whole state, for tests and fuzzing. The cost grows with the state.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check(&self) -> Result<(), String> {
        check::context(&self.context)?;
        check::providers(&self.context, &self.providers)
    }

    fn advance(&mut self, now: Time) {
        debug_assert!(self.context.outputs.is_empty(), "outputs were not drained");
        debug_assert!(now >= self.context.now, "time went back from {} to {now}", self.context.now);
        self.context.now = self.context.now.max(now);
    }

    fn address_added(&mut self, local: LocalAddress) {
        if let crate::ports::Added::New { duplicate } = self.context.ports.add_address(local) {
            if duplicate {
                self.context.log(Event::DuplicateAddress(local.address));
            }
            self.reconcile(local.port);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Account, EndpointId,
        api::{DatagramSource, config::Limits, id::Token},
        clients::{OpenRequest, Requester, WaitingFor},
    };
    use acm_wire::Address;
    use alloc::vec::Vec;
    use ib_mad::{Lid, Qpn};

    #[test]
    fn client_at_its_request_limit_is_not_read() {
        let limits = Limits { requests_per_client: 2, ..Limits::default() };
        let mut acm = Acm::new(Config { limits, ..Config::default() }, 1);
        assert_eq!(acm.config().limits.requests_per_client, 2, "the options of the constructor");
        let client = ClientId::new(0, 0);
        acm.handle_input(Time::ZERO, Input::ClientOpened { client, account: Account::User(7) });
        let account = acm.context.clients.connections.account(client).unwrap();
        let seen = [(); 3].map(|()| {
            let seen = (acm.takes_requests(client), acm.has_requests(client));
            let waiting = WaitingFor::Lookup {
                endpoint: EndpointId::new(0, 0),
                token: Token { provider: ProviderId::BUILT_IN, kind: 1, index: 0, generation: 0 },
                dest: Address::from_text("a"),
                chosen_source: None,
            };
            acm.context.clients.keep_request(
                &mut acm.context.cx,
                OpenRequest::new(Requester::Client { id: client, tid: [0; 8] }, account, waiting),
            );
            seen
        });
        assert_eq!(seen, [(true, false), (true, true), (false, true)]);
    }
    #[test]
    fn input_for_removed_endpoint_is_counted_as_stale() {
        let mut acm = Acm::new(Config::default(), 1);
        let endpoint = EndpointId::new(0, 0);
        let source = DatagramSource { lid: Lid::new(1), path_bits: 0, qpn: Qpn::of::<2>(), gid: None, group: None };
        let inputs = [
            Input::EndpointOpened { endpoint, qpn: Qpn::of::<2>() },
            Input::EndpointFailed(endpoint),
            Input::EndpointLost(endpoint),
            Input::Datagram { endpoint, source, payload: &[] },
        ];
        for (before, input) in (0..).zip(inputs) {
            assert_eq!(acm.stats().stale_inputs, before);
            acm.handle_input(Time::ZERO, input);
            assert_eq!(acm.poll_output(), None);
        }
        assert_eq!((acm.stats().stale_inputs, acm.stats().endpoints_failed, acm.stats().endpoints_lost), (4, 0, 0));
        assert_eq!(acm.poll_timeout(), None);
    }

    #[test]
    fn check_finds_broken_invariants_of_core_and_provider() {
        let mut acm = Acm::new(Config::default(), 1);
        assert_eq!(acm.check(), Ok(()));
        acm.context.accounts.take(crate::api::account::KERNEL, crate::accounts::Holding::Lookups);
        assert_eq!(acm.check(), Err("kernel is charged 1 of 0 lookups".into()));
        let mut acm = Acm::new(Config::default(), 1);
        acm.context.accounts.take(crate::api::account::KERNEL, crate::accounts::Holding::Requests);
        assert_eq!(acm.check(), Err("kernel is charged 1 of 0 requests".into()));
    }

    #[test]
    fn each_timer_reports_its_reason() {
        let mut acm = Acm::new(Config::default(), 1);
        let keys = [
            (TimerKey::SaQuery(crate::api::id::SaQueryId::new(1, 0)), Reason::SaRequest),
            (TimerKey::Kernel(crate::RequestId::new(1, 0)), Reason::KernelRequest),
            (TimerKey::Endpoint(EndpointId::new(1, 0)), Reason::OpenEndpoint),
            (TimerKey::Shutdown, Reason::Shutdown),
        ];
        assert_eq!((acm.poll_deadline(), acm.poll_timeout()), (None, None));
        for (key, reason) in keys {
            let at = Time::from_nanos(7);
            acm.context.timers.set(key, at);
            assert_eq!((acm.poll_deadline(), acm.poll_timeout()), (Some(Deadline { at, reason }), Some(at)));
            acm.context.timers.clear(key);
        }
    }

    #[test]
    fn drive_handles_the_input_and_drains_outputs() {
        let mut acm = Acm::new(Config::default(), 1);
        let mut seen = Vec::new();
        acm.drive(Time::from_nanos(5), Input::Shutdown, |output| {
            seen.push(output);
            None
        });
        assert_eq!((seen, acm.context.now()), (Vec::from([Output::ShutdownDone]), Time::from_nanos(5)));
    }
}
