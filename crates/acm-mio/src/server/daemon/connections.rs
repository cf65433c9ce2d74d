//! The table of clients: their connections, and the queue of those with work to do.
use super::super::connection::{Connection, Turn};
use acm_sansio::{
    Account, ClientId, Time,
    config::Share,
    fair::{FairQueue, Urgency},
};
use slab::Slab;
use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

/// The open connections, and the queue of those with work to do.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    pub(super) open: Slab<Connection>,
    /// Generation of the last client at each index of `open`.
    generations: Vec<u32>,
    /// Indices of connections with work to do, each at most once. The accounts are served round-robin, and the
    /// connections of an account, too.
    ready: FairQueue<usize>,
    /// Connections that may have unread responses, ordered by the time of their last check.
    checked: BTreeSet<(Time, usize)>,
    /// Number of idle connections that were closed at the end because systemd does not keep so many.
    pub(super) not_left: u64,
    /// Number of responses with a descriptor that may be unread, for each account.
    descriptors: BTreeMap<Account, usize>,
    /// Number of clients that were closed because they read nothing.
    pub(super) stalled: u64,
    /// Number of clients that were closed because they sent descriptors.
    pub(super) sent_descriptors: u64,
}

impl Connections {
    /// Returns the id of a new client at `index`, with a new generation.
    pub(super) fn next_id(&mut self, index: usize) -> ClientId {
        if self.generations.len() <= index {
            self.generations.resize(index + 1, 0);
        }
        let generation = self.generations.get_mut(index).map_or(0, |generation| {
            *generation = generation.wrapping_add(1);
            *generation
        });
        ClientId::new(u32::try_from(index).unwrap_or(u32::MAX), generation)
    }

    /// Returns the index of a client's connection, if it is open.
    pub(super) fn index_of(&self, client: ClientId) -> Option<usize> {
        let index = client.index() as usize;
        self.open.get(index).filter(|connection| connection.id == client).map(|_| index)
    }

    /// Returns the name of a client, if its connection is open.
    pub(super) fn name_of(&self, client: ClientId) -> Option<String> {
        self.index_of(client).and_then(|index| self.open.get(index)).map(|client| client.peer.to_string())
    }

    /// Queues a response for a client.
    pub(super) fn reply(&mut self, client: ClientId, bytes: &[u8]) {
        if let Some(index) = self.index_of(client)
            && let Some(connection) = self.open.get_mut(index)
        {
            connection.push(bytes);
            self.queue(index);
        }
    }

    /// Queues a connection for its next turn. Does nothing if the connection is queued, or if it is its turn.
    pub(super) fn queue(&mut self, index: usize) {
        if let Some(connection) = self.open.get_mut(index)
            && matches!(connection.turn, Turn::None)
        {
            connection.turn = Turn::Queued(self.ready.push(connection.account, Urgency::Waited, index));
        }
    }

    /// Reports whether a connection has work to do.
    pub(super) const fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Removes the connection whose turn it is from the queue, and returns its index.
    pub(super) fn next_turn(&mut self) -> Option<usize> {
        self.ready.pop()
    }

    /// Sends as many responses as the client's socket accepts. Returns `false` if the connection has failed.
    pub(super) fn send(&mut self, now: Time, index: usize) -> bool {
        let Some(connection) = self.open.get_mut(index) else { return true };
        if connection.checked.is_none() && connection.unsent() > 0 {
            connection.check_later(now);
            self.checked.insert((now, index));
        }
        connection.flush()
    }

    /// Returns the earliest time of a last check, among the connections that may have unread responses.
    pub(super) fn oldest_check(&self) -> Option<Time> {
        self.checked.first().map(|&(at, _)| at)
    }

    /// Checks the connection with the earliest last check for unread responses. If there are any, returns the
    /// connection, and the time since which its client has read nothing.
    pub(super) fn check_oldest(&mut self, now: Time) -> Option<(usize, Time)> {
        let (_, index) = self.checked.pop_first()?;
        let since = self.open.get_mut(index)?.check(now)?;
        self.checked.insert((now, index));
        Some((index, since))
    }

    /// Reports whether a client may get a response with a descriptor, if `most` of them may be unread: an account may
    /// have half of what it has and what is free.
    pub(super) fn may_send_descriptor(&self, index: usize, most: usize) -> bool {
        let Some(connection) = self.open.get(index) else { return false };
        let held = self.descriptors.get(&connection.owner).copied().unwrap_or(0);
        let free = most.saturating_sub(self.descriptors.values().sum());
        free > 0 && held < Share { total: most, percent: 50 }.of(held + free)
    }

    /// Counts a response with a descriptor until the connection is closed.
    pub(super) fn note_descriptor(&mut self, index: usize) {
        if let Some(connection) = self.open.get_mut(index) {
            connection.has_descriptor = true;
            *self.descriptors.entry(connection.owner).or_default() += 1;
        }
    }

    /// Ends the service of a client whose connection cannot be closed yet.
    pub(super) fn keep(&mut self, index: usize) {
        let Some(connection) = self.open.get_mut(index).filter(|connection| !connection.ending) else { return };
        connection.end();
        if connection.checked.is_none() {
            connection.check_later(Time::ZERO);
            self.checked.insert((Time::ZERO, index));
        }
    }

    /// Returns the number of connections that cannot be closed yet.
    pub(super) fn ending(&self) -> usize {
        self.open.iter().filter(|(_, connection)| connection.ending).count()
    }

    /// Removes a connection from the table.
    pub(super) fn remove(&mut self, index: usize) -> Option<Connection> {
        let connection = self.open.try_remove(index)?;
        if connection.has_descriptor
            && let Entry::Occupied(mut count) = self.descriptors.entry(connection.owner)
        {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
        if let Turn::Queued(position) = connection.turn {
            self.ready.remove(position);
        }
        if let Some(check) = connection.checked {
            self.checked.remove(&(check.at, index));
        }
        Some(connection)
    }
}
