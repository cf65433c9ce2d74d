//! QUERY_SA requests: a path record directly from the subnet administrator. The cache is neither read nor filled.
use crate::{
    acm::Acm,
    api::{
        SaError,
        account::AccountId,
        failure::{Attempt, AttemptDetails, Bound, Failure},
        id::{ClientId, EndpointId, RequestId},
    },
    clients::{OpenRequest, RequestSubject, Requester, WaitingFor},
    provider::Context,
    sa::{Purpose, SaQuery},
};
use acm_wire::client::{Counter, Entry, Reply};
use ib_mad::sa::{PathRecord, SaMad};

impl Acm {
    pub(crate) fn query_sa(
        &mut self,
        client: ClientId,
        tid: [u8; 8],
        account: AccountId,
        path: &PathRecord,
        entry: &Entry,
    ) {
        let requester = Requester::Client { id: client, tid };
        let subject = RequestSubject::path(path);
        let refuse = |context: &mut Context, failure: Failure| {
            context.request_failed(requester, failure.into(), &subject);
            context.reply(client, Reply::queried(tid, entry, Err(failure.status())));
        };
        let Some(endpoint) = self.context.ports.by_path(None, path) else {
            return refuse(&mut self.context, Failure::NoSource);
        };
        if !self.may_wait(requester, account) {
            self.count_refused(account);
            return refuse(&mut self.context, Failure::TooMany(Bound::Requests));
        }
        if let Err(bound) = self.context.charge_lookup(account) {
            return refuse(&mut self.context, Failure::TooMany(bound));
        }
        self.context.count(endpoint, Counter::RouteQuery);
        let waiting = WaitingFor::Query { query: None, entry: *entry, dest: subject.dest };
        let request = self.context.keep_request(OpenRequest::new(requester, account, waiting));
        let purpose = Purpose::Client(endpoint, request);
        let port = self.context.port_id(endpoint).ok_or(SaError::PortDown);
        let query = SaQuery::of_client(path);
        match port.and_then(|port| self.context.sa_push(port, purpose, query, account)) {
            Err(error) => self.query_done(endpoint, request, Err(error)),
            Ok(id) => {
                let request = self.context.requests.all.get_mut(request);
                if let Some(WaitingFor::Query { query, .. }) = request.map(|request| &mut request.waiting) {
                    *query = Some(id);
                }
            }
        }
    }

    /// Answers the request with the result of its query.
    pub(crate) fn query_done(&mut self, endpoint: EndpointId, request: RequestId, result: Result<&SaMad, SaError>) {
        // If the client has disconnected, its request is already removed.
        let Some(request) = self.context.take_request(request) else { return };
        self.context.record_request_latency(&request);
        let (Requester::Client { id: client, tid }, WaitingFor::Query { entry, dest, .. }) =
            (request.requester, request.waiting)
        else {
            return;
        };
        let path = result.and_then(|mad| mad.record::<PathRecord>().map_err(|_| SaError::BadResponse));
        if let Err(error) = path {
            if let Some(endpoint) = self.context.ports.endpoint_mut(endpoint) {
                endpoint.counters.count(Counter::Error);
            }
            let details =
                AttemptDetails { sa: self.context.sa_attempt(endpoint, request.since), ..AttemptDetails::default() };
            let subject = RequestSubject { dest, endpoint: Some(endpoint), ..RequestSubject::default() };
            self.context.request_failed(request.requester, Attempt { failure: Failure::Sa(error), details }, &subject);
        }
        self.context.reply(client, Reply::queried(tid, &entry, path.map_err(SaError::client_status)));
    }
}
