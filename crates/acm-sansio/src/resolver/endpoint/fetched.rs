//! The prefetch of one endpoint: its table, and the lookups that would have needed one.
use super::path_table::PathTable;
use crate::{
    api::{Time, id::SaQueryId},
    resolver::token::DestId,
};
use alloc::vec::Vec;
use core::time::Duration;

/// The number of lookups within [`COLD_TIME`] that each needed a query, after which the table is worth its cost: a
/// thirty-second of the fabric's ports, and at least 64.
const COLD_LOOKUPS: u32 = 64;
const PORTS_PER_COLD_LOOKUP: u32 = 32;
const COLD_TIME: Duration = Duration::from_secs(60);
/// The prefetch of an endpoint.
#[derive(Debug, Default)]
pub(crate) struct EndpointPrefetch {
    pub(crate) table: Option<Fetched>,
    /// The query for the table in progress.
    pub(crate) query: Option<SaQueryId>,
    /// Lookups that waited for a query when the table arrived.
    pub(crate) waiting: Vec<DestId>,
    /// Number of failed queries in a row.
    pub(crate) failures: u32,
    pub(crate) cold: ColdLookups,
}

/// A table with its times.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) paths: PathTable,
    pub(crate) since: Time,
    pub(crate) life: Duration,
    /// The expiry time of its paths; `None`: they do not expire.
    pub(crate) route_until: Option<Time>,
    /// `true` if a path was used.
    pub(crate) used: bool,
}

impl Fetched {
    pub(crate) fn is_valid(&self, now: Time) -> bool {
        now.since(self.since) < self.life
    }
}

/// Counts lookups that each need a query.
#[derive(Debug, Default)]
pub(crate) struct ColdLookups {
    count: u32,
    since: Time,
}

impl ColdLookups {
    /// Counts one more and returns their number within [`COLD_TIME`].
    pub(crate) fn count(&mut self, now: Time) -> u32 {
        if now.since(self.since) >= COLD_TIME {
            *self = Self { count: 0, since: now };
        }
        self.count = self.count.saturating_add(1);
        self.count
    }
}

impl EndpointPrefetch {
    pub(crate) fn table(&self, now: Time) -> Option<&Fetched> {
        self.table.as_ref().filter(|table| table.is_valid(now))
    }

    /// Returns the number of paths in the table.
    pub(crate) fn paths(&self) -> usize {
        self.table.as_ref().map_or(0, |table| table.paths.len())
    }
}

/// Returns the number of lookups after which `prefetch auto` requests the table.
pub(crate) fn cold_lookups(ports: u32) -> u32 {
    COLD_LOOKUPS.max(ports / PORTS_PER_COLD_LOOKUP)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    #[test]
    fn cold_lookups_are_counted_within_a_minute() {
        let mut cold = ColdLookups::default();
        assert_eq!([0, 1, 59].map(|second| cold.count(at(second))), [1, 2, 3]);
        assert_eq!([60, 61, 119, 120].map(|second| cold.count(at(second))), [1, 2, 3, 1]);
    }

    #[test]
    fn number_of_cold_lookups_grows_with_the_fabric() {
        assert_eq!([0, 300, 2048, 2080, 10_000, 49_151].map(cold_lookups), [64, 64, 64, 65, 312, 1535]);
    }
}
