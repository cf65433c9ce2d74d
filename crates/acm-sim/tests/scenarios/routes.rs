//! Sources of routes: subnet administration, the shared group, requests by LID or GID, QUERY_SA.
use acm_sansio::{
    Config, Output,
    config::{Depth, RouteProt},
};
use acm_sim::{World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter, EntryFlags, path_request},
};
use core::time::Duration;
use ib_mad::{AttributeId, Lid, Mtu, Rate, Status, sa::PathRecord};

fn name(node: u32) -> Address {
    World::addresses(node)[0]
}

#[test]
fn route_prot_acm_uses_the_fastest_shared_group() {
    let acm = Config { route_prot: RouteProt::Acm, ..Config::default() };
    let mut world = World::new(WorldConfig { core: acm, ..WorldConfig::default() });
    assert_eq!(world.subnet.groups().count(), 2, "the base group and the group of the ports' rate and MTU");
    let path = world.resolve(0, &name(0), &name(1)).unwrap();
    assert_eq!((path.dlid, path.slid), (world.port(1).lid, world.port(0).lid));
    assert_eq!((path.mtu.value(), path.rate.value()), (Mtu::B4096, Rate::GBPS_100));
    assert_eq!(world.node(0).acm.counters().get(Counter::RouteQuery), 0, "no path query");
    // The responder has cached the requester, too, and asks it by unicast.
    let before = world.subnet.counters().ud_multicast;
    let path = world.resolve(1, &name(1), &name(0)).unwrap();
    assert_eq!((path.dlid, world.subnet.counters().ud_multicast), (world.port(0).lid, before));
}

#[test]
fn paths_by_lid_and_gid_are_cached_separately() {
    let mut world = World::new(WorldConfig::default());
    let (lid, gid) = (world.port(1).lid, world.port(1).gids[0]);
    let by_lid = world.route(0, &PathRecord { dlid: lid, ..PathRecord::default() }).unwrap();
    assert_eq!(by_lid.dgid, gid);
    let by_gid = world.route(0, &PathRecord { dgid: gid, ..PathRecord::default() }).unwrap();
    assert_eq!(by_gid, by_lid);
    assert_eq!(world.node(0).acm.counters().get(Counter::RouteQuery), 2, "two queries for two destinations");
    world.route(0, &PathRecord { dgid: gid, ..PathRecord::default() }).unwrap();
    assert_eq!(world.node(0).acm.counters().get(Counter::RouteCache), 1);
    assert_eq!(world.route(0, &PathRecord::default()), Err(ClientStatus::EDESTADDR));
    let foreign = PathRecord { slid: Lid::new(999), dlid: lid, ..PathRecord::default() };
    assert_eq!(world.route(0, &foreign), Err(ClientStatus::ESRCADDR));
    let unknown = PathRecord { dlid: Lid::new(999), ..PathRecord::default() };
    assert_eq!(world.route(0, &unknown), Err(ClientStatus::ENODATA));
}

#[test]
fn query_sa_is_not_cached_and_errors_echo_the_request() {
    let mut world = World::new(WorldConfig::default());
    let record = PathRecord {
        dgid: world.port(1).gids[0],
        sgid: world.port(0).gids[0],
        pkey: ib_mad::Pkey::DEFAULT_FULL,
        ..PathRecord::default()
    };
    for queries in 1..=2 {
        let client = world.request(0, &path_request(&record, EntryFlags::QUERY_SA, [1; 8]));
        assert_eq!(world.wait(client).unwrap().dlid, world.port(1).lid);
        assert_eq!(world.response(client).unwrap()[1], 0x81);
        assert_eq!(world.node(0).acm.counters().get(Counter::RouteQuery), queries);
    }
    let unknown = PathRecord { dgid: "fe80::99".parse().unwrap(), ..record };
    let client = world.request(0, &path_request(&unknown, EntryFlags::QUERY_SA, [1; 8]));
    assert_eq!(world.wait(client), Err(ClientStatus::ENODATA));
    assert_eq!(world.response(client).unwrap().len(), 88, "the response echoes the request");
}

/// The response is a header only.
#[test]
fn query_sa_of_another_length_is_refused_without_an_echo() {
    let mut world = World::new(WorldConfig::default());
    let record = PathRecord { dlid: world.port(1).lid, ..PathRecord::default() };
    let one = path_request(&record, EntryFlags::QUERY_SA, [1; 8]);
    let mut two = [&one[..], &one[16..]].concat();
    let length = u16::try_from(two.len()).unwrap();
    two[6..8].copy_from_slice(&length.to_ne_bytes());
    let client = world.request(0, &two);
    assert_eq!(world.path(client), Some(Err(ClientStatus::EINVAL)));
    let answer = world.response(client).unwrap();
    assert_eq!((answer.len(), answer[1]), (16, 0x81));
}

/// The attribute offset is the length of the record in words of 8 bytes.
#[test]
fn sa_requests_have_an_attribute_offset() {
    let mut world = World::new(WorldConfig::default());
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    let of = |output: &Output| match output {
        Output::SaSend(send) => Some((send.mad.header.attribute_id, send.mad.sa.attribute_offset.get())),
        _ => None,
    };
    let offsets: Vec<_> = world.transcript.iter().filter_map(|(_, _, output)| of(output)).collect();
    for expected in [(AttributeId::PATH_RECORD, 8), (AttributeId::MC_MEMBER_RECORD, 7)] {
        assert!(offsets.contains(&expected), "{offsets:?}");
        assert!(offsets.iter().all(|(id, words)| *id != expected.0 || *words == expected.1), "{offsets:?}");
    }
}

// docs/deviations.md: sa-status
#[test]
fn sa_status_becomes_the_status_of_the_response() {
    let core = Config { negative_timeout: None, sa_notices: false, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    let record = PathRecord { dlid: world.port(1).lid, ..PathRecord::default() };
    world.subnet.settings_mut().sa.mute = true;
    let start = world.now();
    assert_eq!(world.route(0, &record), Err(ClientStatus::ETIMEDOUT));
    assert!(
        (6000..=7500).contains(&world.now().since(start).as_millis()),
        "(retries + 1) x timeout, and up to a quarter"
    );
    world.subnet.settings_mut().sa.mute = false;
    let table = [
        (Status::SA_NO_RESOURCES, ClientStatus::ENOMEM),
        (Status::SA_REQUEST_INVALID, ClientStatus::EINVAL),
        (Status::SA_NO_RECORDS, ClientStatus::ENODATA),
        (Status::SA_TOO_MANY_RECORDS, ClientStatus::EINVAL),
        (Status::SA_INVALID_GID, ClientStatus::ENODATA),
        (Status::SA_INSUFFICIENT_COMPONENTS, ClientStatus::EINVAL),
        (Status::SA_REQUEST_DENIED, ClientStatus::ENODATA),
        (Status::METHOD_ATTRIBUTE_NOT_SUPPORTED, ClientStatus::ENODATA),
        // Repeated for (retries + 1) x timeout, then failed.
        (Status::BUSY, ClientStatus::ETIMEDOUT),
    ];
    for (status, expected) in table {
        world.subnet.settings_mut().sa.status = Some(status);
        assert_eq!(world.route(0, &record), Err(expected), "{status}");
    }
    // The pauses are 0.1 s, 0.2 s, 0.4 s and so on up to 2 s, each multiplied by 3/4 to 5/4, within 6 s.
    assert!((5..=8).contains(&world.stat(0, "sa_busy")), "{}", world.stat(0, "sa_busy"));
    world.subnet.settings_mut().sa.status = None;
    assert!(world.route(0, &record).is_ok(), "failures are not cached");
}

#[test]
fn sa_depth_limits_requests_in_flight() {
    for (depth, seconds) in [(1, 40), (8, 5), (40, 1)] {
        let core = Config { sa_depth: Depth::Fixed(depth), sa_notices: false, ..Config::default() };
        let mut world = World::new(WorldConfig { nodes: 41, core, ..WorldConfig::default() });
        world.subnet.settings_mut().sa.delay = Duration::from_secs(1);
        let start = world.now();
        let clients: Vec<_> = (1..41)
            .map(|node| {
                let record = PathRecord { dlid: world.port(node).lid, ..PathRecord::default() };
                world.request(0, &path_request(&record, EntryFlags::empty(), [1; 8]))
            })
            .collect();
        for client in clients {
            assert!(world.wait(client).is_ok());
        }
        assert_eq!(world.now().since(start), Duration::from_secs(seconds), "depth {depth}");
    }
}

#[test]
fn loopback_path_needs_no_query() {
    let mut world = World::new(WorldConfig::default());
    let queries = world.node(0).acm.counters().get(Counter::RouteQuery);
    for address in World::addresses(0) {
        let path = world.resolve(0, &name(0), &address).unwrap();
        assert_eq!((path.dlid, path.slid), (world.port(0).lid, world.port(0).lid));
    }
    assert_eq!(world.node(0).acm.counters().get(Counter::RouteQuery), queries);
    // With `loopback` off, a multicast request is sent, and no other node has the address.
    let core = Config { loopback: false, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    assert_eq!(world.resolve(0, &name(0), &name(0)), Err(ClientStatus::ETIMEDOUT));
}
