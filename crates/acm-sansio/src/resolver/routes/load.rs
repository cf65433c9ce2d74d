//! Loads preloaded tables, which end lookups in progress.
use crate::{
    api::{id::EndpointId, preload::Preload},
    provider::Context,
    resolver::{
        dest::{DestKey, DestState, Remote, Routing},
        paths::PathSource,
        state::Ibacmp,
        token::DestId,
    },
};
use alloc::vec::Vec;

impl Ibacmp {
    /// Replaces a table. Destinations from the previous table are recreated at their next use. Lookups that the tables
    /// can answer end.
    pub(crate) fn load(&mut self, cx: &mut Context, preload: Preload) {
        self.preload.take(preload);
        let endpoints: Vec<EndpointId> = self.endpoints.ids().collect();
        for endpoint in endpoints {
            self.withdraw_all(cx, endpoint);
            self.clear_failures(endpoint);
            for id in self.cache.busy(endpoint) {
                self.answer_from_tables(cx, id, endpoint);
            }
        }
        self.stats.preload_loads += 1;
    }

    /// Ends a lookup in progress with the path from the tables, or goes on with the GID from the table of hosts.
    pub(super) fn answer_from_tables(&mut self, cx: &mut Context, id: DestId, endpoint: EndpointId) {
        let dest = self.cache.at(id);
        match (&dest.state, &dest.key) {
            (DestState::Locating(_), DestKey::Address(address)) => {
                if let Some(gid) = self.preload.gid_of(address) {
                    let lookup = self.end_operations(cx, id);
                    self.find_route(cx, id, Remote { gid, ..Remote::default() }, lookup);
                }
            }
            (DestState::Routing(Routing { remote, addr_until, .. }), key) => {
                let location = (*remote, *addr_until);
                let path = match (remote, key) {
                    (Some(remote), _) => self.preloaded_path_to(cx, endpoint, remote),
                    (None, DestKey::Route(key)) => self.preloaded_path(cx, endpoint, key),
                    (None, DestKey::Address(_)) => None,
                };
                if let Some(path) = path {
                    let lookup = self.end_operations(cx, id);
                    self.make_ready(cx, id, location, (path, PathSource::File), lookup);
                }
            }
            _ => {}
        }
    }
}
