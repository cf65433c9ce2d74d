//! All destinations: look-up, bound, expiry.
use super::{
    Ibacmp,
    dest::{Dest, DestKey, DestState, Pin},
    kind,
};
use crate::{
    Time,
    arena::Arena,
    id::{DestId, EndpointId},
    provider::{Context, Token},
};
use alloc::vec::Vec;
use core::{
    hash::{BuildHasher, Hash},
    time::Duration,
};
use hashbrown::HashTable;

/// How often a part of the cache is looked through for what has expired.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);
const SWEEP: Token = Token { kind: kind::SWEEP, index: 0, generation: 0 };

/// All destinations. The index is never walked, so its order shows nowhere.
#[derive(Debug)]
pub(super) struct Cache {
    dests: Arena<DestId, Dest>,
    index: HashTable<DestId>,
    hasher: foldhash::fast::FixedState,
    /// Destinations that nobody here asked for.
    unsolicited: usize,
    /// The next place that the hand looks at when room is needed.
    hand: usize,
    /// The next place that is looked at for expiry.
    sweep: usize,
    sweeping: bool,
}

fn hash(hasher: &foldhash::fast::FixedState, endpoint: EndpointId, key: &DestKey) -> u64 {
    struct Both<'a>(EndpointId, &'a DestKey);
    impl Hash for Both<'_> {
        fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
            self.0.hash(state);
            self.1.hash(state);
        }
    }
    hasher.hash_one(Both(endpoint, &key.canonical()))
}

impl Cache {
    pub(super) fn new(seed: u64) -> Self {
        let hasher = foldhash::fast::FixedState::with_seed(seed);
        Self {
            dests: Arena::new(),
            index: HashTable::new(),
            hasher,
            unsolicited: 0,
            hand: 0,
            sweep: 0,
            sweeping: false,
        }
    }

    pub(super) fn get(&self, id: DestId) -> Option<&Dest> {
        self.dests.get(id)
    }

    pub(super) fn get_mut(&mut self, id: DestId) -> Option<&mut Dest> {
        self.dests.get_mut(id)
    }

    pub(super) fn len(&self) -> usize {
        self.dests.len()
    }

    /// The destination with a key. Allocates nothing.
    pub(super) fn find(&self, endpoint: EndpointId, key: &DestKey) -> Option<DestId> {
        let wanted = key.canonical();
        let is_it = |id: &DestId| {
            self.dests.get(*id).is_some_and(|dest| dest.endpoint == endpoint && dest.key.canonical() == wanted)
        };
        self.index.find(hash(&self.hasher, endpoint, key), is_it).copied()
    }

    fn insert(&mut self, endpoint: EndpointId, key: DestKey, wanted: bool) -> DestId {
        let dest = Dest { endpoint, key, state: DestState::Unknown, pin: Pin::None, wanted, round: 0, used: true };
        self.unsolicited += usize::from(!wanted);
        let id = self.dests.insert(dest);
        let Self { dests, hasher, index, .. } = self;
        let again = |id: &DestId| dests.get(*id).map_or(0, |dest| hash(hasher, dest.endpoint, &dest.key));
        index.insert_unique(hash(hasher, endpoint, &key), id, again);
        id
    }

    /// Notes that somebody here asked for it.
    pub(super) fn want(&mut self, id: DestId) {
        if let Some(dest) = self.dests.get_mut(id) {
            self.unsolicited -= usize::from(!core::mem::replace(&mut dest.wanted, true));
        }
    }

    pub(super) fn remove(&mut self, id: DestId) {
        let Some(dest) = self.dests.get(id) else { return };
        if let Ok(entry) = self.index.find_entry(hash(&self.hasher, dest.endpoint, &dest.key), |other| *other == id) {
            entry.remove();
        }
        self.unsolicited -= usize::from(!dest.wanted);
        self.dests.remove(id);
    }

    /// All destinations of an endpoint, in the order of their places.
    pub(super) fn of_endpoint(&self, endpoint: EndpointId) -> Vec<DestId> {
        self.dests.iter().filter(|(_, dest)| dest.endpoint == endpoint).map(|(id, _)| id).collect()
    }

    /// Forgets the paths of an endpoint that has moved; where the others are stays known.
    pub(super) fn void_routes(&mut self, endpoint: EndpointId) {
        for id in self.of_endpoint(endpoint) {
            if let Some(dest) = self.dests.get_mut(id)
                && let DestState::Ready { remote, addr_until, .. } = dest.state
                && dest.pin == Pin::None
            {
                dest.void_route(remote, addr_until);
            }
        }
    }

    /// Throws out the first destination that may go and was not used since the hand last came by. `unsolicited`: only
    /// one that nobody here asked for. Looks at each place twice at most.
    fn evict(&mut self, unsolicited: bool) -> bool {
        for _ in 0..2 * self.dests.places() {
            let place = self.hand;
            self.hand = (place + 1) % self.dests.places().max(1);
            let Some((id, dest)) = self.dests.at(place) else { continue };
            if dest.pin != Pin::None || dest.state.is_busy() || (unsolicited && dest.wanted) {
                continue;
            }
            if !core::mem::replace(&mut dest.used, false) {
                self.remove(id);
                return true;
            }
        }
        false
    }
}

impl Ibacmp {
    /// The destination with a key, made if need be; `None` if there is no room.
    pub(super) fn acquire(
        &mut self,
        cx: &mut Context<'_>,
        endpoint: EndpointId,
        key: DestKey,
        wanted: bool,
    ) -> Option<DestId> {
        if let Some(id) = self.cache.find(endpoint, &key) {
            if wanted {
                self.cache.want(id);
            }
            return Some(id);
        }
        let limits = &cx.config().limits;
        let (destinations, unsolicited) = (limits.destinations, limits.unsolicited);
        let full = self.cache.len() >= destinations;
        // A stranger takes the place of a stranger, never of what somebody here asked for.
        let only_unsolicited = !wanted && (full || self.cache.unsolicited >= unsolicited);
        if only_unsolicited || full {
            if !self.cache.evict(only_unsolicited) {
                cx.stats().destinations_refused += 1;
                return None;
            }
            cx.stats().destinations_evicted += 1;
        }
        if !core::mem::replace(&mut self.cache.sweeping, true) {
            self.schedule_sweep(cx);
        }
        Some(self.cache.insert(endpoint, key, wanted))
    }

    fn schedule_sweep(&mut self, cx: &mut Context<'_>) {
        // Nothing ever expires: nothing to wake up for.
        if cx.config().addr_timeout.is_some() || cx.config().route_timeout.is_some() {
            let at = cx.now() + SWEEP_INTERVAL;
            cx.set_timer(SWEEP, at);
        }
    }

    /// Looks through a part of the cache for what has expired, so that it does not stay until somebody asks for it.
    pub(super) fn sweep(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        let places = self.cache.dests.places();
        for _ in 0..(places / 16 + 64).min(places) {
            let place = self.cache.sweep % places;
            self.cache.sweep = place + 1;
            let Some((id, dest)) = self.cache.dests.at(place) else { continue };
            dest.expire(now);
            if matches!(dest.state, DestState::Unknown) {
                self.cache.remove(id);
            }
        }
        self.cache.sweeping = self.cache.len() > 0;
        if self.cache.sweeping {
            self.schedule_sweep(cx);
        }
    }

    /// A destination's times from now on.
    pub(super) fn lifetimes(cx: &Context<'_>) -> (Option<Time>, Option<Time>) {
        let until = |timeout: Option<Duration>| timeout.map(|timeout| cx.now() + timeout);
        (until(cx.config().addr_timeout), until(cx.config().route_timeout))
    }
}
