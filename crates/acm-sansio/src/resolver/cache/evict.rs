//! Eviction when the cache is full.
use super::Cache;
use crate::{api::config::Limits, resolver::dest::EvictionClass};

/// The number of destinations that an eviction examines for one that was not used recently. If all were, it examines as
/// many again for one without an operation in progress.
const MAX_EXAMINED: usize = 32;

/// The result of making room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Eviction {
    /// There was room.
    NotNeeded,
    /// A destination was evicted.
    Done,
    /// No destination could be evicted.
    Impossible,
}

impl Cache {
    /// Makes room for one more destination. An unsolicited destination only replaces another unsolicited one. A
    /// requested destination replaces an unsolicited one if possible, else a requested one. It may not exist, so that
    /// its own room is made when the next one is requested, after it was found: until then the cache has one
    /// destination more than its limit.
    pub(crate) fn make_room(&mut self, class: EvictionClass, limits: &Limits) -> Eviction {
        let is_unsolicited = class == EvictionClass::Unsolicited;
        let full = if is_unsolicited {
            self.found() >= limits.destinations || self.unsolicited() >= limits.unsolicited
        } else {
            self.found() > limits.destinations
        };
        if !full {
            return Eviction::NotNeeded;
        }
        let evicted = self.evict(EvictionClass::Unsolicited) || !is_unsolicited && self.evict(EvictionClass::Requested);
        if evicted { Eviction::Done } else { Eviction::Impossible }
    }

    /// Evicts the first destination of a class that was not used since the hand last passed it. If all examined ones
    /// were used, evicts the next one without an operation in progress.
    fn evict(&mut self, class: EvictionClass) -> bool {
        for unused_only in [true, false] {
            for _ in 0..MAX_EXAMINED {
                let Some((list, dests)) = self.list_of(class) else { return false };
                let Some(id) = list.first() else { return false };
                let Some(dest) = dests.get_mut(id) else { return false };
                let used = core::mem::replace(&mut dest.used, false);
                let stays = dest.state.is_busy() || used && unused_only;
                if !stays {
                    self.remove(id);
                    return true;
                }
                list.move_last(dests, id);
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        api::{
            Time,
            id::{EndpointId, SaQueryId},
        },
        resolver::{
            dest::{DestKey, DestState, Lookup, Remote, Routing},
            token::DestId,
        },
    };
    use acm_wire::Address;
    use alloc::vec::Vec;
    use core::net::Ipv4Addr;

    const HERE: EndpointId = EndpointId::new(0, 0);
    const THERE: EndpointId = EndpointId::new(1, 0);

    fn key(number: u32) -> DestKey {
        DestKey::Address(Address::Ip4(Ipv4Addr::from(number)))
    }
    fn located() -> DestState {
        DestState::Located { remote: Remote::default(), addr_until: None }
    }
    fn limits(destinations: usize, unsolicited: usize) -> Limits {
        Limits { destinations, unsolicited, ..Limits::default() }
    }

    #[test]
    fn unused_destination_is_evicted_first() {
        let mut cache = Cache::new(1.into());
        let ids: Vec<DestId> = (0..4).map(|number| cache.insert(HERE, key(number), EvictionClass::Requested)).collect();
        assert_eq!(cache.make_room(EvictionClass::Probation, &limits(4, 4)), Eviction::NotNeeded);
        // New destinations count as used. The hand clears the marks of all, and then evicts the first.
        assert_eq!(cache.make_room(EvictionClass::Probation, &limits(3, 4)), Eviction::Done);
        assert!(cache.get(ids[0]).is_none());
        cache.at_mut(ids[1]).unwrap().used = true;
        assert_eq!(cache.make_room(EvictionClass::Probation, &limits(2, 3)), Eviction::Done);
        assert!(cache.get(ids[1]).is_some() && cache.get(ids[2]).is_none());
    }

    // docs/deadlines.md: unsolicited
    #[test]
    fn unsolicited_destinations_never_evict_requested_ones() {
        let mut cache = Cache::new(1.into());
        let requested = cache.insert(HERE, key(0), EvictionClass::Requested);
        let unsolicited = cache.insert(HERE, key(1), EvictionClass::Unsolicited);
        assert_eq!(cache.make_room(EvictionClass::Probation, &limits(1, 2)), Eviction::Done);
        assert!(cache.get(unsolicited).is_none() && cache.get(requested).is_some());
        assert_eq!(cache.make_room(EvictionClass::Unsolicited, &limits(1, 1)), Eviction::Impossible);
        let unsolicited = cache.insert(HERE, key(2), EvictionClass::Unsolicited);
        assert_eq!(cache.make_room(EvictionClass::Unsolicited, &limits(9, 2)), Eviction::NotNeeded);
        assert_eq!(cache.make_room(EvictionClass::Unsolicited, &limits(9, 1)), Eviction::Done);
        assert!(cache.get(unsolicited).is_none());
        let unsolicited = cache.insert(HERE, key(3), EvictionClass::Unsolicited);
        cache.set_class(unsolicited, EvictionClass::Requested);
        assert_eq!(
            cache.make_room(EvictionClass::Unsolicited, &limits(2, 1)),
            Eviction::Impossible,
            "it is requested now"
        );
    }

    #[test]
    fn destinations_that_were_not_found_evict_nothing_and_are_not_evicted() {
        let mut cache = Cache::new(1.into());
        let requested = [0, 1].map(|number| cache.insert(HERE, key(number), EvictionClass::Requested));
        let sought: Vec<DestId> =
            (2..100).map(|number| cache.insert(HERE, key(number), EvictionClass::Probation)).collect();
        for class in [EvictionClass::Probation, EvictionClass::Unsolicited] {
            let others = usize::from(class == EvictionClass::Unsolicited);
            assert_eq!(cache.make_room(class, &limits(2 + others, 2)), Eviction::NotNeeded);
        }
        // The next one is found: there is one too many.
        cache.enter(sought[0], located());
        assert_eq!(cache.make_room(EvictionClass::Probation, &limits(2, 2)), Eviction::Done);
        assert!(cache.get(requested[0]).is_none() && cache.get(requested[1]).is_some());
        assert_eq!((cache.len(), cache.found()), (99, 2));
    }

    #[test]
    fn local_and_busy_destinations_are_not_evicted() {
        let mut cache = Cache::new(1.into());
        let local = cache.insert(HERE, key(0), EvictionClass::Requested);
        cache.set_class(local, EvictionClass::Local);
        let busy = cache.insert(HERE, key(1), EvictionClass::Requested);
        let routing = Routing::new(None, None, SaQueryId::new(0, 0), Time::ZERO, Lookup::default());
        cache.enter(busy, DestState::Routing(routing));
        assert_eq!((cache.busy(HERE), cache.busy(THERE), cache.busy_count(HERE)), (Vec::from([busy]), Vec::new(), 1));
        assert_eq!(cache.make_room(EvictionClass::Probation, &limits(1, 2)), Eviction::Impossible);
        cache.enter(busy, located());
        assert_eq!(
            (cache.busy(HERE), cache.make_room(EvictionClass::Probation, &limits(1, 2))),
            (Vec::new(), Eviction::Done)
        );
        assert!(cache.get(local).is_some());
    }

    #[test]
    fn eviction_examines_a_limited_number_of_destinations() {
        let mut cache = Cache::new(1.into());
        let ids: Vec<DestId> =
            (0..1000).map(|number| cache.insert(HERE, key(number), EvictionClass::Requested)).collect();
        assert_eq!(cache.make_room(EvictionClass::Probation, &limits(999, 1000)), Eviction::Done);
        // All were used: 32 are passed over, and the next one is evicted.
        let touched = |cache: &Cache| ids.iter().filter_map(|id| cache.get(*id)).filter(|dest| !dest.used).count();
        assert!(touched(&cache) == 32 && cache.get(ids[32]).is_none());
    }
}
