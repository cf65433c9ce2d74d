//! State of the built-in provider.
use super::{cache::Cache, endpoint::EndpointState, preloaded::Preloaded, stats::IbacmpStats, token::DestId};
use crate::{
    Time,
    failure::Attempt,
    id::{EndpointId, PortId},
    random::Seed,
};
use acm_wire::Address;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use ib_mad::Gid;

/// The built-in provider.
#[derive(Debug)]
pub struct Ibacmp {
    pub(super) cache: Cache,
    pub(super) endpoints: BTreeMap<EndpointId, EndpointState>,
    /// Destinations with an open multicast request, by transaction id.
    pub(super) by_tid: BTreeMap<u64, DestId>,
    pub(super) sweep: Sweep,
    /// Recently removed local addresses, oldest first.
    pub(super) removed: VecDeque<Address>,
    /// Tables loaded from files.
    pub(super) preload: Preloaded,
    /// Ports and GIDs whose destinations must be invalidated.
    pub(super) stale_gids: BTreeSet<(PortId, Gid)>,
    /// Cached failures in the order of their expiry.
    pub(super) negatives: VecDeque<(Time, DestId)>,
    /// Destinations that wait for a renewal.
    pub(super) renewals: RenewalQueue,
    pub(super) stats: IbacmpStats,
    /// The last failure, for a request whose lookup failed at once.
    pub(super) last_failure: Option<Attempt>,
}

impl Ibacmp {
    /// Creates an empty provider. The secret `seed` prevents others from choosing addresses that collide in its maps.
    #[must_use]
    pub fn new(seed: impl Into<Seed>) -> Self {
        Self {
            cache: Cache::new(seed.into()),
            endpoints: BTreeMap::new(),
            by_tid: BTreeMap::new(),
            sweep: Sweep::default(),
            removed: VecDeque::new(),
            preload: Preloaded::default(),
            stale_gids: BTreeSet::new(),
            negatives: VecDeque::new(),
            renewals: RenewalQueue::default(),
            stats: IbacmpStats::default(),
            last_failure: None,
        }
    }

    /// Returns its counters.
    #[must_use]
    pub const fn stats(&self) -> &IbacmpStats {
        &self.stats
    }
}

/// The progress of the sweep.
#[derive(Debug, Default)]
pub(super) struct Sweep {
    pub(super) next_slot: usize,
    /// Number of slots to sweep with short pauses.
    pub(super) hurried_slots: usize,
    pub(super) scheduled: bool,
    /// `true` if the next destination is due for renewal and the renewal queue is full.
    pub(super) stalled: bool,
    /// The destination at which the sweep stalled last, until it is swept.
    pub(super) stalled_at: Option<DestId>,
}

/// The maximum number of claims that are renewed per interval.
const CLAIMED_EACH_TICK: usize = 2;

/// The reason for a renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RenewalReason {
    /// It was used while it was stale.
    Used,
    /// A peer claims another location.
    Claimed,
    /// The sweep found that it is stale or expires soon.
    Found,
}

/// Destinations that wait for a renewal, by reason.
#[derive(Debug, Default)]
pub(super) struct RenewalQueue {
    used: VecDeque<DestId>,
    claimed: VecDeque<DestId>,
    found: VecDeque<DestId>,
    /// The time before which no renewal starts.
    pub(super) not_before: Option<Time>,
    /// Number of failed queries in a row.
    pub(super) failures: u32,
}

impl RenewalQueue {
    pub(super) const fn queue(&mut self, reason: RenewalReason) -> &mut VecDeque<DestId> {
        match reason {
            RenewalReason::Used => &mut self.used,
            RenewalReason::Claimed => &mut self.claimed,
            RenewalReason::Found => &mut self.found,
        }
    }

    /// Returns the length of the longest queue.
    pub(super) fn longest(&self) -> usize {
        self.used.len().max(self.claimed.len()).max(self.found.len())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.longest() == 0
    }

    /// Returns the next destination of an interval. Used and found ones alternate.
    pub(super) fn next(&mut self, number: usize) -> Option<DestId> {
        let claimed = if number < CLAIMED_EACH_TICK { self.claimed.pop_front() } else { None };
        claimed.or_else(|| match number % 2 {
            0 => self.used.pop_front().or_else(|| self.found.pop_front()),
            _ => self.found.pop_front().or_else(|| self.used.pop_front()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn two_renewals_per_interval_are_claims_and_the_others_alternate() {
        let mut renewals = RenewalQueue::default();
        assert!(renewals.is_empty());
        let dest = |number| DestId::new(number, 0);
        for (reason, first) in [(RenewalReason::Used, 10), (RenewalReason::Claimed, 20), (RenewalReason::Found, 30)] {
            renewals.queue(reason).extend((first..first + 3).map(dest));
        }
        assert!(!renewals.is_empty());
        let tick: Vec<_> = (0..9).map_while(|number| renewals.next(number)).collect();
        assert_eq!(tick, [20, 21, 10, 30, 11, 31, 12, 32].map(dest));
        assert_eq!((renewals.longest(), renewals.next(0)), (1, Some(dest(22))));
    }
}
