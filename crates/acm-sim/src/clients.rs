//! Clients: what they ask a node, and what they are told.
use crate::World;
use acm_sansio::{Account, ClientId, Input};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, ResolveAnswer, next_answer, path_request, resolve_request},
};
use core::time::Duration;
use ib_mad::sa::PathRecord;

/// A request that was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    node: usize,
    client: ClientId,
}

impl World {
    /// Sends a client's message to a node.
    pub fn ask(&mut self, index: usize, message: &[u8]) -> Ask {
        self.ask_as(index, Account::User(0), message)
    }

    /// The same in the name of an account, by a connection of its own.
    pub fn ask_as(&mut self, index: usize, account: Account, message: &[u8]) -> Ask {
        let ask = self.connect(index, account);
        self.say(ask, message);
        ask
    }

    /// Connects a client that says nothing yet.
    pub fn connect(&mut self, index: usize, account: Account) -> Ask {
        let mut client = ClientId::new(0, 0);
        self.with(index, |node, subnet, now, put| {
            client = node.connect();
            node.input(subnet, now, Input::ClientOpened { client, account }, put);
        });
        self.settle();
        Ask { node: index, client }
    }

    /// Sends one more message by a connection.
    pub fn say(&mut self, ask: Ask, message: &[u8]) {
        self.input(ask.node, Input::ClientMessage { client: ask.client, message });
    }

    /// The client leaves.
    pub fn hang_up(&mut self, ask: Ask) {
        self.input(ask.node, Input::ClientGone(ask.client));
    }

    /// The answer to a request, if it came.
    #[must_use]
    pub fn answer(&self, ask: Ask) -> Option<&[u8]> {
        self.node(ask.node).answer_of(ask.client)
    }

    /// Whether the node closed the asker's connection.
    #[must_use]
    pub fn is_closed(&self, ask: Ask) -> bool {
        self.node(ask.node).has_closed(ask.client)
    }

    /// The path in the answer to a request, if it came.
    #[must_use]
    pub fn path(&self, ask: Ask) -> Option<Result<PathRecord, ClientStatus>> {
        let frame = next_answer(self.answer(ask)?).ok()??;
        Some(ResolveAnswer::parse(&frame).map(|answer| answer.path))
    }

    /// Waits for the answer to a request.
    ///
    /// # Panics
    /// If none comes before nothing happens any more, or in a day: every request must be answered.
    pub fn wait(&mut self, ask: Ask) -> Result<PathRecord, ClientStatus> {
        let deadline = self.now() + Duration::from_secs(24 * 3600);
        loop {
            match self.path(ask) {
                Some(path) => return path,
                None if self.now() < deadline && self.step() => {}
                None => panic!("no answer to {ask:?} at {}, seed {}", self.now(), self.config.seed),
            }
        }
    }

    /// Asks a node for a path to an address and waits.
    ///
    /// # Errors
    /// The status of the answer, if it is not success.
    pub fn resolve(&mut self, index: usize, source: &Address, dest: &Address) -> Result<PathRecord, ClientStatus> {
        let ask = self.ask(index, &resolve_request(Some(source), dest, EntryFlags::empty(), [7; 8]));
        self.wait(ask)
    }

    /// Asks a node for the path to a LID or GID and waits.
    ///
    /// # Errors
    /// The status of the answer, if it is not success.
    pub fn route(&mut self, index: usize, wanted: &PathRecord) -> Result<PathRecord, ClientStatus> {
        let ask = self.ask(index, &path_request(wanted, EntryFlags::empty(), [7; 8]));
        self.wait(ask)
    }
}
