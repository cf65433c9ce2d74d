//! PathRecord Get.
use crate::{Port, PortId, Subnet};
use ib_mad::{
    Gid, Lid, PacketLifeTime, Pkey, Rate, Selected, Status,
    code::Graded,
    sa::{FlowHop, PathMask, PathRecord, QosSl, Query, ReversiblePaths},
};

type Answer<T> = Result<T, Status>;

/// What paths are not chosen by.
const NOT_COMPARED: PathMask = PathMask::RAW_TRAFFIC.union(PathMask::HOP_LIMIT).union(PathMask::PREFERENCE);

impl Subnet {
    /// The path that was asked for: from the asker's port if the source is not given.
    pub(super) fn find_path(&self, asker: PortId, query: &Query<PathRecord>) -> Answer<PathRecord> {
        let (asked, has) = (query.record(), |component| query.has(component));
        let from_id = self
            .end(has(PathMask::SGID).then_some(asked.sgid), has(PathMask::SLID).then_some(asked.slid))?
            .unwrap_or(asker);
        let to_id = self
            .end(has(PathMask::DGID).then_some(asked.dgid), has(PathMask::DLID).then_some(asked.dlid))?
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
            let own = FlowHop::default().with_flow_label(settings.flow_label).with_hop_limit(settings.hop_limit);
            Some(PathRecord {
                service_id: if has(PathMask::SERVICE_ID) { asked.service_id } else { Default::default() },
                dgid: if has(PathMask::DGID) { asked.dgid } else { to.gid() },
                sgid: if has(PathMask::SGID) { asked.sgid } else { from.gid() },
                dlid: if has(PathMask::DLID) { asked.dlid } else { lid(to, settings.path_bits) },
                slid: if has(PathMask::SLID) { asked.slid } else { lid(from, settings.path_bits) },
                flow_hop: if has(PathMask::FLOW_LABEL) {
                    own.with_flow_label(asked.flow_hop.flow_label())
                } else {
                    own
                },
                traffic_class: if has(PathMask::TRAFFIC_CLASS) { asked.traffic_class } else { settings.traffic_class },
                reversible_paths: ReversiblePaths::default()
                    .with_reversible(settings.reversible)
                    .with_num_path(settings.num_path),
                pkey: shared_pkey(from, to, has(PathMask::PKEY).then_some(asked.pkey))?,
                qos_sl: QosSl::default()
                    .with_qos_class(if has(PathMask::QOS_CLASS) { asked.qos_sl.qos_class() } else { 0 })
                    .with_sl(if has(PathMask::SL) { asked.qos_sl.sl() } else { settings.sl }),
                mtu: Selected::exactly(within(query.requested_mtu(), mtu)?),
                rate: Selected::exactly(within(query.requested_rate(), rate)?),
                packet_life_time: Selected::exactly(within(query.requested_packet_life_time(), life)?),
                ..PathRecord::default()
            })
        };
        let agrees = |path: &PathRecord| query.without(NOT_COMPARED).matches(path);
        path().filter(agrees).ok_or(Status::SA_NO_RECORDS)
    }

    /// The port at one end, if the query names it. Its GID and LID must not disagree.
    fn end(&self, gid: Option<Gid>, lid: Option<Lid>) -> Answer<Option<PortId>> {
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

/// One of the port's LIDs.
fn lid(port: &Port, path_bits: u8) -> Lid {
    Lid::new(port.lid.get() | u16::from(path_bits) & port.lmc.mask())
}

/// The partition of a path: both ends are in it, and not both as limited members.
fn shared_pkey(from: &Port, to: &Port, asked: Option<Pkey>) -> Option<Pkey> {
    let wanted = |own: &&Pkey| asked.is_none_or(|asked| asked.same_partition(**own));
    let usable = |own: &&Pkey| own.is_valid() && to.pkeys.iter().any(|other| own.matches(*other));
    let own = from.pkeys.iter().filter(wanted).find(usable)?;
    Some(asked.unwrap_or(*own))
}

/// What a path has that can have up to `limit`.
pub(super) fn within<T: Graded>(asked: Option<Selected<T>>, limit: T) -> Option<T> {
    asked.map_or(Some(limit), |asked| asked.within(limit))
}

pub(super) fn slower(one: Rate, other: Rate) -> Rate {
    if other.mbps() < one.mbps() { other } else { one }
}
