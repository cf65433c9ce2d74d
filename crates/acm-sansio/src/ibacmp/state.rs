//! All that the built-in provider keeps.
use super::{
    cache::Cache, endpoint::EndpointState, preloaded::Preloaded, renewals::Renewals, stats::IbacmpStats, token::DestId,
};
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
    pub(super) asked: BTreeMap<u64, DestId>,
    pub(super) sweep: Sweep,
    /// Own addresses that went lately, the last one last.
    pub(super) removed: VecDeque<Address>,
    /// What was loaded from files.
    pub(super) preload: Preloaded,
    /// Ports and GIDs whose destinations are to be forgotten.
    pub(super) leaving: BTreeSet<(PortId, Gid)>,
    /// Destinations that failed just now, each with the end of its time, in its order.
    pub(super) negatives: VecDeque<(Time, DestId)>,
    /// Destinations that are to be asked for anew.
    pub(super) renewals: Renewals,
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
            asked: BTreeMap::new(),
            sweep: Sweep::default(),
            removed: VecDeque::new(),
            preload: Preloaded::default(),
            leaving: BTreeSet::new(),
            negatives: VecDeque::new(),
            renewals: Renewals::default(),
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
    pub(super) place: usize,
    /// So many places are looked through without a pause.
    pub(super) hurry: usize,
    pub(super) scheduled: bool,
    /// The destination that it came to is to be asked for anew, and too many others are.
    pub(super) stalled: bool,
    /// The destination that the sweep stalled at last, until it comes to it again.
    pub(super) stalled_at: Option<DestId>,
}
