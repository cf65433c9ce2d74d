//! Announcements of an endpoint, and the local addresses that it defended.
use crate::{api::Time, retry};
use acm_wire::Address;
use alloc::vec::Vec;
use ib_mad::Qpn;

/// The state of an endpoint's announcement.
#[derive(Debug, Default)]
pub(crate) struct Announcement {
    /// The index of the first address that is not announced yet.
    pub(crate) next: Option<usize>,
    /// The time before which no announcement is sent, so that a port that moves repeatedly causes little traffic.
    pub(crate) not_before: Option<Time>,
    /// `true` if the endpoint has been in its base group.
    pub(crate) has_joined: bool,
    /// The time of the next witness.
    pub(crate) next_witness: Option<Time>,
    /// The address that the last witness showed, by its index.
    pub(crate) turn: usize,
    /// The queue pair that peers may have cached.
    qpn: Option<Qpn>,
}

impl Announcement {
    /// Records the endpoint's queue pair. Returns `true` if peers may have cached another one.
    pub(crate) fn moves_to(&mut self, qpn: Option<Qpn>) -> bool {
        let Some(qpn) = qpn else { return false };
        self.qpn.replace(qpn).is_some_and(|before| before != qpn)
    }
}

/// The local addresses that were defended recently.
#[derive(Debug, Default)]
pub(crate) struct Defences {
    recent: Vec<Defence>,
}

#[derive(Debug)]
struct Defence {
    address: Address,
    /// The time of the last defence.
    at: Time,
    /// The time of the last claim that was not contradicted.
    claimed_at: Option<Time>,
}

impl Defences {
    /// Handles another host's claim of a local address. Returns `true` if the address must be defended now.
    pub(crate) fn on_claim(&mut self, now: Time, address: &Address) -> bool {
        let is_recent = |at: Time| now < at + retry::DEFENCE_PAUSE;
        self.recent.retain(|defence| is_recent(defence.at) || defence.claimed_at.is_some_and(is_recent));
        let address = address.canonical();
        match self.recent.iter_mut().find(|defence| defence.address == address) {
            Some(defence) if is_recent(defence.at) => {
                defence.claimed_at = Some(now);
                false
            }
            Some(defence) => {
                (defence.at, defence.claimed_at) = (now, None);
                true
            }
            None => {
                self.recent.push(Defence { address, at: now, claimed_at: None });
                true
            }
        }
    }

    /// Handles a request for a local address to this node alone: a node checks a claim. Returns `true` if the address
    /// must be defended now, so that no other node checks it.
    pub(crate) fn on_check(&mut self, now: Time, address: &Address) -> bool {
        let address = address.canonical();
        let is_due = |defence: &&mut Defence| now >= defence.at + retry::DEFENCE_AGAIN && defence.address == address;
        let Some(defence) = self.recent.iter_mut().find(is_due) else { return false };
        let was_claimed = defence.claimed_at.take().is_some();
        if was_claimed {
            defence.at = now;
        }
        was_claimed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;

    // docs/deviations.md: defence
    #[test]
    fn address_is_defended_once_in_ten_seconds() {
        let (mut defences, second) = (Defences::default(), Duration::from_secs(1));
        let mut may = |seconds: u32, name| defences.on_claim(Time::ZERO + second * seconds, &Address::from_text(name));
        assert_eq!(
            [may(0, "a"), may(9, "A"), may(9, "b"), may(10, "a"), may(20, "a")],
            [true, false, true, true, true]
        );
        assert_eq!(defences.recent.len(), 1, "what is over takes no memory");
    }

    #[test]
    fn check_of_a_claim_causes_a_defence_that_the_claim_did_not_cause() {
        let (mut defences, address) = (Defences::default(), Address::from_text("a"));
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let others = Address::from_text("b");
        assert!(defences.on_claim(at(0), &address) && !defences.on_check(at(2000), &address), "it was contradicted");
        assert!(!defences.on_claim(at(3000), &address) && !defences.on_check(at(3000), &others));
        assert_eq!([3001, 3002].map(|ms| defences.on_check(at(ms), &address)), [true, false], "once for the claim");
        assert!(!defences.on_claim(at(3500), &address));
        assert_eq!([4000, 4001].map(|ms| defences.on_check(at(ms), &address)), [false, true], "1 s after the last one");
        assert!(!defences.on_claim(at(14_000), &address) && !defences.on_claim(at(14_000), &address));
        assert!(defences.on_claim(at(14_001), &others) && defences.on_check(at(19_000), &address), "users wait 5 s");
    }
}
