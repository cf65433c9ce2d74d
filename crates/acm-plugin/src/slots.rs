//! Which library is at which place of the program, and whose an id is.
use crate::queue::Queue;
use acm_sansio::api::{ExternalRequestId, ProviderId};
use core::{ffi::c_void, sync::atomic::AtomicPtr};
use std::sync::{Arc, OnceLock};

/// How many libraries a program can load.
const SLOTS: usize = 64;
/// Bits of an id that say which library it was given to; they stand above those of the request's index.
const SLOT_BITS: u32 = 6;
const INDEX_BITS: u32 = u32::BITS - SLOT_BITS;
const _: () = assert!(SLOTS == 1 << SLOT_BITS);

/// The place of a library. It is never given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SlotId(u8);

/// What any thread may want to know of a library, a crashing one among them.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) provider: ProviderId,
    /// For the last line: name and file.
    pub(crate) label: String,
    /// Where the library is in memory.
    pub(crate) range: (usize, usize),
    pub(crate) queue: Arc<Queue>,
    /// What the library had open when nobody called it any more: it has pointers into it until the program ends.
    pub(crate) kept: AtomicPtr<c_void>,
}

impl Slot {
    pub(crate) const fn new(provider: ProviderId, label: String, range: (usize, usize), queue: Arc<Queue>) -> Self {
        Self { provider, label, range, queue, kept: AtomicPtr::new(core::ptr::null_mut()) }
    }
}

static TAKEN: [OnceLock<Slot>; SLOTS] = [const { OnceLock::new() }; SLOTS];

/// Gives a library a place; `None` if all are taken.
pub(crate) fn take(mut slot: Slot) -> Option<SlotId> {
    for (index, place) in (0..).zip(&TAKEN) {
        match place.set(slot) {
            Ok(()) => return Some(SlotId(index)),
            Err(back) => slot = back,
        }
    }
    None
}

/// All that are taken.
pub(crate) fn all() -> impl Iterator<Item = (SlotId, &'static Slot)> {
    (0..).map(SlotId).zip(&TAKEN).map_while(|(id, place)| Some((id, place.get()?)))
}

/// The library that this address of code is in.
pub(crate) fn at(address: usize) -> Option<(SlotId, &'static Slot)> {
    all().find(|(_, slot)| (slot.range.0..slot.range.1).contains(&address))
}

impl SlotId {
    /// A place that nobody has.
    #[cfg(test)]
    pub(crate) const fn of_a_test(number: u8) -> Self {
        Self(number)
    }

    pub(crate) fn slot(self) -> Option<&'static Slot> {
        TAKEN.get(usize::from(self.0))?.get()
    }

    /// The number that stands for a request at this library; `None` if there are too many requests.
    pub(crate) fn number(self, request: ExternalRequestId) -> Option<u64> {
        if request.index() >> INDEX_BITS != 0 {
            return None;
        }
        Some(ExternalRequestId::new(request.index() | u32::from(self.0) << INDEX_BITS, request.generation()).to_bits())
    }
}

/// Whose a number is, and which request it stands for: of numbers that nobody was given, too.
pub(crate) fn request(number: u64) -> Option<(SlotId, ExternalRequestId)> {
    let id = ExternalRequestId::from_bits(number);
    let slot = SlotId(u8::try_from(id.index() >> INDEX_BITS).ok()?);
    slot.slot()?;
    Some((slot, ExternalRequestId::new(id.index() & ((1 << INDEX_BITS) - 1), id.generation())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(number: u8) -> Slot {
        let range = (usize::from(number) * 0x1000 + 1, usize::from(number) * 0x1000 + 0x11);
        Slot::new(ProviderId(number), String::new(), range, Arc::new(Queue::new(|| {})))
    }

    #[test]
    fn numbers_say_whose_they_are_and_addresses_where_they_are() {
        let places: Vec<SlotId> = (0..64).map(|number| take(slot(number)).unwrap()).collect();
        assert_eq!(take(slot(64)), None, "there is an end");
        for (place, provider) in places.iter().zip(0..) {
            for id in [ExternalRequestId::new(0, 0), ExternalRequestId::new((1 << 26) - 1, u32::MAX)] {
                assert_eq!(request(place.number(id).unwrap()), Some((*place, id)));
            }
            assert_eq!(place.number(ExternalRequestId::new(1 << 26, 0)), None);
            assert_eq!(place.slot().map(|slot| slot.provider), Some(ProviderId(provider)));
            let at = |offset| at(usize::from(provider) * 0x1000 + offset).map(|(place, _)| place);
            assert_eq!([at(0), at(1), at(0x10), at(0x11)], [None, Some(*place), Some(*place), None]);
        }
    }
}
