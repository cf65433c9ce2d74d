//! The bytes that hostile users send.
use super::{honest::Path64, steps::Random};
use crate::{Entry, Header, request};

/// Opcodes: see [`Header::opcode`].
const COUNTERS: u8 = 2;
const ENDPOINT: u8 = 3;
const SHARED_MEMORY: u8 = 4;
const REPORT: u8 = 5;
/// Bytes of a header.
const HEADER: u16 = 16;
/// Number of names that no node has. A failed lookup stays in the cache, so that the daemon's memory depends on them.
const UNKNOWN: u64 = 4096;
/// Type of an entry with a path record.
const PATH: u16 = 0x10;

/// Commands of root, and pages with the names of users.
pub(super) const COMMANDS: [&str; 9] = [
    "POST /reload",
    "GET /status",
    "GET /config",
    "POST /log-level?level=2&for=1",
    "GET /log-level",
    "GET /cache",
    "DELETE /cache?all",
    "DELETE /recording",
    "GET /recording",
];

/// Requests for a name that is cached.
pub(super) fn cached(tid: u64) -> Vec<u8> {
    request(tid, &[Entry::name(Entry::SOURCE, "node1"), Entry::name(Entry::DEST, "live0")])
}

/// A request for a name that no node has.
pub(super) fn unknown(random: &mut Random, flags: u32) -> Vec<u8> {
    let name = format!("dead{}", random.below(UNKNOWN));
    request(2, &[Entry::name(Entry::SOURCE, "node1"), Entry::name(Entry::DEST | flags, &name)])
}

/// A request for a path like this one with one other condition.
pub(super) fn conditions(random: &mut Random, mut path: Path64) -> Vec<u8> {
    // Service id; then flow label to packet lifetime, and preference.
    let places = [0..8, 44..63];
    let place = places[usize::from(random.below(4) > 0)].clone();
    let length = place.len() as u64;
    let at = place.start + usize::try_from(random.below(length)).unwrap();
    path[at] = u8::try_from(random.below(256)).unwrap();
    request(3, &[Entry::new(0, PATH, &path)])
}

/// Requests for counters.
pub(super) fn counters(count: usize) -> Vec<u8> {
    Header::new(COUNTERS, HEADER, 4).with(&[]).repeat(count)
}

/// A request for a local endpoint.
pub(super) fn endpoint(index: u8) -> Vec<u8> {
    let mut bytes = Header::new(ENDPOINT, HEADER, 5).with(&[]);
    // The number of the endpoint.
    bytes[3] = index;
    bytes
}

pub(super) fn shared_memory() -> Vec<u8> {
    Header::new(SHARED_MEMORY, HEADER, 6).with(&[])
}

/// A report of lookups in the shared memory.
pub(super) fn report() -> Vec<u8> {
    Header::new(REPORT, HEADER, 7).with(&[])
}

/// Bytes that are no request.
pub(super) fn malformed(random: &mut Random) -> Vec<u8> {
    let mut bytes = cached(8);
    match random.below(5) {
        0 => bytes[0] = 9,
        1 => bytes[1] = 0x7f,
        2 => bytes[6..8].copy_from_slice(&17_u16.to_ne_bytes()),
        3 => bytes[6..8].copy_from_slice(&[0; 2]),
        _ => bytes.iter_mut().for_each(|byte| *byte = u8::try_from(random.below(256)).unwrap()),
    }
    bytes
}

/// The longest message that a header allows, of a type whose length is in network byte order.
pub(super) fn huge() -> Vec<u8> {
    Header::new(COUNTERS, u16::MAX, 9).with(&[0x5a; 65_519])
}
