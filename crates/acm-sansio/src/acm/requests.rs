//! Messages of clients and requests of the kernel: paths from a provider, and what the other files answer.
use super::Acm;
use crate::{
    api::{
        ProviderId,
        account::{AccountId, KERNEL},
        failure::{Bound, Failure},
        id::{ClientId, EndpointId, KernelRequestId, PortId, RequestId},
    },
    clients::{
        Clients, Conditions, OpenRequest, PathRequest, Received, RequestSubject, Requester, ResolvedAddress, Terms,
        WaitingFor,
    },
    provider::{Context, IfPending, Need, Resolution, Target},
};
use acm_wire::{
    Address,
    client::{ClientRequest, ClientStatus, Counter, Resolve},
};
use core::net::IpAddr;
use ib_mad::sa::PathRecord;

impl Acm {
    pub(super) fn client_message(&mut self, client: ClientId, message: &[u8]) {
        match self.context.clients.receive(&mut self.context.shared, client, message) {
            Received::Nothing => {}
            Received::End => self.end_client(client),
            Received::Request(account, tid, ClientRequest::Perf(target)) => self.perf(client, tid, account, target),
            Received::Request(_, tid, ClientRequest::Endpoint { index, port }) => {
                self.endpoint_query(client, tid, index, port);
            }
            Received::Request(account, tid, ClientRequest::Resolve(resolve)) => {
                self.context.shared.count_total(Counter::Resolve);
                let requester = Requester::Client { id: client, tid };
                match resolve {
                    Err(status) => self.refuse(requester, Failure::BadRequest(status), &RequestSubject::default()),
                    Ok(Resolve::QuerySa { path, entry }) => self.query_sa(client, tid, account, path, entry),
                    Ok(Resolve::Route(route)) => self.route(requester, account, None, route.path, route.no_delay),
                    Ok(Resolve::Address { source, dest, conditions, no_delay }) => {
                        let conditions = conditions.and_then(Conditions::of);
                        let terms = Terms { no_delay, conditions: conditions.as_ref() };
                        if let Some(source) = &source {
                            return self.resolve(requester, account, source, None, &dest, terms);
                        }
                        let Context { shared, ports, clients, .. } = &mut self.context;
                        clients.select_source(shared, ports, requester, account, dest, terms);
                    }
                }
            }
        }
    }

    pub(super) fn source_selected(&mut self, request: RequestId, source: Option<IpAddr>) {
        let conditions = self.context.clients.conditions.take(request);
        let taken = self.context.clients.take_source(&mut self.context.shared, request);
        let Some(OpenRequest { requester, account, waiting: WaitingFor::Source { dest, no_delay }, .. }) = taken else {
            return;
        };
        match source.map(Address::from) {
            None => self.refuse(requester, Failure::NoRoute, &RequestSubject::dest(&dest)),
            Some(source) => {
                let terms = Terms { no_delay, conditions: conditions.as_ref() };
                self.resolve(requester, account, &source, Some(&source), &dest, terms);
            }
        }
    }

    pub(super) fn kernel_request(&mut self, id: KernelRequestId, port: Option<PortId>, path: &PathRecord) {
        self.context.shared.count_total(Counter::Resolve);
        self.route(Requester::Kernel(id), KERNEL, port, path, false);
    }

    pub(super) fn kernel_address_request(&mut self, id: KernelRequestId, source: IpAddr, dest: IpAddr) {
        self.context.shared.count_total(Counter::Resolve);
        let (source, dest) = (Address::from(source), Address::from(dest));
        self.resolve(Requester::Kernel(id), KERNEL, &source, None, &dest, Terms::default());
    }

    /// Handles a request for the path to an address.
    pub(super) fn resolve(
        &mut self,
        requester: Requester,
        account: AccountId,
        source: &Address,
        chosen_source: Option<&Address>,
        dest: &Address,
        terms: Terms<'_>,
    ) {
        let Some(endpoint) = self.context.ports.by_address(source) else {
            return self.refuse(requester, Failure::NoSource, &RequestSubject::address(source, dest));
        };
        let provider = self.count_resolve(endpoint);
        let need = Need { account, if_pending: self.if_pending(requester, account, provider, terms.no_delay) };
        let target = Target::Address { source, dest };
        let resolution = self.providers.get_mut(provider).resolve(&mut self.context, endpoint, target, need);
        if let (Resolution::Ready(path), Some(conditions)) = (&resolution, terms.conditions) {
            let record = Conditions::between(path, conditions);
            let chosen_source = chosen_source.copied();
            let resolved = ResolvedAddress { requester, account, endpoint, dest: *dest, chosen_source, record };
            return self.route_resolved(resolved, terms.no_delay);
        }
        let path_request = PathRequest { requester, endpoint, dest, chosen_source, conditional: false };
        if let Some(request) = self.finish_or_wait(&path_request, &resolution, need) {
            self.context.clients.conditions.keep(request, terms.conditions);
        }
    }

    /// Requests the paths of requests with conditions whose address is resolved.
    pub(super) fn route_all_resolved(&mut self) {
        while let Some(resolved) = self.context.clients.conditions.next_resolved() {
            self.route_resolved(resolved, false);
        }
    }

    fn route_resolved(&mut self, resolved: ResolvedAddress, no_delay: bool) {
        let ResolvedAddress { requester, account, endpoint, dest, chosen_source, record } = resolved;
        let port = self.context.port_id(endpoint);
        let Some(endpoint) = self.context.ports.by_path(port, &record) else {
            let failure = self.context.ports.no_endpoint(port, &record);
            return self.refuse(requester, failure, &RequestSubject::dest(&dest));
        };
        let provider = self.context.ports.endpoint(endpoint).map_or(ProviderId::BUILT_IN, |found| found.provider);
        let need = Need { account, if_pending: self.if_pending(requester, account, provider, no_delay) };
        let target = Target::Port(&record);
        let resolution = self.providers.get_mut(provider).resolve(&mut self.context, endpoint, target, need);
        // A library need not distinguish paths to one GID. That of C ibacm does not.
        let conditional = !provider.is_external();
        let chosen_source = chosen_source.as_ref();
        let path_request = PathRequest { requester, endpoint, dest: &dest, chosen_source, conditional };
        self.finish_or_wait(&path_request, &resolution, need);
    }

    /// Handles a request for the path to a port given by LID or GID.
    pub(super) fn route(
        &mut self,
        requester: Requester,
        account: AccountId,
        port: Option<PortId>,
        path: &PathRecord,
        no_delay: bool,
    ) {
        if path.dlid.is_zero() && path.dgid.is_zero() {
            return self.refuse(requester, Failure::BadRequest(ClientStatus::EDESTADDR), &RequestSubject::path(path));
        }
        let Some(endpoint) = self.context.ports.by_path(port, path) else {
            let failure = self.context.ports.no_endpoint(port, path);
            return self.refuse(requester, failure, &RequestSubject::path(path));
        };
        let provider = self.count_resolve(endpoint);
        let need = Need { account, if_pending: self.if_pending(requester, account, provider, no_delay) };
        let resolution =
            self.providers.get_mut(provider).resolve(&mut self.context, endpoint, Target::Port(path), need);
        let dest = if path.dlid.is_zero() { Address::Gid(path.dgid) } else { Address::Lid(path.dlid) };
        let path_request = PathRequest { requester, endpoint, dest: &dest, chosen_source: None, conditional: false };
        self.finish_or_wait(&path_request, &resolution, need);
    }

    /// Counts a request on an endpoint and returns its provider.
    fn count_resolve(&mut self, endpoint: EndpointId) -> ProviderId {
        self.context.ports.count(endpoint, Counter::Resolve);
        self.context.endpoint(endpoint).map_or(ProviderId::BUILT_IN, |endpoint| endpoint.provider)
    }

    /// Returns what happens to a request if its result is not available at once.
    pub(super) fn if_pending(
        &mut self,
        requester: Requester,
        account: AccountId,
        provider: ProviderId,
        no_delay: bool,
    ) -> IfPending {
        let provider_decides = no_delay && provider.is_external();
        match (no_delay && !provider_decides, self.may_wait(requester, account)) {
            (true, _) => IfPending::LeavesTicket,
            (false, true) if provider_decides => IfPending::AsksProvider,
            (false, true) => IfPending::Waits,
            (false, false) => IfPending::MayNotWait,
        }
    }

    /// Answers a request with the provider's result, or stores the request and returns its id if the result is pending.
    fn finish_or_wait(
        &mut self,
        path_request: &PathRequest<'_>,
        resolution: &Resolution,
        need: Need,
    ) -> Option<RequestId> {
        let Context { shared, ports, clients, .. } = &mut self.context;
        let result = match (resolution, need.if_pending) {
            (Resolution::Ready(path), _) => Ok(path),
            (Resolution::Failed(attempt), _) => {
                if attempt.failure == Failure::TooMany(Bound::Requests) {
                    Clients::count_refused(shared, need.account);
                }
                Err(*attempt)
            }
            (Resolution::Pending(token), IfPending::Waits | IfPending::AsksProvider) => {
                let &PathRequest { requester, endpoint, dest, chosen_source, conditional } = path_request;
                let (token, dest, chosen_source) = (*token, *dest, chosen_source.copied());
                let waiting = WaitingFor::Lookup { endpoint, token, dest, chosen_source, conditional };
                let request = clients.keep_request(shared, OpenRequest::new(requester, need.account, waiting));
                clients.set_deadline(shared, requester, request);
                return Some(request);
            }
            (Resolution::Pending(_), IfPending::LeavesTicket | IfPending::MayNotWait) => Err(Failure::NotYet.into()),
        };
        clients.finish(shared, ports, path_request, result);
        None
    }
}
