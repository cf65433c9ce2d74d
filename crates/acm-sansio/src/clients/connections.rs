//! Client connections by account, in the order of their last use.
use super::requests::RequestList;
use crate::{
    api::{Time, account::AccountId, id::ClientId},
    collections::list::{Links, List, Nodes},
};
use alloc::{collections::BTreeSet, vec::Vec};
use core::time::Duration;

const BY_ACCOUNT: usize = 0;

#[derive(Debug)]
struct Connection {
    generation: u32,
    account: AccountId,
    /// Its open requests, oldest first.
    requests: RequestList,
    /// Links in the account's idle or busy list, while the connection is not ending.
    links: Links<ClientId>,
    /// True if the connection only waits to be closed.
    is_ending: bool,
    /// Time of the last message, or of the end of the last request.
    used_at: Time,
}

#[derive(Debug, Default)]
struct Slots(Vec<Option<Connection>>);

impl Slots {
    fn get(&self, id: ClientId) -> Option<&Connection> {
        self.0.get(id.index() as usize)?.as_ref().filter(|connection| connection.generation == id.generation())
    }

    fn get_mut(&mut self, id: ClientId) -> Option<&mut Connection> {
        self.0.get_mut(id.index() as usize)?.as_mut().filter(|connection| connection.generation == id.generation())
    }
}

impl Nodes<ClientId, BY_ACCOUNT> for Slots {
    fn links(&mut self, key: ClientId) -> Option<&mut Links<ClientId>> {
        self.get_mut(key).map(|connection| &mut connection.links)
    }
}

/// The connections of one account. The connection that was used least recently is first in each list.
#[derive(Clone, Copy, Debug, Default)]
struct OfAccount {
    idle: List<ClientId, BY_ACCOUNT>,
    /// Connections with open requests.
    busy: List<ClientId, BY_ACCOUNT>,
    /// Number of connections that only wait to be closed.
    ending: usize,
}

impl OfAccount {
    const fn len(&self) -> usize {
        self.idle.len() + self.busy.len() + self.ending
    }
}

/// The connections of all accounts.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    slots: Slots,
    /// By the account's index.
    accounts: Vec<OfAccount>,
    /// Accounts by their number of connections, to find the one with the most.
    by_count: BTreeSet<(usize, AccountId)>,
}

impl Connections {
    /// Adds a connection. The caller reuses an index only after the connection that had it is closed.
    pub(crate) fn open(&mut self, now: Time, id: ClientId, account: AccountId) {
        let index = id.index() as usize;
        if self.slots.0.len() <= index {
            self.slots.0.resize_with(index + 1, || None);
        }
        if let Some(slot) = self.slots.0.get_mut(index) {
            let connection = Connection {
                generation: id.generation(),
                account,
                requests: RequestList::default(),
                links: Links::default(),
                is_ending: false,
                used_at: now,
            };
            *slot = Some(connection);
        }
        self.change(account, |of_account, slots| of_account.idle.push_last(slots, id));
    }

    /// Returns the id of the connection with this index.
    pub(crate) fn at(&self, index: u32) -> Option<ClientId> {
        let connection = self.slots.0.get(index as usize)?.as_ref()?;
        Some(ClientId::new(index, connection.generation))
    }

    /// Returns the account of a connection that is not ending.
    pub(crate) fn account(&self, id: ClientId) -> Option<AccountId> {
        self.slots.get(id).filter(|connection| !connection.is_ending).map(|connection| connection.account)
    }

    /// Marks a connection without open requests as ending. It counts until it is closed.
    pub(crate) fn end(&mut self, id: ClientId) {
        let Some(account) = self.account(id) else { return };
        self.change(account, |of_account, slots| {
            of_account.idle.remove(slots, id);
            of_account.ending += 1;
        });
        if let Some(connection) = self.slots.get_mut(id) {
            connection.is_ending = true;
        }
    }

    /// Removes a connection without open requests and returns its account.
    pub(crate) fn close(&mut self, id: ClientId) -> Option<AccountId> {
        self.end(id);
        let account = self.slots.get(id)?.account;
        self.change(account, |of_account, _| of_account.ending = of_account.ending.saturating_sub(1));
        *self.slots.0.get_mut(id.index() as usize)? = None;
        Some(account)
    }

    /// Returns the number of ending connections of an account.
    pub(crate) fn ending(&self, account: AccountId) -> usize {
        self.accounts.get(account.index() as usize).map_or(0, |of_account| of_account.ending)
    }

    /// Returns the open requests of a connection.
    pub(crate) fn requests(&self, id: ClientId) -> Option<&RequestList> {
        self.slots.get(id).map(|connection| &connection.requests)
    }

    /// Changes the list of open requests, and moves the connection between the idle and busy lists accordingly.
    pub(crate) fn with_requests<R>(
        &mut self,
        now: Time,
        id: ClientId,
        change: impl FnOnce(&mut RequestList) -> R,
    ) -> Option<R> {
        let connection = self.slots.get_mut(id)?;
        connection.used_at = now;
        let before = connection.requests.len();
        let result = change(&mut connection.requests);
        let (after, account) = (connection.requests.len(), connection.account);
        if let Some(of_account) = self.accounts.get_mut(account.index() as usize) {
            match (before, after) {
                (0, 1..) => {
                    of_account.idle.remove(&mut self.slots, id);
                    of_account.busy.push_last(&mut self.slots, id);
                }
                (1.., 0) => {
                    of_account.busy.remove(&mut self.slots, id);
                    of_account.idle.push_last(&mut self.slots, id);
                }
                _ => {}
            }
        }
        Some(result)
    }

    /// Marks a connection as used: it moves to the end of its list.
    pub(crate) fn touch(&mut self, now: Time, id: ClientId) {
        let idle = |connection: &&mut Connection| connection.requests.len() == 0 && !connection.is_ending;
        let Some(connection) = self.slots.get_mut(id).filter(idle) else { return };
        connection.used_at = now;
        if let Some(of_account) = self.accounts.get_mut(connection.account.index() as usize) {
            of_account.idle.move_last(&mut self.slots, id);
        }
    }

    /// Returns the connection of an account that has been idle for longest.
    fn longest_idle(&self, account: AccountId) -> Option<ClientId> {
        self.accounts.get(account.index() as usize)?.idle.first()
    }

    /// Returns the connection of an account that has been idle for longest, if it was idle for at least `time`.
    pub(crate) fn idle_for(&self, account: AccountId, now: Time, time: Duration) -> Option<ClientId> {
        let is_idle = |connection: &Connection| now.since(connection.used_at) >= time;
        self.longest_idle(account).filter(|id| self.slots.get(*id).is_some_and(is_idle))
    }

    /// Returns the connection of an account that has been busy for longest.
    pub(crate) fn longest_busy(&self, account: AccountId) -> Option<ClientId> {
        self.accounts.get(account.index() as usize)?.busy.first()
    }

    /// Returns the accounts with their numbers of connections, the most first.
    pub(crate) fn most_first(&self) -> impl Iterator<Item = (usize, AccountId)> {
        self.by_count.iter().rev().copied()
    }

    fn change(&mut self, account: AccountId, change: impl FnOnce(&mut OfAccount, &mut Slots)) {
        let index = account.index() as usize;
        if self.accounts.len() <= index {
            self.accounts.resize(index + 1, OfAccount::default());
        }
        let Some(of_account) = self.accounts.get_mut(index) else { return };
        self.by_count.remove(&(of_account.len(), account));
        change(of_account, &mut self.slots);
        if of_account.len() > 0 {
            self.by_count.insert((of_account.len(), account));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collections::arena::Arena;

    const A: AccountId = AccountId::new(3, 0);
    const B: AccountId = AccountId::new(4, 0);

    fn client(index: u32) -> ClientId {
        ClientId::new(index, 7)
    }

    #[test]
    fn least_recently_used_idle_connection_is_first() {
        let mut connections = Connections::default();
        (0..3).for_each(|index| connections.open(Time::ZERO, client(index), A));
        connections.open(Time::ZERO, client(3), B);
        connections.touch(Time::ZERO, client(0));
        assert_eq!((connections.longest_idle(A), connections.most_first().next()), (Some(client(1)), Some((3, A))));
        assert_eq!(connections.close(client(1)), Some(A));
        assert_eq!((connections.longest_idle(A), connections.most_first().next()), (Some(client(2)), Some((2, A))));
        assert_eq!(connections.close(client(1)), None);
        connections.close(client(2));
        connections.close(client(0));
        assert_eq!((connections.longest_idle(A), connections.most_first().next()), (None, Some((1, B))));
        connections.close(client(3));
        assert_eq!(connections.most_first().next(), None);
    }

    #[test]
    fn connection_with_open_requests_is_not_idle() {
        let mut connections = Connections::default();
        connections.open(Time::ZERO, client(0), A);
        connections.open(Time::ZERO, client(1), A);
        let mut requests = Arena::new();
        let request = requests.insert(super::super::requests::tests::request(client(0)));
        connections.with_requests(Time::ZERO, client(0), |list| list.push_last(&mut requests, request));
        assert_eq!((connections.longest_idle(A), connections.longest_busy(A)), (Some(client(1)), Some(client(0))));
        connections.touch(Time::ZERO, client(0));
        connections.with_requests(Time::ZERO, client(0), |list| list.remove(&mut requests, request));
        assert_eq!((connections.longest_idle(A), connections.longest_busy(A)), (Some(client(1)), None));
        connections.touch(Time::ZERO, client(1));
        assert_eq!(connections.longest_idle(A), Some(client(0)));
    }

    #[test]
    fn ending_connection_counts_until_it_is_closed() {
        let mut connections = Connections::default();
        (0..2).for_each(|index| connections.open(Time::ZERO, client(index), A));
        connections.end(client(0));
        connections.touch(Time::ZERO, client(0));
        assert_eq!((connections.longest_idle(A), connections.most_first().next()), (Some(client(1)), Some((2, A))));
        assert_eq!((connections.account(client(0)), connections.ending(A)), (None, 1));
        connections.end(client(0));
        assert_eq!(connections.close(client(0)), Some(A));
        assert_eq!((connections.ending(A), connections.most_first().next()), (0, Some((1, A))));
        assert_eq!(connections.close(client(0)), None);
    }

    #[test]
    fn connection_is_idle_since_its_last_message_or_the_end_of_its_last_request() {
        let at = |seconds| Time::ZERO + Duration::from_secs(seconds);
        let mut connections = Connections::default();
        connections.open(at(1), client(0), A);
        let idle = |connections: &Connections, now| connections.idle_for(A, at(now), Duration::from_secs(10)).is_some();
        assert!(!idle(&connections, 10) && idle(&connections, 11));
        connections.touch(at(2), client(0));
        assert!(!idle(&connections, 11) && idle(&connections, 12));
        let mut requests = Arena::new();
        let request = requests.insert(super::super::requests::tests::request(client(0)));
        connections.with_requests(at(3), client(0), |list| list.push_last(&mut requests, request));
        assert!(!idle(&connections, 99), "it has an open request");
        connections.with_requests(at(4), client(0), |list| list.remove(&mut requests, request));
        assert!(!idle(&connections, 13) && idle(&connections, 14));
    }

    #[test]
    fn reused_index_is_another_connection() {
        let mut connections = Connections::default();
        connections.open(Time::ZERO, ClientId::new(0, 0), A);
        connections.close(ClientId::new(0, 0));
        connections.open(Time::ZERO, ClientId::new(0, 1), B);
        assert_eq!(
            (connections.account(ClientId::new(0, 0)), connections.account(ClientId::new(0, 1))),
            (None, Some(B))
        );
        assert_eq!(connections.at(0), Some(ClientId::new(0, 1)));
    }
}
