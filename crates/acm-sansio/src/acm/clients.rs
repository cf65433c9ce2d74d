//! Connections of clients, and the ends of requests.
use super::Acm;
use crate::{
    api::{
        account::{Account, AccountId},
        failure::{Attempt, Failure},
        id::{ClientId, RequestId},
    },
    clients::{Clients, OpenRequest, PathRequest, RequestSubject, Requester, Room, WaitingFor},
    provider::Context,
};

impl Acm {
    pub(super) fn client_opened(&mut self, client: ClientId, account: Account) {
        // If the caller reuses an index without closing it first, the previous connection counts as closed.
        if let Some(before) = self.context.clients.connections.at(client.index()) {
            self.context.shared.stats.stale_inputs += 1;
            self.client_closed(before);
        }
        let shared = &mut self.context.shared;
        let id = shared.accounts.id(account);
        let is_valid = client.index() < ClientId::MAX_INDEX;
        if !is_valid {
            shared.accounts.remove_idle(id);
            return Clients::refuse_connection(shared, client, account);
        }
        let room = self.context.clients.room(shared, id);
        self.context.clients.open(shared, client, account);
        match room {
            Room::Free => {}
            Room::InPlaceOf(victim) => {
                self.context.clients.evict(shared, victim);
                self.end_client(victim);
            }
            Room::Full => {
                Clients::refuse_connection(shared, client, account);
                self.end_client(client);
            }
        }
    }

    /// Ends a connection that the caller has to close: its requests end, and it is charged until it is closed.
    pub(super) fn end_client(&mut self, client: ClientId) {
        while let Some(request) = self.context.clients.abandon_next(&mut self.context.shared, client) {
            self.end_operation(&request);
        }
        self.context.clients.end(client);
    }

    pub(super) fn client_closed(&mut self, client: ClientId) {
        self.end_client(client);
        self.context.clients.close(&mut self.context.shared, client);
    }

    /// Ends the operation of a request that was removed, if no other request needs the operation.
    pub(super) fn end_operation(&mut self, request: &OpenRequest) {
        match request.waiting {
            WaitingFor::Source { .. } => {}
            WaitingFor::Lookup { token, .. }
            | WaitingFor::Counters { token, .. }
            | WaitingFor::ProviderQuery { token, .. } => {
                self.providers.get_mut(token.provider).waiter_left(&mut self.context, token, request.account, false);
            }
            WaitingFor::Query { query, .. } => {
                if let Some(query) = query {
                    self.context.sa_discard(query);
                }
            }
        }
    }

    /// Answers a kernel request whose deadline has passed. Its lookup continues for later requests.
    pub(super) fn kernel_late(&mut self, id: RequestId) {
        let late = self.context.clients.take_late(&mut self.context.shared, id);
        let Some(OpenRequest { requester, account, waiting: WaitingFor::Lookup { endpoint, token, dest, .. }, .. }) =
            late
        else {
            return;
        };
        self.context.shared.stats.kernel_late += 1;
        let provider = self.providers.get_mut(token.provider);
        let details = provider.waiter_left(&mut self.context, token, account, true);
        let late = Attempt { failure: Failure::KernelDeadline, details };
        let path_request = PathRequest { requester, endpoint, dest: &dest, chosen_source: None, conditional: false };
        let Context { shared, ports, clients, .. } = &mut self.context;
        clients.finish(shared, ports, &path_request, Err(late));
    }

    /// Answers a request that fails before any lookup.
    pub(super) fn refuse(&mut self, requester: Requester, failure: Failure, subject: &RequestSubject) {
        self.context.clients.refuse(&mut self.context.shared, &mut self.context.ports, requester, failure, subject);
    }

    /// Reports whether a request may wait. If nothing is free for an account below its floor, the largest account gives
    /// up a request or a lookup.
    pub(super) fn may_wait(&mut self, requester: Requester, account: AccountId) -> bool {
        self.yield_to(account);
        self.context.clients.may_wait(&self.context.shared, requester, account)
    }
}
