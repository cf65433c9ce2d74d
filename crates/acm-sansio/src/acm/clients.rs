//! Connections and messages of clients and of the kernel, passed to providers and to the subnet administrator.
use super::Acm;
use crate::{
    api::{
        account::{Account, AccountId, KERNEL},
        failure::{Attempt, Failure},
        id::{ClientId, KernelRequestId, PortId, RequestId},
    },
    clients::{
        Clients, Conditions, OpenRequest, PathRequest, Received, RequestSubject, Requester, Room, Terms, WaitingFor,
    },
    provider::Context,
};
use acm_wire::{
    Address,
    client::{ClientRequest, Counter, Resolve},
};
use core::net::IpAddr;
use ib_mad::sa::PathRecord;

impl Acm {
    pub(super) fn client_opened(&mut self, client: ClientId, account: Account) {
        // If the caller reuses an index without closing it first, the previous connection counts as closed.
        if let Some(before) = self.context.clients.connections.at(client.index()) {
            self.context.stats.stale_inputs += 1;
            self.client_closed(before);
        }
        let cx = &mut self.context.cx;
        let id = cx.accounts.id(account);
        let is_valid = client.index() < ClientId::MAX_INDEX;
        match self.context.clients.room(cx, id) {
            Room::Free if is_valid => {}
            Room::InPlaceOf(victim) if is_valid => {
                self.context.clients.evict(cx, victim);
                self.client_closed(victim);
            }
            _ => return Clients::refuse_connection(cx, client, account),
        }
        self.context.clients.open(&mut self.context.cx, client, account);
    }

    pub(super) fn client_closed(&mut self, client: ClientId) {
        while let Some(request) = self.context.clients.abandon_next(&mut self.context.cx, client) {
            self.end_operation(&request);
        }
        self.context.clients.close(&mut self.context.cx, client);
    }

    /// Ends the operation of a request that was removed, if no other request needs the operation.
    pub(super) fn end_operation(&mut self, request: &OpenRequest) {
        match request.waiting {
            WaitingFor::Source { .. } => {}
            WaitingFor::Lookup { token, .. } | WaitingFor::Counters { token, .. } => {
                self.providers.get_mut(token.provider).waiter_left(&mut self.context, token, request.account, false);
            }
            WaitingFor::Query { query, .. } => {
                if let Some(query) = query {
                    self.context.sa_discard(query);
                }
            }
        }
    }

    pub(super) fn client_message(&mut self, client: ClientId, message: &[u8]) {
        let (account, tid, request) = match self.context.clients.receive(&mut self.context.cx, client, message) {
            Received::Request(account, tid, request) => (account, tid, request),
            Received::Close => return self.client_closed(client),
            Received::Nothing => return,
        };
        let requester = Requester::Client { id: client, tid };
        match request {
            ClientRequest::Perf(target) => self.perf(client, tid, account, target),
            ClientRequest::Endpoint { index, port } => self.endpoint_query(client, tid, index, port),
            ClientRequest::Resolve(resolve) => {
                self.context.count_total(Counter::Resolve);
                match resolve {
                    Err(status) => self.refuse(requester, Failure::BadRequest(status), &RequestSubject::default()),
                    Ok(Resolve::QuerySa { path, entry }) => self.query_sa(client, tid, account, path, entry),
                    Ok(Resolve::Route(route)) => self.route(requester, account, None, route.path, route.no_delay),
                    Ok(Resolve::Address { source, dest, conditions, no_delay }) => {
                        let terms = Terms { no_delay, conditions: conditions.and_then(Conditions::of) };
                        if let Some(source) = source {
                            return self.resolve(requester, account, &source, None, &dest, terms);
                        }
                        let Context { cx, ports, clients, .. } = &mut self.context;
                        clients.select_source(cx, ports, requester, account, dest, terms);
                    }
                }
            }
        }
    }

    pub(super) fn source_selected(&mut self, request: RequestId, source: Option<IpAddr>) {
        let conditions = self.context.clients.conditions.take(request);
        let taken = self.context.clients.take_source(&mut self.context.cx, request);
        let Some(OpenRequest { requester, account, waiting: WaitingFor::Source { dest, no_delay }, .. }) = taken else {
            return;
        };
        match source.map(Address::from) {
            None => self.refuse(requester, Failure::NoRoute, &RequestSubject::dest(&dest)),
            Some(source) => {
                let terms = Terms { no_delay, conditions };
                self.resolve(requester, account, &source, Some(source), &dest, terms);
            }
        }
    }

    pub(super) fn kernel_request(&mut self, id: KernelRequestId, port: Option<PortId>, path: &PathRecord) {
        self.context.count_total(Counter::Resolve);
        self.route(Requester::Kernel(id), KERNEL, port, path, false);
    }

    pub(super) fn kernel_address_request(&mut self, id: KernelRequestId, source: IpAddr, dest: IpAddr) {
        self.context.count_total(Counter::Resolve);
        let (source, dest) = (Address::from(source), Address::from(dest));
        self.resolve(Requester::Kernel(id), KERNEL, &source, None, &dest, Terms::default());
    }

    /// Answers a kernel request whose deadline has passed. Its lookup continues for later requests.
    pub(super) fn kernel_late(&mut self, id: RequestId) {
        let late = self.context.clients.take_late(&mut self.context.cx, id);
        let Some(OpenRequest { requester, account, waiting: WaitingFor::Lookup { endpoint, token, dest, .. }, .. }) =
            late
        else {
            return;
        };
        self.context.stats.kernel_late += 1;
        let provider = self.providers.get_mut(token.provider);
        let details = provider.waiter_left(&mut self.context, token, account, true);
        let late = Attempt { failure: Failure::KernelDeadline, details };
        let path_request = PathRequest { requester, endpoint, dest: &dest, chosen_source: None };
        let Context { cx, ports, clients, .. } = &mut self.context;
        clients.finish(cx, ports, &path_request, Err(late));
    }

    /// Answers a request that fails before any lookup.
    pub(super) fn refuse(&mut self, requester: Requester, failure: Failure, subject: &RequestSubject) {
        self.context.clients.refuse(&mut self.context.cx, &mut self.context.ports, requester, failure, subject);
    }

    /// Reports whether a request may wait. If nothing is free for an account below its floor, the largest account gives
    /// up a request or a lookup.
    pub(super) fn may_wait(&mut self, requester: Requester, account: AccountId) -> bool {
        self.yield_to(account);
        self.context.clients.may_wait(&self.context.cx, requester, account)
    }
}
