//! Connections, requests in flight, who waits for what.
use crate::{
    arena::Arena,
    id::{ClientId, EndpointId, KernelRequestId, RequestId},
    provider::Token,
};
use acm_wire::{Address, client::Entry};
use alloc::{collections::BTreeMap, vec::Vec};

/// What a request waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Waiting {
    /// The local address that a path to `dest` starts at.
    Source { dest: Address, no_delay: bool },
    /// The provider.
    Provider { endpoint: EndpointId, chosen_source: Option<Address> },
    /// Subnet administration.
    Query { entry: Entry },
}

/// Whom to answer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asker {
    Client {
        id: ClientId,
        tid: [u8; 8],
    },
    /// The kernel; `None` when its deadline came and it was answered.
    Kernel(Option<KernelRequestId>),
}

/// A request that is not answered yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) asker: Asker,
    pub(crate) waiting: Waiting,
    next: Option<RequestId>,
}

#[derive(Clone, Copy, Debug)]
struct Client {
    generation: u32,
    in_flight: u32,
}

/// Requests that wait for one thing, in the order they came.
#[derive(Clone, Copy, Debug)]
struct Queue {
    first: RequestId,
    last: RequestId,
}

#[derive(Debug)]
pub(crate) struct Clients {
    clients: Vec<Option<Client>>,
    open: usize,
    of_kernel: u32,
    requests: Arena<RequestId, Request>,
    queues: BTreeMap<Token, Queue>,
}

impl Clients {
    pub(crate) const fn new() -> Self {
        Self { clients: Vec::new(), open: 0, of_kernel: 0, requests: Arena::new(), queues: BTreeMap::new() }
    }

    pub(crate) fn open(&mut self, id: ClientId, limit: usize) -> bool {
        let index = id.index() as usize;
        if self.open >= limit || index >= limit.saturating_mul(4) {
            return false;
        }
        if self.clients.len() <= index {
            self.clients.resize(index + 1, None);
        }
        let Some(slot) = self.clients.get_mut(index) else { return false };
        self.open += usize::from(slot.is_none());
        *slot = Some(Client { generation: id.generation(), in_flight: 0 });
        true
    }

    fn get(&mut self, id: ClientId) -> Option<&mut Client> {
        self.clients.get_mut(id.index() as usize)?.as_mut().filter(|client| client.generation == id.generation())
    }

    pub(crate) fn is_open(&self, id: ClientId) -> bool {
        matches!(self.clients.get(id.index() as usize), Some(Some(client)) if client.generation == id.generation())
    }

    pub(crate) fn close(&mut self, id: ClientId) -> bool {
        let found = self.get(id).is_some();
        if found && let Some(slot) = self.clients.get_mut(id.index() as usize) {
            *slot = None;
            self.open -= 1;
        }
        found
    }

    /// Requests of the kernel whose lookups are under way.
    pub(crate) const fn of_kernel(&self) -> u32 {
        self.of_kernel
    }

    /// Takes the kernel's id out of a request whose deadline came.
    pub(crate) fn kernel_late(&mut self, id: RequestId) -> Option<(KernelRequestId, Waiting)> {
        let request = self.requests.get_mut(id)?;
        let Asker::Kernel(asker) = &mut request.asker else { return None };
        Some((asker.take()?, request.waiting))
    }

    pub(crate) fn in_flight(&self, id: ClientId) -> u32 {
        match self.clients.get(id.index() as usize) {
            Some(Some(client)) if client.generation == id.generation() => client.in_flight,
            _ => 0,
        }
    }

    pub(crate) fn requests(&self) -> usize {
        self.requests.len()
    }

    pub(crate) fn insert(&mut self, asker: Asker, waiting: Waiting) -> RequestId {
        if let Some(in_flight) = self.in_flight_of(asker) {
            *in_flight += 1;
        }
        self.requests.insert(Request { asker, waiting, next: None })
    }

    fn in_flight_of(&mut self, asker: Asker) -> Option<&mut u32> {
        match asker {
            Asker::Client { id, .. } => self.get(id).map(|client| &mut client.in_flight),
            Asker::Kernel(_) => Some(&mut self.of_kernel),
        }
    }

    pub(crate) fn remove(&mut self, id: RequestId) -> Option<Request> {
        let request = self.requests.remove(id)?;
        if let Some(in_flight) = self.in_flight_of(request.asker) {
            *in_flight = in_flight.saturating_sub(1);
        }
        Some(request)
    }

    /// Puts a request at the end of those that wait for `token`.
    pub(crate) fn wait(&mut self, id: RequestId, token: Token) {
        let last = match self.queues.get_mut(&token) {
            Some(queue) => Some(core::mem::replace(&mut queue.last, id)),
            None => {
                self.queues.insert(token, Queue { first: id, last: id });
                None
            }
        };
        if let Some(last) = last.and_then(|last| self.requests.get_mut(last)) {
            last.next = Some(id);
        }
    }

    pub(crate) fn is_waited_for(&self, token: Token) -> bool {
        self.queues.contains_key(&token)
    }

    /// Takes the first request that waits for `token`.
    pub(crate) fn pop(&mut self, token: Token) -> Option<(RequestId, Request)> {
        let queue = self.queues.get_mut(&token)?;
        let first = queue.first;
        match self.requests.get(first).and_then(|request| request.next) {
            Some(next) => queue.first = next,
            None => {
                self.queues.remove(&token);
            }
        }
        self.remove(first).map(|request| (first, request))
    }
}
