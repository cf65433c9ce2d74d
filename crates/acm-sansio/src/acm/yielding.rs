//! Requests and lookups that the largest account gives up for an account below its floor.
use super::Acm;
use crate::{
    accounts::{Holding, fair::Urgency},
    api::{
        account::AccountId,
        failure::{Bound, Failure},
        id::RequestId,
    },
    clients::{Clients, OpenRequest, PathRequest, Requester, WaitingFor},
    provider::Context,
    sa::Purpose,
};

impl Acm {
    /// Makes room for one more request and one more lookup of an account that is below its floor. The number of steps
    /// does not depend on the number of accounts and requests.
    pub(super) fn yield_to(&mut self, account: AccountId) {
        let limits = &self.context.shared.config.limits;
        let (requests, lookups) = (limits.requests, limits.lookups);
        if let Some(largest) = self.context.shared.accounts.must_yield(account, Holding::Requests, requests) {
            let kind = self.context.shared.accounts.account(largest).kind();
            if self.cancel_request(largest) {
                self.context.shared.stats.requests_cancelled.count(kind);
            }
        }
        if let Some(largest) = self.context.shared.accounts.must_yield(account, Holding::Lookups, lookups) {
            let kind = self.context.shared.accounts.account(largest).kind();
            if self.cancel_lookup(largest) {
                self.context.shared.stats.lookups_cancelled.count(kind);
            }
        }
    }

    /// Fails the newest request of a connection of an account.
    fn cancel_request(&mut self, account: AccountId) -> bool {
        let Clients { connections, requests, .. } = &self.context.clients;
        let client = connections.longest_busy(account);
        let newest = client.and_then(|client| connections.requests(client)?.last());
        let newest = newest.filter(|id| requests.all.get(*id).is_some_and(OpenRequest::is_charged));
        newest.is_some_and(|request| self.fail_request(request, Failure::TooMany(Bound::Requests)))
    }

    /// Ends an account's need of a lookup that was not sent: of a ticket if there is one.
    fn cancel_lookup(&mut self, account: AccountId) -> bool {
        [Urgency::Ticket, Urgency::Waited].into_iter().any(|urgency| {
            let Self { context, providers, .. } = self;
            providers.any(|provider| provider.cancel_queued(context, account, urgency))
                || match self.context.sa.last(account, urgency) {
                    Some(Purpose::Client(_, request)) => self.fail_request(request, Failure::TooMany(Bound::Lookups)),
                    _ => false,
                }
        })
    }

    /// Answers an open request with a failure, and ends its operation if no other request needs it.
    fn fail_request(&mut self, id: RequestId, failure: Failure) -> bool {
        let Some(request) = self.context.clients.take_request(&mut self.context.shared, id) else { return false };
        self.end_operation(&request);
        let Context { shared, ports, clients, .. } = &mut self.context;
        Clients::record_request_latency(shared, &request);
        match (request.waiting, request.requester) {
            (WaitingFor::Lookup { endpoint, dest, chosen_source, .. }, requester) => {
                let chosen_source = chosen_source.as_ref();
                let path_request = PathRequest { requester, endpoint, dest: &dest, chosen_source, conditional: false };
                clients.finish(shared, ports, &path_request, Err(failure.into()));
            }
            (WaitingFor::Counters { endpoint, .. }, Requester::Client { id, tid }) => {
                clients.finish_counters(shared, ports, id, tid, endpoint, Err(failure));
            }
            (WaitingFor::Query { .. }, Requester::Client { .. }) => {
                clients.finish_query(shared, ports, &request, None, Err(failure.into()));
            }
            (WaitingFor::ProviderQuery { endpoint, .. }, Requester::Client { .. }) => {
                clients.finish_query(shared, ports, &request, Some(endpoint), Err(failure.into()));
            }
            // A request that waits only for its source is not charged. The kernel requests only paths.
            (WaitingFor::Source { .. }, _) | (_, Requester::Kernel(_)) => {}
        }
        true
    }
}
