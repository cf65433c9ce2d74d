//! QUERY_SA: subnet administration's own answer, neither from the cache nor for it.
use super::requests::{Asker, OpenRequest, Waiting};
use crate::{
    account::AccountId,
    acm::Acm,
    failure::{Bound, Failure},
    id::{ClientId, EndpointId, RequestId},
    sa::{Purpose, Question, SaError},
};
use acm_wire::client::{ClientStatus, Counter, Entry, Reply};
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
        let asker = Asker::Client { id: client, tid };
        let refused = |failure: Failure| Reply::queried(tid, entry, Err(failure.status()));
        let Some(endpoint) = self.context.ports.by_path(None, path) else {
            return self.context.reply(client, refused(Failure::NoSource));
        };
        if !self.may_wait(asker, account) {
            self.count_refused(account);
            return self.context.reply(client, refused(Failure::TooMany(Bound::Requests)));
        }
        self.context.count(endpoint, Counter::RouteQuery);
        let waiting = Waiting::Query { question: None, entry: *entry };
        let request = self.context.keep_request(OpenRequest::new(asker, account, waiting));
        let purpose = Purpose::Client(endpoint, request);
        match self.context.sa_push(endpoint, purpose, Question::of_client(path), account) {
            Err(error) => self.query_done(endpoint, request, Err(error)),
            Ok(id) => {
                let request = self.context.requests.all.get_mut(request);
                if let Some(Waiting::Query { question, .. }) = request.map(|request| &mut request.waiting) {
                    *question = Some(id);
                }
            }
        }
    }

    /// Subnet administration answered, or will not.
    pub(crate) fn query_done(&mut self, endpoint: EndpointId, request: RequestId, answer: Result<&SaMad, SaError>) {
        // A client that left meanwhile has taken its request with it.
        let Some(request) = self.context.take_request(request) else { return };
        self.context.request_took(&request);
        let (Asker::Client { id: client, tid }, Waiting::Query { entry, .. }) = (request.asker, request.waiting) else {
            return;
        };
        let path = answer
            .map_err(SaError::client_status)
            .and_then(|mad| mad.record::<PathRecord>().map_err(|_| ClientStatus::ENODATA));
        if path.is_err()
            && let Some(endpoint) = self.context.ports.endpoint_mut(endpoint)
        {
            endpoint.counters.count(Counter::Error);
        }
        self.context.reply(client, Reply::queried(tid, &entry, path));
    }
}
