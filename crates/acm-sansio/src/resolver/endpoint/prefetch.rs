//! Prefetch: all paths from a port at once, as one table of the subnet administrator (SA).
//!
//! An endpoint queries the table with its query for one path, but without the destination. While there is no table, and
//! for a path that is not in it, each path is queried as if there were no prefetch. In a fabric of 10,000 ports a table
//! costs the SA as much time as some hundred queries. The tables of all ports are spread over a time that grows with
//! the square of the fabric's size.
use super::{
    EndpointState, Endpoints,
    fetched::{ColdLookups, EndpointPrefetch, Fetched, cold_lookups},
    path_table::PathTable,
};
use crate::{
    api::{ResolverEvent, SaError, account::DAEMON, config::Prefetch, id::EndpointId},
    provider::{Context, PortEvent},
    resolver::{
        dest::RouteKey,
        stats::IbacmpStats,
        token::{DestId, Task},
    },
    retry::{JOIN_SPREAD, NOTICES_SPREAD, PREFETCH, PREFETCH_LATER, PREFETCH_SOON, prefetch_spread},
    sa::SaQuery,
};
use alloc::vec::Vec;
use core::time::Duration;
use ib_mad::{
    Gid, Lid, Lmc,
    sa::{PathRecord, Query},
};

/// The time after which a table is no longer used. After half of this time, a table that was used is requested again.
/// After a quarter of this time, cold lookups cause another table.
const LIFE: Duration = Duration::from_secs(60 * 60);
/// The number of waiting lookups that are completed at a time.
const SLICE: usize = 1024;
/// The pause between two slices.
const PAUSE: Duration = Duration::from_millis(1);

impl Endpoints {
    fn prefetch(&mut self, endpoint: EndpointId) -> Option<&mut EndpointPrefetch> {
        self.at_mut(endpoint).map(|state| &mut state.prefetch)
    }

    /// Requests the table at a random time after `pause`, because other nodes may do the same now. The joins and
    /// subscriptions of all nodes go first.
    fn prefetch_later(cx: &mut Context, endpoint: EndpointId, pause: Duration) {
        if cx.shared.config().prefetch != Prefetch::Off {
            let ports = cx.shared.fabric_size();
            let others = JOIN_SPREAD.below(ports) + NOTICES_SPREAD.below(ports);
            let at = cx.shared.now() + pause + others + cx.shared.spread(prefetch_spread(ports, PREFETCH_LATER));
            cx.shared.set_timer(Task::Prefetch(endpoint).token(), at);
        }
    }

    /// Handles the join of the base group.
    pub(crate) fn prefetch_joined(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let now = cx.shared.now();
        let is_idle = cx.shared.timer(Task::Prefetch(endpoint).token()).is_none();
        let Some(state) = self.prefetch(endpoint) else { return };
        let is_needed = state.query.is_none() && state.table(now).is_none();
        if cx.shared.config().prefetch == Prefetch::On && is_idle && is_needed {
            Self::prefetch_later(cx, endpoint, Duration::ZERO);
        }
    }

    /// Counts a lookup that needed a query although a table may have its path. Requests the table if there are many.
    pub(crate) fn count_cold_lookup(&mut self, cx: &mut Context, endpoint: EndpointId, key: &RouteKey) {
        let (now, mode, ports) = (cx.shared.now(), cx.shared.config().prefetch, cx.shared.fabric_size());
        let token = Task::Prefetch(endpoint).token();
        let due = cx.shared.timer(token);
        let is_local =
            cx.port_of(endpoint).is_some_and(|port| key.dgid.is_zero() || key.dgid.prefix() == port.gid().prefix());
        let Some(EndpointState { prefetch: state, .. }) = self.get_mut(endpoint) else { return };
        let is_pausing = state.failures > 0 && due.is_some();
        if mode == Prefetch::Off || state.query.is_some() || is_pausing || !is_local || !key.has_only_ends() {
            return;
        }
        let is_young = state.table(now).is_some_and(|table| now.since(table.since) < table.life / 4);
        let has_table = state.table(now).is_some();
        if state.cold.count(now) >= cold_lookups(ports) && !is_young {
            state.cold = ColdLookups::default();
            // The next table replaces this one even if it was not used.
            if let Some(table) = &mut state.table {
                table.used = true;
            }
            let spread = prefetch_spread(ports, PREFETCH_SOON);
            if due.is_none_or(|due| due > now + spread.below(ports)) {
                let at = now + cx.shared.spread(spread);
                cx.shared.set_timer(token, at);
            }
        } else if mode == Prefetch::On && !has_table && due.is_none() {
            Self::prefetch_later(cx, endpoint, Duration::ZERO);
        }
    }

    /// Requests the table, unless it is no longer needed.
    pub(crate) fn request_table(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let is_off = cx.shared.config().prefetch == Prefetch::Off;
        let Some(pkey) = cx.endpoint(endpoint).map(|endpoint| endpoint.pkey) else { return };
        let Some(state) = self.prefetch(endpoint) else { return };
        // A table that nobody used is not worth another one, until lookups need it.
        let was_useless = state.table.take_if(|table| is_off || !table.used).is_some();
        if is_off || was_useless || state.query.is_some() {
            return;
        }
        let query = SaQuery::PathTable(Query::<PathRecord>::new().pkey(pkey).reversible(true).num_path(1));
        state.query = cx.sa_query(endpoint, Task::Prefetch(endpoint).token(), query, DAEMON).ok();
    }

    /// Handles a query for the table that failed.
    pub(crate) fn prefetch_failed(
        &mut self,
        cx: &mut Context,
        stats: &mut IbacmpStats,
        endpoint: EndpointId,
        error: SaError,
    ) {
        let now = cx.shared.now();
        let Some(state) = self.prefetch(endpoint) else { return };
        state.query = None;
        state.table.take_if(|table| !table.is_valid(now));
        // The table is requested again when the port is back.
        if error == SaError::PortDown {
            return;
        }
        state.failures = state.failures.saturating_add(1);
        let pause = PREFETCH.pause(state.failures);
        stats.prefetches_failed += 1;
        let pause = cx.shared.jitter(pause);
        cx.shared.log(ResolverEvent::PrefetchFailed(endpoint, error, pause.as_secs()).into());
        Self::prefetch_later(cx, endpoint, pause);
    }

    /// Stores a table, unless the option was switched off. `waiting` are the lookups in progress, which it may complete.
    pub(crate) fn prefetch_done(
        &mut self,
        cx: &mut Context,
        stats: &mut IbacmpStats,
        endpoint: EndpointId,
        paths: PathTable,
        waiting: Vec<DestId>,
    ) -> bool {
        let (since, route_until) = (cx.shared.now(), cx.route_end());
        let life = cx.shared.config().route_timeout.map_or(LIFE, |timeout| timeout.min(LIFE));
        let is_off = cx.shared.config().prefetch == Prefetch::Off;
        let Some(state) = self.prefetch(endpoint) else { return false };
        if is_off {
            *state = EndpointPrefetch::default();
            return false;
        }
        (state.query, state.failures, state.waiting) = (None, 0, waiting);
        let event = ResolverEvent::Prefetched(endpoint, paths.len(), paths.left_out());
        state.table = Some(Fetched { paths, since, life, route_until, used: false });
        stats.prefetches += 1;
        cx.shared.log(event.into());
        true
    }

    /// Returns the next of the lookups that waited for a query when the table arrived.
    pub(crate) fn take_waiting(&mut self, endpoint: EndpointId) -> Vec<DestId> {
        let Some(EndpointPrefetch { waiting, .. }) = self.prefetch(endpoint) else { return Vec::new() };
        waiting.split_off(waiting.len().saturating_sub(SLICE))
    }

    /// Sets the timer for the next of these lookups, or for the next table.
    pub(crate) fn schedule_prefetch(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let Some(state) = self.prefetch(endpoint) else { return };
        if !state.waiting.is_empty() {
            let at = cx.shared.now() + PAUSE;
            return cx.shared.set_timer(Task::Prefetch(endpoint).token(), at);
        }
        let life = state.table.as_ref().map_or(LIFE, |table| table.life);
        let pause = cx.shared.jitter(life / 2);
        Self::prefetch_later(cx, endpoint, pause);
    }

    /// Marks the paths to a port as wrong: the fabric contradicted one, or reported a change of the port.
    pub(crate) fn refute_prefetched(&mut self, stats: &mut IbacmpStats, endpoint: EndpointId, dgid: Gid) {
        let table = self.get_mut(endpoint).and_then(|state| state.prefetch.table.as_mut());
        if table.is_some_and(|table| table.paths.refute(dgid)) {
            stats.prefetch_refuted += 1;
        }
    }

    /// Compares the table with a datagram of a host.
    pub(crate) fn contradict_prefetched(
        &mut self,
        stats: &mut IbacmpStats,
        endpoint: EndpointId,
        lid: Lid,
        lmc: Lmc,
        gid: Gid,
    ) {
        if let Some(table) = self.get_mut(endpoint).and_then(|state| state.prefetch.table.as_mut()) {
            stats.prefetch_refuted += table.paths.contradict(lid, lmc, gid);
        }
    }

    /// Compares the table with a response of the subnet administrator.
    pub(crate) fn compare_prefetched(
        &mut self,
        stats: &mut IbacmpStats,
        endpoint: EndpointId,
        key: &RouteKey,
        result: Result<&PathRecord, SaError>,
    ) {
        let table = self.at(endpoint).prefetch.table.as_ref();
        let Some(path) = table.and_then(|table| table.paths.path(key)) else { return };
        if result.map_or_else(SaError::is_no_path, |found| *found != path) {
            self.refute_prefetched(stats, endpoint, path.dgid);
        }
    }

    /// Drops the table after a change of the port or of the subnet manager. A table that was used is requested again.
    pub(crate) fn prefetch_changed(&mut self, cx: &mut Context, endpoint: EndpointId, event: PortEvent) {
        let Some(state) = self.get_mut(endpoint).map(|state| &mut state.prefetch) else { return };
        let before = core::mem::take(state);
        cx.shared.clear_timer(Task::Prefetch(endpoint).token());
        if let Some(query) = before.query {
            cx.sa_discard(query);
        }
        let was_needed = before.query.is_some() || before.table.is_some_and(|table| table.used);
        if event != PortEvent::Down && (was_needed || cx.shared.config().prefetch == Prefetch::On) {
            Self::prefetch_later(cx, endpoint, Duration::ZERO);
        }
    }
}

#[cfg(test)]
mod tests;
