//! Open requests: storing, completion, responses, counters.
use super::{
    failures::RequestSubject,
    requests::{OpenRequest, Requester, WaitingFor},
};
use crate::{
    accounts::Holding,
    api::{
        Event, Level, Output,
        account::{AccountId, AccountKind},
        failure::{Attempt, Failure},
        histogram::Phase,
        id::{ClientId, EndpointId, RequestId, Token},
    },
    cx::timers::TimerKey,
    provider::Context,
};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter, Counters, Opcode, Reply},
};
use ib_mad::sa::PathRecord;

impl Context {
    /// Completes a [`Resolution::Pending`](crate::provider::Resolution::Pending): all requests that wait for `token`
    /// are answered.
    pub fn complete(&mut self, token: Token, result: Result<&PathRecord, Attempt>) {
        while let Some(id) = self.requests.first(token)
            && self.complete_request(id, result)
        {}
    }

    /// Fails the requests of one account that wait for `token`. The requests of other accounts wait on.
    pub fn fail_for(&mut self, token: Token, account: AccountId, failure: Failure) {
        while let Some(id) = self.requests.first_of(token, account)
            && self.complete_request(id, Err(failure.into()))
        {}
    }

    /// Answers a request that waits for a lookup. Returns `false` if it waits for something else.
    fn complete_request(&mut self, id: RequestId, result: Result<&PathRecord, Attempt>) -> bool {
        let Some(request) = self.take_request(id) else { return false };
        let WaitingFor::Lookup { endpoint, dest, chosen_source, .. } = request.waiting else { return false };
        self.record_request_latency(&request);
        if matches!(request.requester, Requester::Kernel(_)) {
            self.timers.clear(TimerKey::Kernel(id));
        }
        self.finish(request.requester, endpoint, &dest, chosen_source.as_ref(), result);
        true
    }

    /// Completes a [`CountersResolution::Pending`](crate::provider::CountersResolution::Pending).
    pub fn complete_counters(&mut self, token: Token, result: Result<&Counters, Failure>) {
        while let Some(id) = self.requests.first(token) {
            let Some(request) = self.take_request(id) else { return };
            let (WaitingFor::Counters { endpoint, .. }, Requester::Client { id: client, tid }) =
                (request.waiting, request.requester)
            else {
                return;
            };
            self.record_request_latency(&request);
            self.finish_counters(client, tid, endpoint, result);
        }
    }

    /// Answers a request for the counters of an endpoint.
    pub(crate) fn finish_counters(
        &mut self,
        client: ClientId,
        tid: [u8; 8],
        endpoint: EndpointId,
        result: Result<&Counters, Failure>,
    ) {
        let reply = match result {
            Ok(counters) => Reply::counters(tid, counters),
            Err(failure) => {
                let subject = RequestSubject { endpoint: Some(endpoint), ..RequestSubject::default() };
                self.request_failed(Requester::Client { id: client, tid }, failure.into(), &subject);
                Reply::refused(Opcode::PERF, tid, failure.status())
            }
        };
        self.reply(client, reply);
    }

    /// Returns the number of requests that wait for a token.
    #[must_use]
    pub fn waiting_for(&self, token: Token) -> usize {
        self.requests.waiting_for(token)
    }

    /// Stores a request until it is answered.
    pub(crate) fn keep_request(&mut self, mut request: OpenRequest) -> RequestId {
        request.since = self.now;
        let (requester, account, charged) = (request.requester, request.account, request.is_charged());
        let id = self.requests.insert(request);
        if let Requester::Client { id: client, .. } = requester {
            self.connections.with_requests(client, |list| list.push_last(&mut self.requests.all, id));
        }
        if charged {
            self.accounts.take(account, Holding::Requests);
        }
        id
    }

    /// Removes a request that is answered or abandoned.
    pub(crate) fn take_request(&mut self, id: RequestId) -> Option<OpenRequest> {
        let requester = self.requests.all.get(id)?.requester;
        if let Requester::Client { id: client, .. } = requester {
            self.connections.with_requests(client, |list| list.remove(&mut self.requests.all, id));
        }
        let request = self.requests.remove(id)?;
        if request.is_charged() {
            self.accounts.give_back(request.account, Holding::Requests);
        }
        if request.is_lookup() {
            self.refund_lookup(request.account);
        }
        Some(request)
    }

    /// Records how long a request waited for its response.
    pub(crate) fn record_request_latency(&mut self, request: &OpenRequest) {
        let phase = match self.accounts.account(request.account).kind() {
            AccountKind::Kernel => Phase::KernelRequest,
            AccountKind::Peer => Phase::PeerRequest,
            AccountKind::Daemon | AccountKind::User | AccountKind::Remote => Phase::UserRequest,
        };
        self.record_latency(phase, self.now.since(request.since));
    }

    /// Sends a response, if the client is still connected.
    pub(crate) fn reply(&mut self, client: ClientId, reply: Reply) {
        if self.connections.account(client).is_some() {
            self.output(Output::Reply { client, reply });
        }
    }

    /// Counts the result of a request on an endpoint.
    pub(crate) fn count_status(&mut self, endpoint: Option<EndpointId>, status: ClientStatus) {
        let counter = match status {
            ClientStatus::SUCCESS => return,
            ClientStatus::ENODATA => Counter::NoData,
            _ => Counter::Error,
        };
        self.counters.count(counter);
        if let Some(endpoint) = endpoint.and_then(|id| self.ports.endpoint_mut(id)) {
            endpoint.counters.count(counter);
        }
    }

    /// Answers a path request on an endpoint.
    pub(crate) fn finish(
        &mut self,
        requester: Requester,
        endpoint: EndpointId,
        dest: &Address,
        chosen_source: Option<&Address>,
        result: Result<&PathRecord, Attempt>,
    ) {
        let status = result.map_or_else(|attempt| attempt.failure.status(), |_| ClientStatus::SUCCESS);
        self.count_status(Some(endpoint), status);
        match result {
            Ok(_) if self.logs(Level::Debug) => {
                let by = self.requested_by(requester);
                self.log(Event::Answered(by, *dest));
            }
            Ok(_) => {}
            Err(attempt) => self.request_failed(
                requester,
                attempt,
                &RequestSubject { endpoint: Some(endpoint), ..RequestSubject::dest(dest) },
            ),
        }
        match requester {
            Requester::Client { id, tid } => {
                let reply = match result {
                    Ok(path) => Reply::resolved(tid, path, chosen_source),
                    Err(_) => Reply::unresolved(tid, status),
                };
                self.reply(id, reply);
            }
            Requester::Kernel(id) => {
                self.output(Output::KernelReply { id, path: result.copied().map_err(|attempt| attempt.failure) })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    #[test]
    fn missing_data_is_not_counted_as_an_error() {
        let mut cx = Context::new(Config::default(), 1.into());
        for status in [ClientStatus::SUCCESS, ClientStatus::ENODATA, ClientStatus::ETIMEDOUT, ClientStatus::EINVAL] {
            cx.count_status(None, status);
        }
        assert_eq!((cx.counters.get(Counter::NoData), cx.counters.get(Counter::Error)), (1, 2));
    }
}
