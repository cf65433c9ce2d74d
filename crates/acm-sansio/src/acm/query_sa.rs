//! QUERY_SA requests: path records directly from the subnet administrator.
use super::Acm;
use crate::{
    api::{
        SaError,
        account::AccountId,
        failure::{Attempt, AttemptDetails, Bound, Failure},
        id::{ClientId, EndpointId, ProviderId, RequestId},
    },
    clients::{Clients, OpenRequest, RequestSubject, Requester, WaitingFor},
    provider::{Context, EndpointChange, IfPending, Need},
    sa::{Purpose, SaQuery},
};
use acm_wire::client::{Counter, Entry, EntryKind, Reply};
use ib_mad::sa::{PathRecord, SaMad};

impl Acm {
    /// Handles a QUERY_SA request: a path record directly from the subnet administrator. The cache is neither read nor
    /// filled. At an endpoint of a provider outside of the core, the provider sends the query.
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
        let refuse = |Context { shared, ports, clients, .. }: &mut Context, failure: Failure| {
            clients.request_failed(shared, ports, requester, failure.into(), &subject);
            clients.reply(shared, client, Reply::queried(tid, entry, Err(failure.status())));
        };
        let endpoint = match self.context.ports.for_query(path) {
            Ok(endpoint) => endpoint,
            Err(failure) => return refuse(&mut self.context, failure),
        };
        let provider = self.context.endpoint(endpoint).map_or(ProviderId::BUILT_IN, |found| found.provider);
        let need = Need { account, if_pending: self.if_pending(requester, account, provider, false) };
        if let Some(external) = self.providers.external(provider) {
            match external.query_sa(&mut self.context, endpoint, path, need) {
                Err(failure) => {
                    if failure == Failure::TooMany(Bound::Requests) {
                        Clients::count_refused(&mut self.context.shared, account);
                    }
                    refuse(&mut self.context, failure);
                }
                Ok(token) => {
                    let waiting = WaitingFor::ProviderQuery { endpoint, token, entry: *entry, dest: subject.dest };
                    let open = OpenRequest::new(requester, account, waiting);
                    self.context.clients.keep_request(&mut self.context.shared, open);
                }
            }
            return;
        }
        if need.if_pending == IfPending::MayNotWait {
            Clients::count_refused(&mut self.context.shared, account);
            return refuse(&mut self.context, Failure::TooMany(Bound::Requests));
        }
        if let Err(bound) = self.context.shared.charge_lookup(account) {
            return refuse(&mut self.context, Failure::TooMany(bound));
        }
        self.context.count(endpoint, Counter::RouteQuery);
        let waiting = WaitingFor::Query { query: None, entry: *entry, dest: subject.dest };
        let open = OpenRequest::new(requester, account, waiting);
        let request = self.context.clients.keep_request(&mut self.context.shared, open);
        let purpose = Purpose::Client(endpoint, request);
        let query = SaQuery::Path { query: SaQuery::of_client(path), from_port: false };
        match self.context.sa_request(endpoint, purpose, query, account) {
            Err(error) => self.query_done(endpoint, request, Err(error)),
            Ok(id) => self.context.clients.set_query(request, id),
        }
    }

    /// Answers the request with the result of its query.
    pub(super) fn query_done(&mut self, endpoint: EndpointId, request: RequestId, result: Result<&SaMad, SaError>) {
        let Context { shared, clients, .. } = &mut self.context;
        // If the client disconnects, its query is discarded.
        let Some(request) = clients.take_request(shared, request) else { return };
        Clients::record_request_latency(shared, &request);
        let WaitingFor::Query { entry, .. } = request.waiting else { return };
        let path = result.and_then(|mad| mad.record::<PathRecord>().map_err(|_| SaError::BadResponse));
        let attempt = path.map_err(|error| {
            let sa = self.context.sa_attempt(endpoint, request.since);
            Attempt { failure: Failure::Sa(error), details: AttemptDetails { sa, ..AttemptDetails::default() } }
        });
        let Context { shared, ports, clients, .. } = &mut self.context;
        clients.finish_query(shared, ports, &request, Some(endpoint), attempt);
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
