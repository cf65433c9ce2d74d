//! A sequence counter over words that change together. Its value is odd during a change.
//!
//! The fences are those of Boehm, "Can seqlocks get along with programming language memory models?" (MSPC 2012).
use crate::sync::{AtomicU64, Ordering, fence, load, store};

/// Calls `change`, whose stores readers see completely or not at all. There is one writer.
pub(crate) fn write(sequence: &AtomicU64, change: impl FnOnce()) {
    let odd = load(sequence) | 1;
    store(sequence, odd, Ordering::Relaxed);
    // A reader that sees a store of `change` also sees the odd counter.
    fence(Ordering::Release);
    change();
    // A reader that sees the even counter also sees every store of `change`.
    store(sequence, odd.wrapping_add(1), Ordering::Release);
}

/// Returns the result of `read` if no change overlapped it. `read` gets arbitrary values during a change.
#[inline]
pub(crate) fn read<T>(sequence: &AtomicU64, read: impl FnOnce() -> T) -> Option<T> {
    let before = load(sequence);
    fence(Ordering::Acquire);
    let value = read();
    fence(Ordering::Acquire);
    (before & 1 == 0 && load(sequence) == before).then_some(value)
}
