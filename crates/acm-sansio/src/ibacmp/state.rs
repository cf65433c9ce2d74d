//! All that the built-in provider keeps.
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

/// The state of the built-in provider.
#[derive(Debug)]
pub struct Ibacmp {
    pub(super) cache: Cache,
    pub(super) endpoints: BTreeMap<EndpointId, EndpointState>,
    /// Multicast requests that wait for their response, by transaction id.
    pub(super) by_tid: BTreeMap<u64, DestId>,
    pub(super) sweep: Sweep,
    /// Own addresses that went lately, the last one last.
    pub(super) removed: VecDeque<Address>,
    /// What was loaded from files.
    pub(super) preload: Preloaded,
    /// Ports and GIDs whose destinations are to be forgotten.
    pub(super) stale_gids: BTreeSet<(PortId, Gid)>,
    /// Destinations that failed just now, each with the end of its time, in its order.
    pub(super) negatives: VecDeque<(Time, DestId)>,
    /// Destinations that are to be asked for anew.
    pub(super) renewals: RenewalQueue,
    pub(super) stats: IbacmpStats,
    /// Why the last lookup ended, for an asker whose lookup ended as it began.
    pub(super) last_failure: Option<Attempt>,
}

impl Ibacmp {
    /// An empty provider; `seed` keeps others from choosing addresses that collide in its maps.
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

    /// What was counted since it was made.
    #[must_use]
    pub const fn stats(&self) -> &IbacmpStats {
        &self.stats
    }
}

/// Where the sweep is.
#[derive(Debug, Default)]
pub(super) struct Sweep {
    pub(super) next_slot: usize,
    /// So many places are looked through without a pause.
    pub(super) hurried_slots: usize,
    pub(super) scheduled: bool,
    /// The destination that it came to is to be asked for anew, and too many others are.
    pub(super) stalled: bool,
    /// The destination that the sweep stalled at last, until it comes to it again.
    pub(super) stalled_at: Option<DestId>,
}

/// No more than so many of what strangers claim are begun at a time.
const CLAIMED_EACH_TICK: usize = 2;

/// Why a destination is to be asked for anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RenewalReason {
    /// It was used while it was in doubt.
    Used,
    /// A peer says that it is elsewhere.
    Claimed,
    /// The sweep found that it ends soon, or is in doubt.
    Found,
}

/// Destinations that are to be asked for anew.
#[derive(Debug, Default)]
pub(super) struct RenewalQueue {
    used: VecDeque<DestId>,
    claimed: VecDeque<DestId>,
    found: VecDeque<DestId>,
    /// None is begun before.
    pub(super) not_before: Option<Time>,
    /// How often in a row subnet administration was silent.
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

    /// How many wait, at most in one line.
    pub(super) fn longest(&self) -> usize {
        self.used.len().max(self.claimed.len()).max(self.found.len())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.longest() == 0
    }

    /// The next of a tick; what is used and what was found by turn.
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
    fn two_of_a_tick_are_claims_and_the_others_take_turns() {
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
