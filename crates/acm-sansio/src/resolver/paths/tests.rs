//! Path queries, and paths built from other sources.
use super::*;
use crate::{
    api::{ProviderId, config::Config, id::PortId},
    provider::Need,
    resolver::{
        dest::{DestKey, Lookup},
        state::Ibacmp,
    },
};
use alloc::vec;
use ib_mad::{
    Gid, Mtu, Rate, ServiceId, ServiceLevel, TransactionId,
    sa::{FlowHop, PathMask, QosSl, SlFlowHop},
};

fn gid(text: &str) -> Gid {
    text.parse().unwrap()
}

fn port() -> PortAttributes {
    PortAttributes {
        lid: Lid::new(16),
        gids: vec![Gid::default(), gid("fe80::1")],
        mtu: Mtu::B4096,
        rate: Rate::GBPS_100,
        ..PortAttributes::default()
    }
}

fn query_of(key: &RouteKey) -> (PathMask, PathRecord) {
    let mad = query(key, Pkey::DEFAULT_FULL).mad(&port(), TransactionId::new(1));
    (PathMask::from_bits_retain(mad.sa.component_mask.get()), *mad.record::<PathRecord>().unwrap())
}

// docs/deviations.md: path-query
#[test]
fn fields_that_are_not_given_are_not_in_the_query() {
    let (mask, record) = query_of(&RouteKey::default());
    assert_eq!(mask, PathMask::PKEY | PathMask::REVERSIBLE | PathMask::NUM_PATH | PathMask::SGID);
    assert_eq!((record.sgid, record.pkey), (gid("fe80::1"), Pkey::DEFAULT_FULL));
    assert!(record.reversible_paths.reversible() && record.reversible_paths.num_path() == 1);
    let (mask, record) = query_of(&RouteKey { choice: Some(1), ..RouteKey::default() });
    assert_eq!(mask, PathMask::REVERSIBLE | PathMask::NUM_PATH | PathMask::SGID, "the partition is the SA's choice");
    assert!(record.pkey.is_zero());
}

#[test]
fn each_given_field_is_in_the_query() {
    let empty = RouteKey::default();
    let (none, _) = query_of(&empty);
    let keys = [
        (RouteKey { dgid: gid("fe80::9"), ..empty }, PathMask::DGID),
        (RouteKey { dlid: Lid::new(9), ..empty }, PathMask::DLID),
        (RouteKey { slid: Lid::new(17), ..empty }, PathMask::SLID),
        (RouteKey { service_id: ServiceId::new(5), ..empty }, PathMask::SERVICE_ID),
        (RouteKey { traffic_class: 3, ..empty }, PathMask::TRAFFIC_CLASS),
        (RouteKey { qos_class: 4, ..empty }, PathMask::QOS_CLASS),
    ];
    for (key, bit) in keys {
        let (mask, record) = query_of(&key);
        assert_eq!(mask, none | bit);
        let found = (record.dgid, record.dlid, record.slid, record.service_id, record.traffic_class);
        assert_eq!(found, (key.dgid, key.dlid, key.slid, key.service_id, key.traffic_class));
        assert_eq!((record.qos_sl.qos_class(), record.sgid), (key.qos_class, gid("fe80::1")));
    }
    let (mask, record) = query_of(&RouteKey { sgid: gid("fe80::2"), ..empty });
    assert_eq!((mask, record.sgid), (none, gid("fe80::2")));
}

fn one_and_reversible() -> ReversiblePaths {
    ReversiblePaths::default().with_reversible(true).with_num_path(1)
}

#[test]
fn path_has_the_parameters_of_the_group() {
    let member = McMemberRecord {
        mgid: gid("ff12::1"),
        port_gid: gid("fe80::1"),
        mlid: Lid::new(0xc001),
        mtu: Selected::exactly(Mtu::B2048),
        rate: Selected::exactly(Rate::GBPS_10),
        traffic_class: 7,
        packet_life_time: Selected::exactly(PacketLifeTime::of::<18>()),
        pkey: Pkey::DEFAULT_FULL,
        sl_flow_hop: SlFlowHop::default()
            .with_sl(ServiceLevel::of::<3>())
            .with_flow_label(ib_mad::FlowLabel::of::<0x12345>())
            .with_hop_limit(64),
        ..McMemberRecord::default()
    };
    let remote = Remote { gid: gid("fe80::9"), lid: Lid::new(9), path_bits: 2, ..Remote::default() };
    let path = PathRecord {
        dgid: remote.gid,
        sgid: member.port_gid,
        dlid: remote.lid,
        slid: Lid::new(18),
        flow_hop: FlowHop::default().with_flow_label(ib_mad::FlowLabel::of::<0x12345>()).with_hop_limit(64),
        traffic_class: 7,
        reversible_paths: one_and_reversible(),
        pkey: Pkey::DEFAULT_FULL,
        qos_sl: QosSl::default().with_sl(ServiceLevel::of::<3>()),
        mtu: member.mtu,
        rate: member.rate,
        packet_life_time: member.packet_life_time,
        ..PathRecord::default()
    };
    assert_eq!(from_group(&member, &remote, Lid::new(16)), path);
}

#[test]
fn loopback_path_has_the_ports_attributes() {
    let mut cx = Context::new(Config::default(), 1.into());
    cx.ports.up(PortId(0), &port());
    let endpoint = cx.ports.open(PortId(0), 0, Pkey::DEFAULT_LIMITED, ProviderId::BUILT_IN);
    let path = PathRecord {
        dgid: gid("fe80::1"),
        sgid: gid("fe80::1"),
        dlid: Lid::new(16),
        slid: Lid::new(16),
        reversible_paths: one_and_reversible(),
        pkey: Pkey::DEFAULT_LIMITED,
        mtu: Selected::exactly(Mtu::B4096),
        rate: Selected::exactly(Rate::GBPS_100),
        ..PathRecord::default()
    };
    assert_eq!(loopback(&cx, endpoint), Some(path));
}

#[test]
fn datagram_is_addressed_by_its_path() {
    let path = PathRecord {
        dgid: gid("fe80::9"),
        dlid: Lid::new(9),
        slid: Lid::new(18),
        flow_hop: FlowHop::default().with_flow_label(ib_mad::FlowLabel::of::<5>()).with_hop_limit(64),
        traffic_class: 7,
        qos_sl: QosSl::default().with_sl(ServiceLevel::of::<3>()),
        rate: Selected::exactly(Rate::GBPS_10),
        ..PathRecord::default()
    };
    let remote = Remote { qpn: Qpn::of::<77>(), ..Remote::default() };
    let port = PortAttributes { lmc: ib_mad::id::Lmc::of::<2>(), ..port() };
    let (flow_label, hop_limit) = (ib_mad::FlowLabel::of::<5>(), 64);
    let grh = GlobalRoute { dgid: path.dgid, sgid_index: 1, flow_label, hop_limit, traffic_class: 7 };
    let (sl, static_rate) = (ServiceLevel::of::<3>(), Some(Rate::GBPS_10));
    let way = AddressVector { dlid: path.dlid, sl, path_bits: 2, static_rate, grh: Some(grh) };
    assert_eq!(send_to(&path, &remote, &port), SendTo { way, qpn: remote.qpn, qkey: Qkey::GSI });
}

/// The query contains the traffic class of the base group.
#[test]
fn query_has_the_traffic_class_of_the_base_group() {
    use crate::{
        api::{Output, account::KERNEL},
        provider::IfPending,
        resolver::endpoint::group::Group,
    };
    let mut cx = Context::new(Config::default(), 1.into());
    cx.ports.up(PortId(0), &port());
    let endpoint = cx.ports.open(PortId(0), 0, Pkey::DEFAULT_FULL, ProviderId::BUILT_IN);
    let mut group = Group::new(0, Pkey::DEFAULT_FULL, Rate::GBPS_10, Mtu::B2048);
    group.member = Some(McMemberRecord { mgid: group.mgid, traffic_class: 7, ..McMemberRecord::default() });
    let mut ibacmp = Ibacmp::new(1);
    ibacmp.endpoints.entry(endpoint).groups.push(group);
    let id = ibacmp.acquire(&mut cx, endpoint, DestKey::Address(acm_wire::Address::from_text("a"))).unwrap();
    let lookup = Lookup::begin(&mut cx.shared, Need { account: KERNEL, if_pending: IfPending::LeavesTicket }).unwrap();
    ibacmp.find_route(&mut cx, id, Remote { gid: gid("fe80::9"), ..Remote::default() }, lookup);
    let of = |output: &Output| match output {
        Output::SaSend(send) => Some(*send.mad.record::<PathRecord>().unwrap()),
        _ => None,
    };
    let requested = cx.shared.outputs.iter().find_map(of).unwrap();
    assert_eq!((requested.dgid, requested.traffic_class), (gid("fe80::9"), 7));
}
