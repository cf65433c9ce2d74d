//! What clients and the kernel ask, and how they are answered.
use super::Acm;
use crate::{
    Event,
    clients::{Asker, Request as Pending, Waiting},
    id::{ClientId, EndpointId, KernelRequestId, PortId, RequestId},
    output::Output,
    provider::{Answer, Context},
    sa::{Purpose, SaError},
    timers::TimerKey,
};
use acm_wire::{
    Address,
    client::{
        ClientRequest, ClientStatus, Counter, Entry, EpHead, Opcode, PerfTarget, Reply, Resolve, ep_reply, next_frame,
    },
};
use alloc::vec::Vec;
use core::net::IpAddr;
use ib_mad::{
    sa::{PathMask, PathRecord, Query, SaMad},
    wire::Text,
};

impl Acm {
    pub(super) fn client_opened(&mut self, client: ClientId) {
        if !self.core.clients.open(client, self.core.config.limits.clients) {
            self.core.stats.clients_refused += 1;
            self.core.output(Output::CloseClient(client));
        }
    }

    pub(super) fn client_message(&mut self, client: ClientId, message: &[u8]) {
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
        match ClientRequest::parse(&frame) {
            ClientRequest::Perf(target) => self.perf(client, tid, target),
            ClientRequest::Endpoint { index, port } => self.endpoint_query(client, tid, index, port),
            ClientRequest::Resolve(asked) => {
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

    pub(super) fn kernel_request(&mut self, id: KernelRequestId, port: Option<PortId>, wanted: &PathRecord) {
        self.core.counters.count(Counter::Resolve);
        self.route(Asker::Kernel(Some(id)), port, wanted, false);
    }

    /// The kernel gets its answer, whoever is late; what it asked for is still looked up.
    pub(super) fn kernel_late(&mut self, id: RequestId) {
        let Some((kernel, Waiting::Provider { endpoint, .. })) = self.core.clients.kernel_late(id) else { return };
        self.core.stats.kernel_late += 1;
        self.core.log(Event::KernelRefused(kernel, ClientStatus::ETIMEDOUT));
        self.core.finish(Asker::Kernel(Some(kernel)), endpoint, None, Err(ClientStatus::ETIMEDOUT));
    }

    /// Answers a request that was refused before any lookup.
    pub(super) fn refuse(&mut self, asker: Asker, status: ClientStatus) {
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
    pub(super) fn has_room(&mut self, asker: Asker) -> bool {
        let own = match asker {
            Asker::Client { id, .. } => self.takes_requests(id),
            Asker::Kernel(_) => self.core.clients.of_kernel() < self.core.config.limits.kernel_requests,
        };
        let room = own && self.core.clients.requests() < self.core.config.limits.requests;
        self.core.stats.requests_refused += u64::from(!room);
        room
    }

    pub(super) fn select_source(&mut self, asker: Asker, dest: Address, no_delay: bool) {
        let Some(ip) = dest.ip() else { return self.refuse(asker, ClientStatus::EDESTTYPE) };
        if !self.has_room(asker) {
            return self.refuse(asker, ClientStatus::ENOMEM);
        }
        let request = self.core.clients.insert(asker, Waiting::Source { dest, no_delay });
        self.core.output(Output::SelectSource { request, dest: ip });
    }

    pub(super) fn source_selected(&mut self, request: RequestId, source: Option<IpAddr>) {
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

    pub(super) fn resolve(
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

    pub(super) fn route(&mut self, asker: Asker, port: Option<PortId>, path: &PathRecord, no_delay: bool) {
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

    pub(super) fn count_resolve(&mut self, endpoint: EndpointId) {
        if let Some(endpoint) = self.core.ports.endpoint_mut(endpoint) {
            endpoint.counters.count(Counter::Resolve);
        }
    }

    pub(super) fn answer(
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

    pub(super) fn query_sa(&mut self, client: ClientId, tid: [u8; 8], path: &PathRecord, entry: &Entry) {
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

    pub(super) fn query_done(&mut self, endpoint: EndpointId, request: RequestId, answer: Result<&SaMad, SaError>) {
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

    pub(super) fn perf(&mut self, client: ClientId, tid: [u8; 8], target: PerfTarget) {
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

    pub(super) fn endpoint_query(&mut self, client: ClientId, tid: [u8; 8], index: u8, port: u8) {
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
}
