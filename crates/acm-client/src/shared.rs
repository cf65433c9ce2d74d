//! Paths from the memory that a daemon shares with its clients.
use crate::{
    deadline::Deadline,
    request::Request,
    response::Resolved,
    service::Service,
    socket::{self, Socket},
};
use acm_shm::{Key, Lookup, ReadOnly, Reader, Time};
use acm_wire::{
    Address,
    client::{ClientStatus, Header, Opcode, SHARED_CACHE, SHARED_CACHE_USE},
};
use core::time::Duration;
use ib_mad::sa::PathRecord;
use std::io;

/// Time between two attempts to get the memory.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest time that a blocking client waits for the memory after an attempt. It arrives on a new connection, and
/// others may delay the daemon in accepting that.
const LONGEST_WAIT: Duration = Duration::from_millis(20);
/// Number of keys that are looked up with one reading of the clock.
const CHUNK: usize = 256;

/// The memory of the daemon, if it shares memory.
#[derive(Debug, Default)]
pub(crate) struct SharedCache {
    reader: Option<Reader<ReadOnly>>,
    /// The socket of a request for the memory, and the time until which a blocking client waits for it.
    requested: Option<(Socket, Deadline)>,
    next_attempt: Option<Time>,
    hits: u64,
    reported: u64,
}

/// Returns source and destination of a request that has nothing else. Other requests are not answered from the memory.
fn plain(request: &Request) -> Option<(Option<&Address>, Address)> {
    match request {
        Request::Resolve { source: Some(source), dest, conditions: None, .. } => {
            matches!(dest, Address::Name(_) | Address::Ip4(_) | Address::Ip6(_)).then_some((Some(source), *dest))
        }
        Request::Route { path, .. } => {
            let PathRecord { dgid, dlid, .. } = *path;
            let is = |other: PathRecord| *path == other;
            if is(PathRecord { dgid, ..PathRecord::default() }) && !dgid.is_zero() {
                Some((None, Address::Gid(dgid)))
            } else if is(PathRecord { dlid, ..PathRecord::default() }) && !dlid.is_zero() {
                Some((None, Address::Lid(dlid)))
            } else {
                None
            }
        }
        _ => None,
    }
}

impl SharedCache {
    /// Returns the number of requests that were not sent.
    pub(crate) const fn hits(&self) -> u64 {
        self.hits
    }

    /// Returns a report of the requests that were not sent since the last report. `None` without such requests.
    pub(crate) fn take_report(&mut self) -> Option<Header> {
        let lookups = self.hits - core::mem::replace(&mut self.reported, self.hits);
        let report = Header::new(Opcode::new(SHARED_CACHE_USE), ClientStatus::SUCCESS, 16, lookups.to_be_bytes());
        (lookups > 0).then_some(report)
    }

    /// Returns the response to a request, if the memory has it.
    pub(crate) fn find(&mut self, request: &Request) -> Option<Resolved> {
        self.receive();
        let reader = self.reader.as_ref()?;
        let (source, dest) = plain(request)?;
        let now = Time::now();
        let endpoint = reader.endpoint(source, &dest, now);
        let found = endpoint.map(|endpoint| reader.lookup(&Key::new(endpoint, &dest), now));
        if let Some(Lookup::Path(path)) = found {
            self.hits += 1;
            return Some(Resolved { path, source: None });
        }
        self.drop_unused(now);
        None
    }

    /// Passes the response to each request to `respond`, in order; `None` if the memory does not have it.
    pub(crate) fn find_all(
        &mut self,
        mut requests: impl Iterator<Item = Request>,
        mut respond: impl FnMut(Option<Resolved>),
    ) {
        let Some(reader) = &self.reader else { return requests.for_each(|_| respond(None)) };
        let mut responses = Vec::with_capacity(CHUNK);
        let (mut keys, mut numbers) = (Vec::with_capacity(CHUNK), Vec::with_capacity(CHUNK));
        loop {
            let now = Time::now();
            for request in requests.by_ref().take(CHUNK) {
                let endpoint =
                    plain(&request).and_then(|(source, dest)| Some((reader.endpoint(source, &dest, now)?, dest)));
                if let Some((endpoint, dest)) = endpoint {
                    keys.push(Key::new(endpoint, &dest));
                    numbers.push(responses.len());
                }
                responses.push(None);
            }
            if responses.is_empty() {
                break;
            }
            let mut places = numbers.drain(..);
            reader.lookup_all(&keys, now, |_, lookup| {
                let place = places.next().and_then(|number: usize| responses.get_mut(number));
                if let (Some(place), Lookup::Path(path)) = (place, lookup) {
                    self.hits += 1;
                    *place = Some(Resolved { path, source: None });
                }
            });
            drop(places);
            keys.clear();
            responses.drain(..).for_each(&mut respond);
        }
        self.drop_unused(Time::now());
    }

    /// Drops memory that the daemon has replaced, or no longer changes.
    fn drop_unused(&mut self, now: Time) {
        self.reader = self.reader.take().filter(|reader| reader.is_in_use(now));
    }

    /// Reports whether an attempt to get the memory is due.
    fn is_due(&self) -> bool {
        self.reader.is_none() && self.next_attempt.is_none_or(|at| at <= Time::now())
    }

    /// Requests the memory of a daemon that has some, at most once in [`PAUSE`], without waiting for it. Later calls of
    /// [`find`](Self::find) receive it.
    pub(crate) fn request(&mut self, service: &Service) {
        if self.is_due() {
            // Without the memory, requests are sent.
            let wait_until = Deadline::after(Some(LONGEST_WAIT));
            self.requested = send_request(service).ok().map(|socket| (socket, wait_until));
            self.next_attempt = Some(Time::now() + PAUSE);
        }
    }

    /// Waits for the requested memory, until [`LONGEST_WAIT`] after the attempt.
    pub(crate) fn wait(&mut self) {
        if let Some((socket, wait_until)) = &self.requested {
            // Without the memory, requests are sent.
            let _ = socket::wait([(socket, false)].into_iter(), *wait_until);
            self.receive();
        }
    }

    /// Receives the requested memory, if it has arrived.
    fn receive(&mut self) {
        let Some((socket, _)) = &self.requested else { return };
        match socket.receive_file() {
            Ok(None) => {}
            received => {
                self.requested = None;
                self.reader = received.ok().flatten().and_then(|file| Reader::map(file).ok());
            }
        }
    }
}

/// Sends a request for the memory on a connection of its own, which the daemon closes.
fn send_request(service: &Service) -> io::Result<Socket> {
    let Service::Unix(path) = service else { return Err(io::ErrorKind::Unsupported.into()) };
    let mut socket = Socket::unix(path)?;
    let request = Header::new(Opcode::new(SHARED_CACHE), ClientStatus::SUCCESS, 16, [0; 8]);
    // A new socket has room for the whole request.
    socket.write(ib_mad::as_bytes(&request))?;
    Ok(socket)
}

#[cfg(test)]
mod tests;
