//! Dispatch: where each input and each deadline goes.
use crate::{
    Config, Stats, Time,
    account::AccountKind,
    context::{Context, Running},
    door::{Deadline, Event, Input, Output, ProviderId, Reason, SendFailure},
    histogram::Latencies,
    ibacmp::Ibacmp,
    id::{ClientId, EndpointId, PortId},
    port::{LocalAddress, PortAttributes},
    provider::{PortEvent, Provider},
    providers::Providers,
    random::Seed,
    report::Report,
    retry,
    sa::SaError,
    timers::TimerKey,
};
use acm_wire::client::Counters;
use alloc::{boxed::Box, string::String, vec::Vec};

/// The core: see the [crate's page](crate) for its door.
#[derive(Debug)]
pub struct Acm {
    pub(crate) context: Context,
    pub(crate) providers: Providers,
}

impl Acm {
    /// A core with the built-in provider. `seed` feeds transaction ids and jitter: an outsider must not know it.
    #[must_use]
    pub fn new(config: Config, seed: impl Into<Seed>) -> Self {
        let seed = seed.into();
        Self::with_provider(config, seed, Box::new(Ibacmp::new(seed)))
    }

    /// A core with another provider in the place of the built-in one.
    #[must_use]
    pub fn with_provider(mut config: Config, seed: impl Into<Seed>, provider: Box<dyn Provider>) -> Self {
        let names = core::mem::take(&mut config.providers);
        let mut acm = Self { context: Context::new(config, seed.into()), providers: Providers::new(provider) };
        for name in names {
            acm.add_provider(&name);
        }
        acm
    }

    /// How many providers there may be beside the built-in one.
    pub const MOST_PROVIDERS: u8 = crate::providers::MOST;

    /// Another provider, which is not built in: its number, unless there are too many. It serves the subnets that
    /// [`Config::subnets`] gives it, from the next fact on; to be added before the first one, so that a trace has it.
    pub fn add_provider(&mut self, name: &str) -> Option<ProviderId> {
        let id = self.providers.add(name)?;
        self.context.config.providers.push(name.into());
        Some(id)
    }

    /// Tells one fact. Outputs of the fact before must have been drained, and time does not go back.
    pub fn handle_input(&mut self, now: Time, input: Input<'_>) {
        self.advance(now);
        match input {
            Input::ClientOpened { client, account } => self.client_opened(client, account),
            Input::ClientMessage { client, message } => self.client_message(client, message),
            Input::ClientGone(client) => self.client_gone(client),
            Input::KernelRequest { id, port, wanted } => self.kernel_request(id, port, wanted),
            Input::KernelAddressRequest { id, source, dest } => self.kernel_address_request(id, source, dest),
            Input::KernelTimeout(waits) => self.context.kernel_waits = Some(waits),
            Input::SourceSelected { request, source } => self.source_selected(request, source),
            Input::SaAnswer { id, mad } => self.sa_answer(id, mad),
            Input::SaReport { port, lid, qpn, mad } => self.sa_report(port, lid, qpn, mad),
            Input::SaFailed { id, failure: SendFailure::TimedOut } => self.sa_failed(id, SaError::TimedOut),
            Input::SaFailed { id, failure: SendFailure::NotSent } => self.sa_failed(id, SaError::NotSent),
            Input::Datagram { endpoint, source, payload } => {
                if let Some(provider) = self.context.ports.endpoint(endpoint).map(|found| found.provider) {
                    self.providers.get_mut(provider).datagram(&mut self.context, endpoint, &source, payload);
                } else {
                    self.context.stats.stale_inputs += 1;
                }
            }
            Input::EndpointOpened { endpoint, qpn } => self.endpoint_opened(endpoint, qpn),
            Input::EndpointFailed(endpoint) => self.endpoint_failed(endpoint),
            Input::EndpointLost(endpoint) => self.endpoint_lost(endpoint),
            Input::PortUp { port, attributes } => self.port_up(port, attributes),
            Input::PortDown(port) => self.port_down(port),
            Input::ClientReregister(port) => {
                self.context.renew_notices(port);
                self.port_event(port, PortEvent::Reregister);
            }
            Input::AddressAdded { port, pkey, address } => self.address_added(LocalAddress { port, pkey, address }),
            Input::AddressRemoved { port, pkey, address } => {
                if self.context.ports.remove_address(&LocalAddress { port, pkey, address }) {
                    self.reconcile(port);
                }
            }
            // The files are those of the built-in provider.
            Input::Preloaded(preload) => {
                self.providers.get_mut(ProviderId::BUILT_IN).preload(&mut self.context, preload);
            }
            Input::Configure(config) => self.configure(config),
            Input::Interfaces(all) => self.interfaces(all),
            Input::Provider { provider, said } => match self.providers.external(provider) {
                Some(provider) => provider.said(&mut self.context, &said),
                None => self.context.stats.stale_inputs += 1,
            },
            Input::Shutdown => self.shutdown(),
        }
        self.check_shutdown();
    }

    /// Runs what is due. Harmless when nothing is.
    pub fn handle_timeout(&mut self, now: Time) {
        self.advance(now);
        while let Some(key) = self.context.timers.pop_due(now) {
            match key {
                TimerKey::Provider(token) => {
                    self.providers.get_mut(token.provider).timeout(&mut self.context, token);
                }
                TimerKey::Question(id) => {
                    if let Some(error) = self.context.sa_due(id) {
                        self.sa_done(id, Err(error));
                    }
                }
                TimerKey::Kernel(id) => self.kernel_late(id),
                TimerKey::Notices(port) => self.context.notices_due(port),
                TimerKey::Endpoint(id) => self.open_again(id),
                TimerKey::Failures => self.context.tell_failures(),
                TimerKey::Shutdown => self.stopped(),
            }
        }
        self.check_shutdown();
    }

    /// Tells one fact and carries out all that follows from it.
    pub fn drive(&mut self, now: Time, input: Input<'_>, carry_out: impl FnMut(Output) -> Option<Input<'static>>) {
        self.handle_input(now, input);
        self.drain(now, carry_out);
    }

    /// Carries out all that is wanted, in order. What `carry_out` gives back is told when there are no more wishes,
    /// in order as well. To be called after each `handle_*`, by whoever does not use [`Acm::drive`].
    pub fn drain(&mut self, now: Time, mut carry_out: impl FnMut(Output) -> Option<Input<'static>>) {
        loop {
            while let Some(output) = self.poll_output() {
                if let Some(fact) = carry_out(output) {
                    self.context.facts.push_back(fact);
                }
            }
            let Some(fact) = self.context.facts.pop_front() else { return };
            self.handle_input(now, fact);
        }
    }

    /// The next wish; `None` when there is none left.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.context.outputs.pop_front()
    }

    /// The next instant at which [`Acm::handle_timeout`] must run. May change after every `handle_*`.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        self.context.timers.next().map(|(at, _)| at)
    }

    /// The same with the reason.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Deadline> {
        let (at, key) = self.context.timers.next()?;
        let reason = match key {
            TimerKey::Question(_) => Reason::SaRequest,
            TimerKey::Kernel(_) => Reason::KernelRequest,
            TimerKey::Endpoint(_) => Reason::OpenEndpoint,
            TimerKey::Notices(_) => Reason::Notices,
            TimerKey::Failures => Reason::Failures,
            TimerKey::Provider(token) => Reason::Provider(self.providers.get(token.provider).timer_name(token)),
            TimerKey::Shutdown => Reason::Shutdown,
        };
        Some(Deadline { at, reason })
    }

    /// Whether a port is active.
    #[must_use]
    pub fn is_active(&self, port: PortId) -> bool {
        self.context.ports.attributes(port).is_some()
    }

    /// Whether a client may send another request: its owner stops reading from it otherwise.
    #[must_use]
    pub fn takes_requests(&self, client: ClientId) -> bool {
        let most = self.context.config.limits.requests_per_client as usize;
        self.context.connections.requests(client).is_none_or(|requests| requests.len() < most)
    }

    /// Whether a client waits for an answer: its owner keeps the connection, even if nothing more comes from it.
    #[must_use]
    pub fn has_requests(&self, client: ClientId) -> bool {
        self.context.connections.requests(client).is_some_and(|requests| requests.len() > 0)
    }

    /// The daemon's seven counters.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.context.counters
    }

    /// An endpoint's own; `None` if there is no such endpoint any more.
    #[must_use]
    pub fn endpoint_counters(&self, endpoint: EndpointId) -> Option<&Counters> {
        self.context.ports.endpoint(endpoint).map(|endpoint| &endpoint.counters)
    }

    /// What the core itself counts beside them.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.context.stats
    }

    /// The daemon's seven counters, by the names that reports give them.
    pub fn each_counter(&self, mut tell: impl FnMut(&'static str, u64)) {
        for (name, counter) in crate::report::COUNTERS {
            tell(name, self.context.counters.get(counter));
        }
    }

    /// How long things took.
    #[must_use]
    pub fn latencies(&self) -> &Latencies {
        &self.context.latencies
    }

    /// Every counter but the seven, the provider's too: its name, the kind of account that it is of if it counts by
    /// account, its value.
    pub fn each_stat(&self, mut tell: impl FnMut(&'static str, Option<AccountKind>, u64)) {
        self.context.stats.each(&mut tell);
        self.providers.iter().for_each(|provider| provider.each_stat(&mut |name, value| tell(name, None, value)));
    }

    /// One counter by its name, of all kinds of account together; `None` if there is none with this name.
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

    /// Everything that an administrator may want to see: ports, endpoints, accounts, queues, counters.
    #[must_use]
    pub fn report(&self) -> Report<'_> {
        Report::new(&self.context, &self.providers)
    }

    /// The active ports.
    pub fn ports(&self) -> impl Iterator<Item = (PortId, &PortAttributes)> {
        self.context.ports.iter().filter(|(_, up, _)| *up).map(|(port, _, attributes)| (port, attributes))
    }

    /// The options in force: those that it was made with, or was given since.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.context.config
    }

    /// Whether everything that is kept fits together: for tests and fuzzing. Looks at everything.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self) -> Result<(), String> {
        crate::check::context(&self.context)?;
        crate::check::lookups(&self.context, &self.providers)?;
        self.providers.iter().try_for_each(|provider| provider.check(&self.context))
    }

    fn advance(&mut self, now: Time) {
        debug_assert!(self.context.outputs.is_empty(), "outputs were not drained");
        debug_assert!(now >= self.context.now, "time went back from {} to {now}", self.context.now);
        self.context.now = self.context.now.max(now);
    }

    fn address_added(&mut self, local: LocalAddress) {
        if let crate::port::Added::New { duplicate } = self.context.ports.add_address(local) {
            if duplicate {
                self.context.log(Event::DuplicateAddress(local.address));
            }
            self.reconcile(local.port);
        }
    }

    fn shutdown(&mut self) {
        if self.context.running != Running::Serving {
            return;
        }
        let endpoints: Vec<_> = self.context.ports.all_endpoints().collect();
        for endpoint in endpoints {
            self.close_endpoint(endpoint);
        }
        self.context.ports.index_addresses();
        let ports: Vec<_> = self.context.ports.iter().map(|(port, ..)| port).collect();
        ports.into_iter().for_each(|port| self.serve_by(port, None));
        self.context.end_notices();
        self.context.running = Running::Leaving;
        self.context.timers.set(TimerKey::Shutdown, self.context.now + retry::SHUTDOWN);
    }

    /// Whether the last group is left and the last provider has closed what it had.
    fn check_shutdown(&mut self) {
        let is_over = || self.context.sa.questions.len() == 0 && self.providers.iter().all(Provider::is_closed);
        if self.context.running == Running::Leaving && is_over() {
            self.stopped();
        }
    }

    fn stopped(&mut self) {
        self.context.running = Running::Stopped;
        self.context.timers.clear(TimerKey::Shutdown);
        self.context.tell_failures();
        let ports: Vec<PortId> = self.context.sa.ports.keys().copied().collect();
        for port in ports {
            self.sa_abandon(port);
        }
        self.context.output(Output::ShutdownDone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Account, EndpointId,
        client::{Asker, OpenRequest, Waiting},
        config::Limits,
        door::DatagramSource,
        id::Token,
    };
    use acm_wire::Address;
    use ib_mad::{Lid, Qpn};

    #[test]
    fn a_client_is_read_up_to_its_bound() {
        let limits = Limits { requests_per_client: 2, ..Limits::default() };
        let mut acm = Acm::new(Config { limits, ..Config::default() }, 1);
        assert_eq!(acm.config().limits.requests_per_client, 2, "the options that it was made with");
        let client = ClientId::new(0, 0);
        acm.handle_input(Time::ZERO, Input::ClientOpened { client, account: Account::User(7) });
        let account = acm.context.connections.account(client).unwrap();
        let seen = [(); 3].map(|()| {
            let seen = (acm.takes_requests(client), acm.has_requests(client));
            let waiting = Waiting::Lookup {
                endpoint: EndpointId::new(0, 0),
                token: Token { provider: ProviderId::BUILT_IN, kind: 1, index: 0, generation: 0 },
                dest: Address::from_text("a"),
                chosen_source: None,
            };
            acm.context.keep_request(OpenRequest::new(Asker::Client { id: client, tid: [0; 8] }, account, waiting));
            seen
        });
        assert_eq!(seen, [(true, false), (true, true), (false, true)]);
    }
    #[test]
    fn what_is_told_of_an_endpoint_that_is_gone_is_counted() {
        let mut acm = Acm::new(Config::default(), 1);
        let endpoint = EndpointId::new(0, 0);
        let source = DatagramSource { lid: Lid::new(1), path_bits: 0, qpn: Qpn::of::<2>(), gid: None };
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
    fn what_does_not_fit_is_found_in_the_core_and_in_its_provider() {
        let mut acm = Acm::new(Config::default(), 1);
        assert_eq!(acm.check(), Ok(()));
        acm.context.accounts.take(crate::account::KERNEL, crate::account::Holding::Lookups);
        assert_eq!(acm.check(), Err("kernel is charged 1 of 0 lookups".into()));
        let mut acm = Acm::new(Config::default(), 1);
        acm.context.accounts.take(crate::account::KERNEL, crate::account::Holding::Requests);
        assert_eq!(acm.check(), Err("kernel is charged 1 of 0 requests".into()));
    }

    #[test]
    fn each_deadline_has_its_reason() {
        let mut acm = Acm::new(Config::default(), 1);
        let keys = [
            (TimerKey::Question(crate::id::QuestionId::new(1, 0)), Reason::SaRequest),
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
    fn one_that_is_driven_is_told_and_drained() {
        let mut acm = Acm::new(Config::default(), 1);
        let mut seen = Vec::new();
        acm.drive(Time::from_nanos(5), Input::Shutdown, |output| {
            seen.push(output);
            None
        });
        assert_eq!((seen, acm.context.now()), (Vec::from([Output::ShutdownDone]), Time::from_nanos(5)));
    }
}
