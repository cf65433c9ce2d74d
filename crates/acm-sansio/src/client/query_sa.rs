//! QUERY_SA: subnet administration's own answer, neither from the cache nor for it.
use super::{
    about::About,
    requests::{Asker, OpenRequest, Waiting},
};
use crate::{
    account::AccountId,
    acm::Acm,
    context::Context,
    failure::{Attempt, Bound, Failure, Tried},
    id::{ClientId, EndpointId, RequestId},
    sa::{Purpose, Question, SaError},
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
        let asker = Asker::Client { id: client, tid };
        let about = About::path(path);
        let refuse = |context: &mut Context, failure: Failure| {
            context.request_failed(asker, failure.into(), &about);
            context.reply(client, Reply::queried(tid, entry, Err(failure.status())));
        };
        let Some(endpoint) = self.context.ports.by_path(None, path) else {
            return refuse(&mut self.context, Failure::NoSource);
        };
        if !self.may_wait(asker, account) {
            self.count_refused(account);
            return refuse(&mut self.context, Failure::TooMany(Bound::Requests));
        }
        self.context.count(endpoint, Counter::RouteQuery);
        let waiting = Waiting::Query { question: None, entry: *entry, dest: about.dest };
        let request = self.context.keep_request(OpenRequest::new(asker, account, waiting));
        let purpose = Purpose::Client(endpoint, request);
        let port = self.context.port_id(endpoint).ok_or(SaError::PortDown);
        let question = Question::of_client(path);
        match port.and_then(|port| self.context.sa_push(port, purpose, question, account)) {
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
        let (Asker::Client { id: client, tid }, Waiting::Query { entry, dest, .. }) = (request.asker, request.waiting)
        else {
            return;
        };
        let path = answer.and_then(|mad| mad.record::<PathRecord>().map_err(|_| SaError::BadAnswer));
        if let Err(error) = path {
            if let Some(endpoint) = self.context.ports.endpoint_mut(endpoint) {
                endpoint.counters.count(Counter::Error);
            }
            let tried = Tried { sa: self.context.sa_asked(endpoint, request.since), ..Tried::default() };
            let about = About { dest, endpoint: Some(endpoint), ..About::default() };
            self.context.request_failed(request.asker, Attempt { failure: Failure::Sa(error), tried }, &about);
        }
        self.context.reply(client, Reply::queried(tid, &entry, path.map_err(SaError::client_status)));
    }
}
