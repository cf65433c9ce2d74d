//! A client's requests.
use super::{ClientStatus, Entry, EntryFlags, Header, Opcode, entry::ENTRY_SIZE, header::HEADER_SIZE};
use crate::Address;
use core::ops::Deref;
use ib_mad::sa::PathRecord;

/// Size of the longest request of this module, in bytes: a header and three entries.
pub const MAX_REQUEST: usize = HEADER_SIZE + 3 * ENTRY_SIZE;

/// A request in a buffer of fixed size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestBuffer {
    bytes: [u8; MAX_REQUEST],
    length: u16,
}

impl RequestBuffer {
    fn new(opcode: Opcode, data: [u8; 2], tid: [u8; 8], entries: &[Entry]) -> Self {
        let length = [16, 88, 160, 232].get(entries.len()).copied().unwrap_or(16);
        let mut header = Header::new(opcode, ClientStatus::SUCCESS, length, tid);
        [header.data0, header.data1] = data;
        let mut bytes = [0; MAX_REQUEST];
        let parts = ib_mad::as_bytes(&header).iter().chain(entries.iter().flat_map(ib_mad::as_bytes));
        bytes.iter_mut().zip(parts).for_each(|(to, from)| *to = *from);
        Self { bytes, length }
    }
}

impl Deref for RequestBuffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or_default()
    }
}

/// Returns a request for the path from `source` to `dest`. If `source` is `None`, the daemon chooses the source.
/// `flags` may add [`EntryFlags::NO_DELAY`].
#[must_use]
pub fn resolve_request(source: Option<&Address>, dest: &Address, flags: EntryFlags, tid: [u8; 8]) -> RequestBuffer {
    let dest = Entry::address(EntryFlags::DEST | flags, dest);
    match source {
        // librdmacm and ib_acme send the source before the destination.
        Some(source) => {
            let source = Entry::address(EntryFlags::SOURCE, source);
            RequestBuffer::new(Opcode::RESOLVE, [0; 2], tid, &[source, dest])
        }
        None => RequestBuffer::new(Opcode::RESOLVE, [0; 2], tid, &[dest]),
    }
}

/// Returns a request for the path from `source` to `dest` that has the service id, partition and other properties of
/// `conditions`. Otherwise it is like [`resolve_request`]. A daemon that applies the conditions marks its response:
/// [`Frame::is_conditional`](super::Frame::is_conditional). C ibacm ignores the conditions.
#[must_use]
pub fn conditional_request(
    source: Option<&Address>,
    dest: &Address,
    conditions: &PathRecord,
    flags: EntryFlags,
    tid: [u8; 8],
) -> RequestBuffer {
    let (dest, conditions) = (Entry::address(EntryFlags::DEST | flags, dest), Entry::path(0, conditions));
    match source.map(|source| Entry::address(EntryFlags::SOURCE, source)) {
        Some(source) => RequestBuffer::new(Opcode::RESOLVE, [0; 2], tid, &[source, dest, conditions]),
        None => RequestBuffer::new(Opcode::RESOLVE, [0; 2], tid, &[dest, conditions]),
    }
}

/// Returns a request for the route to the LID or GID in `path`. `flags` may add [`EntryFlags::NO_DELAY`] or
/// [`EntryFlags::QUERY_SA`].
#[must_use]
pub fn path_request(path: &PathRecord, flags: EntryFlags, tid: [u8; 8]) -> RequestBuffer {
    RequestBuffer::new(Opcode::RESOLVE, [0; 2], tid, &[Entry::path(flags.bits(), path)])
}

/// Returns a request for the counters of the endpoint with this index, from 1; 0 requests the counters of the whole
/// daemon.
#[must_use]
pub fn perf_request(endpoint: u8, tid: [u8; 8]) -> RequestBuffer {
    RequestBuffer::new(Opcode::PERF, [0, endpoint], tid, &[])
}

/// Returns a request for the counters of the endpoint with `address`.
#[must_use]
pub fn perf_address_request(address: &Address, tid: [u8; 8]) -> RequestBuffer {
    RequestBuffer::new(Opcode::PERF, [0; 2], tid, &[Entry::address(EntryFlags::SOURCE, address)])
}

/// Returns a request for an endpoint: `index` counts from 1 among the endpoints of `port`; port 0 stands for all ports.
#[must_use]
pub fn ep_request(index: u8, port: u8, tid: [u8; 8]) -> RequestBuffer {
    RequestBuffer::new(Opcode::EP, [index, port], tid, &[])
}
