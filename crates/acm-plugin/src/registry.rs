//! The pointers that libraries were given, and may give back: at any time, from any thread, and wrong ones.
//!
//! What a pointer leads to is found by its number: a pointer that nobody was given, or that is gone, is none and is not
//! followed.
#![expect(unsafe_code, reason = "what libraries have pointers to")]
use crate::slots::SlotId;
use acm_provider::abi::{Endpoint, Port, SaHandler, SaMad, UserMad};
use acm_sansio::{EndpointId, api::ExternalSaId};
use core::{ffi::c_void, ptr::NonNull};
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Datagrams to subnet administration that one library may have room for at a time.
const MADS: usize = 65_536;
/// How many of them may be on their way, or wait for the thread that handles their answers.
const SENT: usize = 4096;

static REGISTRY: Mutex<Registry> = Mutex::new(Registry::new());

struct Registry {
    /// GID tables of ports.
    ports: BTreeMap<usize, Vec<[u8; 16]>>,
    endpoints: BTreeMap<usize, (SlotId, EndpointId)>,
    mads: BTreeMap<usize, Entry>,
    /// Those that were sent and whose answer was not handled: whose, and where they are, or were.
    sent: BTreeMap<u64, (SlotId, usize)>,
    last_id: u64,
    counts: BTreeMap<SlotId, Count>,
}

/// How many datagrams a library has.
#[derive(Default)]
struct Count {
    mads: usize,
    sent: usize,
}

/// A datagram of a library's.
struct Entry {
    mad: Block,
    slot: SlotId,
    endpoint: EndpointId,
    handler: Option<SaHandler>,
    sent: Option<u64>,
}

/// The memory of a datagram, freed with it.
struct Block(NonNull<SaMad>);

// SAFETY: it is memory that belongs to no thread.
unsafe impl Send for Block {}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: made of a box in `allocate`, and freed only here.
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
}

fn lock() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A library gets this port, which has these GIDs.
pub(crate) fn add_port(port: *const Port, gids: Vec<[u8; 16]>) {
    lock().ports.insert(port.addr(), gids);
}

/// The port is closed.
pub(crate) fn remove_port(port: *const Port) {
    lock().ports.remove(&port.addr());
}

/// Looks into the GID table of a port; `None` if there is no such port.
pub(crate) fn with_gids<R>(port: *const Port, look: impl FnOnce(&[[u8; 16]]) -> R) -> Option<R> {
    lock().ports.get(&port.addr()).map(|gids| look(gids))
}

/// A library gets this endpoint.
pub(crate) fn add_endpoint(endpoint: *const Endpoint, slot: SlotId, id: EndpointId) {
    lock().endpoints.insert(endpoint.addr(), (slot, id));
}

/// The endpoint is closed.
pub(crate) fn remove_endpoint(endpoint: *const Endpoint) {
    lock().endpoints.remove(&endpoint.addr());
}

/// Room for a datagram, all zero but `context`; `None` if the endpoint is none, or the library has too many.
pub(crate) fn allocate(
    endpoint: *const Endpoint,
    context: *mut c_void,
    handler: Option<SaHandler>,
) -> Option<NonNull<SaMad>> {
    let mut registry = lock();
    let (slot, endpoint) = *registry.endpoints.get(&endpoint.addr())?;
    let count = registry.counts.entry(slot).or_default();
    if count.mads >= MADS {
        return None;
    }
    count.mads += 1;
    let mad = Box::new(SaMad { context, umad: UserMad::default(), mad: [0; 256] });
    let pointer = NonNull::from(Box::leak(mad));
    let entry = Entry { mad: Block(pointer), slot, endpoint, handler, sent: None };
    registry.mads.insert(pointer.as_ptr().addr(), entry);
    Some(pointer)
}

/// Frees it; whether it was one. If it was sent, its handler is never called.
pub(crate) fn free(mad: *const SaMad) -> bool {
    let mut registry = lock();
    let Some(entry) = registry.mads.remove(&mad.addr()) else { return false };
    let count = registry.counts.entry(entry.slot).or_default();
    count.mads = count.mads.saturating_sub(1);
    true
}

/// A datagram on its way.
pub(crate) struct Sent {
    pub(crate) slot: SlotId,
    pub(crate) id: ExternalSaId,
    pub(crate) endpoint: EndpointId,
    pub(crate) mad: Vec<u8>,
}

/// Says that it is sent; `None` if it is none, or on its way already, or too many are.
pub(crate) fn send(mad: *const SaMad) -> Option<Sent> {
    let registry = &mut *lock();
    let entry = registry.mads.get_mut(&mad.addr()).filter(|entry| entry.sent.is_none())?;
    let count = registry.counts.entry(entry.slot).or_default();
    if count.sent >= SENT {
        return None;
    }
    count.sent += 1;
    registry.last_id += 1;
    let id = registry.last_id;
    entry.sent = Some(id);
    registry.sent.insert(id, (entry.slot, mad.addr()));
    // SAFETY: the block is there as long as the entry, and whoever sends it does not write to it meanwhile.
    let mad = unsafe { (&raw const (*entry.mad.0.as_ptr()).mad).read() };
    Some(Sent { slot: entry.slot, id: ExternalSaId(id), endpoint: entry.endpoint, mad: mad.to_vec() })
}

/// Whom to tell of an answer.
pub(crate) struct Answered {
    pub(crate) mad: *mut SaMad,
    pub(crate) handler: Option<SaHandler>,
}

/// Writes an answer, or why there is none, into the datagram that was sent; `None` if it is gone.
pub(crate) fn answer(id: ExternalSaId, write: impl FnOnce(&mut UserMad, &mut [u8; 256])) -> Option<Answered> {
    let mut registry = lock();
    let (slot, address) = registry.sent.remove(&id.0)?;
    let count = registry.counts.entry(slot).or_default();
    count.sent = count.sent.saturating_sub(1);
    // Another one may be where it was.
    let entry = registry.mads.get_mut(&address).filter(|entry| entry.sent == Some(id.0))?;
    entry.sent = None;
    let mad = entry.mad.0.as_ptr();
    // SAFETY: the block is there as long as the entry, and the library leaves it alone until its handler is called.
    unsafe { write(&mut (*mad).umad, &mut (*mad).mad) };
    Some(Answered { mad, handler: entry.handler })
}

/// It was not sent after all.
pub(crate) fn take_back(id: ExternalSaId) {
    answer(id, |_, _| {});
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ptr;

    #[test]
    fn datagrams_are_sent_answered_and_freed() {
        let (slot, id) = (SlotId::of_a_test(0), EndpointId::new(3, 4));
        let endpoint = Endpoint { port: ptr::null_mut(), pkey: 0xffff };
        assert!(allocate(&raw const endpoint, ptr::null_mut(), None).is_none(), "nobody was given it");
        add_endpoint(&raw const endpoint, slot, id);
        let mad = allocate(&raw const endpoint, ptr::null_mut(), None).unwrap().as_ptr();
        // SAFETY: it was allocated for us.
        unsafe { (*mad).mad[0] = 7 };
        let sent = send(mad).unwrap();
        assert_eq!((sent.slot, sent.endpoint, sent.mad[0]), (slot, id, 7));
        assert!(send(mad).is_none(), "it is on its way");
        let answered = answer(sent.id, |umad, mad| (umad.status, mad[0]) = (1, 8)).unwrap();
        assert!(ptr::eq(answered.mad, mad));
        // SAFETY: as above.
        assert_eq!(unsafe { ((*mad).umad.status, (*mad).mad[0]) }, (1, 8));
        assert!(answer(sent.id, |_, _| {}).is_none(), "once");
        let again = send(mad).unwrap();
        assert_ne!(again.id, sent.id);
        remove_endpoint(&raw const endpoint);
        assert!(free(mad) && !free(mad));
        assert!(answer(again.id, |_, _| panic!("written to what is gone")).is_none());
        assert!(send(mad).is_none());
    }

    #[test]
    fn there_is_an_end_to_a_librarys_datagrams() {
        let endpoint = Endpoint { port: ptr::null_mut(), pkey: 0xffff };
        add_endpoint(&raw const endpoint, SlotId::of_a_test(1), EndpointId::new(0, 0));
        let take = || allocate(&raw const endpoint, ptr::null_mut(), None);
        let all: Vec<NonNull<SaMad>> = (0..65_536).map(|_| take().unwrap()).collect();
        assert!(take().is_none());
        assert!(free(all[7].as_ptr()));
        let another = take().unwrap();
        assert!(take().is_none());
        let gone = |mad: &NonNull<SaMad>| usize::from(free(mad.as_ptr()));
        // So many on their way, freed or not.
        let sent: Vec<Sent> = all.iter().skip(8).take(4096).map(|mad| send(mad.as_ptr()).unwrap()).collect();
        assert!(send(another.as_ptr()).is_none());
        assert!(free(all[8].as_ptr()) && send(another.as_ptr()).is_none());
        assert!(answer(sent[0].id, |_, _| {}).is_none(), "it is gone");
        let last = send(another.as_ptr()).unwrap();
        assert!(answer(last.id, |_, _| {}).is_some());
        // The one that was freed may have come back as the other.
        assert!(all.iter().map(gone).sum::<usize>() >= 65_534);
        free(another.as_ptr());
    }
}
