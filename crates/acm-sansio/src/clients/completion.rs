//! Open requests: storing, completion, responses, counters.
use super::{
    Clients, Conditions, ResolvedAddress,
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
        id::{ClientId, EndpointId, RequestId, SaQueryId, Token},
    },
    ports::Ports,
    shared::{Shared, timers::TimerKey},
};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter, Counters, Opcode, Reply},
};
use ib_mad::sa::PathRecord;

/// A path request on an endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathRequest<'a> {
    pub(crate) requester: Requester,
    pub(crate) endpoint: EndpointId,
    pub(crate) dest: &'a Address,
    /// The source address that the routing table selected; `None` if the requester named one.
    pub(crate) chosen_source: Option<&'a Address>,
    /// True if the path is requested with the conditions of the request.
    pub(crate) conditional: bool,
}

impl Clients {
    /// Completes a [`Resolution::Pending`](crate::provider::Resolution::Pending): all requests that wait for `token`
    /// are answered.
    pub(crate) fn complete(
        &mut self,
        shared: &mut Shared,
        ports: &mut Ports,
        token: Token,
        result: Result<&PathRecord, Attempt>,
    ) {
        while let Some(id) = self.requests.first(token)
            && self.complete_request(shared, ports, id, result)
        {}
    }

    /// Fails the requests of one account that wait for `token`. The requests of other accounts wait on.
    pub(crate) fn fail_for(
        &mut self,
        shared: &mut Shared,
        ports: &mut Ports,
        token: Token,
        account: AccountId,
        failure: Failure,
    ) {
        while let Some(id) = self.requests.first_of(token, account)
            && self.complete_request(shared, ports, id, Err(failure.into()))
        {}
    }

    /// Answers a request that waits for a path of a provider. Returns `false` if it waits for something else.
    fn complete_request(
        &mut self,
        shared: &mut Shared,
        ports: &mut Ports,
        id: RequestId,
        result: Result<&PathRecord, Attempt>,
    ) -> bool {
        let conditions = self.conditions.take(id);
        let Some(request) = self.take_request(shared, id) else { return false };
        let (endpoint, dest, chosen_source, conditional) = match request.waiting {
            WaitingFor::Lookup { endpoint, dest, chosen_source, conditional, .. } => {
                (endpoint, dest, chosen_source, conditional)
            }
            WaitingFor::ProviderQuery { endpoint, .. } => {
                Self::record_request_latency(shared, &request);
                self.finish_query(shared, ports, &request, Some(endpoint), result);
                return true;
            }
            _ => return false,
        };
        if let (Ok(path), Some(conditions)) = (result, conditions) {
            let record = Conditions::between(path, &conditions);
            let OpenRequest { requester, account, .. } = request;
            let resolved = ResolvedAddress { requester, account, endpoint, dest, chosen_source, record };
            self.conditions.resolved(resolved);
            return true;
        }
        Self::record_request_latency(shared, &request);
        if matches!(request.requester, Requester::Kernel(_)) {
            shared.timers.clear(TimerKey::Kernel(id));
        }
        let (requester, chosen_source) = (request.requester, chosen_source.as_ref());
        let path_request = PathRequest { requester, endpoint, dest: &dest, chosen_source, conditional };
        self.finish(shared, ports, &path_request, result);
        true
    }

    /// Answers a QUERY_SA request that was removed. A failure is counted at the endpoint of the query.
    pub(crate) fn finish_query(
        &mut self,
        shared: &mut Shared,
        ports: &mut Ports,
        request: &OpenRequest,
        endpoint: Option<EndpointId>,
        result: Result<&PathRecord, Attempt>,
    ) {
        let (
            WaitingFor::Query { entry, dest, .. } | WaitingFor::ProviderQuery { entry, dest, .. },
            Requester::Client { id: client, tid },
        ) = (request.waiting, request.requester)
        else {
            return;
        };
        if let Err(attempt) = result {
            if let Some(endpoint) = endpoint {
                ports.count(endpoint, Counter::Error);
            }
            let subject = RequestSubject { dest, endpoint, ..RequestSubject::default() };
            self.request_failed(shared, ports, request.requester, attempt, &subject);
        }
        let result = result.map_err(|attempt| attempt.failure.status());
        self.reply(shared, client, Reply::queried(tid, &entry, result));
    }

    /// Answers all requests for counters that wait for `token`.
    pub(crate) fn complete_counters(
        &mut self,
        shared: &mut Shared,
        ports: &Ports,
        token: Token,
        result: Result<&Counters, Failure>,
    ) {
        while let Some(id) = self.requests.first(token) {
            let Some(request) = self.take_request(shared, id) else { return };
            let (WaitingFor::Counters { endpoint, .. }, Requester::Client { id: client, tid }) =
                (request.waiting, request.requester)
            else {
                return;
            };
            Self::record_request_latency(shared, &request);
            self.finish_counters(shared, ports, client, tid, endpoint, result);
        }
    }

    /// Answers a request for the counters of an endpoint.
    pub(crate) fn finish_counters(
        &mut self,
        shared: &mut Shared,
        ports: &Ports,
        client: ClientId,
        tid: [u8; 8],
        endpoint: EndpointId,
        result: Result<&Counters, Failure>,
    ) {
        let reply = match result {
            Ok(counters) => Reply::counters(tid, counters),
            Err(failure) => {
                let subject = RequestSubject { endpoint: Some(endpoint), ..RequestSubject::default() };
                self.request_failed(shared, ports, Requester::Client { id: client, tid }, failure.into(), &subject);
                Reply::refused(Opcode::PERF, tid, failure.status())
            }
        };
        self.reply(shared, client, reply);
    }

    /// Returns the number of requests that wait for a token.
    pub(crate) fn waiting_for(&self, token: Token) -> usize {
        self.requests.waiting_for(token)
    }

    /// Stores a request until it is answered.
    pub(crate) fn keep_request(&mut self, shared: &mut Shared, mut request: OpenRequest) -> RequestId {
        request.since = shared.now;
        let (requester, account, charged) = (request.requester, request.account, request.is_charged());
        let id = self.requests.insert(request);
        if let Requester::Client { id: client, .. } = requester {
            self.connections.with_requests(shared.now, client, |list| list.push_last(&mut self.requests.all, id));
        }
        if charged {
            shared.accounts.take(account, Holding::Requests);
        }
        id
    }

    /// Records the query of a QUERY_SA request.
    pub(crate) fn set_query(&mut self, request: RequestId, id: SaQueryId) {
        let request = self.requests.all.get_mut(request);
        if let Some(WaitingFor::Query { query, .. }) = request.map(|request| &mut request.waiting) {
            *query = Some(id);
        }
    }

    /// Removes a request that is answered or abandoned. The id exists: a timer, a query and a client's list that have
    /// it end with the request.
    pub(crate) fn take_request(&mut self, shared: &mut Shared, id: RequestId) -> Option<OpenRequest> {
        let requester = shared.existing(self.requests.all.get(id))?.requester;
        if let Requester::Client { id: client, .. } = requester {
            self.connections.with_requests(shared.now, client, |list| list.remove(&mut self.requests.all, id));
        }
        let request = self.requests.remove(id)?;
        self.conditions.take(id);
        if request.is_charged() {
            shared.accounts.give_back(request.account, Holding::Requests);
        }
        if request.is_lookup() {
            shared.refund_lookup(request.account);
        }
        Some(request)
    }

    /// Records how long a request waited for its response.
    pub(crate) fn record_request_latency(shared: &mut Shared, request: &OpenRequest) {
        let phase = match shared.accounts.account(request.account).kind() {
            AccountKind::Kernel => Phase::KernelRequest,
            AccountKind::Peer => Phase::PeerRequest,
            AccountKind::Daemon | AccountKind::User | AccountKind::Remote => Phase::UserRequest,
        };
        shared.record_latency(phase, shared.now.since(request.since));
    }

    /// Sends a response, if the client is still connected.
    pub(crate) fn reply(&self, shared: &mut Shared, client: ClientId, reply: Reply) {
        if self.connections.account(client).is_some() {
            shared.output(Output::Reply { client, reply });
        }
    }

    /// Counts the result of a request on an endpoint.
    pub(crate) fn count_status(
        shared: &mut Shared,
        ports: &mut Ports,
        endpoint: Option<EndpointId>,
        status: ClientStatus,
    ) {
        let counter = match status {
            ClientStatus::SUCCESS => return,
            ClientStatus::ENODATA => Counter::NoData,
            _ => Counter::Error,
        };
        shared.count_total(counter);
        if let Some(endpoint) = endpoint {
            ports.count(endpoint, counter);
        }
    }

    /// Answers a path request on an endpoint.
    pub(crate) fn finish(
        &mut self,
        shared: &mut Shared,
        ports: &mut Ports,
        request: &PathRequest<'_>,
        result: Result<&PathRecord, Attempt>,
    ) {
        let PathRequest { requester, endpoint, dest, chosen_source, conditional } = *request;
        let status = result.map_or_else(|attempt| attempt.failure.status(), |_| ClientStatus::SUCCESS);
        Self::count_status(shared, ports, Some(endpoint), status);
        match result {
            Ok(_) if shared.logs(Level::Debug) => {
                let by = self.requested_by(shared, requester);
                shared.log(Event::Answered(by, *dest));
            }
            Ok(_) => {}
            Err(attempt) => self.request_failed(
                shared,
                ports,
                requester,
                attempt,
                &RequestSubject { endpoint: Some(endpoint), ..RequestSubject::dest(dest) },
            ),
        }
        match requester {
            Requester::Client { id, tid } => {
                let mut reply = match result {
                    Ok(path) => Reply::resolved(tid, path, chosen_source),
                    Err(_) => Reply::unresolved(tid, status),
                };
                if conditional && result.is_ok() {
                    reply.mark_conditional();
                }
                if shared.config.shared_cache {
                    reply.mark_shared();
                }
                self.reply(shared, id, reply);
            }
            Requester::Kernel(id) => {
                shared.output(Output::KernelReply { id, path: result.copied().map_err(|attempt| attempt.failure) })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::config::Config;

    #[test]
    fn missing_data_is_not_counted_as_an_error() {
        let (mut shared, mut ports) = (Shared::new(Config::default(), 1.into()), Ports::new(1));
        for status in [ClientStatus::SUCCESS, ClientStatus::ENODATA, ClientStatus::ETIMEDOUT, ClientStatus::EINVAL] {
            Clients::count_status(&mut shared, &mut ports, None, status);
        }
        assert_eq!([Counter::NoData, Counter::Error].map(|counter| shared.counters().get(counter)), [1, 2]);
    }
}
