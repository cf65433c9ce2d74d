use super::*;
use acm_wire::Address;
use alloc::{format, vec::Vec};
use ib_mad::{Gid, Guid, Lid, Mtu, Rate, ServiceLevel, id::Lmc};

fn route(dlid: u16, sl: u8) -> Route {
    Route { dlid: Lid::new(dlid), sl: ServiceLevel::checked(sl).unwrap(), mtu: Mtu::B4096, rate: Rate::GBPS_100 }
}

#[test]
fn routes_are_found_by_lid_and_by_port() {
    let (a, b, c) = (Guid::new(0x10), Guid::new(0x20), Guid::new(0x30));
    let mut builder = Routes::builder();
    // Entries in any order, as in a file: a section may come before the ports that it names.
    builder.section(a, Lid::new(1));
    builder.route(route(8, 1));
    builder.route(route(2, 2));
    builder.route(route(8, 3));
    builder.route(route(9, 4));
    builder.route(route(0xc000, 4));
    builder.section(a, Lid::new(5));
    builder.section(a, Lid::new(1));
    builder.route(route(7, 7));
    builder.port(c, Lid::new(8), Lmc::of::<1>());
    builder.port(a, Lid::new(1), Lmc::ZERO);
    builder.port(a, Lid::new(8), Lmc::ZERO);
    builder.port(b, Lid::new(4), Lmc::ZERO);
    builder.port(b, Lid::NONE, Lmc::ZERO);
    let routes = builder.finish();
    let expected = RouteCounts { ports: 3, duplicate_lids: 1, sections_left_out: 1, routes: 3, nameless: 1 };
    assert_eq!(routes.counts(), expected);
    assert_eq!(routes.sections().collect::<Vec<_>>(), [(a, Lid::new(1), 3), (a, Lid::new(5), 0)]);
    let sl = |dlid: u16| routes.route(a, Lid::new(1), Lid::new(dlid)).map(|route| route.sl.get());
    assert_eq!([2, 7, 8, 9].map(sl), [Some(2), None, Some(3), Some(4)], "the last line counts, the first section");
    assert_eq!(routes.route(a, Lid::new(5), Lid::new(8)), None, "the port had another LID then");
    assert_eq!((routes.lid_of(c), routes.lid_of(Guid::new(9))), (Some(Lid::new(8)), None));
    let lmc = Lmc::of::<2>();
    let port = |lid: u16| routes.guid_of(Lid::new(lid), lmc);
    assert_eq!(
        [1, 3, 4, 7, 8, 9, 10, 12].map(port),
        [Some(a), None, Some(b), Some(b), Some(c), Some(c), Some(c), None]
    );
    assert_eq!(routes.guid_of(Lid::new(10), Lmc::ZERO), None, "the port has two LIDs by its LMC in the file");
}

#[test]
fn table_without_sections_keeps_no_ports() {
    let mut builder = Routes::builder();
    builder.route(route(1, 0));
    builder.port(Guid::new(1), Lid::new(1), Lmc::ZERO);
    let routes = builder.finish();
    assert_eq!((routes.counts().ports, routes.counts().routes, routes.lid_of(Guid::new(1))), (1, 0, None));
}

#[test]
fn sections_are_limited() {
    let mut builder = Routes::builder();
    for number in 1..=300 {
        builder.section(Guid::new(1), Lid::new(number));
    }
    let routes = builder.finish();
    assert_eq!((routes.sections().count(), routes.counts().sections_left_out), (256, 44));
}

/// The limits are those of a subnet, whatever the file contains.
#[test]
fn ports_and_destinations_are_limited() {
    let mut builder = Routes::builder();
    builder.section(Guid::new(1), Lid::new(1));
    for lid in 0..=u16::MAX {
        builder.port(Guid::new(lid.into()), Lid::new(lid), Lmc::ZERO);
        builder.route(route(lid, 0));
    }
    let counts = builder.finish().counts();
    assert_eq!((counts.ports, counts.routes), (49_151, 49_151));
}

#[test]
fn addresses_of_hosts_are_limited() {
    let mut builder = Hosts::builder();
    for number in 0..=524_288_u32 {
        builder.host(&Address::Ip4(number.into()), Gid::new([1; 16]));
    }
    let hosts = builder.finish();
    assert_eq!((hosts.len(), hosts.left_out()), (524_288, 1));
}

#[test]
fn last_entry_of_a_host_wins() {
    let gid = |number: u8| Gid::new([number; 16]);
    let mut builder = Hosts::builder();
    for (address, number) in
        [("Node1", 1), ("node2", 2), ("10.0.0.1", 3), ("fd00::1", 4), ("NODE1", 5), ("10.0.0.1", 6)]
    {
        builder.host(&Address::from_text(address), gid(number));
    }
    builder.host(&Address::Lid(Lid::new(1)), gid(9));
    let hosts = builder.finish();
    let found = |address: &str| hosts.gid_of(&Address::from_text(address));
    assert_eq!(["nODE1", "node2", "10.0.0.1", "fd00::1"].map(found), [5, 2, 6, 4].map(|number| Some(gid(number))));
    assert_eq!(["node", "node11", "10.0.0.2", "fd00::"].map(found), [None; 4]);
    assert_eq!((hosts.len(), hosts.left_out(), hosts.gid_of(&Address::Lid(Lid::new(1)))), (4, 1, None));
    assert!(!hosts.is_empty() && Hosts::default().is_empty());
}

/// A destination with all its keys: the longest name, IPv4, IPv6, GID, LID, and a route from one port.
#[test]
fn destination_takes_less_than_200_bytes() {
    const NODES: u16 = 10_000;
    let kept = |number: u16| {
        let mut hosts = Hosts::builder();
        let mut routes = Routes::builder();
        routes.section(Guid::new(1), Lid::new(1));
        for node in 1..=number {
            let guid = Guid::new(u64::from(node));
            let gid = Gid::from_parts(Gid::DEFAULT_PREFIX, guid);
            let name = format!("{node:0>63}x");
            let [high, low] = node.to_be_bytes();
            hosts.host(&Address::Name(acm_wire::Name::new(&name.as_bytes()[..63])), gid);
            hosts.host(&Address::Ip4([10, 0, high, low].into()), gid);
            hosts.host(&Address::Ip6((0xfd00 << 112 | u128::from(node)).into()), gid);
            routes.port(guid, Lid::new(node), Lmc::ZERO);
            routes.route(route(node, 0));
        }
        (hosts.finish(), routes.finish())
    };
    let mut tables = None;
    let seen = allocation_counter::measure(|| tables = Some(kept(NODES)));
    let (hosts, routes) = tables.unwrap();
    assert_eq!((hosts.len(), routes.counts().routes), (30_000, 10_000));
    let each = seen.bytes_current / i64::from(NODES);
    assert!((100..=200).contains(&each), "{each} bytes");
}
