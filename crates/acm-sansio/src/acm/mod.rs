//! What an input does: the door, and where each input goes.
mod ports;
mod requests;
mod sa;

use crate::{
    Config, Event, Time,
    core_state::Core,
    ibacmp::Ibacmp,
    id::{ClientId, EndpointId},
    input::{Input, SendFailure},
    output::{Output, Stats},
    ports::LocalAddress,
    provider::{Context, PortEvent, Provider},
    sa::SaError,
    timers::TimerKey,
};
use acm_wire::client::Counters;
use alloc::{boxed::Box, vec::Vec};
use core::time::Duration;

/// The core: see the [crate's page](crate) for its door.
#[derive(Debug)]
pub struct Acm {
    core: Core,
    provider: Box<dyn Provider>,
}

/// Longest time that leaving groups may take at shutdown.
const SHUTDOWN_TIME: Duration = Duration::from_secs(2);

impl Acm {
    /// A core with the built-in provider. `seed` feeds transaction ids and jitter: an outsider must not know it.
    #[must_use]
    pub fn new(config: Config, seed: u64) -> Self {
        Self::with_provider(config, seed, Box::new(Ibacmp::new(seed)))
    }

    /// A core with another provider.
    #[must_use]
    pub fn with_provider(config: Config, seed: u64, provider: Box<dyn Provider>) -> Self {
        Self { core: Core::new(config, seed), provider }
    }

    /// Tells one fact. Outputs of the fact before must have been drained, and time does not go back.
    pub fn handle_input(&mut self, now: Time, input: Input<'_>) {
        self.advance(now);
        match input {
            Input::ClientOpened { client, account: _ } => self.client_opened(client),
            Input::ClientMessage { client, message } => self.client_message(client, message),
            Input::ClientGone(client) => {
                self.core.stats.stale_inputs += u64::from(!self.core.clients.close(client));
            }
            Input::KernelRequest { id, port, wanted } => self.kernel_request(id, port, wanted),
            Input::SourceSelected { request, source } => self.source_selected(request, source),
            Input::SaAnswer { id, mad } => self.sa_answer(id, mad),
            Input::SaFailed { id, failure } => self.sa_finish(
                id,
                Err(match failure {
                    SendFailure::TimedOut => SaError::TimedOut,
                    SendFailure::NotSent => SaError::NotSent,
                }),
            ),
            Input::Datagram { endpoint, source, payload } => {
                if self.core.ports.endpoint(endpoint).is_none() {
                    self.core.stats.stale_inputs += 1;
                } else {
                    self.provider.datagram(&mut Context { core: &mut self.core }, endpoint, &source, payload);
                }
            }
            Input::EndpointOpened { endpoint, qpn } => match self.core.ports.endpoint_mut(endpoint) {
                None => self.core.stats.stale_inputs += 1,
                Some(own) => {
                    own.qpn = Some(qpn);
                    own.opening = false;
                    self.provider.open_endpoint(&mut Context { core: &mut self.core }, endpoint);
                }
            },
            Input::EndpointLost(endpoint) => match self.core.ports.endpoint_mut(endpoint) {
                None => self.core.stats.stale_inputs += 1,
                Some(own) => {
                    own.qpn = None;
                    own.opening = false;
                }
            },
            Input::EndpointFailed(endpoint) => {
                if let Some(own) = self.core.ports.endpoint_mut(endpoint) {
                    own.opening = false;
                    self.core.log(Event::EndpointFailed(endpoint));
                }
            }
            Input::PortUp { port, attributes } => self.port_up(port, attributes),
            Input::PortDown(port) => self.port_down(port),
            Input::ClientReregister(port) => self.port_event(port, PortEvent::Reregister),
            Input::AddressAdded { port, pkey, address } => {
                let (new, duplicate) = self.core.ports.add_address(LocalAddress { port, pkey, address });
                if duplicate {
                    self.core.log(Event::DuplicateAddress(address));
                }
                if new {
                    self.reconcile(port);
                }
            }
            Input::AddressRemoved { port, pkey, address } => {
                if self.core.ports.remove_address(&LocalAddress { port, pkey, address }) {
                    self.reconcile(port);
                }
            }
            Input::Shutdown => self.shutdown(),
        }
        self.check_shutdown();
    }

    /// Runs what is due. Harmless when nothing is.
    pub fn handle_timeout(&mut self, now: Time) {
        self.advance(now);
        while let Some(key) = self.core.timers.pop_due(now) {
            match key {
                TimerKey::Provider(token) => self.provider.timeout(&mut Context { core: &mut self.core }, token),
                TimerKey::Sa(id) => self.sa_timeout(id),
                TimerKey::Kernel(id) => self.kernel_late(id),
                TimerKey::Shutdown => {
                    self.core.shutting_down = false;
                    self.core.output(Output::ShutdownDone);
                }
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
                    self.core.facts.push_back(fact);
                }
            }
            let Some(fact) = self.core.facts.pop_front() else { return };
            self.handle_input(now, fact);
        }
    }

    /// The next wish; `None` when there is none left.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.core.outputs.pop_front()
    }

    /// The next instant at which [`Acm::handle_timeout`] must run. May change after every `handle_*`.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        self.core.timers.next().map(|(at, _)| at)
    }

    /// Whether a client may send another request: its owner stops reading from it otherwise.
    #[must_use]
    pub fn takes_requests(&self, client: ClientId) -> bool {
        self.core.clients.in_flight(client) < self.core.config.limits.requests_per_client
    }

    /// Whether a client waits for an answer: its owner keeps the connection, even if nothing more comes from it.
    #[must_use]
    pub fn has_requests(&self, client: ClientId) -> bool {
        self.core.clients.in_flight(client) > 0
    }

    /// The daemon's seven counters.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.core.counters
    }

    /// Everything else that is counted.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.core.stats
    }

    /// The options.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.core.config
    }

    fn advance(&mut self, now: Time) {
        debug_assert!(self.core.outputs.is_empty(), "outputs were not drained");
        debug_assert!(now >= self.core.now, "time went back from {} to {now}", self.core.now);
        self.core.now = self.core.now.max(now);
    }

    fn shutdown(&mut self) {
        let endpoints: Vec<EndpointId> = self.core.ports.all_endpoints();
        for endpoint in endpoints {
            self.close_endpoint(endpoint);
        }
        self.core.ports.index_addresses();
        self.core.shutting_down = true;
        self.core.timers.set(TimerKey::Shutdown, self.core.now + SHUTDOWN_TIME);
    }

    /// Whether the last group is left.
    fn check_shutdown(&mut self) {
        if self.core.shutting_down && self.core.sa.requests.len() == 0 {
            self.core.shutting_down = false;
            self.core.timers.clear(TimerKey::Shutdown);
            self.core.output(Output::ShutdownDone);
        }
    }
}
