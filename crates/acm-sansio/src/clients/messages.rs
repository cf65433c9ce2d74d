//! Connections and messages of clients, and refusals.
use super::{
    Clients,
    failures::RequestSubject,
    requests::{OpenRequest, Requester, WaitingFor},
};
use crate::{
    accounts::{CONNECTIONS_FLOOR, ENDING, Holding, most_connections},
    api::{
        Event, Output,
        account::{Account, AccountId},
        failure::{Bound, Failure},
        id::{ClientId, RequestId},
    },
    ports::Ports,
    shared::Shared,
};
use acm_wire::{
    Address,
    client::{ClientRequest, ClientStatus, Opcode, Reply, next_frame},
};
use core::time::Duration;
use ib_mad::sa::PathRecord;

/// The properties of a request for the path to an address.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Terms<'a> {
    /// `true` if the response must not wait.
    pub(crate) no_delay: bool,
    /// Conditions on the path.
    pub(crate) conditions: Option<&'a PathRecord>,
}

/// Time after its last use within which a connection is not closed for that of another account.
const RECENT: Duration = Duration::from_secs(5);
/// Maximum number of accounts that are asked for a connection in favour of another account, the largest first.
const LOOKED_AT: usize = 64;

/// The room for one more connection of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// The connection may be opened.
    Free,
    /// This connection has to be closed first.
    InPlaceOf(ClientId),
    /// There is none.
    Full,
}

/// The effect of a message.
#[derive(Debug)]
pub(crate) enum Received<'a> {
    /// A request of an account, with its transaction id.
    Request(AccountId, [u8; 8], ClientRequest<'a>),
    /// The message cannot be read: the connection has to end.
    End,
    /// Nothing to do.
    Nothing,
}

impl Clients {
    /// Returns the room for one more connection of an account.
    pub(crate) fn room(&self, shared: &Shared, newcomer: AccountId) -> Room {
        let share = shared.config.limits.connections;
        if shared.accounts.may_take(newcomer, Holding::Connections, share) {
            return Room::Free;
        }
        // An account whose share is used up loses a connection of its own. If no connection is left at all, the account
        // with the most connections that can give one up loses one.
        let held = shared.accounts.held(newcomer, Holding::Connections);
        let larger = self.connections.most_first().take(LOOKED_AT);
        let larger =
            larger.filter(|(count, account)| *account != newcomer && *count > held).map(|(_, account)| account);
        let mut larger = larger.peekable();
        let is_smaller = larger.peek().is_some();
        let has_floor = held < CONNECTIONS_FLOOR && is_smaller;
        let (used, total) = (shared.accounts.total().connections, share.total);
        // A share of what is free is little when several accounts have theirs.
        if used < total && has_floor {
            return Room::Free;
        }
        let guaranteed = usize::from(shared.accounts.guarantees(newcomer));
        let most = most_connections(total, shared.accounts.guaranteed() + guaranteed);
        // Each connection of a client that does not read keeps its memory, however many the account gives up.
        let gives_up = |account: &AccountId| self.connections.ending(*account) < ENDING;
        let of_newcomer = |idle: Duration| {
            Some(newcomer).filter(gives_up).and_then(|account| self.connections.idle_for(account, shared.now, idle))
        };
        let victim = if used >= total && is_smaller {
            larger.filter(gives_up).find_map(|account| self.connections.idle_for(account, shared.now, RECENT))
        } else {
            of_newcomer(Duration::ZERO)
        };
        // A connection that was given up and not closed yet may be one too many.
        if victim.is_none() && has_floor && used < most + guaranteed {
            return Room::Free;
        }
        // If no other account gives one up, the newcomer loses one of its own.
        match victim.or_else(|| of_newcomer(RECENT)) {
            Some(victim) if used <= most => Room::InPlaceOf(victim),
            _ => Room::Full,
        }
    }

    /// Adds a connection for which there is room.
    pub(crate) fn open(&mut self, shared: &mut Shared, client: ClientId, account: Account) {
        let id = shared.accounts.id(account);
        shared.accounts.take(id, Holding::Connections);
        self.connections.open(shared.now, client, id);
    }

    /// Refuses a connection.
    pub(crate) fn refuse_connection(shared: &mut Shared, client: ClientId, account: Account) {
        shared.stats.connections_refused.count(account.kind());
        shared.log(Event::ConnectionRefused(client, account));
        shared.output(Output::CloseClient(client));
    }

    /// Requests that a connection is closed in favour of another. It has to end then.
    pub(crate) fn evict(&self, shared: &mut Shared, victim: ClientId) {
        let account = self.connections.account(victim).map_or(Account::Daemon, |id| shared.accounts.account(id));
        shared.stats.connections_closed.count(account.kind());
        shared.log(Event::ConnectionClosed(victim, account));
        shared.output(Output::CloseClient(victim));
    }

    /// Removes and returns the oldest open request of a client that disconnected.
    pub(crate) fn abandon_next(&mut self, shared: &mut Shared, client: ClientId) -> Option<OpenRequest> {
        let id = self.connections.requests(client)?.first()?;
        let request = self.take_request(shared, id)?;
        shared.stats.requests_abandoned += 1;
        Some(request)
    }

    /// Marks a connection without open requests as ending: it is charged until it is closed.
    pub(crate) fn end(&mut self, client: ClientId) {
        self.connections.end(client);
    }

    /// Removes a connection without open requests.
    pub(crate) fn close(&mut self, shared: &mut Shared, client: ClientId) {
        if let Some(account) = shared.named(self.connections.close(client)) {
            shared.accounts.give_back(account, Holding::Connections);
        }
    }

    /// Reads a message.
    pub(crate) fn receive<'a>(&mut self, shared: &mut Shared, client: ClientId, message: &'a [u8]) -> Received<'a> {
        let Some(account) = shared.named(self.connections.account(client)) else { return Received::Nothing };
        let frame = match next_frame(message) {
            Ok(Some(frame)) => frame,
            Ok(None) => {
                shared.stats.bad_messages += 1;
                return Received::Nothing;
            }
            Err(error) => {
                shared.stats.bad_messages += 1;
                shared.log(Event::BadFrame(client, error));
                shared.output(Output::CloseClient(client));
                return Received::End;
            }
        };
        self.connections.touch(shared.now, client);
        Received::Request(account, frame.header.tid.0, ClientRequest::parse(&frame))
    }

    /// Answers a request that fails before any lookup.
    pub(crate) fn refuse(
        &mut self,
        shared: &mut Shared,
        ports: &mut Ports,
        requester: Requester,
        failure: Failure,
        subject: &RequestSubject,
    ) {
        Self::count_status(shared, ports, None, failure.status());
        self.request_failed(shared, ports, requester, failure.into(), subject);
        match requester {
            Requester::Client { id, tid } => {
                self.reply(shared, id, Reply::refused(Opcode::RESOLVE, tid, failure.status()));
            }
            Requester::Kernel(id) => shared.output(Output::KernelReply { id, path: Err(failure) }),
        }
    }

    /// Reports whether a client may have one more open request.
    pub(crate) fn takes_requests(&self, shared: &Shared, client: ClientId) -> bool {
        let most = shared.config.limits.requests_per_client as usize;
        self.connections.requests(client).is_none_or(|requests| requests.len() < most)
    }

    /// Reports whether a requester may have one more open request, regardless of its account.
    pub(crate) fn requester_may_wait(&self, shared: &Shared, requester: Requester) -> bool {
        match requester {
            Requester::Client { id, .. } => self.takes_requests(shared, id),
            Requester::Kernel(_) => true,
        }
    }

    /// Reports whether a request may wait, within the limits of its client and its account.
    pub(crate) fn may_wait(&self, shared: &Shared, requester: Requester, account: AccountId) -> bool {
        self.requester_may_wait(shared, requester)
            && shared.accounts.may_take(account, Holding::Requests, shared.config.limits.requests)
    }

    /// Counts a refused request by the kind of its account.
    pub(crate) fn count_refused(shared: &mut Shared, account: AccountId) {
        let kind = shared.accounts.account(account).kind();
        shared.stats.requests_refused.count(kind);
    }

    /// Requests the selection of the source address for a path to `dest` by the routing table.
    pub(crate) fn select_source(
        &mut self,
        shared: &mut Shared,
        ports: &mut Ports,
        requester: Requester,
        account: AccountId,
        dest: Address,
        terms: Terms<'_>,
    ) {
        let subject = RequestSubject::dest(&dest);
        let Some(ip) = dest.ip() else {
            return self.refuse(shared, ports, requester, Failure::BadRequest(ClientStatus::EDESTTYPE), &subject);
        };
        // The account's limit is checked later, when it is clear that the request must wait: the result may be cached.
        if !self.requester_may_wait(shared, requester) {
            Self::count_refused(shared, account);
            return self.refuse(shared, ports, requester, Failure::TooMany(Bound::Requests), &subject);
        }
        let waiting = WaitingFor::Source { dest, no_delay: terms.no_delay };
        let request = self.keep_request(shared, OpenRequest::new(requester, account, waiting));
        self.conditions.keep(request, terms.conditions);
        shared.output(Output::SelectSource { request, dest: ip });
    }

    /// Removes a request that waits for its source. Another id is counted as stale: the client may have disconnected.
    pub(crate) fn take_source(&mut self, shared: &mut Shared, id: RequestId) -> Option<OpenRequest> {
        let found = self.requests.all.get(id);
        shared.named(found.filter(|request| matches!(request.waiting, WaitingFor::Source { .. })))?;
        self.take_request(shared, id)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::requests::tests::request, *};
    use crate::api::config::{Config, Limits};

    #[test]
    fn client_at_its_request_limit_is_not_read() {
        let limits = Limits { requests_per_client: 2, ..Limits::default() };
        let mut shared = Shared::new(Config { limits, ..Config::default() }, 1.into());
        let (mut clients, client) = (Clients::new(), ClientId::new(0, 0));
        clients.open(&mut shared, client, Account::User(7));
        let seen = [(); 3].map(|()| {
            let seen = clients.takes_requests(&shared, client);
            clients.keep_request(&mut shared, request(client));
            seen
        });
        assert_eq!(seen, [true, true, false]);
    }

    #[test]
    fn ids_of_closed_clients_and_other_requests_are_stale() {
        let mut shared = Shared::new(Config::default(), 1.into());
        let (mut clients, client) = (Clients::new(), ClientId::new(0, 0));
        assert!(matches!(clients.receive(&mut shared, client, &[]), Received::Nothing));
        clients.close(&mut shared, client);
        assert_eq!(shared.stats.stale_inputs, 2);
        clients.open(&mut shared, client, Account::User(7));
        let lookup = clients.keep_request(&mut shared, request(client));
        assert!(clients.take_source(&mut shared, lookup).is_none(), "it waits for a lookup");
        assert!(clients.take_source(&mut shared, RequestId::new(9, 9)).is_none());
        assert_eq!((shared.stats.stale_inputs, clients.requests.all.len()), (4, 1));
    }

    #[test]
    fn refused_connection_is_counted_and_closed() {
        let mut shared = Shared::new(Config::default(), 1.into());
        let client = ClientId::new(0, 0);
        Clients::refuse_connection(&mut shared, client, Account::User(7));
        assert_eq!(shared.stats.connections_refused.total(), 1);
        assert_eq!(shared.outputs.back(), Some(&Output::CloseClient(client)));
    }
}
