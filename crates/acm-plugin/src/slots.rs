//! The table of loaded libraries, the ids of their requests, and the current call of each thread.
use crate::queue::Queue;
use acm_sansio::api::{ExternalRequestId, ProviderId};
use core::{cell::Cell, ffi::c_void, marker::PhantomData, sync::atomic::AtomicPtr};
use std::sync::{Arc, OnceLock};

/// Maximum number of libraries of a program.
const SLOTS: usize = 64;
/// Number of bits of an id for the library, above the bits of the request's index.
const SLOT_BITS: u32 = 6;
const INDEX_BITS: u32 = u32::BITS - SLOT_BITS;
const _: () = assert!(SLOTS == 1 << SLOT_BITS);

/// The index of a library in the table, which is never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SlotId(u8);

/// The data of a library for all threads, and for the handler of a crash.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) provider: ProviderId,
    /// Name and file, for the line of a crash.
    pub(crate) label: String,
    /// Addresses of the library in memory.
    pub(crate) range: (usize, usize),
    pub(crate) queue: Arc<Queue>,
    /// The open objects after the last call. The objects are never freed, because the library may still use them.
    pub(crate) leaked_objects: AtomicPtr<c_void>,
}

impl Slot {
    pub(crate) const fn new(provider: ProviderId, label: String, range: (usize, usize), queue: Arc<Queue>) -> Self {
        Self { provider, label, range, queue, leaked_objects: AtomicPtr::new(core::ptr::null_mut()) }
    }
}

static TABLE: [OnceLock<Slot>; SLOTS] = [const { OnceLock::new() }; SLOTS];

/// Adds a library to the table. Returns `None` if the table is full.
pub(crate) fn claim(mut slot: Slot) -> Option<SlotId> {
    for (index, entry) in (0..).zip(&TABLE) {
        match entry.set(slot) {
            Ok(()) => return Some(SlotId(index)),
            Err(back) => slot = back,
        }
    }
    None
}

/// Returns all libraries.
pub(crate) fn all() -> impl Iterator<Item = (SlotId, &'static Slot)> {
    (0..).map(SlotId).zip(&TABLE).map_while(|(id, entry)| Some((id, entry.get()?)))
}

/// Returns the library that contains this address of code.
pub(crate) fn at(address: usize) -> Option<(SlotId, &'static Slot)> {
    all().find(|(_, slot)| (slot.range.0..slot.range.1).contains(&address))
}

/// Returns the library that called a function from `address`. If the address is in no library, returns the library that
/// this thread is calling, or the only library of the program.
pub(crate) fn calling(address: *const c_void) -> Option<&'static Slot> {
    let called = || running().and_then(|(slot, _)| slot.slot());
    let only = || {
        let mut all = all();
        let (_, first) = all.next()?;
        all.next().is_none().then_some(first)
    };
    at(address.addr()).map(|(_, slot)| slot).or_else(called).or_else(only)
}

impl SlotId {
    /// Returns an id for a test, without a library.
    #[cfg(test)]
    pub(crate) const fn of_a_test(number: u8) -> Self {
        Self(number)
    }

    pub(crate) fn slot(self) -> Option<&'static Slot> {
        TABLE.get(usize::from(self.0))?.get()
    }

    /// Returns the number that identifies a request for this library; `None` if there are too many requests.
    pub(crate) fn number(self, request: ExternalRequestId) -> Option<u64> {
        if request.index() >> INDEX_BITS != 0 {
            return None;
        }
        Some(ExternalRequestId::new(request.index() | u32::from(self.0) << INDEX_BITS, request.generation()).to_bits())
    }
}

/// Returns the library and the request of a number. The number may be invalid.
pub(crate) fn request(number: u64) -> Option<(SlotId, ExternalRequestId)> {
    let id = ExternalRequestId::from_bits(number);
    let slot = SlotId(u8::try_from(id.index() >> INDEX_BITS).ok()?);
    slot.slot()?;
    Some((slot, ExternalRequestId::new(id.index() & ((1 << INDEX_BITS) - 1), id.generation())))
}

thread_local! {
    // Initialized by a constant and without a destructor, so that a signal handler can read the value without locks and
    // allocations.
    static RUNNING: Cell<Option<(SlotId, &'static str)>> = const { Cell::new(None) };
}

/// Marks the thread as executing a function of a library, until the mark is dropped.
#[derive(Debug)]
pub(crate) struct Running(PhantomData<*const ()>);

impl Running {
    pub(crate) fn new(slot: SlotId, function: &'static str) -> Self {
        RUNNING.set(Some((slot, function)));
        Self(PhantomData)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.set(None);
    }
}

/// Returns the library and the function that this thread is executing.
pub(crate) fn running() -> Option<(SlotId, &'static str)> {
    RUNNING.try_with(Cell::get).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(number: u8) -> Slot {
        let range = (usize::from(number) * 0x1000 + 1, usize::from(number) * 0x1000 + 0x11);
        Slot::new(ProviderId(number), String::new(), range, Arc::new(Queue::new(|| {})))
    }

    /// All in one test, because a program has one table.
    #[test]
    fn numbers_addresses_and_calls_identify_libraries() {
        let ids: Vec<SlotId> = (0..64).map(|number| claim(slot(number)).unwrap()).collect();
        assert_eq!(claim(slot(64)), None, "the table is full");
        for (slot_id, provider) in ids.iter().zip(0..) {
            for id in [ExternalRequestId::new(0, 0), ExternalRequestId::new((1 << 26) - 1, u32::MAX)] {
                assert_eq!(request(slot_id.number(id).unwrap()), Some((*slot_id, id)));
            }
            assert_eq!(slot_id.number(ExternalRequestId::new(1 << 26, 0)), None);
            assert_eq!(slot_id.slot().map(|slot| slot.provider), Some(ProviderId(provider)));
            let at = |offset| at(usize::from(provider) * 0x1000 + offset).map(|(slot_id, _)| slot_id);
            assert_eq!([at(0), at(1), at(0x10), at(0x11)], [None, Some(*slot_id), Some(*slot_id), None]);
        }
        let provider = |address| calling(core::ptr::without_provenance(address)).map(|slot| slot.provider);
        assert_eq!([provider(0x2001), provider(0)], [Some(ProviderId(2)), None], "the address is in no library");
        let _running = Running::new(ids[5], "resolve");
        assert_eq!([provider(0x2001), provider(0)], [2, 5].map(|number| Some(ProviderId(number))));
    }
}
