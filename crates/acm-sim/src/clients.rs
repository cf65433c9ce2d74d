//! Client connections: requests to a node and its responses.
use crate::World;
use acm_sansio::{Account, ClientId, Input};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, RequestBuffer, ResolveResponse, next_response, path_request, resolve_request},
};
use core::time::Duration;
use ib_mad::sa::PathRecord;

/// Returns the name of a node, which is the first of its addresses.
#[must_use]
pub fn name(node: u32) -> Address {
    let [name, ..] = World::addresses(node);
    name
}

/// Returns a request from node 0 for the path to a name that no node has. Each number gives another name.
#[must_use]
pub fn unknown_name_request(number: usize, flags: EntryFlags) -> RequestBuffer {
    resolve_request(Some(&name(0)), &Address::from_text(&format!("dead{number}")), flags, [1; 8])
}

/// A client connection to a node, opened for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Client {
    pub(crate) node: usize,
    pub(crate) id: ClientId,
}

impl World {
    /// Connects a client of user 0 to a node and sends a message.
    pub fn request(&mut self, index: usize, message: &[u8]) -> Client {
        self.request_as(index, Account::User(0), message)
    }

    /// Connects a client of `account` to a node and sends a message.
    pub fn request_as(&mut self, index: usize, account: Account, message: &[u8]) -> Client {
        let client = self.connect(index, account);
        self.send(client, message);
        client
    }

    /// Connects a client that has sent nothing yet.
    pub fn connect(&mut self, index: usize, account: Account) -> Client {
        let mut id = ClientId::new(0, 0);
        self.with(index, |node, subnet, now, put| {
            id = node.connect();
            node.input(subnet, now, Input::ClientOpened { client: id, account }, put);
        });
        self.settle();
        Client { node: index, id }
    }

    /// Sends another message on a connection.
    pub fn send(&mut self, client: Client, message: &[u8]) {
        self.input(client.node, Input::ClientMessage { client: client.id, message });
    }

    /// Closes a connection from the client's side.
    pub fn disconnect(&mut self, client: Client) {
        self.input(client.node, Input::ClientClosed(client.id));
    }

    /// Returns the last response on a connection, if there is one.
    #[must_use]
    pub fn response(&self, client: Client) -> Option<&[u8]> {
        self.node(client.node).response_to(client.id)
    }

    /// True if the node closed the connection.
    #[must_use]
    pub fn is_closed(&self, client: Client) -> bool {
        self.node(client.node).has_closed(client.id)
    }

    /// Returns the path or the error status in the last response, if there is one.
    #[must_use]
    pub fn path(&self, client: Client) -> Option<Result<PathRecord, ClientStatus>> {
        let frame = next_response(self.response(client)?).ok()??;
        Some(ResolveResponse::parse(&frame).map(|answer| answer.path))
    }

    /// Runs until a response to a resolve request arrives, and returns its path.
    ///
    /// # Errors
    /// The response's status, unless it is success.
    ///
    /// # Panics
    /// If no response arrives within a day, or if no event is left.
    pub fn wait(&mut self, client: Client) -> Result<PathRecord, ClientStatus> {
        let deadline = self.now() + Duration::from_secs(24 * 3600);
        loop {
            match self.path(client) {
                Some(path) => return path,
                None if self.now() < deadline && self.step() => {}
                None => panic!("no response to {client:?} at {}, seed {}", self.now(), self.config.seed),
            }
        }
    }

    /// Requests the path between two addresses from a node and waits for the response.
    ///
    /// # Errors
    /// The response's status, unless it is success.
    pub fn resolve(&mut self, index: usize, source: &Address, dest: &Address) -> Result<PathRecord, ClientStatus> {
        let client = self.request(index, &resolve_request(Some(source), dest, EntryFlags::empty(), [7; 8]));
        self.wait(client)
    }

    /// Requests the path to a LID or GID from a node and waits for the response.
    ///
    /// # Errors
    /// The response's status, unless it is success.
    pub fn route(&mut self, index: usize, record: &PathRecord) -> Result<PathRecord, ClientStatus> {
        let client = self.request(index, &path_request(record, EntryFlags::empty(), [7; 8]));
        self.wait(client)
    }
}
