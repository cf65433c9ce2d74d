//! ibacm's clients as the core's: each request under a transaction id of its own, by which its answer finds it.
use acm_provider::plugin::{Request, Status};
use acm_sansio::{Account, ClientId, Failure, Input, KernelRequestId};
use core::net::IpAddr;
use ib_mad::sa::PathRecord;
use std::collections::BTreeMap;

/// ibacm's number of the kernel.
const KERNEL: u64 = 0;
/// Where a message has its transaction id.
const TID: core::ops::Range<usize> = 8..16;

#[derive(Debug, Default)]
pub(crate) struct Clients {
    /// By ibacm's numbers, of which there are about a thousand, each for one connection after the other.
    open: BTreeMap<u64, ClientId>,
    generation: u32,
    waiting: BTreeMap<u64, (ClientId, Request)>,
    of_kernel: BTreeMap<u32, Request>,
    next: u64,
    /// The source that ibacm chose for the request that the core is looking at.
    chosen: Option<IpAddr>,
    /// Answers, until the counters are written that a client may ask for next.
    answers: Vec<(Request, Answer)>,
}

#[derive(Debug)]
enum Answer {
    Message(Vec<u8>),
    Path(PathRecord),
    Failed(Status),
}

impl Clients {
    /// The core's client of a request, and what the core must be told first if it has none yet.
    pub(crate) fn of(&mut self, request: &Request) -> (ClientId, Option<Input<'static>>) {
        let number = request.client();
        if let Some(client) = self.open.get(&number) {
            return (*client, None);
        }
        self.generation = self.generation.wrapping_add(1);
        let index = u32::try_from(number).unwrap_or(u32::MAX);
        let client = ClientId::new(index, self.generation);
        self.open.insert(number, client);
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

    /// The path that the kernel wants to know, if the request is the kernel's.
    pub(crate) fn wanted_by_kernel(request: &Request) -> Option<PathRecord> {
        request.wanted().copied().filter(|_| request.client() == KERNEL)
    }

    /// Keeps a request of the kernel's until its answer is there.
    pub(crate) fn wait_of_kernel(&mut self, request: Request) -> KernelRequestId {
        self.next = self.next.wrapping_add(1);
        let id = self.free_kernel_id();
        self.of_kernel.insert(id, request);
        KernelRequestId(id)
    }

    fn free_kernel_id(&self) -> u32 {
        let [.., a, b, c, d] = self.next.to_be_bytes();
        let first = u32::from_be_bytes([a, b, c, d]);
        (0..=u32::MAX).map(|more| first.wrapping_add(more)).find(|id| !self.of_kernel.contains_key(id)).unwrap_or(first)
    }

    /// The source that ibacm chose.
    pub(crate) const fn chosen(&self) -> Option<IpAddr> {
        self.chosen
    }

    /// The core answers a request.
    pub(crate) fn reply(&mut self, message: &[u8]) {
        let tid = message.get(TID).and_then(|tid| tid.try_into().ok()).map(u64::from_be_bytes);
        if let Some((_, request)) = tid.and_then(|tid| self.waiting.remove(&tid)) {
            self.answers.push((request, Answer::Message(message.to_vec())));
        }
    }

    /// The core answers the kernel.
    pub(crate) fn kernel_reply(&mut self, id: KernelRequestId, path: Result<PathRecord, Failure>) {
        if let Some(request) = self.of_kernel.remove(&id.0) {
            let answer = path.map_or_else(|failure| Answer::Failed(failure.status()), Answer::Path);
            self.answers.push((request, answer));
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
            match answer {
                Answer::Message(message) => request.answer_as(&message),
                Answer::Path(path) => request.answer(&path),
                Answer::Failed(status) => request.fail(status),
            }
        }
    }
}
