//! Atomic words of a mapping. With `cfg(loom)` they are those of the model checker.
#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering, fence};

/// Reads a word. Loads from read-only memory are defined for `Relaxed` only (documentation of `core::sync::atomic`), so
/// order comes from fences.
#[inline]
pub(crate) fn load(word: &AtomicU64) -> u64 {
    u64::from_le(word.load(Ordering::Relaxed))
}

/// Writes a word. Every store to a mapping is here, so that a test can stop the writer before each.
#[inline]
pub(crate) fn store(word: &AtomicU64, value: u64, order: Ordering) {
    #[cfg(all(test, not(loom)))]
    crate::fault::before_store();
    word.store(value.to_le(), order);
}
