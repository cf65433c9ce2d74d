//! The path to a known address.
use super::{
    Ibacmp,
    dest::{DestKey, DestState, Remote, Responder, RouteKey},
    dest_token, kind,
};
use crate::{
    Event,
    config::RouteProtocol,
    id::{DestId, EndpointId},
    output::SendTo,
    provider::{Answer, Context, Token},
    sa::SaError,
};
use acm_wire::client::{ClientStatus, Counter};
use alloc::vec::Vec;
use ib_mad::{
    Gid, Lid, Method, Pkey, Qkey, Selected,
    sa::{McMemberRecord, PathRecord, Query, ReversiblePaths, SaMad},
};

/// The path from an endpoint to itself.
pub(super) fn loopback(cx: &Context<'_>, endpoint: EndpointId) -> Option<PathRecord> {
    let (own, port) = (cx.endpoint(endpoint)?, cx.port_of(endpoint)?);
    Some(PathRecord {
        dgid: port.gid(),
        sgid: port.gid(),
        dlid: port.lid,
        slid: port.lid,
        reversible_paths: ReversiblePaths::default().with_reversible(true).with_num_path(1),
        pkey: own.pkey,
        mtu: Selected::exactly(port.mtu),
        rate: Selected::exactly(port.rate),
        ..PathRecord::default()
    })
}

/// The path that the group's parameters give.
fn from_group(member: &McMemberRecord, remote: &Remote, own_lid: Lid) -> PathRecord {
    let flow_hop = ib_mad::sa::FlowHop::default()
        .with_flow_label(member.sl_flow_hop.flow_label())
        .with_hop_limit(member.sl_flow_hop.hop_limit());
    PathRecord {
        dgid: remote.gid,
        sgid: member.port_gid,
        dlid: remote.lid,
        slid: Lid::new(own_lid.get() | u16::from(remote.path_bits)),
        flow_hop,
        traffic_class: member.traffic_class,
        reversible_paths: ReversiblePaths::default().with_reversible(true).with_num_path(1),
        pkey: member.pkey,
        qos_sl: ib_mad::sa::QosSl::default().with_sl(member.sl_flow_hop.sl()),
        mtu: member.mtu,
        rate: member.rate,
        packet_life_time: member.packet_life_time,
        ..PathRecord::default()
    }
}

/// Where a datagram to a destination goes.
pub(super) fn send_to(path: &PathRecord, remote: &Remote) -> SendTo {
    SendTo {
        lid: path.dlid,
        sl: path.qos_sl.sl(),
        src_path_bits: remote.path_bits,
        rate: path.rate.value(),
        gid: path.dgid,
        sgid: path.sgid,
        flow_label: path.flow_hop.flow_label(),
        hop_limit: path.flow_hop.hop_limit(),
        traffic_class: path.traffic_class,
        qpn: remote.qpn,
        qkey: Qkey::GSI,
    }
}

/// What subnet administration is asked: the fields that are given, and one path for both directions.
fn question(key: &RouteKey, sgid: Gid, pkey: Pkey) -> Query<PathRecord> {
    type Path = Query<PathRecord>;
    let given = |query: Path, given: bool, set: &dyn Fn(Path) -> Path| if given { set(query) } else { query };
    let query = Query::new().sgid(sgid).pkey(pkey).reversible(true).num_path(1);
    let query = given(query, !key.dgid.is_zero(), &|query| query.dgid(key.dgid));
    let query = given(query, !key.dlid.is_zero(), &|query| query.dlid(key.dlid));
    let query = given(query, !key.slid.is_zero(), &|query| query.slid(key.slid));
    let query = given(query, !key.service_id.is_zero(), &|query| query.service_id(key.service_id));
    let query = given(query, key.traffic_class != 0, &|query| query.traffic_class(key.traffic_class));
    given(query, key.qos_class != 0, &|query| query.qos_class(key.qos_class))
}

impl Ibacmp {
    /// The route to a port that is known by LID or GID.
    pub(super) fn resolve_route(&mut self, cx: &mut Context<'_>, endpoint: EndpointId, wanted: &PathRecord) -> Answer {
        let key = RouteKey {
            service_id: wanted.service_id,
            dgid: wanted.dgid,
            sgid: wanted.sgid,
            dlid: wanted.dlid,
            slid: wanted.slid,
            traffic_class: wanted.traffic_class,
            qos_class: wanted.qos_sl.qos_class(),
        };
        let Some(id) = self.acquire(cx, endpoint, DestKey::Route(key), true) else {
            return Answer::Failed(ClientStatus::ENOMEM);
        };
        let now = cx.now();
        let Some(dest) = self.cache.get_mut(id) else { return Answer::Failed(ClientStatus::ENOMEM) };
        dest.used = true;
        dest.expire(now);
        match &dest.state {
            DestState::Ready { path, .. } => {
                let path = *path;
                cx.count(endpoint, Counter::RouteCache);
                return Answer::Ready(path);
            }
            DestState::Routing { .. } => return Answer::Pending(dest_token(id)),
            _ => {}
        }
        match self.query_route(cx, id, None, None, Vec::new()) {
            Ok(()) => Answer::Pending(dest_token(id)),
            Err(error) => Answer::Failed(error.client_status()),
        }
    }

    /// Makes a destination whose address is known ready, or asks subnet administration for the way to it.
    pub(super) fn find_route(&mut self, cx: &mut Context<'_>, id: DestId, remote: Remote, responders: Vec<Responder>) {
        let Some(endpoint) = self.cache.get(id).map(|dest| dest.endpoint) else { return };
        let (addr_until, route_until) = Self::lifetimes(cx);
        if cx.config().route_protocol == RouteProtocol::Sa {
            if let Err(error) = self.query_route(cx, id, Some(remote), addr_until, responders) {
                self.fail(cx, id, error.client_status());
            }
            return;
        }
        let path = self
            .joined(endpoint)
            .find(|member| member.mgid == remote.group)
            .zip(cx.port_of(endpoint))
            .map(|(member, port)| from_group(member, &remote, port.lid));
        match (path, self.cache.get_mut(id)) {
            (Some(path), Some(dest)) => {
                dest.ready(Some(remote), path, addr_until, route_until);
                self.made_ready(cx, id, endpoint, &path, Some(remote), &responders);
            }
            _ => self.fail(cx, id, ClientStatus::ENODATA),
        }
    }

    /// Asks subnet administration. Always a fresh question: what an old answer said does not narrow it.
    fn query_route(
        &mut self,
        cx: &mut Context<'_>,
        id: DestId,
        remote: Option<Remote>,
        addr_until: Option<crate::Time>,
        responders: Vec<Responder>,
    ) -> Result<(), SaError> {
        let Some(dest) = self.cache.get(id) else { return Err(SaError::PortDown) };
        let endpoint = dest.endpoint;
        let (Some(own), Some(port)) = (cx.endpoint(endpoint), cx.port_of(endpoint)) else {
            return Err(SaError::PortDown);
        };
        let key = match (&dest.key, &remote) {
            (DestKey::Route(key), _) => *key,
            (_, Some(remote)) => {
                let traffic_class = self.base_group(endpoint).map_or(0, |member| member.traffic_class);
                RouteKey { dgid: remote.gid, traffic_class, ..RouteKey::default() }
            }
            (DestKey::Address(_), None) => RouteKey::default(),
        };
        let sgid = if key.sgid.is_zero() { port.gid() } else { key.sgid };
        let query = question(&key, sgid, own.pkey);
        let Some(dest) = self.cache.get_mut(id) else { return Err(SaError::PortDown) };
        dest.round = dest.round.wrapping_add(1) & (u32::MAX >> kind::ROUND_SHIFT);
        let token = Token { kind: kind::ROUTE | dest.round << kind::ROUND_SHIFT, ..dest_token(id) };
        cx.sa_request(endpoint, token, Method::GET, &query)?;
        if let Some(dest) = self.cache.get_mut(id) {
            dest.enter(DestState::Routing { remote, addr_until, responders });
        }
        Ok(())
    }

    /// Subnet administration answered, or will not.
    pub(super) fn routed(&mut self, cx: &mut Context<'_>, id: DestId, round: u32, answer: Result<&SaMad, SaError>) {
        let (_, route_until) = Self::lifetimes(cx);
        let Some(dest) = self.cache.get_mut(id) else { return };
        let endpoint = dest.endpoint;
        if dest.round != round || !matches!(dest.state, DestState::Routing { .. }) {
            cx.stats().stale_inputs += 1;
            return;
        }
        let record = answer.and_then(|mad| mad.record::<PathRecord>().map_err(|_| SaError::NotSent));
        match record {
            Err(error) => self.fail(cx, id, error.client_status()),
            Ok(path) => {
                let path = *path;
                if let DestState::Routing { remote, addr_until, responders } = dest.enter(DestState::Unknown) {
                    dest.ready(remote, path, addr_until, route_until);
                    self.made_ready(cx, id, endpoint, &path, remote, &responders);
                }
            }
        }
    }

    /// A destination is ready: all who wait for it are answered, here and there.
    fn made_ready(
        &mut self,
        cx: &mut Context<'_>,
        id: DestId,
        endpoint: EndpointId,
        path: &PathRecord,
        remote: Option<Remote>,
        responders: &[Responder],
    ) {
        cx.complete(dest_token(id), Ok(path));
        if let Some(remote) = remote {
            for responder in responders {
                Self::respond(cx, endpoint, path, &remote, responder.tid);
            }
        }
    }

    /// What is under way for a destination has failed. The next request for it starts anew, with the address: the one
    /// that was known may be why it failed.
    pub(super) fn fail(&mut self, cx: &mut Context<'_>, id: DestId, status: ClientStatus) {
        let Some(dest) = self.cache.get_mut(id) else { return };
        let (endpoint, name) = (dest.endpoint, dest.name());
        if let DestState::Asking(asking) = dest.enter(DestState::Unknown) {
            self.stop_asking(cx, id, endpoint, &asking);
        }
        if cx.is_waited_for(dest_token(id)) {
            cx.log(Event::ResolveFailed(name, status));
        }
        cx.complete(dest_token(id), Err(status));
    }
}
