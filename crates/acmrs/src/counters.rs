//! An endpoint's counters, which the engine writes and ibacm's server thread reads.
use acm_wire::client::{Counter, Counters};
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub(crate) struct Shared(Arc<[AtomicU64; Counter::ALL.len()]>);

impl Shared {
    pub(crate) fn write(&self, counters: &Counters) {
        for (place, counter) in self.0.iter().zip(Counter::ALL) {
            place.store(counters.get(counter), Ordering::Relaxed);
        }
    }

    pub(crate) fn read(&self) -> Vec<u64> {
        self.0.iter().map(|place| place.load(Ordering::Relaxed)).collect()
    }
}
