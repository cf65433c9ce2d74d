//! ibacm's clients as the core's: each request under a transaction id of its own, by which its answer finds it.
use acm_provider::plugin::Request;
use acm_sansio::{Account, ClientId, Input};
use core::net::IpAddr;
use std::collections::BTreeMap;

/// The most clients of the core, each with an account of its own. ibacm numbers its connections from 0, the kernel, to 1022,
/// and uses a number again for another connection; acm-mio numbers requests, which share these.
const CLIENTS: u64 = 1024;
/// Where a message has its transaction id.
const TID: core::ops::Range<usize> = 8..16;

#[derive(Debug, Default)]
pub(crate) struct Clients {
    open: BTreeMap<u32, ClientId>,
    generation: u32,
    waiting: BTreeMap<u64, (ClientId, Request)>,
    next: u64,
    /// The source that ibacm chose for the request that the core is looking at.
    chosen: Option<IpAddr>,
    /// Answers, until the counters are written that a client may ask for next.
    answers: Vec<(Request, Vec<u8>)>,
}

impl Clients {
    /// The core's client of a request, and what the core must be told first if it has none yet.
    pub(crate) fn of(&mut self, request: &Request) -> (ClientId, Option<Input<'static>>) {
        let index = u32::try_from(request.client() % CLIENTS).unwrap_or_default();
        if let Some(client) = self.open.get(&index) {
            return (*client, None);
        }
        self.generation = self.generation.wrapping_add(1);
        let client = ClientId::new(index, self.generation);
        self.open.insert(index, client);
        (client, Some(Input::ClientOpened { client, account: Account::User(index) }))
    }

    /// Keeps a request until its answer is there; the message that stands for it.
    pub(crate) fn wait(&mut self, client: ClientId, request: Request) -> Vec<u8> {
        self.next = self.next.wrapping_add(1);
        let mut message = request.to_bytes();
        if let Some(place) = message.get_mut(TID) {
            place.copy_from_slice(&self.next.to_be_bytes());
        }
        self.chosen = request.source().filter(|_| request.chose_source()).and_then(|source| source.ip());
        self.waiting.insert(self.next, (client, request));
        message
    }

    /// The source that ibacm chose.
    pub(crate) const fn chosen(&self) -> Option<IpAddr> {
        self.chosen
    }

    /// The core answers a request.
    pub(crate) fn reply(&mut self, message: &[u8]) {
        let tid = message.get(TID).and_then(|tid| tid.try_into().ok()).map(u64::from_be_bytes);
        if let Some((_, request)) = tid.and_then(|tid| self.waiting.remove(&tid)) {
            self.answers.push((request, message.to_vec()));
        }
    }

    /// The core wants no more of a client: what it still waits for has no answer.
    pub(crate) fn close(&mut self, client: ClientId) {
        self.open.retain(|_, open| *open != client);
        self.waiting.retain(|_, (of, _)| *of != client);
    }

    /// Writes the answers.
    pub(crate) fn send_answers(&mut self) {
        for (request, answer) in self.answers.drain(..) {
            request.answer_as(&answer);
        }
    }
}
