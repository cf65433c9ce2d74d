//! The truth: which node had which address, GID and LID at which time.
use super::step::{Target, What};
use acm_sansio::Time;
use ib_mad::{Gid, Lid};
use std::collections::BTreeMap;

/// A place in the fabric.
pub(super) type Place = (Gid, Lid);
/// A place, and whether its port is in the partition. Those outside are in another one, in which they reach each other.
pub(super) type Seat = (Place, bool);
/// The owner of an address that no node has.
pub(super) const NOBODY: usize = usize::MAX;

/// Returns the values at some time from `since` to `now`. Of several events at one instant, all count.
fn held<T: Copy>(history: &[(Time, T)], since: Time, now: Time) -> impl Iterator<Item = T> {
    let end = |index: usize| history.get(index + 1).map(|(end, _)| *end);
    let counts = move |start: Time, end: Option<Time>| {
        start <= now && end.is_none_or(|end| end > since || end == start && start == since)
    };
    let entries = history.iter().enumerate();
    entries.filter(move |(index, (start, _))| counts(*start, end(*index))).map(|(_, (_, value))| *value)
}

/// The truth.
#[derive(Debug, Default)]
pub(super) struct Truth {
    /// The places of each node, each with the time since when, and whether its port is in the partition.
    places: Vec<Vec<(Time, Seat)>>,
    /// The nodes that have had an address.
    owners: BTreeMap<Target, Vec<(Time, usize)>>,
}

fn at<T: Copy>(history: &[(Time, T)], time: Time) -> Option<T> {
    history.iter().rev().find(|(since, _)| *since <= time).map(|(_, value)| *value)
}

impl Truth {
    /// Records the places of all nodes now.
    pub(super) fn note_places(&mut self, now: Time, places: impl Iterator<Item = Seat>) {
        for (node, place) in places.enumerate() {
            if self.places.len() <= node {
                self.places.push(Vec::new());
            }
            let history = &mut self.places[node];
            if history.last().map(|(_, last)| *last) != Some(place) {
                history.push((now, place));
            }
        }
    }

    /// Records that a node has an address from now on.
    pub(super) fn note_owner(&mut self, now: Time, target: Target, node: usize) {
        self.owners.entry(target).or_insert_with(|| vec![(Time::ZERO, target.of)]).push((now, node));
    }

    /// Returns the node that has an address at a time.
    pub(super) fn owner(&self, target: Target, time: Time) -> usize {
        self.owners.get(&target).and_then(|owners| at(owners, time)).unwrap_or(target.of)
    }

    /// Returns all nodes that have had an address.
    pub(super) fn owners_of(&self, target: Target) -> impl Iterator<Item = usize> {
        core::iter::once(target.of).chain(self.owners.get(&target).into_iter().flatten().map(|(_, node)| *node))
    }

    /// Returns the place at which other nodes reach a node at a time.
    pub(super) fn place(&self, node: usize, time: Time) -> Place {
        let place = self.places.get(node).and_then(|places| at(places, time));
        place.filter(|(_, is_member)| *is_member).map(|(place, _)| place).unwrap_or_default()
    }

    /// Reports whether a destination was at a node itself, at this place, at some time from `since` to `now`. A node
    /// reaches itself without the partition.
    pub(super) fn is_own(&self, node: usize, target: Target, place: Place, since: Time, now: Time) -> bool {
        let is_at = |time| self.places.get(node).and_then(|places| at(places, time)).is_some_and(|(at, _)| at == place);
        let has = |time| matches!(target.what, What::Gid | What::Lid) || self.owner(target, time) == node;
        self.times(since, now).into_iter().any(|time| is_at(time) && has(time))
    }

    /// Reports whether a node was at more than one place.
    pub(super) fn has_moved(&self, node: usize) -> bool {
        self.places.get(node).is_some_and(|places| places.len() > 1)
    }

    /// Returns all times from `since` to `now` at which the truth may be another one.
    fn times(&self, since: Time, now: Time) -> Vec<Time> {
        let moves = self.places.iter().flatten().map(|(time, _)| *time);
        let changes = moves.chain(self.owners.values().flatten().map(|(time, _)| *time));
        core::iter::once(since).chain(changes.filter(|time| *time > since && *time <= now)).collect()
    }

    /// Reports whether a node had this place at some time from `since` to `now`.
    pub(super) fn was_at(&self, node: usize, seat: Seat, since: Time, now: Time) -> bool {
        self.places.get(node).is_some_and(|places| held(places, since, now).any(|at| at == seat))
    }

    /// Reports whether a node that had a destination at some time from `since` to `now` was at this place at some time
    /// then. A GID or LID is wherever a node has it.
    pub(super) fn ends_at(&self, target: Target, seat: Seat, since: Time, now: Time) -> bool {
        let had_it = |node| {
            let had = |owners: &Vec<_>| held(owners, since, now).any(|owner| owner == node);
            matches!(target.what, What::Gid | What::Lid) || self.owners.get(&target).map_or(target.of == node, had)
        };
        (0..self.places.len()).any(|node| had_it(node) && self.was_at(node, seat, since, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;

    #[test]
    fn place_counts_as_long_as_it_was_true_in_the_window() {
        let second = |number| Time::ZERO + Duration::from_secs(number);
        let place = |number: u16| (Gid::from_parts(1, ib_mad::Guid::new(number.into())), Lid::new(number));
        let mut truth = Truth::default();
        truth.note_places(Time::ZERO, [place(1), place(2)].map(|place| (place, true)).into_iter());
        truth.note_places(second(5), [place(1), (place(2).0, Lid::new(9))].map(|place| (place, true)).into_iter());
        let (address, gid) = (Target { what: What::Ip4, of: 0 }, Target { what: What::Gid, of: 1 });
        truth.note_owner(second(10), address, 1);
        let moved = (place(2).0, Lid::new(9));
        assert!(truth.ends_at(address, (place(1), true), second(9), second(12)), "before the move");
        assert!(!truth.ends_at(address, (place(1), true), second(10), second(12)));
        assert!(truth.ends_at(address, (moved, true), second(9), second(10)));
        assert!(truth.ends_at(address, (place(2), true), second(0), second(12)), "the node that has it now was there");
        assert!(!truth.ends_at(address, (place(2), true), second(5), second(12)), "no more at this LID");
        assert!(
            truth.ends_at(gid, (place(2), true), second(4), second(12))
                && !truth.ends_at(gid, (place(2), true), second(5), second(12))
        );
        assert!(
            truth.was_at(1, (place(2), true), second(1), second(5))
                && !truth.was_at(1, (place(2), true), second(6), second(6))
        );
        truth.note_places(second(12), [place(7), place(8)].map(|place| (place, true)).into_iter());
        truth.note_places(second(12), [place(5), place(6)].map(|place| (place, true)).into_iter());
        assert!(truth.was_at(0, (place(7), true), second(12), second(12)), "between two events at one instant");
        assert!(!truth.was_at(0, (place(1), true), second(12), second(12)));
        assert_eq!((truth.owner(address, second(9)), truth.owner(address, second(10))), (0, 1));
    }

    #[test]
    fn node_outside_of_the_partition_reaches_only_itself() {
        let place = (Gid::from_parts(1, ib_mad::Guid::new(1)), Lid::new(1));
        let (mut truth, name) = (Truth::default(), Target { what: What::Name, of: 0 });
        truth.note_places(Time::ZERO, [(place, false)].into_iter());
        assert!(
            !truth.ends_at(name, (place, true), Time::ZERO, Time::ZERO)
                && !truth.was_at(0, (place, true), Time::ZERO, Time::ZERO)
        );
        assert!(truth.was_at(0, (place, false), Time::ZERO, Time::ZERO), "in the other partition");
        assert!(truth.is_own(0, name, place, Time::ZERO, Time::ZERO));
        assert!(!truth.is_own(0, Target { of: 1, ..name }, place, Time::ZERO, Time::ZERO));
    }
}
