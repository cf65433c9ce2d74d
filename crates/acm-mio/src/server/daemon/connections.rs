//! The table of all clients: their connections, whose turn it is, who has answers to take.
use super::{super::connection::Connection, turns::Turns};
use acm_sansio::{ClientId, Time};
use slab::Slab;
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub(crate) struct Connections {
    pub(super) open: Slab<Connection>,
    /// How often each place of `open` was used.
    generations: Vec<u32>,
    /// Those with something to read or to hand to the core.
    pub(super) backlog: Turns,
    /// Those with answers to send.
    pub(super) answered: Turns,
    /// Those that have not taken all their answers, by how long they have taken nothing.
    stalled: BTreeSet<(Time, usize)>,
}

impl Connections {
    /// The id of the next client at this place.
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

    /// Where a client is, unless it is gone.
    pub(super) fn index_of(&self, client: ClientId) -> Option<usize> {
        let index = client.index() as usize;
        self.open.get(index).filter(|connection| connection.id == client).map(|_| index)
    }

    /// What a client is called, unless it is gone.
    pub(super) fn name_of(&self, client: ClientId) -> Option<String> {
        self.index_of(client).and_then(|index| self.open.get(index)).map(|client| client.peer.to_string())
    }

    /// Puts an answer behind those that wait for their client.
    pub(super) fn reply(&mut self, client: ClientId, bytes: &[u8]) {
        if let Some(index) = self.index_of(client)
            && let Some(connection) = self.open.get_mut(index)
        {
            connection.push(bytes);
            self.answered.insert(index);
        }
    }

    /// Sends what a client takes now; whether its connection still works.
    pub(super) fn send(&mut self, now: Time, index: usize) -> bool {
        let Some(connection) = self.open.get_mut(index) else { return true };
        let before = connection.stalled_since;
        let works = connection.flush(now);
        let after = connection.stalled_since;
        if before != after {
            self.stalled.extend(after.map(|since| (since, index)));
            if let Some(since) = before {
                self.stalled.remove(&(since, index));
            }
        }
        works
    }

    /// The client that has taken nothing for longest, and since when.
    pub(super) fn longest_stalled(&self) -> Option<(Time, usize)> {
        self.stalled.first().copied()
    }

    /// Takes a connection out of the table.
    pub(super) fn remove(&mut self, index: usize) -> Option<Connection> {
        let connection = self.open.try_remove(index)?;
        if let Some(since) = connection.stalled_since {
            self.stalled.remove(&(since, index));
        }
        Some(connection)
    }
}
