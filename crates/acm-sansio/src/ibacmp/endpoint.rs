//! What the provider knows of an endpoint: groups, credits, round trips.
use super::{membership::Group, round_trip::RoundTrip, token::DestId};
use crate::{Time, credit::CreditQueue};
use alloc::vec::Vec;
use ib_mad::{Gid, Lid, Qpn, id::Lmc};

/// What the provider knows of an endpoint.
#[derive(Debug, Default)]
pub(super) struct EndpointState {
    /// Its groups, least preferred first.
    pub(super) groups: Vec<Group>,
    /// Destinations that wait for a credit to ask the group.
    pub(super) queue: CreditQueue<DestId>,
    pub(super) round_trip: RoundTrip,
    pub(super) announcement: Announcement,
    /// GID and LIDs of the port when it was looked at last: routes begin there.
    origin: Option<(Gid, Lid, Lmc)>,
    /// Counts what may have made routes void. A route of another epoch is looked at before it is served.
    epoch: u32,
    /// Routes from before this epoch begin at a LID or GID that the port has no more.
    void_before: u32,
    /// Routes from before this epoch may be wrong.
    stale_before: u32,
    /// Counts what may let that succeed which failed before.
    failures_epoch: u32,
}

impl EndpointState {
    /// The port has this GID and these LIDs now. If they are others than before, all routes are void; whether they are.
    pub(super) fn update_origin(&mut self, gid: Gid, lid: Lid, lmc: Lmc) -> bool {
        let elsewhere = self.origin.replace((gid, lid, lmc)).is_some_and(|before| before != (gid, lid, lmc));
        if elsewhere {
            self.moved();
        }
        elsewhere
    }

    /// The epoch of what fails now.
    pub(super) const fn failures_epoch(&self) -> u32 {
        self.failures_epoch
    }

    /// What failed may be tried again.
    pub(super) const fn retry_failed(&mut self) {
        self.failures_epoch = self.failures_epoch.wrapping_add(1);
    }

    /// The epoch of a route that is found now.
    pub(super) const fn epoch(&self) -> u32 {
        self.epoch
    }

    fn moved(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        self.void_before = self.epoch;
    }

    /// The link has another MTU or rate: routes may be too much for it.
    pub(super) fn link_changed(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// Something happened that may have made routes wrong.
    pub(super) const fn mark_stale(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        self.stale_before = self.epoch;
    }

    /// Whether a route of this epoch begins at a LID or GID that the port has no more.
    pub(super) const fn is_void(&self, epoch: u32) -> bool {
        is_before(epoch, self.void_before)
    }

    /// Whether a route of this epoch may be wrong.
    pub(super) const fn is_stale(&self, epoch: u32) -> bool {
        is_before(epoch, self.stale_before)
    }
}

/// What an endpoint has to tell.
#[derive(Debug, Default)]
pub(super) struct Announcement {
    /// The place of the first address that is not told yet.
    pub(super) next: Option<usize>,
    /// Nothing is told before: a port that moves all the time is not heard all the time.
    pub(super) not_before: Option<Time>,
    /// The queue pair that peers may know.
    qpn: Option<Qpn>,
}

impl Announcement {
    /// The endpoint has this queue pair now; whether peers may know another one.
    pub(super) fn moves_to(&mut self, qpn: Option<Qpn>) -> bool {
        let Some(qpn) = qpn else { return false };
        self.qpn.replace(qpn).is_some_and(|before| before != qpn)
    }
}

/// Epochs are compared around the circle; two billion changes do not happen within the life of a route.
const fn is_before(epoch: u32, mark: u32) -> bool {
    mark.wrapping_sub(epoch).wrapping_sub(1) < u32::MAX / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_gid_lid_or_lmc_voids_routes() {
        let mut state = EndpointState::default();
        let at = |gid: &str, lid, lmc| (gid.parse().unwrap(), Lid::new(lid), Lmc::new(lmc).unwrap());
        let mut begin = |(gid, lid, lmc)| {
            let before = state.epoch;
            state.update_origin(gid, lid, lmc);
            state.is_void(before)
        };
        assert_eq!(
            [at("fe80::1", 4, 0), at("fe80::1", 4, 0), at("fe80::1", 8, 0), at("fe80::2", 8, 0), at("fe80::2", 8, 1)]
                .map(&mut begin),
            [false, false, true, true, true]
        );
    }

    #[test]
    fn epochs() {
        let last = u32::MAX - 1;
        let mut state =
            EndpointState { epoch: last, void_before: last, stale_before: last, ..EndpointState::default() };
        let before = state.epoch;
        assert!(!state.is_void(before));
        state.link_changed();
        assert!(!state.is_void(before) && state.epoch != before);
        state.moved();
        assert_eq!((state.epoch, state.is_void(before), state.is_void(state.epoch)), (0, true, false));
        state.link_changed();
        assert!(!state.is_void(state.epoch) && !state.is_void(0) && state.is_void(u32::MAX));
        let before = state.epoch;
        assert!(!state.is_stale(before) && !state.is_stale(last));
        state.mark_stale();
        assert!(state.is_stale(before) && !state.is_stale(state.epoch) && !state.is_void(before));
    }

    #[test]
    fn half_a_circle_behind_is_void_and_further_is_ahead() {
        let state = EndpointState { void_before: 1 << 31, epoch: 1 << 31, ..EndpointState::default() };
        assert_eq!([2, 1, 0, u32::MAX].map(|epoch| state.is_void(epoch)), [true, true, false, false]);
    }
}
