//! What the provider knows of an endpoint: groups, credits, round trips.
use super::{announcement::Announcement, membership::Group, round_trip::RoundTrip, token::DestId};
use crate::credit::CreditQueue;
use alloc::vec::Vec;
use ib_mad::{Gid, Lid, id::Lmc};

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
    begins_at: Option<(Gid, Lid, Lmc)>,
    /// Counts what may have made routes void. A route of another epoch is looked at before it is served.
    epoch: u32,
    /// Routes from before this epoch begin at a LID or GID that the port has no more.
    moved_in: u32,
    /// Routes from before this epoch may be wrong.
    doubted_in: u32,
    /// Counts what may let that succeed which failed before.
    failures_epoch: u32,
}

impl EndpointState {
    /// The port has this GID and these LIDs now. If they are others than before, all routes are void; whether they are.
    pub(super) fn begin_at(&mut self, gid: Gid, lid: Lid, lmc: Lmc) -> bool {
        let elsewhere = self.begins_at.replace((gid, lid, lmc)).is_some_and(|before| before != (gid, lid, lmc));
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
    pub(super) const fn failures_over(&mut self) {
        self.failures_epoch = self.failures_epoch.wrapping_add(1);
    }

    /// The epoch of a route that is found now.
    pub(super) const fn epoch(&self) -> u32 {
        self.epoch
    }

    fn moved(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        self.moved_in = self.epoch;
    }

    /// The link has another MTU or rate: routes may be too much for it.
    pub(super) fn link_changed(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// Something happened that may have made routes wrong.
    pub(super) const fn doubt(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        self.doubted_in = self.epoch;
    }

    /// Whether a route of this epoch begins at a LID or GID that the port has no more.
    pub(super) const fn is_void(&self, epoch: u32) -> bool {
        is_before(epoch, self.moved_in)
    }

    /// Whether a route of this epoch may be wrong.
    pub(super) const fn is_doubtful(&self, epoch: u32) -> bool {
        is_before(epoch, self.doubted_in)
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
            state.begin_at(gid, lid, lmc);
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
        let mut state = EndpointState { epoch: last, moved_in: last, doubted_in: last, ..EndpointState::default() };
        let before = state.epoch;
        assert!(!state.is_void(before));
        state.link_changed();
        assert!(!state.is_void(before) && state.epoch != before);
        state.moved();
        assert_eq!((state.epoch, state.is_void(before), state.is_void(state.epoch)), (0, true, false));
        state.link_changed();
        assert!(!state.is_void(state.epoch) && !state.is_void(0) && state.is_void(u32::MAX));
        let before = state.epoch;
        assert!(!state.is_doubtful(before) && !state.is_doubtful(last));
        state.doubt();
        assert!(state.is_doubtful(before) && !state.is_doubtful(state.epoch) && !state.is_void(before));
    }

    #[test]
    fn half_a_circle_behind_is_void_and_further_is_ahead() {
        let state = EndpointState { moved_in: 1 << 31, epoch: 1 << 31, ..EndpointState::default() };
        assert_eq!([2, 1, 0, u32::MAX].map(|epoch| state.is_void(epoch)), [true, true, false, false]);
    }
}
