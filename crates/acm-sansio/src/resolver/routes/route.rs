//! Paths to ports, and the keys and attempts of all path queries.
use crate::{
    api::{
        failure::{AttemptDetails, Bound, Failure, MulticastAttempt},
        id::EndpointId,
    },
    provider::{Context, Need, Resolution},
    resolver::{
        dest::{DestKey, DestState, Lookup, Remote, RouteKey},
        paths,
        state::Ibacmp,
        token::DestId,
    },
    sa::SaQuery,
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
                let addr_until = Self::addr_end(cx);
                self.query_route(cx, id, None, addr_until, lookup);
                self.note_undecided(cx, endpoint, key.service_id, id);
            }
            Err(failure) => {
                self.cache.remove_if_not_found(id);
                return failure.into();
            }
        }
        self.current_resolution(id)
    }

    /// Returns the path query for a destination.
    pub(crate) fn path_query(&self, cx: &Context, id: DestId, remote: Option<&Remote>) -> Option<SaQuery> {
        let (endpoint, key) = self.route_key(id, remote)?;
        Some(paths::query(&key, cx.endpoint(endpoint)?.pkey))
    }

    /// Returns the endpoint of a destination, and the key of the path to it.
    pub(crate) fn route_key(&self, id: DestId, remote: Option<&Remote>) -> Option<(EndpointId, RouteKey)> {
        let dest = self.cache.at(id);
        let key = match (&dest.key, remote) {
            (DestKey::Route(key), _) => *key,
            (DestKey::Address(_), Some(remote)) => self.route_key_to(dest.endpoint, remote.gid),
            (DestKey::Address(_), None) => return None,
        };
        Some((dest.endpoint, key))
    }

    /// Returns the key of the path to a GID.
    pub(crate) fn route_key_to(&self, endpoint: EndpointId, dgid: Gid) -> RouteKey {
        let traffic_class = self.base_group(endpoint).map_or(0, |member| member.traffic_class);
        RouteKey { dgid, traffic_class, ..RouteKey::default() }
    }

    /// Returns what was tried so far for a destination.
    pub(crate) fn attempt_details_of(&self, cx: &Context, id: DestId) -> AttemptDetails {
        let dest = self.cache.at(id);
        match &dest.state {
            DestState::Locating(request) => {
                let group = self.base_group(dest.endpoint).map(|member| MulticastAttempt {
                    mgid: member.mgid,
                    times: request.times_sent,
                    time: cx.now().since(request.since),
                });
                AttemptDetails { group, ..AttemptDetails::default() }
            }
            DestState::Routing(routing) => AttemptDetails {
                found: routing.remote.map(|remote| remote.lid).filter(|lid| !lid.is_zero()),
                sa: cx.sa_attempt(dest.endpoint, routing.since),
                ..AttemptDetails::default()
            },
            DestState::Unknown | DestState::Failed(_) | DestState::Located { .. } | DestState::Ready(_) => {
                AttemptDetails::default()
            }
        }
    }
}
