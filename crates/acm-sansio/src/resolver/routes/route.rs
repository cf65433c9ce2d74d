//! Requests for paths to ports by LID or GID.
use crate::{
    api::{
        failure::{Bound, Failure},
        id::EndpointId,
    },
    provider::{Context, Need, Resolution},
    resolver::{
        dest::{DestKey, Lookup, RouteKey},
        state::Ibacmp,
    },
};
use ib_mad::{Gid, sa::PathRecord};

impl Ibacmp {
    /// Returns the path to a port given by LID or GID, or starts a lookup.
    pub(crate) fn resolve_route(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        path: &PathRecord,
        need: Need,
    ) -> Resolution {
        // The port's own GID is the source without a condition.
        let is_own = cx.port_of(endpoint).is_some_and(|port| port.gid() == path.sgid);
        let key = RouteKey {
            service_id: self.id_to_query(cx, endpoint, path.service_id, need),
            dgid: path.dgid,
            sgid: if is_own { Gid::default() } else { path.sgid },
            dlid: path.dlid,
            slid: path.slid,
            traffic_class: path.traffic_class,
            qos_class: path.qos_sl.qos_class(),
            sl: path.qos_sl.sl(),
            mtu: path.mtu,
            rate: path.rate,
            packet_life_time: path.packet_life_time,
        };
        let Some(id) = self.acquire(cx, endpoint, DestKey::Route(key)) else {
            return Failure::TooMany(Bound::Destinations).into();
        };
        if let Some(resolution) = self.cached_resolution(cx, id, endpoint, need) {
            return resolution;
        }
        if let Some(resolution) = self.prefetched_resolution(cx, id, endpoint) {
            self.note_user(cx, id, need.account);
            return resolution;
        }
        if let Some(resolution) = self.preloaded_resolution(cx, id, endpoint) {
            self.note_user(cx, id, need.account);
            return resolution;
        }
        match Lookup::begin(cx, need) {
            Ok(lookup) => {
                let addr_until = cx.addr_end();
                let resolution = self.query_route(cx, id, None, addr_until, lookup);
                self.note_undecided(cx, endpoint, key.service_id, id);
                resolution
            }
            Err(failure) => {
                self.cache.remove_if_not_found(id);
                failure.into()
            }
        }
    }
}
