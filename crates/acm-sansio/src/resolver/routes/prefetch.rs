//! Lookups that are completed from the table of all paths.
use crate::{
    api::{SaError, id::EndpointId},
    provider::Context,
    resolver::{
        dest::{DestKey, DestState, Routing},
        endpoint::path_table::PathTable,
        state::Ibacmp,
        token::DestId,
    },
};
use ib_mad::MadRef;

impl Ibacmp {
    /// Handles the timer of an endpoint: completes waiting lookups, or requests the table.
    pub(crate) fn prefetch_due(&mut self, cx: &mut Context, endpoint: EndpointId) {
        if self.endpoints.at(endpoint).prefetch.waiting.is_empty() {
            self.endpoints.request_table(cx, endpoint);
        } else {
            self.complete_waiting(cx, endpoint);
        }
    }

    /// Handles the result of the query for the table.
    pub(crate) fn prefetch_done(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        result: Result<MadRef<'_>, SaError>,
    ) {
        let read = |table| cx.port_of(endpoint).map_or(Err(SaError::PortDown), |port| PathTable::read(port, table));
        match result.and_then(read) {
            Err(error) => self.endpoints.prefetch_failed(cx, &mut self.stats, endpoint, error),
            Ok(paths) => {
                let waiting = self.cache.busy(endpoint);
                if self.endpoints.prefetch_done(cx, &mut self.stats, endpoint, paths, waiting) {
                    self.complete_waiting(cx, endpoint);
                }
            }
        }
    }

    /// Completes a slice of the lookups that wait for the turn of their query.
    fn complete_waiting(&mut self, cx: &mut Context, endpoint: EndpointId) {
        for id in self.endpoints.take_waiting(endpoint) {
            self.complete_from_table(cx, id, endpoint);
        }
        self.endpoints.schedule_prefetch(cx, endpoint);
    }

    /// Completes a lookup whose query was not sent yet, if the table has its path. The lookup may have ended since the
    /// table arrived.
    fn complete_from_table(&mut self, cx: &mut Context, id: DestId, endpoint: EndpointId) {
        let Some(dest) = self.cache.get(id) else { return };
        let (DestState::Routing(Routing { remote, query, addr_until, shown, .. }), key) = (&dest.state, dest.key)
        else {
            return;
        };
        let (remote, addr_until, query) = (*remote, *addr_until, *query);
        let known = match (&key, &remote) {
            // The table may be older than the datagram that contradicted the path.
            (DestKey::Route(_), _) if dest.doubts.are_open() || shown.is_some() => None,
            (DestKey::Route(key), _) => self.table_path(cx, endpoint, key),
            (DestKey::Address(_), Some(remote)) => self.table_path_to(cx, endpoint, remote),
            (DestKey::Address(_), None) => None,
        };
        let Some(known) = known.filter(|_| cx.sa_cancel(query)) else { return };
        if let Some(routing) = self.cache.take_routing(id) {
            self.make_ready(cx, id, remote, addr_until, known, routing.lookup);
        }
    }
}
