//! Dispatch of inputs and timers to the components.
//!
//! | file | what it passes on |
//! |---|---|
//! | `acm.rs` | each input and timer, to one of the others |
//! | `clients.rs` | connections, and the ends of requests |
//! | `requests.rs`, `query_sa.rs`, `endpoint.rs` | messages and requests for paths; QUERY_SA; EP and PERF requests |
//! | `ports.rs` | changes of ports, queue pairs and addresses, to endpoints and their providers |
//! | `sources.rs` | the endpoints of local addresses, to clients that read paths without a request |
//! | `sa.rs` | results of queries, to the party that needs them |
//! | `configure.rs`, `shutdown.rs` | changed options, and the end, to all components |
//! | `yielding.rs` | the need of an account below its floor, to the largest account |
//! | `providers.rs` | the providers by id |
//! | `report.rs` | nothing: counters, gauges, and the report |

mod clients;
mod configure;
mod endpoint;
mod metric_help;
mod ports;
mod providers;
mod query_sa;
mod report;
mod requests;
mod sa;
mod shutdown;
mod sources;
mod yielding;

pub use metric_help::metric_help;
pub use report::Report;

use self::{providers::Providers, sources::Sources};
use crate::{
    api::{
        Deadline, Event, Input, Output, ProviderId, Reason, SaError, SendFailure, Time,
        account::AccountId,
        config::Config,
        id::{ClientId, EndpointId, PortId},
        port::PortAttributes,
    },
    ports::{Endpoint, LocalAddress},
    provider::{Context, EndpointChange, PortEvent, Provider},
    resolver::Ibacmp,
    shared::{ensure, random::Seed, timers::TimerKey},
};
use acm_wire::Address;
use alloc::{boxed::Box, collections::VecDeque, string::String};
use ib_mad::sa::PathRecord;

/// The core. The [crate documentation](crate) describes its API.
#[derive(Debug)]
pub struct Acm {
    pub(crate) context: Context,
    pub(crate) providers: Providers,
    sources: Sources,
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
            sources: Sources::default(),
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
        self.context.shared.config.providers.push(name.into());
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
            Input::Attached { endpoint, mgid, mlid } => {
                if self.with_queue_pair(endpoint).is_some() {
                    self.notify_provider(endpoint, EndpointChange::Attached(mgid, mlid));
                }
            }
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
            Input::Provider { provider, message } => {
                if let Some(provider) = self.context.shared.named(self.providers.external(provider)) {
                    provider.handle_message(&mut self.context, &message);
                }
            }
            // Providers outside of the core have caches of their own.
            Input::Flush(ids) => self.providers.get_mut(ProviderId::BUILT_IN).flush(&mut self.context, &ids),
            Input::Shutdown => self.shutdown(),
        }
        self.route_all_resolved();
        self.check_shutdown();
        self.publish();
    }

    /// Runs all timers that are due at `now`. Does nothing if none is due.
    pub fn handle_timeout(&mut self, now: Time) {
        self.advance(now);
        while let Some(key) = self.context.shared.timers.pop_due(now) {
            match key {
                TimerKey::Provider(token) => {
                    self.providers.get_mut(token.provider).timeout(&mut self.context, token);
                }
                TimerKey::SaQuery(id) => self.sa_due(id),
                TimerKey::SaTurn(port) => self.sa_pump(port),
                TimerKey::Kernel(id) => self.kernel_late(id),
                TimerKey::Notices(port) => self.notices_due(port),
                TimerKey::Endpoint(id) => self.reopen_endpoint(id),
                TimerKey::Failures => self.context.clients.report_failures(&mut self.context.shared),
                TimerKey::Shutdown => self.stopped(),
            }
            self.route_all_resolved();
        }
        self.check_shutdown();
        self.publish();
    }

    /// Emits what changed of the paths that clients read without a request. Only the built-in provider publishes paths.
    fn publish(&mut self) {
        self.providers.get_mut(ProviderId::BUILT_IN).emit_publications(&mut self.context);
        self.publish_sources();
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
        self.context.shared.outputs.pop_front()
    }

    /// Returns the next instant at which [`Acm::handle_timeout`] must run. It may change with every `handle_*` call.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        self.context.shared.timers.next().map(|(at, _)| at)
    }

    /// Returns the instant of [`Acm::poll_timeout`] with its reason.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Deadline> {
        let (at, key) = self.context.shared.timers.next()?;
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

    /// Reports whether an endpoint of an active port has an address.
    #[must_use]
    pub fn serves(&self, address: &Address) -> bool {
        self.context.ports.by_address(address).is_some()
    }

    /// Reports whether a port was ever active.
    #[must_use]
    pub fn was_active(&self, port: PortId) -> bool {
        self.context.ports.was_active(port)
    }

    /// Returns the account of a client, or `None` if the client was refused or is closed. The id stays valid until the
    /// client is closed.
    #[must_use]
    pub fn account_of(&self, client: ClientId) -> Option<AccountId> {
        self.context.clients.connections.account(client)
    }

    /// Reports whether a client may have one more open request. If not, a request that would wait is refused.
    #[must_use]
    pub fn takes_requests(&self, client: ClientId) -> bool {
        self.context.clients.takes_requests(&self.context.shared, client)
    }

    /// Reports whether a client waits for a response. If so, the caller keeps the connection, even if it is
    /// half-closed.
    #[must_use]
    pub fn has_requests(&self, client: ClientId) -> bool {
        self.context.clients.connections.requests(client).is_some_and(|requests| requests.len() > 0)
    }

    /// Returns the active ports.
    pub fn ports(&self) -> impl Iterator<Item = (PortId, &PortAttributes)> {
        self.context.ports.iter().filter(|(_, up, _)| *up).map(|(port, _, attributes)| (port, attributes))
    }

    /// Returns the options in force: those of the constructor, or of the last [`Input::Configure`].
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.context.shared.config
    }

    /// Returns the path that a request from an endpoint gets now from the cache, unless the path is marked as stale.
    /// The request has nothing but a destination, and a source if the destination is a name or an IP address. This is
    /// the path that [`Publication::Path`](crate::api::Publication::Path) may have.
    #[must_use]
    pub fn fresh_path(&self, endpoint: EndpointId, dest: &Address) -> Option<PathRecord> {
        let provider = self.context.endpoint(endpoint)?.provider;
        self.providers.get(provider).fresh_path(&self.context, endpoint, dest)
    }

    /// Checks the invariants of the whole state, for tests and fuzzing. The cost grows with the state.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check(&self) -> Result<(), String> {
        let Context { shared, sa, clients, .. } = &self.context;
        shared.check()?;
        clients.check(shared, |query| sa.has(query))?;
        sa.check(shared)?;
        ensure(self.are_sources_published(), || "the published sources are not those of the ports".into())?;
        self.providers.check(&self.context)
    }

    fn advance(&mut self, now: Time) {
        debug_assert!(self.context.shared.outputs.is_empty(), "outputs were not drained");
        debug_assert!(now >= self.context.shared.now, "time went back from {} to {now}", self.context.shared.now);
        self.context.shared.now = self.context.shared.now.max(now);
    }

    fn address_added(&mut self, local: LocalAddress) {
        if let crate::ports::Added::New { duplicate } = self.context.ports.add_address(local) {
            if duplicate {
                self.context.shared.log(Event::DuplicateAddress(local.address));
            }
            self.reconcile(local.port);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{DatagramSource, id::EndpointId};
    use alloc::vec::Vec;
    use ib_mad::{Gid, Lid, Qpn};

    #[test]
    fn input_for_removed_endpoint_is_counted_as_stale() {
        let mut acm = Acm::new(Config::default(), 1);
        let endpoint = EndpointId::new(0, 0);
        let source = DatagramSource { lid: Lid::new(1), path_bits: 0, qpn: Qpn::of::<2>(), gid: None, group: None };
        let inputs = [
            Input::EndpointOpened { endpoint, qpn: Qpn::of::<2>() },
            Input::EndpointFailed(endpoint),
            Input::EndpointLost(endpoint),
            Input::Attached { endpoint, mgid: Gid::ZERO, mlid: Lid::new(0xc000) },
            Input::Datagram { endpoint, source, payload: &[] },
        ];
        for (before, input) in (0..).zip(inputs) {
            assert_eq!(acm.stats().stale_inputs, before);
            acm.handle_input(Time::ZERO, input);
            assert_eq!(acm.poll_output(), None);
        }
        assert_eq!((acm.stats().stale_inputs, acm.stats().endpoints_failed, acm.stats().endpoints_lost), (5, 0, 0));
        assert_eq!(acm.poll_timeout(), None);
    }

    #[test]
    fn check_finds_broken_invariants_of_core_and_provider() {
        let mut acm = Acm::new(Config::default(), 1);
        assert_eq!(acm.check(), Ok(()));
        acm.context.shared.accounts.take(crate::api::account::KERNEL, crate::accounts::Holding::Lookups);
        assert_eq!(acm.check(), Err("kernel is charged 1 of 0 lookups".into()));
        let mut acm = Acm::new(Config::default(), 1);
        acm.context.shared.accounts.take(crate::api::account::KERNEL, crate::accounts::Holding::Requests);
        assert_eq!(acm.check(), Err("kernel is charged 1 of 0 requests".into()));
    }

    #[test]
    fn each_timer_reports_its_reason() {
        let mut acm = Acm::new(Config::default(), 1);
        let keys = [
            (TimerKey::SaQuery(crate::api::id::SaQueryId::new(1, 0)), Reason::SaRequest),
            (TimerKey::Kernel(crate::api::id::RequestId::new(1, 0)), Reason::KernelRequest),
            (TimerKey::Endpoint(EndpointId::new(1, 0)), Reason::OpenEndpoint),
            (TimerKey::Shutdown, Reason::Shutdown),
        ];
        assert_eq!((acm.poll_deadline(), acm.poll_timeout()), (None, None));
        for (key, reason) in keys {
            let at = Time::from_nanos(7);
            acm.context.shared.timers.set(key, at);
            assert_eq!((acm.poll_deadline(), acm.poll_timeout()), (Some(Deadline { at, reason }), Some(at)));
            acm.context.shared.timers.clear(key);
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
        assert_eq!((seen, acm.context.shared.now()), (Vec::from([Output::ShutdownDone]), Time::from_nanos(5)));
    }
}
