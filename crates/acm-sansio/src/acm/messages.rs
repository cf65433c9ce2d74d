//! Connections and messages of clients.
use crate::{
    accounts::Holding,
    acm::Acm,
    api::{
        Event, Output, ProviderId,
        account::{Account, AccountId},
        failure::Failure,
        id::{ClientId, RequestId},
    },
    clients::{OpenRequest, RequestSubject, Requester, WaitingFor},
    provider::IfPending,
};
use acm_wire::client::{ClientRequest, Counter, Opcode, Reply, Resolve, next_frame};

/// Number of connections that an account may have while another account has more.
const CONNECTIONS_FLOOR: usize = 8;

impl Acm {
    pub(crate) fn client_opened(&mut self, client: ClientId, account: Account) {
        // If the caller reuses an index without closing it first, the previous connection counts as closed.
        if let Some(before) = self.context.connections.at(client.index()) {
            self.context.stats.stale_inputs += 1;
            self.client_closed(before);
        }
        let id = self.context.accounts.id(account);
        if client.index() >= ClientId::MAX_INDEX || !self.make_room(id) {
            self.context.accounts.remove_idle(id);
            self.context.stats.connections_refused.count(account.kind());
            self.context.log(Event::ConnectionRefused(client, account));
            self.context.output(Output::CloseClient(client));
            return;
        }
        // Making room may have closed the account's last connection, which invalidated its id.
        let id = self.context.accounts.id(account);
        self.context.accounts.take(id, Holding::Connections);
        self.context.connections.open(client, id);
    }

    /// Makes room for one more connection of an account, if necessary by closing another. Returns `false` if there is
    /// none.
    fn make_room(&mut self, newcomer: AccountId) -> bool {
        let cx = &self.context;
        let share = cx.config.limits.connections;
        if cx.accounts.may_take(newcomer, Holding::Connections, share) {
            return true;
        }
        // An account whose share is used up loses a connection of its own. If no connection is left at all, the account
        // with the most connections loses one.
        let held = cx.accounts.held(newcomer, Holding::Connections);
        let others = cx.connections.most().filter(|(count, account)| *account != newcomer && *count > held);
        let full = cx.accounts.total().connections >= share.total;
        // A share of what is free is little when several accounts have theirs.
        if !full && held < CONNECTIONS_FLOOR && others.is_some() {
            return true;
        }
        let victim = match others.filter(|_| full) {
            Some((_, account)) => cx.connections.longest_idle(account).or_else(|| cx.connections.longest_busy(account)),
            None => cx.connections.longest_idle(newcomer),
        };
        let Some(victim) = victim else { return false };
        let account = cx.connections.account(victim).map_or(Account::Daemon, |id| cx.accounts.account(id));
        self.context.stats.connections_closed.count(account.kind());
        self.context.log(Event::ConnectionClosed(victim, account));
        self.context.output(Output::CloseClient(victim));
        self.client_closed(victim);
        true
    }

    pub(crate) fn client_closed(&mut self, client: ClientId) {
        while let Some(request) = self.context.connections.requests(client).and_then(|list| list.first()) {
            self.abandon(request);
        }
        match self.context.connections.close(client) {
            Some(account) => self.context.accounts.give_back(account, Holding::Connections),
            None => self.context.stats.stale_inputs += 1,
        }
    }

    /// Ends a request whose client disconnected.
    fn abandon(&mut self, id: RequestId) {
        if let Some(request) = self.context.take_request(id) {
            self.context.stats.requests_abandoned += 1;
            self.end_operation(&request);
        }
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

    pub(crate) fn client_message(&mut self, client: ClientId, message: &[u8]) {
        let Some(account) = self.context.connections.account(client) else {
            self.context.stats.stale_inputs += 1;
            return;
        };
        let frame = match next_frame(message) {
            Ok(Some(frame)) => frame,
            Ok(None) => {
                self.context.stats.bad_messages += 1;
                return;
            }
            Err(error) => {
                self.context.stats.bad_messages += 1;
                self.context.log(Event::BadFrame(client, error));
                self.context.output(Output::CloseClient(client));
                self.client_closed(client);
                return;
            }
        };
        self.context.connections.touch(client);
        let tid = frame.header.tid.0;
        let requester = Requester::Client { id: client, tid };
        match ClientRequest::parse(&frame) {
            ClientRequest::Perf(target) => self.perf(client, tid, account, target),
            ClientRequest::Endpoint { index, port } => self.endpoint_query(client, tid, index, port),
            ClientRequest::Resolve(resolve) => {
                self.context.counters.count(Counter::Resolve);
                match resolve {
                    Err(status) => self.refuse(requester, Failure::BadRequest(status), &RequestSubject::default()),
                    Ok(Resolve::QuerySa { path, entry }) => self.query_sa(client, tid, account, path, entry),
                    Ok(Resolve::Route(route)) => self.route(requester, account, None, route.path, route.no_delay),
                    Ok(Resolve::Address { source: Some(source), dest, no_delay }) => {
                        self.resolve(requester, account, &source, None, &dest, no_delay);
                    }
                    Ok(Resolve::Address { source: None, dest, no_delay }) => {
                        self.select_source(requester, account, dest, no_delay);
                    }
                }
            }
        }
    }

    /// Answers a request that fails before any lookup.
    pub(crate) fn refuse(&mut self, requester: Requester, failure: Failure, subject: &RequestSubject) {
        self.context.count_status(None, failure.status());
        self.context.request_failed(requester, failure.into(), subject);
        match requester {
            Requester::Client { id, tid } => {
                self.context.reply(id, Reply::refused(Opcode::RESOLVE, tid, failure.status()));
            }
            Requester::Kernel(id) => self.context.output(Output::KernelReply { id, path: Err(failure) }),
        }
    }

    /// Reports whether a request may wait, within the limits of its client and its account. If nothing is free for an
    /// account below its floor, the largest account gives up a request or a lookup.
    pub(crate) fn may_wait(&mut self, requester: Requester, account: AccountId) -> bool {
        self.yield_to(account);
        self.requester_may_wait(requester)
            && self.context.accounts.may_take(account, Holding::Requests, self.context.config.limits.requests)
    }

    /// Reports whether a requester may have one more open request, regardless of its account.
    pub(crate) fn requester_may_wait(&self, requester: Requester) -> bool {
        match requester {
            Requester::Client { id, .. } => self.takes_requests(id),
            Requester::Kernel(_) => true,
        }
    }

    pub(crate) fn if_pending(
        &mut self,
        requester: Requester,
        account: AccountId,
        provider: ProviderId,
        no_delay: bool,
    ) -> IfPending {
        let provider_decides = no_delay && self.providers.get(provider).handles_no_delay();
        match (no_delay && !provider_decides, self.may_wait(requester, account)) {
            (true, _) => IfPending::LeavesTicket,
            (false, true) if provider_decides => IfPending::AsksProvider,
            (false, true) => IfPending::Waits,
            (false, false) => IfPending::MayNotWait,
        }
    }

    /// Counts a refused request by the kind of its account.
    pub(crate) fn count_refused(&mut self, account: AccountId) {
        let kind = self.context.accounts.account(account).kind();
        self.context.stats.requests_refused.count(kind);
    }
}

impl OpenRequest {
    /// Reports whether the request is charged to its account. Requests that wait only for their source are not.
    pub(crate) const fn is_charged(&self) -> bool {
        !matches!(self.waiting, WaitingFor::Source { .. })
    }

    /// Reports whether the request is charged as a lookup, too: its query takes turns with those of lookups.
    pub(crate) const fn is_lookup(&self) -> bool {
        matches!(self.waiting, WaitingFor::Query { .. })
    }
}
