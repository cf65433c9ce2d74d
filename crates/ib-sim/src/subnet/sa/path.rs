//! PathRecord Get.
use crate::{id::PortId, port::Port, subnet::Subnet};
use ib_mad::{
    Gid, Lid, PacketLifeTime, Pkey, Rate, Selected, ServiceLevel, Status,
    code::Graded,
    sa::{FlowHop, PathMask, PathRecord, QosSl, Query, ReversiblePaths},
};

type SaResult<T> = Result<T, Status>;

/// Components that do not select a path.
const NOT_COMPARED: PathMask = PathMask::RAW_TRAFFIC.union(PathMask::HOP_LIMIT).union(PathMask::PREFERENCE);

impl Subnet {
    /// Returns the path of a query. The default source is the requester's port.
    pub(super) fn find_path(&self, requester: PortId, query: &Query<PathRecord>) -> SaResult<PathRecord> {
        let (request, has) = (query.record(), |component| query.has(component));
        let from_id = self
            .end(has(PathMask::SGID).then_some(request.sgid), has(PathMask::SLID).then_some(request.slid))?
            .unwrap_or(requester);
        let to_id = self
            .end(has(PathMask::DGID).then_some(request.dgid), has(PathMask::DLID).then_some(request.dlid))?
            .ok_or(Status::SA_INSUFFICIENT_COMPONENTS)?;
        let from = self.port(from_id).ok_or(Status::SA_NO_RECORDS)?;
        let to = self.port(to_id).ok_or(Status::SA_NO_RECORDS)?;
        if !from.carries() || !to.carries() {
            return Err(Status::SA_NO_RECORDS);
        }
        let settings = &self.settings().path;
        let path = || {
            let mtu = settings.mtu.unwrap_or(from.mtu.min(to.mtu));
            let rate = settings.rate.unwrap_or(slower(from.rate, to.rate));
            let life = if from_id == to_id { PacketLifeTime::ZERO } else { settings.packet_life_time };
            let flow_hop = FlowHop::default().with_flow_label(settings.flow_label).with_hop_limit(settings.hop_limit);
            Some(PathRecord {
                service_id: if has(PathMask::SERVICE_ID) { request.service_id } else { Default::default() },
                dgid: if has(PathMask::DGID) { request.dgid } else { to.gid() },
                sgid: if has(PathMask::SGID) { request.sgid } else { from.gid() },
                dlid: if has(PathMask::DLID) { request.dlid } else { lid(to, settings.path_bits) },
                slid: if has(PathMask::SLID) { request.slid } else { lid(from, settings.path_bits) },
                flow_hop: if has(PathMask::FLOW_LABEL) {
                    flow_hop.with_flow_label(request.flow_hop.flow_label())
                } else {
                    flow_hop
                },
                traffic_class: if has(PathMask::TRAFFIC_CLASS) {
                    request.traffic_class
                } else {
                    settings.traffic_class
                },
                reversible_paths: ReversiblePaths::default()
                    .with_reversible(settings.reversible)
                    .with_num_path(settings.num_path),
                pkey: shared_pkey(from, to, has(PathMask::PKEY).then_some(request.pkey))?,
                qos_sl: QosSl::default()
                    .with_qos_class(if has(PathMask::QOS_CLASS) { request.qos_sl.qos_class() } else { 0 })
                    .with_sl(if has(PathMask::SL) { request.qos_sl.sl() } else { self.level(query, to) }),
                mtu: Selected::exactly(within(query.requested_mtu(), mtu)?),
                rate: Selected::exactly(within(query.requested_rate(), rate)?),
                packet_life_time: Selected::exactly(within(query.requested_packet_life_time(), life)?),
                ..PathRecord::default()
            })
        };
        let agrees = |path: &PathRecord| query.without(NOT_COMPARED).matches(path);
        path().filter(agrees).ok_or(Status::SA_NO_RECORDS)
    }

    /// Returns the service level that the rules determine for a query.
    fn level(&self, query: &Query<PathRecord>, to: &Port) -> ServiceLevel {
        let settings = self.settings();
        let id = query.record().service_id.get();
        let is_named = settings.sa.qos && query.has(PathMask::SERVICE_ID);
        let mut rules = settings.rules.iter().filter(|rule| {
            let (first, last) = (rule.service_ids.start().get(), rule.service_ids.end().get());
            (first..=last).contains(&id) && (rule.to.is_empty() || to.gids.iter().any(|gid| rule.to.contains(gid)))
        });
        rules.next().filter(|_| is_named).map_or(settings.path.sl, |rule| rule.sl)
    }

    /// Returns the port of one end, if the query contains the GID or LID of the end. GID and LID must belong to the
    /// same port.
    fn end(&self, gid: Option<Gid>, lid: Option<Lid>) -> SaResult<Option<PortId>> {
        let by_gid = match gid {
            Some(gid) => Some(self.port_by_gid(gid).ok_or(self.settings().sa.unknown_gid_status)?),
            None => None,
        };
        let by_lid = match lid {
            Some(lid) => Some(self.port_by_lid(lid).ok_or(Status::SA_NO_RECORDS)?),
            None => None,
        };
        match (by_gid, by_lid) {
            (Some(one), Some(other)) if one != other => Err(Status::SA_NO_RECORDS),
            (one, other) => Ok(one.or(other)),
        }
    }
}

/// Returns one of the port's LIDs.
fn lid(port: &Port, path_bits: u8) -> Lid {
    Lid::new(port.lid.get() | u16::from(path_bits) & port.lmc.mask())
}

/// Returns the P_Key of a path: both ports are in the partition, at least one as full member.
fn shared_pkey(from: &Port, to: &Port, requested: Option<Pkey>) -> Option<Pkey> {
    let matches = |pkey: &&Pkey| requested.is_none_or(|requested| requested.same_partition(**pkey));
    let usable = |pkey: &&Pkey| pkey.is_valid() && to.pkeys.iter().any(|other| pkey.matches(*other));
    let pkey = from.pkeys.iter().filter(matches).find(usable)?;
    Some(requested.unwrap_or(*pkey))
}

/// Returns the value of a path that supports values up to `limit`.
pub(super) fn within<T: Graded>(requested: Option<Selected<T>>, limit: T) -> Option<T> {
    requested.map_or(Some(limit), |requested| requested.within(limit))
}

pub(super) fn slower(one: Rate, other: Rate) -> Rate {
    if other.mbps() < one.mbps() { other } else { one }
}
