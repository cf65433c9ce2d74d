//! Cached paths and tables from files that the fabric contradicts: the subnet administrator (SA), which has no such path
//! or another one, as a query of the daemon or of a client (QUERY_SA) shows, or a host.
use crate::{
    api::{ResolverEvent, SaError, id::EndpointId},
    provider::Context,
    resolver::{
        dest::{DestKey, DestState, Remote, RouteKey, ServedPath},
        doubts::MOST_COMPARED,
        state::Ibacmp,
        token::DestId,
    },
};
use acm_wire::Address;
use alloc::vec::Vec;
use ib_mad::{
    Gid,
    sa::{PathMask, PathRecord, Query},
};

impl Ibacmp {
    /// Drops cached paths that match a query to which the SA returned no path. The SA would have returned a path like
    /// them, so they no longer exist.
    pub(crate) fn path_refuted(&mut self, cx: &mut Context, endpoint: EndpointId, query: &Query<PathRecord>) {
        let dgid = query.record().dgid;
        let at_gid = self.cache.at_gid(endpoint, cx.partition_choice(endpoint), dgid, MOST_COMPARED);
        for id in at_gid.collect::<Vec<_>>() {
            if self.is_refuted(cx, id, query) {
                self.endpoints.refute_prefetched(&mut self.stats, endpoint, dgid);
                self.stats.paths_refuted += 1;
                if let Some(dest) = self.cache.get(id) {
                    cx.shared.log(ResolverEvent::RouteRemoved(dest.endpoint, dest.name()).into());
                }
                // The peer may be elsewhere: the next request starts with the address.
                self.drop_path(cx, id);
                self.cache.enter(id, DestState::Unknown);
            }
        }
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

    /// Reports whether the cached path of a destination matches the query, and is for the same service and class.
    fn is_refuted(&self, cx: &Context, id: DestId, query: &Query<PathRecord>) -> bool {
        let ready = self.cache.get(id).and_then(|dest| dest.state.ready());
        let Some(ServedPath { remote, path, .. }) = ready.filter(|ready| ready.freshness.preloaded.is_none()) else {
            return false;
        };
        let asked = query.record();
        self.route_key(id, remote.as_ref()).is_some_and(|(endpoint, key)| {
            let [cached_for, asked_for] =
                [key.service_id, asked.service_id].map(|service| self.canonical_id(cx, endpoint, service));
            (cached_for, key.qos_class) == (asked_for, asked.qos_sl.qos_class())
                && query.without(PathMask::SERVICE_ID | PathMask::QOS_CLASS).matches(path)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{
        config::Config,
        id::{PortId, ProviderId},
    };
    use ib_mad::{Pkey, ServiceId};

    // docs/deadlines.md: refuted
    #[test]
    fn query_is_compared_with_1024_destinations_of_a_port() {
        let (mut cx, mut ibacmp) = (Context::new(Config::default(), 1.into()), Ibacmp::new(1));
        let here = cx.ports.open(PortId(0), 0, Pkey::DEFAULT_FULL, ProviderId::BUILT_IN);
        let path = PathRecord { dgid: "fe80::7".parse().unwrap(), ..PathRecord::default() };
        let remote = Remote { gid: path.dgid, ..Remote::default() };
        for number in 0..=1024 {
            let name = alloc::format!("x{number}");
            let id = ibacmp.acquire(&mut cx, here, DestKey::Address(Address::from_text(&name))).unwrap();
            ibacmp.cache.enter(id, DestState::Ready(ServedPath::new(Some(remote), path, 0)));
        }
        let query = Query::<PathRecord>::new().dgid(path.dgid);
        ibacmp.path_refuted(&mut cx, here, &query.pkey(Pkey::new(0x8001)));
        ibacmp.path_refuted(&mut cx, here, &query.service_id(ServiceId::new(7)));
        assert_eq!(ibacmp.stats.paths_refuted, 0, "other paths");
        ibacmp.path_refuted(&mut cx, here, &query);
        assert_eq!(ibacmp.stats.paths_refuted, 1024);
    }
}
