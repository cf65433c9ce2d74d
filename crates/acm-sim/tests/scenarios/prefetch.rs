//! Prefetch: one table of all paths from a port instead of a query for each path.
use acm_sansio::{
    Config, EndpointId, Input, Output, PortId, Time,
    api::DatagramSource,
    config::{Depth, Prefetch, ServiceIds},
};
use acm_sim::{World, WorldConfig, name};
use acm_wire::{
    client::{EntryFlags, path_request},
    multicast,
};
use core::time::Duration;
use ib_mad::{
    AttributeId, Lid, Method, Mtu, PortState, Qpn, Selected, ServiceId, Status, TransactionId, sa::PathRecord,
};
use std::collections::BTreeMap;

const SECOND: Duration = Duration::from_secs(1);

fn core(prefetch: Prefetch) -> Config {
    Config { prefetch, ..Config::default() }
}

fn world(nodes: u32, prefetch: Prefetch) -> World {
    World::new(WorldConfig { nodes, core: core(prefetch), ..WorldConfig::default() })
}

/// The time within which a node requests the table if no lookup waits for it.
const LATER: Duration = Duration::from_secs(101);

/// Returns a world in which each node has its table.
fn fetched(nodes: u32) -> World {
    fetched_with(nodes, core(Prefetch::On))
}

fn fetched_with(nodes: u32, core: Config) -> World {
    let mut world = World::new(WorldConfig { nodes, core, ..WorldConfig::default() });
    world.run_for(LATER);
    assert!((0..nodes as usize).all(|node| world.stat(node, "prefetches") == 1));
    world.transcript.clear();
    world
}

/// Runs until a counter of node 0 is 1.
fn run_until_counted(world: &mut World, counter: &str) {
    let end = world.now() + 2 * LATER;
    while world.stat(0, counter) == 0 {
        assert!(world.now() < end, "{counter}");
        world.run_for(SECOND / 10);
    }
}

fn paths_in_table(world: &World, node: usize) -> usize {
    let report = world.node(node).acm.report().to_string();
    report.split(" prefetched ").nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap()
}

/// Returns the times and nodes of all path queries with a method.
fn queries(world: &World, method: Method) -> Vec<(Time, usize)> {
    let matches = |output: &Output| {
        matches!(output, Output::SaSend(send)
            if send.mad.header.attribute_id == AttributeId::PATH_RECORD && send.mad.header.method == method)
    };
    world.transcript.iter().filter(|(.., output)| matches(output)).map(|(at, node, _)| (*at, *node)).collect()
}

fn multicasts(world: &World) -> usize {
    let is_multicast = |output: &Output| matches!(output, Output::Send { to, .. } if to.qpn == Qpn::MULTICAST);
    world.transcript.iter().filter(|(.., output)| is_multicast(output)).count()
}

fn by_lid(lid: Lid) -> PathRecord {
    PathRecord { dlid: lid, ..PathRecord::default() }
}

fn by_lid_of(world: &World, node: usize) -> PathRecord {
    by_lid(world.port(node).lid)
}

fn by_gid(world: &World, node: usize) -> PathRecord {
    PathRecord { dgid: world.port(node).gids[0], ..PathRecord::default() }
}

#[test]
fn lid_and_gid_lookups_after_a_prefetch_need_no_query() {
    let mut world = fetched(5);
    let mut plain = self::world(5, Prefetch::Off);
    for node in 0..5 {
        let (lid, gid) = (world.port(node).lid, by_gid(&world, node));
        let both = PathRecord { dlid: lid, sgid: world.port(0).gids[0], ..gid };
        for request in [by_lid(lid), gid, both] {
            let path = world.route(0, &request).unwrap();
            assert_eq!(path, plain.route(0, &request).unwrap(), "the path that a query returns");
        }
    }
    assert_eq!(queries(&world, Method::GET), []);
    assert_eq!((world.stat(0, "prefetch_used"), world.stat(0, "prefetches_failed")), (15, 0));
    assert_eq!(paths_in_table(&world, 0), 5);
}

#[test]
fn name_lookup_after_a_prefetch_is_one_multicast_and_no_query() {
    let mut world = fetched(5);
    let path = world.resolve(0, &name(0), &name(3)).unwrap();
    assert_eq!(path.dlid, world.port(3).lid);
    assert_eq!((multicasts(&world), queries(&world, Method::GET)), (1, vec![]));
}

#[test]
fn path_with_other_properties_is_queried() {
    let mut world = fetched_with(3, Config { path_service_ids: ServiceIds::All, ..core(Prefetch::On) });
    let plain = by_gid(&world, 1);
    let requests = [
        PathRecord { traffic_class: 1, ..plain },
        PathRecord { mtu: Selected::exactly(Mtu::B2048), ..plain },
        PathRecord { service_id: ServiceId::new(7), ..plain },
        PathRecord { qos_sl: plain.qos_sl.with_qos_class(3), ..plain },
    ];
    for (before, request) in (0..).zip(requests) {
        assert_eq!(queries(&world, Method::GET).len(), before);
        let path = world.route(0, &request).unwrap();
        assert_eq!((path.traffic_class, path.service_id), (request.traffic_class, request.service_id));
    }
    assert_eq!(queries(&world, Method::GET).len(), requests.len());
}

#[test]
fn refused_busy_or_silent_administrator_is_queried_path_by_path_and_for_the_table_later() {
    for fault in [Some(Status::METHOD_ATTRIBUTE_NOT_SUPPORTED), Some(Status::BUSY), None] {
        let mut world = world(2, Prefetch::On);
        world.subnet.settings_mut().sa.status = fault;
        world.subnet.settings_mut().sa.mute = fault.is_none();
        run_until_counted(&mut world, "prefetches_failed");
        world.subnet.settings_mut().sa.status = None;
        world.subnet.settings_mut().sa.mute = false;
        let (failed, request) = (world.now(), by_gid(&world, 1));
        assert!(world.route(0, &request).is_ok());
        let of_node_0 = |world: &World, method| queries(world, method).iter().filter(|(_, node)| *node == 0).count();
        assert_eq!((of_node_0(&world, Method::GET), of_node_0(&world, Method::GET_TABLE)), (1, 1), "{fault:?}");
        run_until_counted(&mut world, "prefetches");
        // The pause is 45 to 75 s.
        assert!(world.now() > failed + 45 * SECOND, "{fault:?}: {failed} to {}", world.now());
        assert_eq!((of_node_0(&world, Method::GET_TABLE), world.stat(0, "prefetches_failed")), (2, 1), "{fault:?}");
    }
}

#[test]
fn slow_table_delays_no_query_and_fails_after_six_seconds() {
    for (record_time, expected) in [(SECOND, (1, 0)), (3 * SECOND, (0, 1))] {
        let core = Config { sa_depth: Depth::Fixed(1), ..core(Prefetch::On) };
        let mut world = World::new(WorldConfig { nodes: 3, core, ..WorldConfig::default() });
        world.subnet.settings_mut().sa.record_time = record_time;
        // Only node 0 requests the table. Its records need 3 s, or 9 s.
        for node in [1, 2] {
            world.input(node, Input::Configure(self::core(Prefetch::Off).into()));
        }
        while queries(&world, Method::GET_TABLE).is_empty() {
            world.run_for(SECOND / 10);
        }
        let (sent, request) = (world.now(), by_gid(&world, 1));
        assert!(world.route(0, &request).is_ok());
        assert_eq!((world.now(), world.stat(0, "prefetches")), (sent, 0), "no account waits for the table");
        world.run_until(sent + 7 * SECOND);
        assert_eq!((world.stat(0, "prefetches"), world.stat(0, "prefetches_failed")), expected);
        world.run_until(sent + 10 * SECOND);
        assert_eq!(world.stat(0, "prefetches"), expected.0, "a late table is ignored");
    }
}

#[test]
fn table_is_void_after_the_port_moved() {
    let mut world = fetched(3);
    let request = by_gid(&world, 1);
    assert_eq!(world.route(0, &request).unwrap().slid, world.port(0).lid);
    let mut port = world.port(0).clone();
    port.lid = Lid::new(99);
    world.subnet.set_port(World::port_id(0), port).unwrap();
    world.settle();
    assert_eq!(paths_in_table(&world, 0), 0);
    assert_eq!(world.route(0, &request).unwrap().slid, Lid::new(99));
    assert!(queries(&world, Method::GET).iter().any(|(_, node)| *node == 0));
    world.run_for(LATER);
    assert_eq!(world.stat(0, "prefetches"), 2);
}

#[test]
fn port_that_a_notice_is_about_is_queried() {
    let mut world = fetched(4);
    world.subnet.set_port_state(World::port_id(2), PortState::DOWN).unwrap();
    world.run_for(SECOND);
    let (gone, there) = (by_gid(&world, 2), by_gid(&world, 3));
    assert!(world.route(0, &gone).is_err() && world.route(0, &there).is_ok());
    assert_eq!((queries(&world, Method::GET).len(), world.stat(0, "prefetch_refuted")), (1, 1));
}

/// Without notices, the renewal of a path in use shows that its peer has another LID.
#[test]
fn peer_that_moved_is_not_served_from_the_table() {
    let mut world = fetched_with(3, Config { sa_notices: false, ..core(Prefetch::On) });
    let path = world.resolve(0, &name(0), &name(1)).unwrap();
    let mut port = world.port(1).clone();
    assert_eq!(path.dlid, port.lid);
    port.lid = Lid::new(99);
    world.subnet.set_port(World::port_id(1), port).unwrap();
    // The peer announces its addresses, and node 0 renews its path in a slot of its own.
    world.run_for(5 * SECOND);
    assert_eq!(world.stat(0, "prefetch_refuted"), 1);
    let request = by_gid(&world, 1);
    assert_eq!(world.route(0, &request).unwrap().dlid, Lid::new(99));
}

/// A host could otherwise make all nodes drop their tables with a datagram for each GID.
#[test]
fn response_without_a_request_contradicts_no_table() {
    let mut world = fetched(3);
    let (attacker, victim) = (world.port(2).lid, world.port(1).gids[0]);
    for group in [None, Some(world.group().0)] {
        let source = DatagramSource { lid: attacker, path_bits: 0, qpn: world.qpn(2), gid: Some(victim), group };
        let mad = multicast::response(TransactionId::new(7), world.group().0);
        world.input(0, Input::Datagram { endpoint: EndpointId::new(0, 0), source, payload: ib_mad::as_bytes(&mad) });
    }
    assert_eq!(["unexpected_responses", "prefetch_refuted"].map(|name| world.stat(0, name)), [2, 0]);
}

/// Node 0 looks the name up after the peer got another LID, of which no notice tells.
#[test]
fn path_of_the_table_to_another_lid_than_that_of_the_peer_is_not_used() {
    let mut world = fetched_with(3, Config { sa_notices: false, ..core(Prefetch::On) });
    let mut port = world.port(1).clone();
    port.lid = Lid::new(99);
    world.subnet.set_port(World::port_id(1), port).unwrap();
    world.settle();
    assert_eq!(world.resolve(0, &name(0), &name(1)).unwrap().dlid, Lid::new(99));
}

#[test]
fn reregistration_and_another_subnet_manager_replace_the_table() {
    let mut world = fetched(2);
    world.input(0, Input::ClientReregister(PortId(0)));
    assert_eq!(paths_in_table(&world, 0), 0);
    world.run_for(LATER);
    assert_eq!((world.stat(0, "prefetches"), world.stat(1, "prefetches")), (2, 1));
    world.subnet.restart_sm(Some(Lid::new(77)));
    world.settle();
    assert_eq!([0, 1].map(|node| paths_in_table(&world, node)), [0, 0]);
    world.run_for(LATER);
    assert_eq!((world.stat(0, "prefetches"), world.stat(1, "prefetches")), (3, 2));
}

#[test]
fn auto_requests_the_table_after_64_queries_within_a_minute() {
    let mut world = world(70, Prefetch::Auto);
    let lids: Vec<Lid> = (1..70).map(|node| world.port(node).lid).collect();
    for lid in &lids[..63] {
        world.route(0, &by_lid(*lid)).unwrap();
    }
    world.run_for(61 * SECOND);
    world.route(0, &by_lid(lids[63])).unwrap();
    world.run_for(5 * SECOND);
    assert_eq!(queries(&world, Method::GET_TABLE), [], "64 queries, but in more than a minute");
    for node in 1..64 {
        let request = by_gid(&world, node);
        world.route(0, &request).unwrap();
    }
    world.run_for(2 * SECOND);
    assert_eq!(queries(&world, Method::GET_TABLE).len(), 1);
    let before = queries(&world, Method::GET).len();
    world.route(0, &by_lid(lids[68])).unwrap();
    assert_eq!((queries(&world, Method::GET).len(), world.stat(0, "prefetches")), (before, 1));
}

/// A user who requests paths that no table has must not cause tables.
#[test]
fn lookups_that_a_table_cannot_serve_cause_none() {
    let mut world = world(2, Prefetch::Auto);
    let plain = by_gid(&world, 1);
    for number in 1..=80 {
        assert!(world.route(0, &by_lid(Lid::new(1000 + number))).is_err());
        let class = number.to_be_bytes()[1];
        assert!(world.route(0, &PathRecord { traffic_class: class, ..plain }).is_ok());
    }
    world.run_for(2 * LATER);
    assert_eq!((queries(&world, Method::GET).len(), queries(&world, Method::GET_TABLE)), (160, vec![]));
}

#[test]
fn table_without_many_paths_is_requested_again_after_a_quarter_of_an_hour() {
    let mut world = world(70, Prefetch::Auto);
    let set_all = |world: &mut World, state| {
        (3..70).for_each(|node| world.subnet.set_port_state(World::port_id(node), state).unwrap());
        world.run_for(SECOND);
    };
    set_all(&mut world, PortState::DOWN);
    world.input(0, Input::Configure(core(Prefetch::On).into()));
    let request = by_gid(&world, 1);
    world.route(0, &request).unwrap();
    run_until_counted(&mut world, "prefetches");
    assert_eq!(paths_in_table(&world, 0), 3);
    let fetched = world.now();
    set_all(&mut world, PortState::ACTIVE);
    for (minute, requests, tables) in [(14, by_gid as fn(&World, usize) -> PathRecord, 1), (16, by_lid_of, 2)] {
        world.run_until(fetched + 60 * minute * SECOND);
        for node in 3..70 {
            let request = requests(&world, node);
            world.route(0, &request).unwrap();
        }
        world.run_for(2 * SECOND);
        assert_eq!(world.stat(0, "prefetches"), tables, "after {minute} minutes");
    }
    assert_eq!(paths_in_table(&world, 0), 70);
}

#[test]
fn lookups_that_wait_for_a_query_are_completed_from_the_table() {
    let core = Config { sa_depth: Depth::Fixed(1), ..core(Prefetch::Auto) };
    let mut world = World::new(WorldConfig { nodes: 200, core, ..WorldConfig::default() });
    // The joins and subscriptions of all nodes are over.
    world.run_for(5 * SECOND);
    let start = world.now();
    world.subnet.settings_mut().sa.service_time = Duration::from_millis(100);
    let lids: Vec<Lid> = (1..200).map(|node| world.port(node).lid).collect();
    let clients: Vec<_> =
        lids.iter().map(|lid| world.request(0, &path_request(&by_lid(*lid), EntryFlags::empty(), [7; 8]))).collect();
    for (client, lid) in clients.into_iter().zip(lids) {
        assert_eq!(world.wait(client).map(|path| path.dlid), Ok(lid));
    }
    assert!(world.now() < start + 8 * SECOND, "199 queries would take 20 s: {start} to {}", world.now());
    let counts = (queries(&world, Method::GET).len(), queries(&world, Method::GET_TABLE).len());
    assert!(counts.0 <= 64 + 12 && counts.1 == 1, "{counts:?}");
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

#[test]
fn used_table_is_requested_again_and_an_unused_one_is_dropped() {
    let mut world = fetched(2);
    let request = by_gid(&world, 1);
    world.route(0, &request).unwrap();
    world.run_for(2400 * SECOND);
    assert_eq!((world.stat(0, "prefetches"), world.stat(1, "prefetches")), (2, 1));
    assert_eq!((paths_in_table(&world, 0), paths_in_table(&world, 1)), (2, 0));
    // The next lookup that needs a query causes another one.
    world.transcript.clear();
    let request = by_gid(&world, 0);
    world.route(1, &request).unwrap();
    world.run_for(LATER);
    assert_eq!((queries(&world, Method::GET).len(), world.stat(1, "prefetches")), (1, 2));
}

#[test]
fn path_of_a_table_expires_as_if_it_was_queried_with_the_table() {
    let core = Config { route_timeout: Some(100 * SECOND), ..core(Prefetch::On) };
    let mut world = World::new(WorldConfig { nodes: 2, core, ..WorldConfig::default() });
    run_until_counted(&mut world, "prefetches");
    let request = by_gid(&world, 1);
    world.subnet.settings_mut().sa.mute = true;
    world.run_for(50 * SECOND);
    world.route(0, &request).unwrap();
    world.run_for(50 * SECOND);
    assert!(world.route(0, &request).is_err(), "neither the path nor the table is valid after 100 s");
}

/// Asserts that each node requested its table once, and that none of `parts` equal parts of `time` has more than twice
/// its share.
fn assert_spread(world: &World, nodes: usize, since: Time, time: Duration, parts: u128) {
    let tables = queries(world, Method::GET_TABLE);
    let mut by_time = BTreeMap::new();
    for (at, _) in &tables {
        *by_time.entry(at.since(since).as_nanos() * parts / time.as_nanos()).or_insert(0_u128) += 1;
    }
    assert_eq!((tables.len(), by_time.len() as u128), (nodes, parts), "{by_time:?}");
    assert!(by_time.values().all(|count| *count <= 2 * nodes as u128 / parts), "{by_time:?}");
}

#[test]
fn tables_of_300_nodes_are_spread_over_100_s_after_a_boot_and_after_a_restart_of_the_subnet_manager() {
    let mut world = world(300, Prefetch::On);
    for _ in 0..2 {
        // The joins and subscriptions of all nodes go first.
        let start = world.now() + SECOND / 2;
        world.run_for(LATER);
        assert_spread(&world, 300, start, 100 * SECOND, 10);
        world.transcript.clear();
        world.subnet.restart_sm(None);
        world.settle();
    }
}

#[test]
fn tables_of_100_nodes_are_spread_over_a_second_at_the_start_of_a_job() {
    let mut world = world(100, Prefetch::Auto);
    for node in 0..100 {
        for other in 0..64 {
            let request = by_gid(&world, other);
            world.route(node, &request).unwrap();
        }
    }
    let start = world.now();
    world.run_for(5 * SECOND);
    assert_spread(&world, 100, start, SECOND, 5);
}
