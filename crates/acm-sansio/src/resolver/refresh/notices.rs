//! Notices of the subnet administrator: a destination at a port that appeared or disappeared is looked up again by its
//! next request; a deleted group is joined again.
//!
//! A notice only causes new lookups and joins; its content is not used for paths. A forged notice costs one lookup of
//! each destination in use, or a join.
use crate::{
    api::id::PortId,
    provider::{Context, Notice},
    resolver::{
        cache::Cache,
        state::Ibacmp,
        token::{DestId, Task},
    },
};
use core::time::Duration;

/// The number of destinations that are invalidated at a time, which takes a fraction of a millisecond. A port has few
/// names, unless a remote host claims more.
const SLICE: usize = 1024;
/// The pause between two slices.
const PAUSE: Duration = Duration::from_millis(1);

impl Ibacmp {
    pub(crate) fn handle_notice(&mut self, cx: &mut Context, port: PortId, notice: Notice) {
        match notice {
            // The port may have moved or restarted: cached data about it is invalid.
            Notice::GidInService(gid) | Notice::GidOutOfService(gid) => {
                if self.preload.refute_port(gid.interface_id()) {
                    self.stats.preload_refuted += 1;
                }
                for endpoint in cx.endpoints_of(port) {
                    self.endpoints.refute_prefetched(&mut self.stats, endpoint, gid);
                }
                // A peer that did not respond before may respond now.
                if matches!(notice, Notice::GidInService(_)) {
                    cx.endpoints_of(port).into_iter().for_each(|endpoint| self.clear_failures(endpoint));
                }
                self.stale_gids.insert((port, gid));
                self.invalidate_stale_gids(cx);
            }
            Notice::GroupCreated(mgid) => self.endpoints.handle_group_notice(cx, &mut self.stats, port, mgid, false),
            Notice::GroupDeleted(mgid) => self.endpoints.handle_group_notice(cx, &mut self.stats, port, mgid, true),
        }
    }

    /// Invalidates destinations at stale GIDs, at most one slice of them.
    pub(crate) fn invalidate_stale_gids(&mut self, cx: &mut Context) {
        let mut left = SLICE;
        while let Some((port, gid)) = self.stale_gids.first().copied() {
            for endpoint in cx.endpoints_of(port) {
                let choice = cx.partition_choice(endpoint);
                let first = |cache: &Cache| cache.at_gid(endpoint, choice, gid, 1).next();
                while let Some(id) = first(&self.cache) {
                    if left == 0 {
                        let at = cx.shared.now() + PAUSE;
                        return cx.shared.set_timer(Task::StaleGids.token(), at);
                    }
                    left -= 1;
                    self.invalidate(cx, id);
                }
            }
            self.stale_gids.remove(&(port, gid));
        }
    }

    /// Drops the cached data of a destination. Its next request starts a new lookup.
    fn invalidate(&mut self, cx: &mut Context, id: DestId) {
        self.stats.destinations_left += 1;
        // A check or renewal of invalid data is useless.
        self.end_operations(cx, id).end(&mut cx.shared);
    }
}
