//! Room for one more destination: which one goes when there is none.
use super::{cache::Cache, dest::Class};
use crate::config::Limits;

/// How many destinations are looked at when one must go. If each of them was used lately, the first one goes.
const LOOKS: usize = 32;

/// What came of looking for room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// There was room.
    Free,
    /// Another destination went.
    Evicted,
    /// Nothing could go.
    None,
}

impl Cache {
    /// Makes room for one more. A stranger takes the place of a stranger, never of what somebody here asked for; what
    /// somebody here asks for takes a stranger's place first.
    pub(super) fn make_room(&mut self, class: Class, limits: &Limits) -> Room {
        let full = self.len() >= limits.destinations;
        let too_many = class == Class::Unsolicited && self.unsolicited() >= limits.unsolicited;
        if !full && !too_many {
            return Room::Free;
        }
        let evicted = self.evict(Class::Unsolicited) || class != Class::Unsolicited && self.evict(Class::Wanted);
        if evicted { Room::Evicted } else { Room::None }
    }

    /// Throws out the first of a class that was not used since the hand last came by; if all that are looked at were,
    /// the first of them that may go.
    fn evict(&mut self, class: Class) -> bool {
        for unused_only in [true, false] {
            for _ in 0..LOOKS {
                let Some((line, dests)) = self.line(class) else { return false };
                let Some(id) = line.first() else { return false };
                let Some(dest) = dests.get_mut(id) else { return false };
                let used = core::mem::replace(&mut dest.used, false);
                let stays = dest.state.is_busy() || used && unused_only;
                if !stays {
                    self.remove(id);
                    return true;
                }
                line.move_last(dests, id);
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        dest::{DestKey, DestState, Routing},
        lookup::Lookup,
        remote::Remote,
        token::DestId,
    };
    use super::*;
    use crate::{
        Time,
        id::{EndpointId, QuestionId},
    };
    use acm_wire::Address;
    use alloc::vec::Vec;
    use core::net::Ipv4Addr;

    const HERE: EndpointId = EndpointId::new(0, 0);
    const THERE: EndpointId = EndpointId::new(1, 0);

    fn key(number: u32) -> DestKey {
        DestKey::Address(Address::Ip4(Ipv4Addr::from(number)))
    }
    fn known() -> DestState {
        DestState::Known { remote: Remote::default(), addr_until: None }
    }
    fn limits(destinations: usize, unsolicited: usize) -> Limits {
        Limits { destinations, unsolicited, ..Limits::default() }
    }

    #[test]
    fn who_was_not_used_goes_first() {
        let mut cache = Cache::new(1.into());
        let ids: Vec<DestId> = (0..4).map(|number| cache.insert(HERE, key(number), Class::Wanted)).collect();
        assert_eq!(cache.make_room(Class::Wanted, &limits(5, 5)), Room::Free);
        // New ones count as used once; the hand takes that from all, and the first goes.
        assert_eq!(cache.make_room(Class::Wanted, &limits(4, 4)), Room::Evicted);
        assert!(cache.get(ids[0]).is_none());
        cache.get_mut(ids[1]).unwrap().used = true;
        assert_eq!(cache.make_room(Class::Wanted, &limits(3, 3)), Room::Evicted);
        assert!(cache.get(ids[1]).is_some() && cache.get(ids[2]).is_none());
    }

    #[test]
    fn strangers_go_before_what_was_asked_for_and_never_instead() {
        let mut cache = Cache::new(1.into());
        let wanted = cache.insert(HERE, key(0), Class::Wanted);
        let stranger = cache.insert(HERE, key(1), Class::Unsolicited);
        assert_eq!(cache.make_room(Class::Wanted, &limits(2, 2)), Room::Evicted);
        assert!(cache.get(stranger).is_none() && cache.get(wanted).is_some());
        assert_eq!(cache.make_room(Class::Unsolicited, &limits(1, 1)), Room::None);
        let stranger = cache.insert(HERE, key(2), Class::Unsolicited);
        assert_eq!(cache.make_room(Class::Unsolicited, &limits(9, 2)), Room::Free);
        assert_eq!(cache.make_room(Class::Unsolicited, &limits(9, 1)), Room::Evicted);
        assert!(cache.get(stranger).is_none());
        let stranger = cache.insert(HERE, key(3), Class::Unsolicited);
        cache.set_class(stranger, Class::Wanted);
        assert_eq!(cache.make_room(Class::Unsolicited, &limits(2, 1)), Room::None, "it is wanted now");
    }

    #[test]
    fn our_own_and_what_is_under_way_stay() {
        let mut cache = Cache::new(1.into());
        let local = cache.insert(HERE, key(0), Class::Wanted);
        cache.set_class(local, Class::Local);
        let busy = cache.insert(HERE, key(1), Class::Wanted);
        let routing = Routing {
            remote: None,
            addr_until: None,
            question: QuestionId::new(0, 0),
            since: Time::ZERO,
            lookup: Lookup::default(),
        };
        cache.enter(busy, DestState::Routing(routing));
        assert_eq!((cache.busy(HERE), cache.busy(THERE), cache.busy_count(HERE)), (Vec::from([busy]), Vec::new(), 1));
        assert_eq!(cache.make_room(Class::Wanted, &limits(2, 2)), Room::None);
        cache.enter(busy, known());
        assert_eq!((cache.busy(HERE), cache.make_room(Class::Wanted, &limits(2, 2))), (Vec::new(), Room::Evicted));
        assert!(cache.get(local).is_some());
    }

    #[test]
    fn looking_for_room_has_an_end_however_many_there_are() {
        let mut cache = Cache::new(1.into());
        let ids: Vec<DestId> = (0..1000).map(|number| cache.insert(HERE, key(number), Class::Wanted)).collect();
        assert_eq!(cache.make_room(Class::Wanted, &limits(1000, 1000)), Room::Evicted);
        // All were used: 32 are passed over, and the one after them goes.
        let touched = |cache: &Cache| ids.iter().filter_map(|id| cache.get(*id)).filter(|dest| !dest.used).count();
        assert!(touched(&cache) == 32 && cache.get(ids[32]).is_none());
    }
}
