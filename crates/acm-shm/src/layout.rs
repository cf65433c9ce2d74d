//! Words of a mapping: the header, and the window of slots of a key.
use crate::{key::Key, slot::Slot, sync::AtomicU64};
use core::time::Duration;

/// Number of neighbouring slots that may hold a key, and the most slots that a lookup reads.
pub const WINDOW: usize = 16;
/// Time without a heartbeat after which a mapping is not used.
pub const LIFETIME: Duration = Duration::from_nanos(LIFETIME_NS);
pub(crate) const LIFETIME_NS: u64 = 1_000_000_000;

/// The first eight bytes of a mapping.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"ibacmshm");
/// Version of the format.
pub(crate) const VERSION: u64 = 1;

/// The header: two cache lines. The first does not change.
pub(crate) type Header = [AtomicU64; HEADER_WORDS];
pub(crate) const HEADER_WORDS: usize = 16;
pub(crate) const AT_MAGIC: usize = 0;
pub(crate) const AT_VERSION: usize = 1;
pub(crate) const AT_GENERATION: usize = 2;
pub(crate) const AT_SEED: [usize; 2] = [3, 4];
pub(crate) const AT_SLOTS: usize = 5;
pub(crate) const AT_CLOCK: usize = 6;
pub(crate) const AT_HEARTBEAT: usize = 8;
pub(crate) const AT_SUCCESSOR: usize = 9;

/// Returns a number of slots for `entries` keys. On average, 3 of 10,000 keys do not fit.
#[must_use]
pub const fn slots_for(entries: usize) -> usize {
    entries.saturating_mul(2).saturating_add(WINDOW - 1)
}

/// Returns the number of words of a mapping; `None` if the mapping would be too large, or smaller than a window.
pub(crate) fn words_for(slots: usize) -> Option<usize> {
    if slots < WINDOW {
        return None;
    }
    slots.checked_mul(size_of::<Slot>() / 8)?.checked_add(HEADER_WORDS)
}

/// Returns the slots of a mapping.
#[inline]
pub(crate) fn slots(words: &[AtomicU64]) -> &[Slot] {
    words.get(HEADER_WORDS..).unwrap_or_default().as_chunks().0
}

/// Returns the index of the first slot in the window of `key`, among `slots` slots.
#[inline]
pub(crate) fn home(key: &Key, seed: [u64; 2], slots: usize) -> usize {
    let windows = (slots + 1).saturating_sub(WINDOW);
    let product = u128::from(key.hash(seed)) * windows as u128;
    usize::try_from(product >> 64).unwrap_or(usize::MAX)
}
