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
    until: Vec<(Address, Time)>,
}

impl Defences {
    /// Reports whether a local address may be defended now, and notes that it is.
    pub(crate) fn may_defend(&mut self, now: Time, address: &Address) -> bool {
        self.until.retain(|(_, until)| now < *until);
        let address = address.canonical();
        if self.until.iter().any(|(defended, _)| *defended == address) {
            return false;
        }
        self.until.push((address, now + retry::DEFENCE_PAUSE));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;

    #[test]
    fn address_is_defended_once_in_ten_seconds() {
        let (mut defences, second) = (Defences::default(), Duration::from_secs(1));
        let mut may =
            |seconds: u32, name| defences.may_defend(Time::ZERO + second * seconds, &Address::from_text(name));
        assert_eq!(
            [may(0, "a"), may(9, "A"), may(9, "b"), may(10, "a"), may(19, "a")],
            [true, false, true, true, false]
        );
        assert_eq!(defences.until.len(), 1, "what is over takes no memory");
    }
}
