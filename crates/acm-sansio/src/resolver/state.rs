//! State of the built-in provider.
use super::{
    cache::Cache, confirmations::Hand, endpoint::Endpoints, preloaded::Preloaded, stats::IbacmpStats, token::DestId,
};
use crate::{
    api::{
        Time,
        id::{EndpointId, PortId},
    },
    shared::random::Seed,
};
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use ib_mad::Gid;

/// The built-in provider.
#[derive(Debug)]
pub struct Ibacmp {
    pub(crate) cache: Cache,
    pub(crate) endpoints: Endpoints,
    /// Destinations with an open multicast request, by transaction id.
    pub(crate) by_tid: BTreeMap<u64, DestId>,
    pub(crate) sweep: Sweep,
    /// Tables loaded from files.
    pub(crate) preload: Preloaded,
    /// Ports and GIDs whose destinations must be invalidated.
    pub(crate) stale_gids: BTreeSet<(PortId, Gid)>,
    /// Cached failures in the order of their expiry.
    pub(crate) negatives: VecDeque<(Time, DestId)>,
    /// Destinations that wait for a renewal, by port.
    pub(crate) renewals: BTreeMap<PortId, RenewalQueue>,
    /// Progress of the confirmation of paths in use.
    pub(crate) confirmations: Hand,
    pub(crate) stats: IbacmpStats,
}

impl Ibacmp {
    /// Creates an empty provider. The secret `seed` prevents others from choosing addresses that collide in its maps.
    #[must_use]
    pub fn new(seed: impl Into<Seed>) -> Self {
        let seed = seed.into();
        Self {
            cache: Cache::new(seed),
            endpoints: Endpoints::new(seed),
            by_tid: BTreeMap::new(),
            sweep: Sweep::default(),
            preload: Preloaded::default(),
            stale_gids: BTreeSet::new(),
            negatives: VecDeque::new(),
            renewals: BTreeMap::new(),
            confirmations: Hand::new(seed),
            stats: IbacmpStats::default(),
        }
    }

    /// Returns the epoch of an endpoint for a path that is found now.
    pub(crate) fn epoch(&self, endpoint: EndpointId) -> u32 {
        self.endpoints.at(endpoint).epoch()
    }

    /// Returns its counters.
    #[must_use]
    pub const fn stats(&self) -> &IbacmpStats {
        &self.stats
    }
}

/// The progress of the sweep.
#[derive(Debug, Default)]
pub(crate) struct Sweep {
    pub(crate) next_slot: usize,
    /// Number of slots to sweep with short pauses.
    pub(crate) hurried_slots: usize,
    pub(crate) scheduled: bool,
    /// `true` if the next destination is due for renewal and the renewal queue is full.
    pub(crate) stalled: bool,
    /// The destination at which the sweep stalled last, until it is swept.
    pub(crate) stalled_at: Option<DestId>,
}

/// The reason for a renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RenewalReason {
    /// It was used while it was stale.
    Used,
    /// The sweep found that it is stale or expires soon.
    Found,
    /// The peer's request shows another location. The renewal has a time slot.
    Moved,
}

/// The destinations of a port that wait for a renewal, by reason.
#[derive(Debug, Default)]
pub(crate) struct RenewalQueue {
    used: VecDeque<DestId>,
    found: VecDeque<DestId>,
    /// With their time slots, in order.
    moved: VecDeque<(Time, DestId)>,
    /// `true` if the last renewal was one of a peer that moved.
    was_moved: bool,
}

impl RenewalQueue {
    /// Returns the number of destinations with this reason.
    pub(crate) fn len(&self, reason: RenewalReason) -> usize {
        match reason {
            RenewalReason::Used => self.used.len(),
            RenewalReason::Found => self.found.len(),
            RenewalReason::Moved => self.moved.len(),
        }
    }

    /// Appends a destination. Only a peer that moved has a time slot.
    pub(crate) fn push(&mut self, reason: RenewalReason, slot: Time, id: DestId) {
        match reason {
            RenewalReason::Used => self.used.push_back(id),
            RenewalReason::Found => self.found.push_back(id),
            RenewalReason::Moved => self.moved.push_back((slot, id)),
        }
    }

    /// Returns the length of the longest queue.
    pub(crate) fn longest(&self) -> usize {
        self.used.len().max(self.found.len()).max(self.moved.len())
    }

    /// Returns the time at which the next destination is due, or `None` if none waits.
    pub(crate) fn next_time(&self, now: Time) -> Option<Time> {
        match (self.used.is_empty() && self.found.is_empty(), self.moved.front()) {
            (false, _) => Some(now),
            (true, slot) => slot.map(|(slot, _)| *slot),
        }
    }

    /// Returns the next destination. At most every second one is of a peer that moved, because remote hosts can forge
    /// that. Of the others, those that were used go first.
    pub(crate) fn next(&mut self, now: Time) -> Option<DestId> {
        let is_due = self.moved.front().is_some_and(|(slot, _)| *slot <= now);
        let other =
            if is_due && !self.was_moved { None } else { self.used.pop_front().or_else(|| self.found.pop_front()) };
        self.was_moved = is_due && other.is_none();
        other.or_else(|| if is_due { self.moved.pop_front().map(|(_, id)| id) } else { None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use core::time::Duration;

    #[test]
    fn moved_peers_take_turns_with_used_and_then_found_destinations() {
        let mut renewals = RenewalQueue::default();
        let (now, later) = (Time::ZERO, Time::ZERO + Duration::from_secs(1));
        assert_eq!((renewals.next_time(now), renewals.next(now)), (None, None));
        let dest = |number| DestId::new(number, 0);
        for (reason, first) in [(RenewalReason::Used, 10), (RenewalReason::Found, 20), (RenewalReason::Moved, 30)] {
            (first..first + 2).for_each(|number| renewals.push(reason, now, dest(number)));
            assert_eq!(renewals.len(reason), 2);
        }
        renewals.push(RenewalReason::Moved, later, dest(32));
        assert_eq!(renewals.longest(), 3);
        let all: Vec<_> = core::iter::from_fn(|| renewals.next(now)).collect();
        assert_eq!(all, [30, 10, 31, 11, 20, 21].map(dest));
        assert_eq!((renewals.next_time(now), renewals.next(later)), (Some(later), Some(dest(32))));
    }
}
