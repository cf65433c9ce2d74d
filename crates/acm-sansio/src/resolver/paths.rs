//! Paths from other sources than the subnet administrator, queries for paths, and the receivers of datagrams.
use crate::{
    api::{PathOrigin, SendTo, Time, id::EndpointId, port::PortAttributes, preload::Route},
    provider::Context,
    resolver::{
        dest::{Remote, RouteKey},
        token::DestId,
    },
    sa::SaQuery,
};
use ib_mad::{
    AddressVector, Gid, GlobalRoute, Lid, PacketLifeTime, Pkey, Qkey, Qpn, Selected, ServiceLevel,
    sa::{FlowHop, McMemberRecord, PathRecord, QosSl, Query, ReversiblePaths},
};

/// The source of a path, which determines its lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathSource {
    /// The subnet administrator.
    Sa,
    /// The parameters of the shared group.
    Group,
    /// Another destination at the same GID, whose path expires at this time.
    Copy { of: DestId, until: Option<Time> },
    /// The table of all paths, which expire at this time.
    Table(Option<Time>),
    /// A file. The path is valid until the next load.
    File,
}

impl PathSource {
    /// Returns the source for administrators.
    pub(crate) const fn origin(self) -> PathOrigin {
        match self {
            Self::Sa => PathOrigin::Sa,
            Self::Group => PathOrigin::Group,
            Self::Copy { .. } => PathOrigin::Copy,
            Self::Table(_) => PathOrigin::Table,
            Self::File => PathOrigin::File,
        }
    }
}

/// A path that was found, and its source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) path: PathRecord,
    pub(crate) source: PathSource,
    /// `true` if an event may have made it wrong.
    pub(crate) is_stale: bool,
}

impl Known {
    pub(crate) const fn new(path: PathRecord, source: PathSource) -> Self {
        Self { path, source, is_stale: false }
    }
}

/// Returns the path for a route of a file, completed with the attributes that all paths of the port share.
pub(crate) fn from_file(port: &PortAttributes, pkey: Pkey, dgid: Gid, route: &Route) -> PathRecord {
    let life = if route.dlid == port.lid { 0 } else { port.subnet_timeout };
    PathRecord {
        dgid,
        sgid: port.gid(),
        dlid: route.dlid,
        slid: port.lid,
        reversible_paths: ReversiblePaths::default().with_reversible(true).with_num_path(1),
        pkey,
        qos_sl: QosSl::default().with_sl(route.sl),
        mtu: Selected::exactly(route.mtu),
        rate: Selected::exactly(route.rate),
        packet_life_time: Selected::exactly(PacketLifeTime::masked(life)),
        ..PathRecord::default()
    }
}

/// Returns the path from an endpoint to itself.
pub(crate) fn loopback(cx: &Context, endpoint: EndpointId) -> Option<PathRecord> {
    let (here, port) = (cx.endpoint(endpoint)?, cx.port_of(endpoint)?);
    Some(PathRecord {
        dgid: port.gid(),
        sgid: port.gid(),
        dlid: port.lid,
        slid: port.lid,
        reversible_paths: ReversiblePaths::default().with_reversible(true).with_num_path(1),
        pkey: here.pkey,
        mtu: Selected::exactly(port.mtu),
        rate: Selected::exactly(port.rate),
        ..PathRecord::default()
    })
}

/// Returns the path from the parameters of the shared group.
pub(crate) fn from_group(member: &McMemberRecord, remote: &Remote, own_lid: Lid) -> PathRecord {
    let flow_hop = FlowHop::default()
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
        qos_sl: QosSl::default().with_sl(member.sl_flow_hop.sl()),
        mtu: member.mtu,
        rate: member.rate,
        packet_life_time: member.packet_life_time,
        ..PathRecord::default()
    }
}

/// Returns the receiver for datagrams to a destination. The path determines which of our LIDs they are sent from.
pub(crate) fn send_to(path: &PathRecord, remote: &Remote, port: &PortAttributes) -> SendTo {
    let grh = GlobalRoute {
        dgid: path.dgid,
        sgid_index: port.gid_index(),
        flow_label: path.flow_hop.flow_label(),
        hop_limit: path.flow_hop.hop_limit(),
        traffic_class: path.traffic_class,
    };
    let way = AddressVector {
        dlid: path.dlid,
        sl: path.qos_sl.sl(),
        path_bits: path.slid.path_bits(port.lmc),
        static_rate: Some(path.rate.value()),
        grh: Some(grh),
    };
    SendTo { way, qpn: remote.qpn, qkey: Qkey::GSI }
}

/// Returns the query for a path in both directions, with the fields that are given. The source is the port's GID,
/// unless another one is given, and `pkey` the partition, unless the subnet administrator chooses it.
pub(crate) fn query(key: &RouteKey, pkey: Pkey) -> SaQuery {
    type Path = Query<PathRecord>;
    let given = |query: Path, given: bool, set: &dyn Fn(Path) -> Path| if given { set(query) } else { query };
    let query = Path::new().reversible(true).num_path(1);
    let query = given(query, key.choice.is_none(), &|query| query.pkey(pkey));
    let query = given(query, !key.dgid.is_zero(), &|query| query.dgid(key.dgid));
    let query = given(query, !key.dlid.is_zero(), &|query| query.dlid(key.dlid));
    let query = given(query, !key.slid.is_zero(), &|query| query.slid(key.slid));
    let query = given(query, !key.service_id.is_zero(), &|query| query.service_id(key.service_id));
    let query = given(query, key.traffic_class != 0, &|query| query.traffic_class(key.traffic_class));
    let query = given(query, key.qos_class != 0, &|query| query.qos_class(key.qos_class));
    let query = given(query, key.sl != ServiceLevel::default(), &|query| query.sl(key.sl));
    let (mtu, rate, life) = (key.mtu, key.rate, key.packet_life_time);
    let query = given(query, mtu != Selected::default(), &|query| query.mtu(mtu.selector(), mtu.value()));
    let query = given(query, rate != Selected::default(), &|query| query.rate(rate.selector(), rate.value()));
    let query =
        given(query, life != Selected::default(), &|query| query.packet_life_time(life.selector(), life.value()));
    let from_port = key.sgid.is_zero();
    let query = given(query, !from_port, &|query| query.sgid(key.sgid));
    SaQuery::Path { query, from_port }
}

/// Returns the receiver for datagrams to a group. They are sent from the port's base LID.
pub(crate) fn send_to_group(member: &McMemberRecord, port: &PortAttributes) -> SendTo {
    let grh = GlobalRoute {
        dgid: member.mgid,
        sgid_index: port.gid_index(),
        flow_label: member.sl_flow_hop.flow_label(),
        hop_limit: member.sl_flow_hop.hop_limit(),
        traffic_class: member.traffic_class,
    };
    let way = AddressVector {
        dlid: member.mlid,
        sl: member.sl_flow_hop.sl(),
        path_bits: port.lid.path_bits(port.lmc),
        static_rate: Some(member.rate.value()),
        grh: Some(grh),
    };
    SendTo { way, qpn: Qpn::MULTICAST, qkey: Qkey::GSI }
}

#[cfg(test)]
mod tests;
