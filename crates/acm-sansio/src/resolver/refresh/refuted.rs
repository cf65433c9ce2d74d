//! Cached paths that the subnet administrator (SA) does not have, as a query of a client showed (QUERY_SA).
use crate::{
    api::{ResolverEvent, id::EndpointId},
    provider::Context,
    resolver::{
        dest::{DestState, ServedPath},
        state::Ibacmp,
        token::DestId,
    },
};
use ib_mad::sa::{PathMask, PathRecord, Query};

/// The number of addresses at a port, and of paths to it, that are compared, which takes a fraction of a millisecond.
const MOST_COMPARED: usize = 1024;

impl Ibacmp {
    /// Drops cached paths that match a query to which the SA returned no path. The SA would have returned a path like
    /// them, so they no longer exist.
    pub(crate) fn path_refuted(&mut self, cx: &mut Context, endpoint: EndpointId, query: &Query<PathRecord>) {
        let dgid = query.record().dgid;
        for id in self.cache.at_gid(endpoint, dgid, MOST_COMPARED) {
            if self.is_refuted(cx, id, query) {
                self.endpoints.refute_prefetched(&mut self.stats, endpoint, dgid);
                self.stats.paths_refuted += 1;
                if let Some(dest) = self.cache.get(id) {
                    cx.shared.log(ResolverEvent::RouteRemoved(endpoint, dest.name()).into());
                }
                // The peer may be elsewhere: the next request starts with the address.
                self.drop_path(cx, id);
                self.cache.enter(id, DestState::Unknown);
            }
        }
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
    use crate::{
        api::{
            config::Config,
            id::{PortId, ProviderId},
        },
        resolver::dest::{DestKey, Remote},
    };
    use acm_wire::Address;
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
