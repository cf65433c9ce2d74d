//! Loads of cache lines for which nothing waits.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "an instruction of the processor"))]
use crate::sync::AtomicU64;

/// Loads the cache line of a word.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn prefetch(word: &AtomicU64) {
    use core::{
        arch::x86_64::{_MM_HINT_T0, _mm_prefetch},
        ptr,
    };
    // SAFETY: every x86-64 processor has the instruction, and it accesses no memory as far as the program can see.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(ptr::from_ref(word).cast()) };
}

/// Loads the cache line of a word. There is no stable function for this processor, so this is a load.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn prefetch(word: &AtomicU64) {
    core::hint::black_box(crate::sync::load(word));
}
