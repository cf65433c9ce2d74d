//! The hosts of a partition: the GIDs at each LID, and the last witness of each of them.
use crate::api::Time;
use alloc::{collections::BTreeMap, vec::Vec};
use core::time::Duration;
use ib_mad::{Gid, Lid};

/// The maximum number of GIDs at a LID. The virtual functions of a port may share its LID.
const MOST_AT_A_LID: usize = 16;

/// The GIDs that datagrams and paths showed at each base LID, each with the time of its last witness. There are at most
/// 49,151 unicast LIDs, and hardware sets the LID of a datagram.
#[derive(Debug, Default)]
pub(crate) struct Hosts(BTreeMap<(Lid, Gid), Option<Time>>);

impl Hosts {
    /// Records that a GID is at a LID. If that is new, returns the other GIDs at the LID.
    pub(crate) fn note(&mut self, lid: Lid, gid: Gid) -> Vec<Gid> {
        if !lid.is_unicast() || self.0.contains_key(&(lid, gid)) {
            return Vec::new();
        }
        let at_lid = self.0.range((lid, Gid::ZERO)..).take_while(|((other, _), _)| *other == lid);
        let others: Vec<Gid> = at_lid.map(|((_, gid), _)| *gid).collect();
        if others.len() < MOST_AT_A_LID {
            self.0.insert((lid, gid), None);
        }
        others
    }

    /// Records a witness of a host, which is expected to send more of them.
    pub(crate) fn note_witness(&mut self, lid: Lid, gid: Gid, now: Time) {
        if let Some(last) = self.0.get_mut(&(lid, gid)) {
            *last = Some(now);
        }
    }

    /// Removes the hosts whose last witness is longer ago than `silence`, and returns them.
    pub(crate) fn take_silent(&mut self, now: Time, silence: Duration) -> Vec<(Lid, Gid)> {
        let is_silent = |last: &Option<Time>| last.is_some_and(|last| last + silence < now);
        let silent: Vec<_> = self.0.iter().filter(|(_, last)| is_silent(last)).map(|(host, _)| *host).collect();
        silent.iter().for_each(|host| _ = self.0.remove(host));
        silent
    }

    /// Reports whether a host is expected to send witnesses.
    pub(crate) fn sends_witnesses(&self) -> bool {
        self.0.values().any(Option::is_some)
    }

    /// Expects no witness of any host until its next one.
    pub(crate) fn expect_none(&mut self) {
        self.0.values_mut().for_each(|last| *last = None);
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
        assert!(hosts.note(one, gid(1)).is_empty() && hosts.note(other, gid(2)).is_empty());
        assert_eq!(hosts.note(one, gid(3)), [gid(1)]);
        assert!(hosts.note(one, gid(1)).is_empty(), "ports may share a LID");
        assert!(hosts.note(Lid::default(), gid(1)).is_empty() && hosts.note(Lid::default(), gid(2)).is_empty());
        (10..40).for_each(|number| _ = hosts.note(one, gid(number)));
        assert_eq!(hosts.note(one, gid(40)).len(), 16);
    }

    #[test]
    fn only_hosts_that_sent_witnesses_are_expected_to_send_more() {
        let (mut hosts, lid) = (Hosts::default(), Lid::new(3));
        [1, 2, 3].iter().for_each(|number| _ = hosts.note(lid, gid(*number)));
        assert!(!hosts.sends_witnesses());
        hosts.note_witness(lid, gid(1), at(5));
        hosts.note_witness(lid, gid(2), at(8));
        let silence = Duration::from_secs(12);
        assert_eq!(hosts.take_silent(at(17), silence), []);
        assert_eq!(hosts.take_silent(at(18), silence), [(lid, gid(1))]);
        assert!(hosts.sends_witnesses());
        hosts.expect_none();
        assert!(!hosts.sends_witnesses() && hosts.take_silent(at(99), silence).is_empty());
    }
}
