//! Preloaded routes and hosts, which are used before a multicast request or a query to the subnet administrator.
//!
//! A preloaded entry becomes an ordinary destination, which is evicted and recreated like any other. It does not
//! expire, but the next load invalidates it. The fabric takes precedence: an entry whose port or address is found
//! elsewhere, or with other values, is ignored until the next load. Routes are valid only while the local port has the
//! LID that the table has for it.
use crate::{
    api::{ResolverEvent, SaError, id::EndpointId, preload::Preload},
    provider::Context,
    resolver::{
        dest::{DestKey, DestState, Remote, RouteKey, Routing},
        state::Ibacmp,
        token::DestId,
    },
};
use acm_wire::Address;
use alloc::vec::Vec;
use ib_mad::{Gid, sa::PathRecord};

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

    /// Compares the table of hosts with the GID that a multicast response contained.
    pub(crate) fn compare_host(&mut self, address: &Address, gid: Gid) {
        if self.preload.gid_of(address).is_some_and(|listed| listed != gid) && self.preload.refute_host(address) {
            self.stats.preload_refuted += 1;
        }
    }

    /// Compares the tables with a response of the subnet administrator. Returns `true` if an entry is newly found
    /// wrong.
    pub(crate) fn compare_path(
        &mut self,
        cx: &mut Context,
        id: DestId,
        remote: Option<&Remote>,
        result: Result<&PathRecord, SaError>,
    ) -> bool {
        if self.preload.is_empty() {
            return false;
        }
        let dest = self.cache.at(id);
        let (endpoint, name) = (dest.endpoint, dest.name());
        let key = match (&dest.key, remote) {
            (DestKey::Route(key), _) => *key,
            (DestKey::Address(_), Some(remote)) => RouteKey { dgid: remote.gid, ..RouteKey::default() },
            (DestKey::Address(_), None) => return false,
        };
        let Some(port) = cx.port_of(endpoint) else { return false };
        let mut news = false;
        if let Some((gid, route)) = self.preload.route(port, &key) {
            let differs = match result {
                Ok(path) => {
                    let lmc = port.lmc;
                    (path.dlid.base(lmc), path.qos_sl.sl(), path.mtu.value(), path.rate.value())
                        != (route.dlid.base(lmc), route.sl, route.mtu, route.rate)
                }
                Err(error) => error.is_no_path(),
            };
            news = differs && self.preload.refute_port(gid.interface_id());
        }
        if result.is_err_and(SaError::is_no_path) {
            // The port does not exist; a multicast request may find the address elsewhere.
            news |= self.preload.gid_of(&name) == Some(key.dgid) && self.preload.refute_host(&name);
        }
        if news {
            self.stats.preload_refuted += 1;
            cx.shared.log(ResolverEvent::PreloadRefuted(endpoint, name).into());
        }
        news
    }
}
