//! Requests for paths: of a provider, or of the subnet administrator.
use super::Acm;
use crate::{
    api::{
        ProviderId, SaError,
        account::AccountId,
        failure::{Attempt, AttemptDetails, Bound, Failure},
        id::{ClientId, EndpointId, PortId, RequestId},
    },
    clients::{
        Clients, Conditions, OpenRequest, PathRequest, RequestSubject, Requester, ResolvedAddress, Terms, WaitingFor,
    },
    provider::{Context, EndpointChange, IfPending, Need, Resolution, Target},
    sa::{Purpose, SaQuery},
};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter, Entry, EntryKind, Reply},
};
use ib_mad::sa::{PathRecord, SaMad};

impl Acm {
    /// Handles a request for the path to an address.
    pub(super) fn resolve(
        &mut self,
        requester: Requester,
        account: AccountId,
        source: &Address,
        chosen_source: Option<Address>,
        dest: &Address,
        terms: Terms,
    ) {
        let Some(endpoint) = self.context.ports.by_address(source) else {
            return self.refuse(requester, Failure::NoSource, &RequestSubject::address(source, dest));
        };
        let provider = self.count_resolve(endpoint);
        let need = Need { account, if_pending: self.if_pending(requester, account, provider, terms.no_delay) };
        let target = Target::Address { source, dest };
        let resolution = self.providers.get_mut(provider).resolve(&mut self.context, endpoint, target, need);
        if let (Resolution::Ready(path), Some(conditions)) = (&resolution, &terms.conditions) {
            let record = Conditions::between(path, conditions);
            let resolved = ResolvedAddress { requester, account, endpoint, dest: *dest, chosen_source, record };
            return self.route_resolved(resolved, terms.no_delay);
        }
        if let Some(request) = self.finish_or_wait(requester, endpoint, *dest, chosen_source, resolution, need) {
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
        self.finish_or_wait(requester, endpoint, dest, chosen_source, resolution, need);
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
        self.finish_or_wait(requester, endpoint, dest, None, resolution, need);
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
        requester: Requester,
        endpoint: EndpointId,
        dest: Address,
        chosen_source: Option<Address>,
        resolution: Resolution,
        need: Need,
    ) -> Option<RequestId> {
        let Context { cx, ports, clients, .. } = &mut self.context;
        let result = match (&resolution, need.if_pending) {
            (Resolution::Ready(path), _) => Ok(path),
            (Resolution::Failed(attempt), _) => {
                if attempt.failure == Failure::TooMany(Bound::Requests) {
                    Clients::count_refused(cx, need.account);
                }
                Err(*attempt)
            }
            (Resolution::Pending(token), IfPending::Waits | IfPending::AsksProvider) => {
                let waiting = WaitingFor::Lookup { endpoint, token: *token, dest, chosen_source };
                let request = clients.keep_request(cx, OpenRequest::new(requester, need.account, waiting));
                clients.set_deadline(cx, requester, request);
                return Some(request);
            }
            (Resolution::Pending(_), IfPending::LeavesTicket | IfPending::MayNotWait) => Err(Failure::NotYet.into()),
        };
        let path_request = PathRequest { requester, endpoint, dest: &dest, chosen_source: chosen_source.as_ref() };
        clients.finish(cx, ports, &path_request, result);
        None
    }

    /// Handles a QUERY_SA request: a path record directly from the subnet administrator. The cache is neither read nor
    /// filled.
    pub(super) fn query_sa(
        &mut self,
        client: ClientId,
        tid: [u8; 8],
        account: AccountId,
        path: &PathRecord,
        entry: &Entry,
    ) {
        let requester = Requester::Client { id: client, tid };
        let subject = RequestSubject::path(path);
        let refuse = |Context { cx, ports, clients, .. }: &mut Context, failure: Failure| {
            clients.request_failed(cx, ports, requester, failure.into(), &subject);
            clients.reply(cx, client, Reply::queried(tid, entry, Err(failure.status())));
        };
        let endpoint = match self.context.ports.for_query(path) {
            Ok(endpoint) => endpoint,
            Err(failure) => return refuse(&mut self.context, failure),
        };
        if !self.may_wait(requester, account) {
            Clients::count_refused(&mut self.context.cx, account);
            return refuse(&mut self.context, Failure::TooMany(Bound::Requests));
        }
        if let Err(bound) = self.context.charge_lookup(account) {
            return refuse(&mut self.context, Failure::TooMany(bound));
        }
        self.context.count(endpoint, Counter::RouteQuery);
        let waiting = WaitingFor::Query { query: None, entry: *entry, dest: subject.dest };
        let open = OpenRequest::new(requester, account, waiting);
        let request = self.context.clients.keep_request(&mut self.context.cx, open);
        let purpose = Purpose::Client(endpoint, request);
        let query = SaQuery::Path { query: SaQuery::of_client(path), from_port: false };
        match self.context.sa_request(endpoint, purpose, query, account) {
            Err(error) => self.query_done(endpoint, request, Err(error)),
            Ok(id) => self.context.clients.set_query(request, id),
        }
    }

    /// Answers the request with the result of its query.
    pub(super) fn query_done(&mut self, endpoint: EndpointId, request: RequestId, result: Result<&SaMad, SaError>) {
        let Context { cx, clients, .. } = &mut self.context;
        // If the client disconnects, its query is discarded.
        let Some(request) = clients.take_request(cx, request) else { return };
        Clients::record_request_latency(cx, &request);
        let (Requester::Client { id: client, tid }, WaitingFor::Query { entry, dest, .. }) =
            (request.requester, request.waiting)
        else {
            return;
        };
        let path = result.and_then(|mad| mad.record::<PathRecord>().map_err(|_| SaError::BadResponse));
        if let Err(error) = path {
            let details =
                AttemptDetails { sa: self.context.sa_attempt(endpoint, request.since), ..AttemptDetails::default() };
            let subject = RequestSubject { dest, endpoint: Some(endpoint), ..RequestSubject::default() };
            let attempt = Attempt { failure: Failure::Sa(error), details };
            let Context { cx, ports, clients, .. } = &mut self.context;
            ports.count(endpoint, Counter::Error);
            clients.request_failed(cx, ports, request.requester, attempt, &subject);
        }
        let Context { cx, clients, .. } = &mut self.context;
        clients.reply(cx, client, Reply::queried(tid, &entry, path.map_err(SaError::client_status)));
        if let (Some(SaError::Status(_)), EntryKind::Path(requested)) =
            (path.err().filter(|error| error.is_no_path()), entry.kind())
        {
            // The query may have outlived its endpoint.
            if self.context.endpoint(endpoint).is_some() {
                let query = SaQuery::of_client(requested);
                self.notify_provider(endpoint, EndpointChange::NoPath(&query));
            }
        }
    }
}
