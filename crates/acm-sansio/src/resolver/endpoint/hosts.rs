//! The hosts of a partition: the GIDs at each LID, and the last witness of each of them.
use crate::api::Time;
use alloc::{collections::BTreeMap, vec::Vec};
use core::time::Duration;
use ib_mad::{Gid, Lid};

/// The maximum number of GIDs at a LID. The virtual functions of a port may share its LID.
const MOST_AT_A_LID: usize = 16;

/// The GIDs that datagrams and paths showed at each base LID, each with the time of its last witness, or since when one is
/// expected. There are at most 49,151 unicast LIDs, and hardware sets the LID of a datagram.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    at: BTreeMap<(Lid, Gid), Option<Time>>,
    /// The time of the last witness of any host, or since when one is expected.
    last: Option<Time>,
}

impl Hosts {
    /// Records that a GID is at a LID. If that is new, returns the other GIDs at the LID, unless there are so many that
    /// ports share it. `sends_since`: a host that sends witnesses is there, and is expected to send one after this time.
    pub(crate) fn note(&mut self, lid: Lid, gid: Gid, sends_since: Option<Time>) -> Vec<Gid> {
        if !lid.is_unicast() {
            return Vec::new();
        }
        if let Some(last) = self.at.get_mut(&(lid, gid)) {
            *last = last.or(sends_since);
            return Vec::new();
        }
        let at_lid = self.at.range((lid, Gid::ZERO)..).take_while(|((other, _), _)| *other == lid);
        let others: Vec<Gid> = at_lid.map(|((_, gid), _)| *gid).collect();
        if others.len() >= MOST_AT_A_LID {
            return Vec::new();
        }
        self.at.insert((lid, gid), sends_since);
        others
    }

    /// Records a witness of a host, which is expected to send more of them.
    pub(crate) fn note_witness(&mut self, lid: Lid, gid: Gid, now: Time) {
        self.last = Some(now);
        if let Some(last) = self.at.get_mut(&(lid, gid)) {
            *last = Some(now);
        }
    }

    /// Expects a witness of any host from now on, because this node has become a member of the group.
    pub(crate) const fn expect_any(&mut self, now: Time) {
        self.last = Some(now);
    }

    /// Reports once whether a witness is expected and the last one is longer ago than `silence`.
    pub(crate) fn take_silence(&mut self, now: Time, silence: Duration) -> bool {
        self.last.take_if(|last| *last + silence < now).is_some()
    }

    /// Removes the hosts whose last witness is longer ago than `silence`, and returns them.
    pub(crate) fn take_silent(&mut self, now: Time, silence: Duration) -> Vec<(Lid, Gid)> {
        let is_silent = |last: &Option<Time>| last.is_some_and(|last| last + silence < now);
        let silent: Vec<_> = self.at.iter().filter(|(_, last)| is_silent(last)).map(|(host, _)| *host).collect();
        silent.iter().for_each(|host| _ = self.at.remove(host));
        silent
    }

    /// Expects no witness of any host until its next one.
    pub(crate) fn expect_none(&mut self) {
        self.at.values_mut().chain([&mut self.last]).for_each(|last| *last = None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gid(number: u64) -> Gid {
        Gid::from_parts(1, ib_mad::Guid::new(number))
    }

    fn at(seconds: u64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    #[test]
    fn new_gid_at_a_lid_displaces_the_others() {
        let mut hosts = Hosts::default();
        let [one, other] = [3, 4].map(Lid::new);
        assert!(hosts.note(one, gid(1), None).is_empty() && hosts.note(other, gid(2), None).is_empty());
        assert_eq!(hosts.note(one, gid(3), None), [gid(1)]);
        assert!(hosts.note(one, gid(1), None).is_empty(), "ports may share a LID");
        assert!(
            hosts.note(Lid::default(), gid(1), None).is_empty() && hosts.note(Lid::default(), gid(2), None).is_empty()
        );
        (10..40).for_each(|number| _ = hosts.note(one, gid(number), None));
        assert!(hosts.note(one, gid(40), None).is_empty(), "16 virtual functions are there");
    }

    #[test]
    fn only_hosts_that_sent_witnesses_are_expected_to_send_more() {
        let (mut hosts, lid) = (Hosts::default(), Lid::new(3));
        [1, 2, 3].iter().for_each(|number| _ = hosts.note(lid, gid(*number), None));
        hosts.note_witness(lid, gid(1), at(5));
        hosts.note_witness(lid, gid(2), at(8));
        let silence = Duration::from_secs(12);
        assert_eq!(hosts.take_silent(at(17), silence), []);
        assert_eq!(hosts.take_silent(at(18), silence), [(lid, gid(1))]);
        hosts.expect_none();
        assert!(!hosts.take_silence(at(99), silence) && hosts.take_silent(at(99), silence).is_empty());
        assert!(hosts.note(lid, gid(3), Some(at(100))).is_empty() && hosts.note(lid, gid(3), Some(at(110))).is_empty());
        assert_eq!(
            hosts.take_silent(at(113), silence),
            [(lid, gid(3))],
            "its generation shows that it sends witnesses"
        );
    }

    #[test]
    fn silence_of_all_hosts_is_reported_once() {
        let (mut hosts, silence) = (Hosts::default(), Duration::from_secs(6));
        assert!(!hosts.take_silence(at(99), silence), "no membership");
        hosts.expect_any(at(1));
        assert_eq!([7, 8, 99].map(|now| hosts.take_silence(at(now), silence)), [false, true, false]);
        hosts.note_witness(Lid::new(3), gid(1), at(100));
        assert_eq!([106, 107].map(|now| hosts.take_silence(at(now), silence)), [false, true]);
    }
}
