//! The truth: which node had which address, GID and LID at which time.
use super::step::{Target, What};
use acm_sansio::Time;
use ib_mad::{Gid, Lid};
use std::collections::BTreeMap;

/// A place in the fabric.
pub(super) type Place = (Gid, Lid);
/// The owner of an address that no node has.
pub(super) const NOBODY: usize = usize::MAX;

/// The truth.
#[derive(Debug, Default)]
pub(super) struct Truth {
    /// The places of each node, each with the time since when.
    places: Vec<Vec<(Time, Place)>>,
    /// The nodes that have had an address.
    owners: BTreeMap<Target, Vec<(Time, usize)>>,
}

fn at<T: Copy>(history: &[(Time, T)], time: Time) -> Option<T> {
    history.iter().rev().find(|(since, _)| *since <= time).map(|(_, value)| *value)
}

impl Truth {
    /// Records the places of all nodes now.
    pub(super) fn note_places(&mut self, now: Time, places: impl Iterator<Item = Place>) {
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

    /// Returns the place of a node at a time.
    pub(super) fn place(&self, node: usize, time: Time) -> Place {
        self.places.get(node).and_then(|places| at(places, time)).unwrap_or_default()
    }

    /// Returns all times from `since` to `now` at which the truth may be another one.
    fn times(&self, since: Time, now: Time) -> Vec<Time> {
        let moves = self.places.iter().flatten().map(|(time, _)| *time);
        let changes = moves.chain(self.owners.values().flatten().map(|(time, _)| *time));
        core::iter::once(since).chain(changes.filter(|time| *time > since && *time <= now)).collect()
    }

    /// Reports whether a node had this place at some time from `since` to `now`.
    pub(super) fn was_at(&self, node: usize, place: Place, since: Time, now: Time) -> bool {
        self.times(since, now).into_iter().any(|time| self.place(node, time) == place)
    }

    /// Reports whether a destination was at this place at some time from `since` to `now`. A GID or LID is wherever a
    /// node has it.
    pub(super) fn ends_at(&self, target: Target, place: Place, since: Time, now: Time) -> bool {
        self.times(since, now).into_iter().any(|time| match target.what {
            What::Gid | What::Lid => (0..self.places.len()).any(|node| self.place(node, time) == place),
            _ => self.place(self.owner(target, time), time) == place,
        })
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
        truth.note_places(Time::ZERO, [place(1), place(2)].into_iter());
        truth.note_places(second(5), [place(1), (place(2).0, Lid::new(9))].into_iter());
        let (address, gid) = (Target { what: What::Ip4, of: 0 }, Target { what: What::Gid, of: 1 });
        truth.note_owner(second(10), address, 1);
        let moved = (place(2).0, Lid::new(9));
        assert!(truth.ends_at(address, place(1), second(9), second(12)), "before the move");
        assert!(!truth.ends_at(address, place(1), second(10), second(12)));
        assert!(truth.ends_at(address, moved, second(9), second(10)));
        assert!(!truth.ends_at(address, place(2), second(0), second(12)), "never at this LID");
        assert!(
            truth.ends_at(gid, place(2), second(4), second(12)) && !truth.ends_at(gid, place(2), second(5), second(12))
        );
        assert!(truth.was_at(1, place(2), second(1), second(5)) && !truth.was_at(1, place(2), second(6), second(6)));
        assert_eq!((truth.owner(address, second(9)), truth.owner(address, second(10))), (0, 1));
    }
}
