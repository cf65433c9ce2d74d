//! Preloaded routes and hosts, which are used before a multicast request or a query to the subnet administrator.
//!
//! A preloaded entry becomes an ordinary destination, which is evicted and recreated like any other. It does not
//! expire, but the next load invalidates it. The fabric takes precedence: an entry whose port or address is found
//! elsewhere, or with other values, is ignored until the next load. Routes are valid only while the local port has the
//! LID that the table has for it.
use crate::{
    api::{id::EndpointId, preload::Preload},
    provider::Context,
    resolver::{
        dest::{DestKey, DestState, Remote, Routing},
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
                let (remote, addr_until) = (*remote, *addr_until);
                let known = match (&remote, key) {
                    (Some(remote), _) => self.file_path_to(cx, endpoint, remote),
                    (None, DestKey::Route(key)) => self.file_path(cx, endpoint, key),
                    (None, DestKey::Address(_)) => None,
                };
                if let Some(known) = known {
                    let lookup = self.end_operations(cx, id);
                    self.make_ready(cx, id, remote, addr_until, known, lookup);
                }
            }
            _ => {}
        }
    }

    /// Reports whether a remote host claims an address that the table of hosts has at another GID. The claim is then
    /// verified, as if a local user had requested the address.
    pub(crate) fn is_listed_elsewhere(&mut self, cx: &mut Context, id: DestId, claimed: &Remote) -> bool {
        let dest = self.cache.at(id);
        let DestKey::Address(address) = &dest.key else { return false };
        if self.preload.gid_of(address).is_none_or(|gid| gid == claimed.gid) {
            return false;
        }
        // The table may contain an address whose lookup failed before.
        if matches!(dest.state, DestState::Failed(_)) {
            self.cache.enter(id, DestState::Unknown);
        }
        self.fill(cx, id);
        true
    }
}
