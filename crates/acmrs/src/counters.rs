//! An endpoint's counters, which the engine writes and ibacm's server thread reads.
use acm_wire::client::{Counter, Counters};
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// In the order of PERF's answer.
const ORDER: [Counter; 7] = [
    Counter::Error,
    Counter::Resolve,
    Counter::NoData,
    Counter::AddrQuery,
    Counter::AddrCache,
    Counter::RouteQuery,
    Counter::RouteCache,
];

#[derive(Clone, Debug, Default)]
pub(crate) struct Shared(Arc<[AtomicU64; ORDER.len()]>);

impl Shared {
    pub(crate) fn write(&self, counters: &Counters) {
        for (place, counter) in self.0.iter().zip(ORDER) {
            place.store(counters.get(counter), Ordering::Relaxed);
        }
    }

    pub(crate) fn read(&self) -> Vec<u64> {
        self.0.iter().map(|place| place.load(Ordering::Relaxed)).collect()
    }
}
