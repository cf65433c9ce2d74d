//! Conversion of the numbers in operations to addresses, LIDs, options and the like.
use crate::operation::{Link, Peer, Port};
use acm_sansio::{
    Config, PortId,
    api::{DatagramSource, Level, ProviderId},
    config::{Depth, Limits, Prefetch, RouteProt, Share, Subnets},
    port::PortAttributes,
    preload::{Hosts, Preload, Route, Routes},
};
use acm_wire::Address;
use core::{net::Ipv4Addr, time::Duration};
use ib_mad::{
    AttributeId, Gid, Lid, Mtu, Pkey, Qpn, Rate, Selected, ServiceLevel,
    id::Lmc,
    sa::{McMemberRecord, PathRecord, SaMad, TableWriter, table_length},
    wire::Octets,
};

/// Returns options with small bounds, so that sequences reach all of them. An odd `number` selects `route_prot acm`.
pub(super) fn config(number: usize) -> Config {
    let share = |total| Share { total, percent: 75 };
    let limits = Limits {
        connections: share(4),
        requests: share(8),
        lookups: share(6),
        requests_per_client: 4,
        remote_lookups: 3,
        destinations: 12,
        unsolicited: 5,
        negatives: 1,
        renewals: 1,
        responders: 1,
        reports: 2,
    };
    Config {
        limits,
        route_prot: if number.is_multiple_of(2) { RouteProt::Sa } else { RouteProt::Acm },
        shared_cache: !number.is_multiple_of(3),
        prefetch: if number.is_multiple_of(3) { Prefetch::On } else { Prefetch::Auto },
        sa_depth: if number.is_multiple_of(3) { Depth::Fixed(1) } else { Depth::Auto },
        addr_timeout: number.is_multiple_of(5).then_some(Duration::from_secs(60)),
        route_timeout: number.is_multiple_of(7).then_some(Duration::from_secs(20)),
        negative_timeout: number.is_multiple_of(3).then_some(Duration::from_secs(100)),
        log_level: Level::Debug,
        providers: vec!["one".to_owned(), "two".to_owned()],
        // One sequence in eight begins with a provider outside of the core.
        subnets: served_by(u8::from(number % 8 == 1)),
        ..Config::default()
    }
}

fn served_by(provider: u8) -> Subnets {
    Subnets { default: Some(ProviderId(provider)), ..Subnets::default() }
}

/// Returns options for a reload: smaller bounds, another provider, or none.
pub(super) fn reconfigured(number: u8) -> Config {
    let mut config = config(number.into());
    config.resolve_depth = if number.is_multiple_of(4) { Depth::Auto } else { Depth::Fixed(u32::from(number % 3)) };
    config.timeout = Duration::from_millis(100 * u64::from(number) + 1);
    if number.is_multiple_of(4) {
        config.limits.requests.total = 3;
        config.limits.lookups.total = 4;
        config.limits.requests_per_client = 1;
        config.limits.destinations = 6;
    }
    config.subnets = served_by(if number % 6 == 5 { 1 + number / 6 % 2 } else { 0 });
    if number.is_multiple_of(64) {
        config.subnets = Subnets::all_but([Gid::DEFAULT_PREFIX]);
    }
    config
}

pub(super) fn address(number: u8) -> Address {
    match number % 8 {
        0 => Address::from_text("node0"),
        1 => Address::from_text("NODE1"),
        number => Address::Ip4(Ipv4Addr::new(10, 0, 0, number)),
    }
}

/// Returns the GID of one of six ports, each of an adapter of its own.
pub(super) fn gid(number: u8) -> Gid {
    Gid::new(((0xfe80_u128 << 112) + u128::from(number % 6) * 16 + 1).to_be_bytes())
}

pub(super) fn lid(number: u8) -> Lid {
    Lid::new(4 * u16::from(number % 6) + 4)
}

/// Returns a route table of six ports with the LIDs of [`lid`], or with the LIDs of other ports.
pub(super) fn routes(number: u8) -> Preload {
    let shift = number % 3;
    let mut routes = Routes::builder();
    for port in 0..6 {
        let (guid, lid) = (gid(port).interface_id(), lid(port + shift));
        routes.port(guid, lid, Lmc::masked(number / 3 % 3));
        routes.section(guid, lid);
        for to in 0..5 {
            routes.route(Route {
                dlid: self::lid(to),
                sl: ServiceLevel::masked(number / 16),
                mtu: if number.is_multiple_of(5) { Mtu::B4096 } else { Mtu::B2048 },
                rate: Rate::GBPS_10,
            });
        }
    }
    Preload::Routes(routes.finish().into())
}

pub(super) fn hosts(number: u8) -> Preload {
    let mut hosts = Hosts::builder();
    for host in 1..7 {
        hosts.host(&address(host), gid(host + number % 3));
    }
    Preload::Hosts(hosts.finish().into())
}

pub(super) fn source(peer: &Peer) -> DatagramSource {
    DatagramSource {
        lid: Lid::new(lid(peer.port).get() | u16::from(peer.bits % 4)),
        path_bits: peer.bits / 4 % 4,
        qpn: Qpn::masked(u32::from(peer.qpn % 4) + 2),
        gid: Some(gid(peer.port)),
        group: None,
    }
}

pub(super) fn path_record(port: &Port) -> PathRecord {
    PathRecord {
        dlid: if port.lid.is_multiple_of(2) { lid(port.lid / 2) } else { Lid::NONE },
        dgid: if port.gid.is_multiple_of(2) { gid(port.gid / 2) } else { Gid::ZERO },
        traffic_class: port.traffic_class % 3,
        ..PathRecord::default()
    }
}

pub(super) fn attributes(port: PortId, link: &Link) -> PortAttributes {
    let pkeys = [&[0xffff][..], &[0x7fff, 0x8001], &[0x8001, 0xffff], &[0, 0x8002]];
    PortAttributes {
        device_guid: ib_mad::Guid::new(u64::from(port.0)),
        port_number: 1,
        port_count: 1,
        lid: lid(link.lid),
        lmc: Lmc::of::<2>(),
        sm_lid: lid(link.sm_lid),
        gids: vec![gid(link.gid)],
        pkeys: pick(&pkeys, link.partitions)
            .into_iter()
            .flat_map(|keys| keys.iter())
            .map(|key| Pkey::new(*key))
            .collect(),
        mtu: if link.slow { Mtu::B2048 } else { Mtu::B4096 },
        rate: if link.slow { Rate::GBPS_10 } else { Rate::GBPS_40 },
        subnet_timeout: 18,
        takes_reports: true,
        ..PortAttributes::default()
    }
}

/// Returns the correct response of subnet administration to a request.
pub(super) fn good_response(request: &SaMad) -> SaMad {
    let mut mad = *request;
    mad.header.method = request.header.method.response().unwrap_or(request.header.method);
    if let Ok(record) = request.record::<PathRecord>()
        && request.header.attribute_id == AttributeId::PATH_RECORD
    {
        let path = PathRecord {
            dlid: Lid::new(8),
            slid: Lid::new(4),
            mtu: Selected::exactly(Mtu::B4096),
            rate: Selected::exactly(Rate::GBPS_40),
            ..*record
        };
        mad.data = Octets::of(&path);
    } else if let Ok(record) = request.record::<McMemberRecord>() {
        let member = McMemberRecord { mlid: Lid::new(0xc001), ..*record };
        mad.data = Octets::of(&member);
    }
    mad
}

/// Returns the table of paths for a request for all paths from a port, which may have each LID.
pub(super) fn good_table(request: &SaMad) -> Option<Vec<u8>> {
    let mut table = TableWriter::new(request, vec![0; table_length::<PathRecord>(36)]).ok()?;
    let from = request.record::<PathRecord>().ok()?;
    for (slid, to) in (0..6).flat_map(|slid| (0..6).map(move |to| (slid, to))) {
        table.push(&PathRecord { dgid: gid(to), dlid: lid(to), slid: lid(slid), ..*from }).ok()?;
    }
    Some(table.finish().as_bytes().to_vec())
}

pub(super) fn pick<T>(items: &[T], number: u8) -> Option<&T> {
    items.get(usize::from(number) % items.len().max(1))
}

pub(super) fn take<T>(items: &mut Vec<T>, number: u8) -> Option<T> {
    let index = usize::from(number) % items.len().max(1);
    (index < items.len()).then(|| items.remove(index))
}
