//! What an input does.
use crate::{
    Config, Event, Time,
    clients::{Asker, Request as Pending, Waiting},
    core_state::Core,
    ibacmp::Ibacmp,
    id::{ClientId, EndpointId, KernelRequestId, PortId, RequestId, SaRequestId},
    input::{Input, SendFailure},
    output::{Output, Stats},
    ports::{LocalAddress, PortAttributes},
    provider::{Answer, Context, PortEvent, Provider},
    sa::{Progress, Purpose, SaError},
    timers::TimerKey,
};
use acm_wire::{
    Address,
    client::{
        ClientStatus, Counter, Counters, Entry, EpHead, Opcode, PerfTarget, Reply, Request, Resolve, ep_reply,
        next_frame,
    },
};
use alloc::{boxed::Box, vec::Vec};
use core::{net::IpAddr, time::Duration};
use ib_mad::{
    Wire,
    sa::{PathMask, PathRecord, Query, SaMad},
    wire::Text,
};

/// The core: see the [crate's page](crate) for its door.
#[derive(Debug)]
pub struct Acm {
    core: Core,
    provider: Box<dyn Provider>,
}

/// Longest time that leaving groups may take at shutdown.
const SHUTDOWN_TIME: Duration = Duration::from_secs(2);
/// How long a busy subnet administration is left alone; twice as long each time.
const BUSY_PAUSE: Duration = Duration::from_millis(250);

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
            Input::ClientOpened(client) => self.client_opened(client),
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

    fn client_opened(&mut self, client: ClientId) {
        if !self.core.clients.open(client, self.core.config.limits.clients) {
            self.core.stats.clients_refused += 1;
            self.core.output(Output::CloseClient(client));
        }
    }

    fn client_message(&mut self, client: ClientId, message: &[u8]) {
        if !self.core.clients.is_open(client) {
            self.core.stats.stale_inputs += 1;
            return;
        }
        let frame = match next_frame(message) {
            Ok(Some(frame)) => frame,
            Ok(None) => {
                self.core.stats.bad_messages += 1;
                return;
            }
            Err(error) => {
                self.core.stats.bad_messages += 1;
                self.core.log(Event::BadFrame(client, error));
                self.core.clients.close(client);
                self.core.output(Output::CloseClient(client));
                return;
            }
        };
        let tid = frame.header.tid.0;
        let asker = Asker::Client { id: client, tid };
        match Request::parse(&frame) {
            Request::Perf(target) => self.perf(client, tid, target),
            Request::Endpoint { index, port } => self.endpoint_query(client, tid, index, port),
            Request::Resolve(asked) => {
                self.core.counters.count(Counter::Resolve);
                match asked {
                    Err(status) => self.refuse(asker, status),
                    Ok(Resolve::QuerySa { path, entry }) => self.query_sa(client, tid, path, entry),
                    Ok(Resolve::Route(route)) => self.route(asker, None, route.path, route.no_delay),
                    Ok(Resolve::Address { source: Some(source), dest, no_delay }) => {
                        self.resolve(asker, &source, None, &dest, no_delay);
                    }
                    Ok(Resolve::Address { source: None, dest, no_delay }) => {
                        self.select_source(asker, dest, no_delay);
                    }
                }
            }
        }
    }

    fn kernel_request(&mut self, id: KernelRequestId, port: Option<PortId>, wanted: &PathRecord) {
        self.core.counters.count(Counter::Resolve);
        self.route(Asker::Kernel(Some(id)), port, wanted, false);
    }

    /// The kernel gets its answer, whoever is late; what it asked for is still looked up.
    fn kernel_late(&mut self, id: RequestId) {
        let Some((kernel, Waiting::Provider { endpoint, .. })) = self.core.clients.kernel_late(id) else { return };
        self.core.stats.kernel_late += 1;
        self.core.log(Event::KernelRefused(kernel, ClientStatus::ETIMEDOUT));
        self.core.finish(Asker::Kernel(Some(kernel)), endpoint, None, Err(ClientStatus::ETIMEDOUT));
    }

    /// Answers a request that was refused before any lookup.
    fn refuse(&mut self, asker: Asker, status: ClientStatus) {
        self.core.count_status(None, status);
        match asker {
            Asker::Client { id, tid } => {
                self.core.log(Event::Refused(id, status));
                self.core.reply(id, Reply::refused(Opcode::RESOLVE, tid, status));
            }
            Asker::Kernel(Some(id)) => {
                self.core.log(Event::KernelRefused(id, status));
                self.core.output(Output::KernelReply { id, path: Err(status) });
            }
            Asker::Kernel(None) => {}
        }
    }

    /// Whether there is room for another request that waits.
    fn has_room(&mut self, asker: Asker) -> bool {
        let own = match asker {
            Asker::Client { id, .. } => self.takes_requests(id),
            Asker::Kernel(_) => self.core.clients.of_kernel() < self.core.config.limits.kernel_requests,
        };
        let room = own && self.core.clients.requests() < self.core.config.limits.requests;
        self.core.stats.requests_refused += u64::from(!room);
        room
    }

    fn select_source(&mut self, asker: Asker, dest: Address, no_delay: bool) {
        let Some(ip) = dest.ip() else { return self.refuse(asker, ClientStatus::EDESTTYPE) };
        if !self.has_room(asker) {
            return self.refuse(asker, ClientStatus::ENOMEM);
        }
        let request = self.core.clients.insert(asker, Waiting::Source { dest, no_delay });
        self.core.output(Output::SelectSource { request, dest: ip });
    }

    fn source_selected(&mut self, request: RequestId, source: Option<IpAddr>) {
        let Some(Pending { asker, waiting: Waiting::Source { dest, no_delay }, .. }) =
            self.core.clients.remove(request)
        else {
            self.core.stats.stale_inputs += 1;
            return;
        };
        match source.map(Address::from) {
            None => self.refuse(asker, ClientStatus::ESRCADDR),
            Some(source) => self.resolve(asker, &source, Some(source), &dest, no_delay),
        }
    }

    fn resolve(
        &mut self,
        asker: Asker,
        source: &Address,
        chosen_source: Option<Address>,
        dest: &Address,
        no_delay: bool,
    ) {
        let Some(endpoint) = self.core.ports.by_address(source) else {
            return self.refuse(asker, ClientStatus::ESRCADDR);
        };
        self.count_resolve(endpoint);
        let answer = self.provider.resolve(&mut Context { core: &mut self.core }, endpoint, source, dest);
        self.answer(asker, endpoint, chosen_source, answer, no_delay);
    }

    fn route(&mut self, asker: Asker, port: Option<PortId>, path: &PathRecord, no_delay: bool) {
        if path.dlid.is_zero() && path.dgid.is_zero() {
            return self.refuse(asker, ClientStatus::EDESTADDR);
        }
        let Some(endpoint) = self.core.ports.by_path(port, path) else {
            return self.refuse(asker, ClientStatus::ESRCADDR);
        };
        self.count_resolve(endpoint);
        let answer = self.provider.route(&mut Context { core: &mut self.core }, endpoint, path);
        self.answer(asker, endpoint, None, answer, no_delay);
    }

    fn count_resolve(&mut self, endpoint: EndpointId) {
        if let Some(endpoint) = self.core.ports.endpoint_mut(endpoint) {
            endpoint.counters.count(Counter::Resolve);
        }
    }

    fn answer(
        &mut self,
        asker: Asker,
        endpoint: EndpointId,
        chosen_source: Option<Address>,
        answer: Answer,
        no_delay: bool,
    ) {
        let result = match &answer {
            Answer::Ready(path) => Ok(path),
            Answer::Failed(status) => Err(*status),
            Answer::Pending(_) if no_delay => Err(ClientStatus::ENODATA),
            Answer::Pending(token) => {
                if self.has_room(asker) {
                    let request = self.core.clients.insert(asker, Waiting::Provider { endpoint, chosen_source });
                    self.core.clients.wait(request, *token);
                    if matches!(asker, Asker::Kernel(_)) {
                        let deadline = self.core.now + self.core.config.kernel_deadline;
                        self.core.timers.set(TimerKey::Kernel(request), deadline);
                    }
                    return;
                }
                Err(ClientStatus::ENOMEM)
            }
        };
        self.core.finish(asker, endpoint, chosen_source.as_ref(), result);
    }

    fn query_sa(&mut self, client: ClientId, tid: [u8; 8], path: &PathRecord, entry: &Entry) {
        let refused = |status| Reply::queried(tid, entry, Err(status));
        let Some(endpoint) = self.core.ports.by_path(None, path) else {
            return self.core.reply(client, refused(ClientStatus::ESRCADDR));
        };
        let asker = Asker::Client { id: client, tid };
        if !self.has_room(asker) {
            return self.core.reply(client, refused(ClientStatus::ENOMEM));
        }
        // As C ibacm asks: how many paths and their preference are the daemon's business.
        let query = Query::from_non_zero(*path).without(PathMask::NUM_PATH | PathMask::PREFERENCE);
        let mad = query.get(self.core.sa_tid());
        let request = self.core.clients.insert(asker, Waiting::Query { entry: *entry });
        let Some(port) = self.core.ports.endpoint(endpoint).map(|own| own.port) else { return };
        Context { core: &mut self.core }.count(endpoint, Counter::RouteQuery);
        if let Err(error) = self.core.sa_push(port, Purpose::Query(endpoint, request), mad) {
            self.query_done(endpoint, request, Err(error));
        }
    }

    fn query_done(&mut self, endpoint: EndpointId, request: RequestId, answer: Result<&SaMad, SaError>) {
        let Some(Pending { asker: Asker::Client { id: client, tid }, waiting: Waiting::Query { entry }, .. }) =
            self.core.clients.remove(request)
        else {
            self.core.stats.stale_inputs += 1;
            return;
        };
        let path = answer
            .map_err(SaError::client_status)
            .and_then(|mad| mad.record::<PathRecord>().map_err(|_| ClientStatus::ENODATA));
        if path.is_err()
            && let Some(endpoint) = self.core.ports.endpoint_mut(endpoint)
        {
            endpoint.counters.count(Counter::Error);
        }
        self.core.reply(client, Reply::queried(tid, &entry, path));
    }

    fn perf(&mut self, client: ClientId, tid: [u8; 8], target: PerfTarget) {
        let ports = &self.core.ports;
        let counters = match target {
            PerfTarget::Total => Some(self.core.counters),
            PerfTarget::Endpoint(index) => ports
                .active(0)
                .nth(usize::from(index).saturating_sub(1))
                .and_then(|id| ports.endpoint(id))
                .map(|endpoint| endpoint.counters),
            PerfTarget::Address(address) => address
                .and_then(|address| ports.by_address(&address))
                .and_then(|id| ports.endpoint(id))
                .map(|endpoint| endpoint.counters),
        };
        let reply = counters.map_or_else(
            || Reply::refused(Opcode::PERF, tid, ClientStatus::ESRCADDR),
            |counters| Reply::counters(tid, &counters),
        );
        self.core.reply(client, reply);
    }

    fn endpoint_query(&mut self, client: ClientId, tid: [u8; 8], index: u8, port: u8) {
        let ports = &self.core.ports;
        let found = usize::from(index)
            .checked_sub(1)
            .and_then(|place| ports.active(port).nth(place))
            .and_then(|id| ports.endpoint(id))
            .and_then(|endpoint| Some((endpoint, ports.attributes(endpoint.port)?)));
        let Some((endpoint, attributes)) = found else {
            return self.core.reply(client, Reply::refused(Opcode::EP, tid, ClientStatus::EINVAL));
        };
        let head = EpHead {
            device_guid: attributes.device_guid,
            port: attributes.port_number,
            port_count: attributes.port_count,
            pkey: endpoint.pkey,
            provider: Text::new(self.provider.name().as_bytes()),
            ..EpHead::default()
        };
        let mut bytes = Vec::new();
        ep_reply(tid, index, &head, endpoint.addresses.iter(), |piece| bytes.extend_from_slice(piece));
        self.core.output(Output::LongReply { client, bytes });
    }

    fn port_up(&mut self, port: PortId, attributes: &PortAttributes) {
        let was_up = self.core.ports.attributes(port).is_some();
        let (moved, other_link) = self.core.ports.up(port, attributes);
        if !was_up || moved {
            self.core.log(Event::PortUp(port, attributes.lid));
        }
        // Answers of another subnet manager, or to another LID, do not come: their credits must not wait for them.
        if was_up && moved {
            self.sa_abandon(port);
        }
        let before = self.core.ports.endpoints_of(port);
        self.reconcile(port);
        for endpoint in before {
            let Some(own) = self.core.ports.endpoint_mut(endpoint) else { continue };
            if own.qpn.is_some() {
                if !was_up || moved || other_link {
                    let event = PortEvent::Up { moved };
                    self.provider.port_event(&mut Context { core: &mut self.core }, endpoint, event);
                }
            } else if !core::mem::replace(&mut own.opening, true) {
                let pkey_index = own.pkey_index;
                self.core.output(Output::OpenEndpoint { endpoint, port, pkey_index });
            }
        }
    }

    fn port_down(&mut self, port: PortId) {
        if !self.core.ports.down(port) {
            return;
        }
        self.core.log(Event::PortDown(port));
        self.core.ports.index_addresses();
        self.port_event(port, PortEvent::Down);
        self.sa_abandon(port);
    }

    /// Ends all requests of a port to subnet administration.
    fn sa_abandon(&mut self, port: PortId) {
        // Nothing is sent with the credits that are given back, and nobody searches the queue for each request.
        if let Some(queue) = self.core.sa.ports.get_mut(&port) {
            queue.waiting.clear();
            queue.memberships.clear();
        }
        for id in self.core.sa.of_port(port) {
            self.sa_finish(id, Err(SaError::PortDown));
        }
    }

    fn port_event(&mut self, port: PortId, event: PortEvent) {
        for endpoint in self.core.ports.endpoints_of(port) {
            if self.core.ports.endpoint(endpoint).is_some_and(|own| own.qpn.is_some()) {
                self.provider.port_event(&mut Context { core: &mut self.core }, endpoint, event);
            }
        }
    }

    /// Makes the endpoints of a port those that its table and the local addresses ask for.
    fn reconcile(&mut self, port: PortId) {
        // What is opened now would not be closed any more.
        if self.core.shutting_down {
            return;
        }
        let plan = self.core.ports.plan(port);
        for local in plan.unassigned {
            self.core.log(Event::NoPartition(port, local.address, local.pkey));
        }
        for endpoint in plan.close {
            self.close_endpoint(endpoint);
        }
        for (endpoint, address) in plan.remove {
            if let Some(own) = self.core.ports.endpoint_mut(endpoint) {
                own.addresses.retain(|other| *other != address);
            }
            self.provider.remove_address(&mut Context { core: &mut self.core }, endpoint, &address);
        }
        let mut added = plan.add;
        for (pkey_index, pkey, addresses) in plan.open {
            let endpoint = self.core.ports.open(port, pkey_index, pkey);
            self.core.log(Event::EndpointAdded(endpoint, port, pkey));
            self.core.output(Output::OpenEndpoint { endpoint, port, pkey_index });
            added.extend(addresses.into_iter().map(|address| (endpoint, address)));
        }
        for (endpoint, address) in added {
            if let Some(own) = self.core.ports.endpoint_mut(endpoint) {
                own.addresses.push(address);
            }
            self.core.log(Event::AddressAdded(endpoint, address));
            self.provider.add_address(&mut Context { core: &mut self.core }, endpoint, &address);
        }
        self.core.ports.index_addresses();
    }

    fn close_endpoint(&mut self, endpoint: EndpointId) {
        self.provider.close_endpoint(&mut Context { core: &mut self.core }, endpoint);
        if let Some(own) = self.core.ports.close(endpoint) {
            self.core.output(Output::CloseEndpoint(endpoint));
            self.core.log(Event::EndpointRemoved(endpoint, own.port, own.pkey));
        }
    }

    fn sa_answer(&mut self, id: SaRequestId, bytes: &[u8]) {
        let Some(request) = self.core.sa.requests.get_mut(id) else {
            self.core.stats.stale_inputs += 1;
            return;
        };
        let Progress::InFlight { busy } = request.progress else {
            self.core.stats.sa_bad_answers += 1;
            return;
        };
        let (asked, port) = (request.mad.header, request.port);
        let fits = |mad: &&SaMad| {
            let header = &mad.header;
            header.method.is_response()
                && header.attribute_id == asked.attribute_id
                && header.transaction_id.get() & 0xffff_ffff == asked.transaction_id.get() & 0xffff_ffff
        };
        let Some(mad) = SaMad::parse(bytes).ok().filter(fits) else {
            self.core.stats.sa_bad_answers += 1;
            self.core.log(Event::BadSaAnswer(port));
            return;
        };
        let status = mad.header.status;
        if status.is_busy() && busy < self.core.config.retries {
            request.progress = Progress::Pausing { busy: busy + 1 };
            self.core.stats.sa_busy += 1;
            self.core.timers.set(TimerKey::Sa(id), self.core.now + BUSY_PAUSE.saturating_mul(1 << busy.min(8)));
            return;
        }
        self.sa_finish(id, if status.is_ok() { Ok(mad) } else { Err(SaError::Status(status)) });
    }

    /// A busy administration may be asked again; or a sender forgot to report.
    fn sa_timeout(&mut self, id: SaRequestId) {
        let Some(request) = self.core.sa.requests.get_mut(id) else { return };
        let Progress::Pausing { busy } = request.progress else { return self.sa_finish(id, Err(SaError::TimedOut)) };
        request.progress = Progress::InFlight { busy };
        let (port, mad) = (request.port, request.mad);
        let Some(attributes) = self.core.ports.attributes(port) else {
            return self.sa_finish(id, Err(SaError::PortDown));
        };
        let (to, timeout, retries) = (attributes.sa_address(), self.core.config.timeout, self.core.config.retries);
        self.core.output(Output::SaSend { port, id, to, mad, timeout, retries });
        let margin = Duration::from_secs(1);
        self.core.timers.set(TimerKey::Sa(id), self.core.now + self.core.config.sa_time() + margin);
    }

    fn sa_finish(&mut self, id: SaRequestId, answer: Result<&SaMad, SaError>) {
        let Some(request) = self.core.sa.remove(id) else {
            self.core.stats.stale_inputs += 1;
            return;
        };
        self.core.timers.clear(TimerKey::Sa(id));
        match request.purpose {
            Purpose::Leave => {}
            Purpose::Query(endpoint, request) => self.query_done(endpoint, request, answer),
            Purpose::Provider(endpoint, token) => {
                if self.core.ports.endpoint(endpoint).is_some() {
                    self.provider.sa_done(&mut Context { core: &mut self.core }, endpoint, token, answer);
                }
            }
        }
        self.core.sa_pump(request.port);
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
