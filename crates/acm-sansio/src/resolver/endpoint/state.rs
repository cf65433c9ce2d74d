//! The provider's state of an endpoint: groups, credits, round-trip times, epochs.
use super::{
    announced::{Announcement, Defences},
    answered::Answered,
    fetched::EndpointPrefetch,
    group::Group,
    group_share::most_requests,
    hosts::Hosts,
    id_rules::IdRules,
    round_trip::RoundTrip,
    topology::Topology,
};
use crate::{
    accounts::{credit::CreditQueue, window::Window},
    provider::Context,
    resolver::{
        dest::{Remote, RouteKey},
        paths,
        token::DestId,
    },
};
use alloc::vec::Vec;
use ib_mad::{
    Gid, Lid,
    id::Lmc,
    sa::{McMemberRecord, PathRecord},
};

/// The provider's state of an endpoint.
#[derive(Debug, Default)]
pub(crate) struct EndpointState {
    /// Its groups, least preferred first.
    pub(crate) groups: Vec<Group>,
    /// Destinations that wait for a credit for their multicast request.
    pub(crate) queue: CreditQueue<DestId>,
    pub(crate) round_trip: RoundTrip,
    /// The number of multicast requests in flight with `resolve_depth auto`.
    pub(crate) window: Window<false>,
    pub(crate) announcement: Announcement,
    pub(crate) defences: Defences,
    pub(crate) answered: Answered,
    pub(crate) prefetch: EndpointPrefetch,
    pub(crate) id_rules: IdRules,
    pub(crate) hosts: Hosts,
    pub(crate) topology: Topology,
    /// The number of changes of its addresses, which its datagrams have; 1 begins again after the largest.
    pub(crate) generation: u16,
    /// The last known GID, LID and LMC of the port, at which paths begin.
    origin: Option<(Gid, Lid, Lmc)>,
    /// Counts events that may have invalidated paths. A path of an earlier epoch is checked before it is served.
    epoch: u32,
    /// Paths from before this epoch begin at a LID or GID that the port no longer has.
    void_before: u32,
    /// Paths from before this epoch may be wrong.
    stale_before: u32,
    /// Counts events after which failed lookups may succeed.
    failures_epoch: u32,
}

impl EndpointState {
    /// Returns how many multicast requests may be in flight.
    pub(crate) fn depth(&self, cx: &Context) -> u32 {
        cx.shared.config().resolve_depth.or(self.window.depth().min(most_requests(cx.shared.fabric_size())))
    }

    /// Returns the number of groups that the endpoint is a member of. Peers do not reach it through the base group before
    /// its queue pair is attached.
    pub(crate) fn joined_groups(&self, is_open: bool) -> usize {
        let is_complete = |(rank, group): (usize, &Group)| rank > 0 || group.is_attached && is_open;
        self.groups
            .iter()
            .enumerate()
            .filter(|(_, group)| group.member.is_some())
            .filter(|entry| is_complete(*entry))
            .count()
    }

    /// Returns the memberships, least preferred first.
    pub(crate) fn joined(&self) -> impl Iterator<Item = &McMemberRecord> {
        self.groups.iter().filter_map(|group| group.member.as_ref())
    }

    /// Returns the membership in the base group.
    pub(crate) fn base_group(&self) -> Option<&McMemberRecord> {
        self.groups.first()?.member.as_ref()
    }

    /// Returns the last of a peer's groups that the endpoint is in, too.
    pub(crate) fn best_shared(&self, theirs: &[Gid]) -> Option<Gid> {
        theirs.iter().rev().copied().find(|mgid| self.joined().any(|member| member.mgid == *mgid))
    }

    /// Returns the key of the path to a GID.
    pub(crate) fn route_key_to(&self, dgid: Gid) -> RouteKey {
        let traffic_class = self.base_group().map_or(0, |member| member.traffic_class);
        RouteKey { dgid, traffic_class, ..RouteKey::default() }
    }

    /// Returns the path to a location from the parameters of the shared group. `own_lid` is the port's.
    pub(crate) fn path_by_group(&self, remote: &Remote, own_lid: Lid) -> Option<PathRecord> {
        let member = self.joined().find(|member| Some(member.mgid) == remote.group)?;
        Some(paths::from_group(member, remote, own_lid))
    }

    /// Records the port's GID and LIDs. If they changed, invalidates all paths and returns `true`.
    pub(crate) fn update_origin(&mut self, gid: Gid, lid: Lid, lmc: Lmc) -> bool {
        let has_moved = self.origin.replace((gid, lid, lmc)).is_some_and(|before| before != (gid, lid, lmc));
        if has_moved {
            self.moved();
        }
        has_moved
    }

    /// Returns the epoch for a failure that happens now.
    pub(crate) const fn failures_epoch(&self) -> u32 {
        self.failures_epoch
    }

    /// Invalidates all cached failures.
    pub(crate) const fn retry_failed(&mut self) {
        self.failures_epoch = self.failures_epoch.wrapping_add(1);
    }

    /// Returns the epoch for a path that is found now.
    pub(crate) const fn epoch(&self) -> u32 {
        self.epoch
    }

    fn moved(&mut self) {
        self.mark_stale();
        self.void_before = self.epoch;
    }

    /// Records that the link has another MTU or rate, which may be too low for cached paths.
    pub(crate) fn link_changed(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// Marks all paths as possibly wrong.
    pub(crate) const fn mark_stale(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        self.stale_before = self.epoch;
    }

    /// Reports whether a path of this epoch begins at a LID or GID that the port no longer has.
    pub(crate) const fn is_void(&self, epoch: u32) -> bool {
        is_before(epoch, self.void_before)
    }

    /// Reports whether a path of this epoch may be wrong.
    pub(crate) const fn is_stale(&self, epoch: u32) -> bool {
        is_before(epoch, self.stale_before)
    }
}

/// Compares epochs with wrap-around. Two billion changes do not happen within the lifetime of a path.
const fn is_before(epoch: u32, mark: u32) -> bool {
    mark.wrapping_sub(epoch).wrapping_sub(1) < u32::MAX / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_gid_lid_or_lmc_invalidates_paths() {
        let mut state = EndpointState::default();
        let at = |gid: &str, lid, lmc| (gid.parse().unwrap(), Lid::new(lid), Lmc::checked(lmc).unwrap());
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
    fn epochs_separate_void_stale_and_valid_paths() {
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
        assert!(!state.is_stale(before) && state.is_stale(last), "what is void is stale");
        state.mark_stale();
        assert!(state.is_stale(before) && !state.is_stale(state.epoch) && !state.is_void(before));
    }

    #[test]
    fn epochs_wrap_around() {
        let state = EndpointState { void_before: 1 << 31, epoch: 1 << 31, ..EndpointState::default() };
        assert_eq!([2, 1, 0, u32::MAX].map(|epoch| state.is_void(epoch)), [true, true, false, false]);
    }
}
