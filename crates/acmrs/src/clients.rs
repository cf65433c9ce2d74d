//! Converts ibacm's requests to requests of the core's clients. Each request gets a unique transaction id, by which
//! replies are matched.
use acm_provider::plugin::Request;
use acm_sansio::{Account, ClientId, Input};
use core::net::IpAddr;
use std::collections::BTreeMap;

/// Maximum number of the core's clients. C ibacm numbers its connections from 0 (the kernel) to 1022, and reuses the
/// numbers. acm-mio numbers requests, which share these clients.
const CLIENTS: u64 = 1024;
/// The account of all programs, because ibacm does not report their users. A program may have many connections.
const PROGRAMS: Account = Account::User(65_534);
/// Position of the transaction id in a message.
const TID: core::ops::Range<usize> = 8..16;

#[derive(Debug, Default)]
pub(crate) struct Clients {
    open: BTreeMap<u32, ClientId>,
    generation: u32,
    waiting: BTreeMap<u64, (ClientId, Request)>,
    next: u64,
    /// The source that ibacm chose for the request that the core is currently handling.
    chosen_source: Option<IpAddr>,
    /// Replies, which are sent after the counters are published: the next request of a client may be for the counters.
    replies: Vec<(Request, Vec<u8>)>,
}

impl Clients {
    /// Returns the core's client for a request, and the input that opens the client if it is new.
    pub(crate) fn client_of(&mut self, request: &Request) -> (ClientId, Option<Input<'static>>) {
        let index = u32::try_from(request.client() % CLIENTS).unwrap_or_default();
        if let Some(client) = self.open.get(&index) {
            return (*client, None);
        }
        self.generation = self.generation.wrapping_add(1);
        let client = ClientId::new(index, self.generation);
        self.open.insert(index, client);
        let account = if index == 0 { Account::Kernel } else { PROGRAMS };
        (client, Some(Input::ClientOpened { client, account }))
    }

    /// Stores a request until its reply. Returns the message for the core.
    pub(crate) fn store(&mut self, client: ClientId, request: Request) -> Vec<u8> {
        self.next = self.next.wrapping_add(1);
        let mut message = request.to_bytes();
        if let Some(field) = message.get_mut(TID) {
            field.copy_from_slice(&self.next.to_be_bytes());
        }
        self.chosen_source = request.source().filter(|_| request.chose_source()).and_then(|source| source.ip());
        self.waiting.insert(self.next, (client, request));
        message
    }

    /// Returns the source that ibacm chose.
    pub(crate) const fn chosen_source(&self) -> Option<IpAddr> {
        self.chosen_source
    }

    /// Queues the core's reply to a request.
    pub(crate) fn reply(&mut self, message: &[u8]) {
        let tid = message.get(TID).and_then(|tid| tid.try_into().ok()).map(u64::from_be_bytes);
        if let Some((_, request)) = tid.and_then(|tid| self.waiting.remove(&tid)) {
            self.replies.push((request, message.to_vec()));
        }
    }

    /// Closes a client and drops its open requests. A dropped request gets the response ENODATA.
    pub(crate) fn close(&mut self, client: ClientId) {
        self.open.retain(|_, open| *open != client);
        self.waiting.retain(|_, (of, _)| *of != client);
    }

    /// Sends the queued replies.
    pub(crate) fn send_replies(&mut self) {
        for (request, reply) in self.replies.drain(..) {
            request.answer_with_message(&reply);
        }
    }
}
