//! The table of all clients: their connections, whose turn it is, who has answers to take.
use super::{super::connection::Connection, turns::Turns};
use acm_sansio::ClientId;
use slab::Slab;
use std::collections::BTreeSet;

/// All clients.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    pub(super) open: Slab<Connection>,
    /// How often each place of `open` was used.
    generations: Vec<u32>,
    /// Those with something to read or to hand to the core.
    pub(super) backlog: Turns,
    /// Those with answers to send.
    pub(super) answered: Turns,
    /// Those that have not taken all their answers.
    pub(super) stalled: BTreeSet<usize>,
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

    /// Puts an answer behind those that wait for their client.
    pub(super) fn reply(&mut self, client: ClientId, bytes: &[u8]) {
        if let Some(index) = self.index_of(client)
            && let Some(connection) = self.open.get_mut(index)
        {
            connection.push(bytes);
            self.answered.insert(index);
        }
    }
}
