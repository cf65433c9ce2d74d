//! What subnet administration noticed: a port that came or went is asked for anew by whoever needs it next, a group that
//! vanished is joined again.
//!
//! Nothing here takes a notice's word for more than "look again": a forged one costs a lookup of each destination that
//! is used, or a join.
use super::{
    dest::DestState,
    state::Ibacmp,
    token::{DestId, Task},
};
use crate::{
    context::Context,
    id::{EndpointId, PortId},
    provider::Notice,
    retry::REJOIN_SPREAD,
};
use alloc::vec::Vec;
use core::time::Duration;
use ib_mad::Gid;

/// Destinations that are forgotten in one go: a fraction of a millisecond. A port has a handful of names, unless
/// somebody claims more.
const SLICE: usize = 1024;
/// Between two slices.
const PAUSE: Duration = Duration::from_millis(1);

impl Ibacmp {
    pub(super) fn handle_notice(&mut self, cx: &mut Context, port: PortId, notice: Notice) {
        match notice {
            // It is elsewhere, or has another queue pair: what was known of it does not count any more.
            Notice::GidInService(gid) | Notice::GidOutOfService(gid) => {
                if self.preload.refute_port(gid.interface_id()) {
                    self.stats.preload_refuted += 1;
                }
                // Whoever was not there may be there now.
                if matches!(notice, Notice::GidInService(_)) {
                    cx.endpoints_of(port).into_iter().for_each(|endpoint| self.clear_failures(endpoint));
                }
                self.stale_gids.insert((port, gid));
                self.invalidate_stale_gids(cx);
            }
            Notice::GroupCreated(mgid) => self.handle_group_notice(cx, port, mgid, false),
            Notice::GroupDeleted(mgid) => self.handle_group_notice(cx, port, mgid, true),
        }
    }

    /// Forgets destinations at GIDs that left, up to a slice of them.
    pub(super) fn invalidate_stale_gids(&mut self, cx: &mut Context) {
        let mut room = SLICE;
        while let Some((port, gid)) = self.stale_gids.first().copied() {
            for endpoint in cx.endpoints_of(port) {
                while let Some(id) = self.cache.first_at(endpoint, gid) {
                    if room == 0 {
                        let at = cx.now() + PAUSE;
                        return cx.set_timer(Task::StaleGids.token(), at);
                    }
                    room -= 1;
                    self.invalidate(cx, id);
                }
            }
            self.stale_gids.remove(&(port, gid));
        }
    }

    /// Whoever needs a destination that is known next asks for it anew.
    fn invalidate(&mut self, cx: &mut Context, id: DestId) {
        self.stats.destinations_left += 1;
        // Checking or renewing what counts no more is of no use.
        if let DestState::Ready(ready) = self.cache.enter(id, DestState::Unknown) {
            self.end_ready(cx, id, ready);
        }
    }

    /// A group was made or deleted: each endpoint of the port that wants to be in it joins, as if the subnet manager
    /// had forgotten.
    fn handle_group_notice(&mut self, cx: &mut Context, port: PortId, mgid: Gid, is_gone: bool) {
        for endpoint in cx.endpoints_of(port) {
            let groups = self.endpoints.get(&endpoint).map(|state| state.groups.as_slice()).unwrap_or_default();
            let concerned = |group: &super::membership::Group| {
                group.mgid == mgid && group.join.is_none() && group.member.is_some() == is_gone
            };
            let indexes: Vec<u32> = groups.iter().filter(|group| concerned(group)).map(|group| group.index).collect();
            for index in indexes {
                self.join_after_notice(cx, endpoint, index);
            }
        }
    }

    fn join_after_notice(&mut self, cx: &mut Context, endpoint: EndpointId, index: u32) {
        let token = Task::Group(endpoint, index).token();
        // Notice upon notice: one join in the time that a join may take.
        let requested_at = self.group(endpoint, index).and_then(|group| group.requested_at);
        let after = requested_at.map(|requested_at| requested_at + cx.config().timeout);
        let first = after.map_or(cx.now(), |after| cx.now().max(after));
        if cx.timer(token).is_none_or(|due| due > first + REJOIN_SPREAD) {
            self.stats.groups_noticed += 1;
            let at = first + cx.spread(REJOIN_SPREAD);
            cx.set_timer(token, at);
        }
    }
}
