//! The pointers that libraries pass to the daemon, at any time and from any thread. Such a pointer may be invalid.
//!
//! The registry looks up each pointer by its address. A pointer that is unknown, or that points to a freed object, is
//! not dereferenced.
#![expect(unsafe_code, reason = "structures that libraries point at")]
use crate::slots::SlotId;
use acm_provider::abi::{Endpoint, Port, SaHandler, SaMad, UserMad};
use acm_sansio::{EndpointId, api::ExternalSaId};
use core::{ffi::c_void, ptr::NonNull};
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Maximum number of datagrams to the subnet administrator (SA) that a library can allocate.
const MAX_MADS: usize = 65_536;
/// Maximum number of sent datagrams of a library without a completed response.
const MAX_SENT: usize = 4096;

static REGISTRY: Mutex<Registry> = Mutex::new(Registry::new());

struct Registry {
    /// GID tables of ports.
    ports: BTreeMap<usize, Vec<[u8; 16]>>,
    endpoints: BTreeMap<usize, (SlotId, EndpointId)>,
    mads: BTreeMap<usize, Entry>,
    /// Sent datagrams whose response was not handled: the library, and the address of the datagram. The library may
    /// already have freed the datagram.
    sent: BTreeMap<u64, (SlotId, usize)>,
    last_id: u64,
    counts: BTreeMap<SlotId, Count>,
}

/// Number of datagrams of a library.
#[derive(Default)]
struct Count {
    mads: usize,
    sent: usize,
}

/// A datagram of a library.
struct Entry {
    mad: MadMemory,
    slot: SlotId,
    endpoint: EndpointId,
    handler: Option<SaHandler>,
    sent: Option<u64>,
    /// True while the library's handler runs: the memory stays until it returns.
    in_handler: bool,
    /// True if the library has freed it while the handler runs.
    freed: bool,
}

/// The memory of a datagram, freed on drop.
struct MadMemory(NonNull<SaMad>);

// SAFETY: the memory is not bound to a thread.
unsafe impl Send for MadMemory {}

impl Drop for MadMemory {
    fn drop(&mut self) {
        // SAFETY: `allocate` makes the pointer from a box, and only this function frees it.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

impl Registry {
    const fn new() -> Self {
        Self {
            ports: BTreeMap::new(),
            endpoints: BTreeMap::new(),
            mads: BTreeMap::new(),
            sent: BTreeMap::new(),
            last_id: 0,
            counts: BTreeMap::new(),
        }
    }

    /// Marks a sent datagram as not sent, and returns it. Returns `None` if it was freed.
    fn take_sent(&mut self, id: ExternalSaId) -> Option<&mut Entry> {
        let (slot, address) = self.sent.remove(&id.0)?;
        let count = self.counts.entry(slot).or_default();
        count.sent = count.sent.saturating_sub(1);
        // Another datagram may have the same address now.
        let entry = self.mads.get_mut(&address).filter(|entry| entry.sent == Some(id.0))?;
        entry.sent = None;
        Some(entry)
    }

    fn remove(&mut self, address: usize) {
        if let Some(entry) = self.mads.remove(&address) {
            let count = self.counts.entry(entry.slot).or_default();
            count.mads = count.mads.saturating_sub(1);
        }
    }
}

fn lock() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a port with its GIDs, before a library gets the pointer.
pub(crate) fn add_port(port: *const Port, gids: Vec<[u8; 16]>) {
    lock().ports.insert(port.addr(), gids);
}

/// Removes a closed port.
pub(crate) fn remove_port(port: *const Port) {
    lock().ports.remove(&port.addr());
}

/// Calls `read` with the GID table of a port. Returns `None` if there is no such port.
pub(crate) fn with_gids<R>(port: *const Port, read: impl FnOnce(&[[u8; 16]]) -> R) -> Option<R> {
    lock().ports.get(&port.addr()).map(|gids| read(gids))
}

/// Adds an endpoint, before a library gets the pointer.
pub(crate) fn add_endpoint(endpoint: *const Endpoint, slot: SlotId, id: EndpointId) {
    lock().endpoints.insert(endpoint.addr(), (slot, id));
}

/// Removes a closed endpoint.
pub(crate) fn remove_endpoint(endpoint: *const Endpoint) {
    lock().endpoints.remove(&endpoint.addr());
}

/// Allocates a datagram, which is zero except for `context`. Returns `None` if there is no such endpoint, or if the
/// library has too many datagrams.
pub(crate) fn allocate(
    endpoint: *const Endpoint,
    context: *mut c_void,
    handler: Option<SaHandler>,
) -> Option<NonNull<SaMad>> {
    let mut registry = lock();
    let (slot, endpoint) = *registry.endpoints.get(&endpoint.addr())?;
    let count = registry.counts.entry(slot).or_default();
    if count.mads >= MAX_MADS {
        return None;
    }
    count.mads += 1;
    let mad = Box::new(SaMad { context, umad: UserMad::default(), mad: [0; 256] });
    let pointer = NonNull::from(Box::leak(mad));
    let entry = Entry { mad: MadMemory(pointer), slot, endpoint, handler, sent: None, in_handler: false, freed: false };
    registry.mads.insert(pointer.as_ptr().addr(), entry);
    Some(pointer)
}

/// Frees a datagram. Returns false if there is no such datagram. The handler of a freed datagram is never called. A
/// datagram whose handler runs, in this thread or another one, is freed when the handler returns.
pub(crate) fn free(mad: *const SaMad) -> bool {
    let mut registry = lock();
    let Some(entry) = registry.mads.get_mut(&mad.addr()).filter(|entry| !entry.freed) else { return false };
    entry.freed = entry.in_handler;
    if !entry.in_handler {
        registry.remove(mad.addr());
    }
    true
}

/// A datagram to send.
pub(crate) struct Sent {
    pub(crate) slot: SlotId,
    pub(crate) id: ExternalSaId,
    pub(crate) endpoint: EndpointId,
    pub(crate) mad: Vec<u8>,
}

/// Marks a datagram as sent and returns a copy. Returns `None` if there is no such datagram, if it is already sent, or
/// if the library has sent too many.
pub(crate) fn send(mad: *const SaMad) -> Option<Sent> {
    let registry = &mut *lock();
    let entry = registry.mads.get_mut(&mad.addr()).filter(|entry| entry.sent.is_none() && !entry.freed)?;
    let count = registry.counts.entry(entry.slot).or_default();
    if count.sent >= MAX_SENT {
        return None;
    }
    count.sent += 1;
    registry.last_id += 1;
    let id = registry.last_id;
    entry.sent = Some(id);
    registry.sent.insert(id, (entry.slot, mad.addr()));
    // SAFETY: the memory is valid as long as the entry, and the library does not write to it during this call.
    let mad = unsafe { (&raw const (*entry.mad.0.as_ptr()).mad).read() };
    Some(Sent { slot: entry.slot, id: ExternalSaId(id), endpoint: entry.endpoint, mad: mad.to_vec() })
}

/// A datagram with its result, and the library's handler.
pub(crate) struct CompletedMad {
    pub(crate) mad: *mut SaMad,
    pub(crate) handler: Option<SaHandler>,
}

/// Calls `write` to write the result to a sent datagram. Returns `None` if the datagram was freed. Otherwise the caller
/// calls [`end_handler`] when the library's handler has returned.
pub(crate) fn complete(id: ExternalSaId, write: impl FnOnce(&mut UserMad, &mut [u8; 256])) -> Option<CompletedMad> {
    let mut registry = lock();
    let entry = registry.take_sent(id)?;
    entry.in_handler = true;
    let mad = entry.mad.0.as_ptr();
    // SAFETY: the memory is valid as long as the entry, and the library does not use it until its handler is called.
    unsafe { write(&mut (*mad).umad, &mut (*mad).mad) };
    Some(CompletedMad { mad, handler: entry.handler })
}

/// Frees a datagram that the library freed while its handler ran.
pub(crate) fn end_handler(mad: *const SaMad) {
    let mut registry = lock();
    let Some(entry) = registry.mads.get_mut(&mad.addr()) else { return };
    entry.in_handler = false;
    if entry.freed {
        registry.remove(mad.addr());
    }
}

/// Marks a datagram as not sent, after an error.
pub(crate) fn cancel_send(id: ExternalSaId) {
    lock().take_sent(id);
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ptr;

    #[test]
    fn datagram_is_sent_once_completed_once_and_freed_once() {
        let (slot, id) = (SlotId::of_a_test(0), EndpointId::new(3, 4));
        let endpoint = Endpoint { port: ptr::null_mut(), pkey: 0xffff };
        assert!(allocate(&raw const endpoint, ptr::null_mut(), None).is_none(), "unknown endpoint");
        add_endpoint(&raw const endpoint, slot, id);
        let mad = allocate(&raw const endpoint, ptr::null_mut(), None).unwrap().as_ptr();
        // SAFETY: the test allocated the datagram.
        unsafe { (*mad).mad[0] = 7 };
        let sent = send(mad).unwrap();
        assert_eq!((sent.slot, sent.endpoint, sent.mad[0]), (slot, id, 7));
        assert!(send(mad).is_none(), "already sent");
        let completed = complete(sent.id, |umad, mad| (umad.status, mad[0]) = (1, 8)).unwrap();
        assert!(ptr::eq(completed.mad, mad));
        // SAFETY: as above.
        assert_eq!(unsafe { ((*mad).umad.status, (*mad).mad[0]) }, (1, 8));
        assert!(complete(sent.id, |_, _| {}).is_none(), "completed only once");
        end_handler(mad);
        let again = send(mad).unwrap();
        assert_ne!(again.id, sent.id);
        remove_endpoint(&raw const endpoint);
        assert!(free(mad) && !free(mad));
        assert!(complete(again.id, |_, _| panic!("written to freed memory")).is_none());
        assert!(send(mad).is_none());
    }

    #[test]
    fn datagram_freed_during_its_handler_lives_until_the_handler_returns() {
        let (slot, endpoint) = (SlotId::of_a_test(2), Endpoint { port: ptr::null_mut(), pkey: 0xffff });
        let count = || lock().counts.get(&slot).map_or(0, |count| count.mads);
        add_endpoint(&raw const endpoint, slot, EndpointId::new(5, 6));
        let mad = allocate(&raw const endpoint, ptr::null_mut(), None).unwrap().as_ptr();
        let sent = send(mad).unwrap();
        assert!(complete(sent.id, |_, mad| mad[0] = 8).is_some());
        // Another thread of the library frees it, or the handler itself.
        let address = mad.expose_provenance();
        assert!(std::thread::spawn(move || free(ptr::with_exposed_provenance(address))).join().unwrap());
        assert!(!free(mad) && send(mad).is_none(), "freed once, and not sent any more");
        assert_eq!(count(), 1, "the memory is still there");
        // SAFETY: the memory lives until the handler returns.
        assert_eq!(unsafe { (*mad).mad[0] }, 8);
        end_handler(mad);
        assert_eq!(count(), 0);
        // Sent again by its handler, and freed later.
        let mad = allocate(&raw const endpoint, ptr::null_mut(), None).unwrap().as_ptr();
        let sent = send(mad).unwrap();
        assert!(complete(sent.id, |_, _| {}).is_some());
        assert!(send(mad).is_some());
        end_handler(mad);
        remove_endpoint(&raw const endpoint);
        assert!(free(mad) && !free(mad));
    }

    #[test]
    fn datagrams_of_a_library_are_limited() {
        let endpoint = Endpoint { port: ptr::null_mut(), pkey: 0xffff };
        add_endpoint(&raw const endpoint, SlotId::of_a_test(1), EndpointId::new(0, 0));
        let take = || allocate(&raw const endpoint, ptr::null_mut(), None);
        let all: Vec<NonNull<SaMad>> = (0..65_536).map(|_| take().unwrap()).collect();
        assert!(take().is_none());
        assert!(free(all[7].as_ptr()));
        let another = take().unwrap();
        assert!(take().is_none());
        let freed = |mad: &NonNull<SaMad>| usize::from(free(mad.as_ptr()));
        // Freed datagrams count as sent until they are completed.
        let sent: Vec<Sent> = all.iter().skip(8).take(4096).map(|mad| send(mad.as_ptr()).unwrap()).collect();
        assert!(send(another.as_ptr()).is_none());
        assert!(free(all[8].as_ptr()) && send(another.as_ptr()).is_none());
        assert!(complete(sent[0].id, |_, _| {}).is_none(), "freed");
        let last = send(another.as_ptr()).unwrap();
        assert!(complete(last.id, |_, _| {}).is_some());
        end_handler(another.as_ptr());
        // `another` may have the address of a freed datagram.
        assert!(all.iter().map(freed).sum::<usize>() >= 65_534);
        free(another.as_ptr());
    }
}
