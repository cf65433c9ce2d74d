//! Routes and hosts from files: they need no queries until the fabric contradicts them.
use acm_sansio::{
    Config, Input, Output,
    config::{Limits, RouteProt},
    preload::{Hosts, Preload},
};
use acm_sim::{World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter, EntryFlags, path_request, resolve_request},
};
use core::time::Duration;
use ib_mad::{AttributeId, Gid, Lid, PacketLifeTime, Selected, ServiceLevel, sa::PathRecord};

/// Service level of all routes of the file.
const OF_FILE: ServiceLevel = ServiceLevel::of::<5>();
/// Service level of all routes of subnet administration.
const OF_FABRIC: ServiceLevel = ServiceLevel::ZERO;

fn name(node: u32) -> Address {
    World::addresses(node)[0]
}

fn load(world: &mut World, node: usize, sl: ServiceLevel) {
    let (routes, hosts) = (world.route_table(node, sl), world.host_table());
    world.input(node, Input::Preloaded(routes));
    world.input(node, Input::Preloaded(hosts));
}

/// Returns a world in which node 0 has loaded the tables of the current subnet.
fn loaded(config: WorldConfig) -> World {
    let mut world = World::new(config);
    load(&mut world, 0, OF_FILE);
    world
}

/// Returns the numbers of a node's datagrams and path queries.
fn sent(world: &World, node: usize) -> (usize, usize) {
    let count = |matches: &dyn Fn(&Output) -> bool| {
        world.transcript.iter().filter(|(_, of, output)| *of == node && matches(output)).count()
    };
    let path = |output: &Output| matches!(output, Output::SaSend(send) if send.mad.header.attribute_id == AttributeId::PATH_RECORD);
    (count(&|output| matches!(output, Output::Send { .. })), count(&path))
}

fn sl(path: Result<PathRecord, ClientStatus>) -> Result<ServiceLevel, ClientStatus> {
    path.map(|path| path.qos_sl.sl())
}

fn set_lid(world: &mut World, node: usize, lid: u16) {
    let mut port = world.port(node).clone();
    port.lid = Lid::new(lid);
    world.subnet.set_port(World::port_id(node), port).unwrap();
    world.settle();
}

#[test]
fn preloaded_destination_is_found_by_each_key_without_queries() {
    let mut world = loaded(WorldConfig { nodes: 3, ..WorldConfig::default() });
    let (here, there) = (world.port(0).clone(), world.port(2).clone());
    let mut paths: Vec<PathRecord> =
        World::addresses(2).iter().map(|dest| world.resolve(0, &name(0), dest).unwrap()).collect();
    paths.push(world.resolve(0, &name(0), &Address::from_text("NODE3")).unwrap());
    paths.push(world.route(0, &PathRecord { dlid: there.lid, ..PathRecord::default() }).unwrap());
    paths.push(world.route(0, &PathRecord { dgid: there.gids[0], ..PathRecord::default() }).unwrap());
    let both = PathRecord { dgid: there.gids[0], dlid: there.lid, ..PathRecord::default() };
    paths.push(world.route(0, &both).unwrap());
    assert_eq!(sent(&world, 0), (0, 0), "no datagram and no query");
    let first = paths[0];
    assert!(paths.iter().all(|path| *path == first), "one route for all keys: {paths:?}");
    assert_eq!((first.dgid, first.dlid), (there.gids[0], there.lid));
    assert_eq!((first.sgid, first.slid, first.pkey), (here.gids[0], here.lid, here.pkeys[0]));
    assert_eq!((first.mtu, first.rate), (Selected::exactly(there.mtu), Selected::exactly(there.rate)));
    assert_eq!(first.packet_life_time, Selected::exactly(PacketLifeTime::checked(here.subnet_timeout).unwrap()));
    assert!(first.reversible_paths.reversible() && first.reversible_paths.num_path() == 1);
    assert_eq!(first.qos_sl.sl(), OF_FILE);
    assert_eq!((world.stat(0, "preload_used"), world.stat(0, "preload_loads")), (6, 2));
    let local = world.route(0, &PathRecord { dlid: here.lid, ..PathRecord::default() }).unwrap();
    assert_eq!(local.packet_life_time, Selected::exactly(PacketLifeTime::ZERO));
    assert_eq!(world.node(0).acm.counters().get(Counter::RouteCache), 8);
    let report = world.node(0).acm.report().to_string();
    assert!(
        report.contains("preload: sections 1 destinations 3 ports 3 wrong 0\npreload: hosts 9 wrong 0\n"),
        "{report}"
    );
}

// docs/deviations.md: preload-class
#[test]
fn requests_that_the_files_cannot_answer_are_looked_up() {
    let mut world = World::new(WorldConfig { nodes: 2, ..WorldConfig::default() });
    let routes = world.route_table(0, OF_FILE);
    world.input(0, Input::Preloaded(routes));
    // Without a host table, the group gives the address and the route table gives the path.
    assert_eq!(sl(world.resolve(0, &name(0), &name(1))), Ok(OF_FILE));
    assert_eq!(sent(&world, 0), (1, 0));
    // Requests with constraints that the file cannot meet.
    let dgid = world.port(1).gids[0];
    for record in [
        PathRecord { dgid, traffic_class: 4, ..PathRecord::default() },
        PathRecord { dgid, qos_sl: ib_mad::sa::QosSl::default().with_qos_class(2), ..PathRecord::default() },
    ] {
        assert_eq!(sl(world.route(0, &record)), Ok(OF_FABRIC));
    }
    let contradictory = PathRecord { dgid, dlid: world.port(0).lid, ..PathRecord::default() };
    assert_eq!(world.route(0, &contradictory), Err(ClientStatus::ENODATA), "LID and GID of two ports");
    assert_eq!(sent(&world, 0), (1, 3));
}

#[test]
fn preloaded_hosts_without_routes_need_no_multicast_request() {
    for protocol in [RouteProt::Sa, RouteProt::Acm] {
        let core = Config { route_prot: protocol, ..Config::default() };
        let mut world = World::new(WorldConfig { nodes: 2, core, ..WorldConfig::default() });
        let hosts = world.host_table();
        world.input(0, Input::Preloaded(hosts));
        let path = world.resolve(0, &name(0), &name(1)).unwrap();
        assert_eq!((path.dlid, path.qos_sl.sl()), (world.port(1).lid, OF_FABRIC));
        assert_eq!(sent(&world, 0), (0, 1));
        // A request of the same peer is no claim.
        assert!(world.resolve(1, &name(1), &name(0)).is_ok());
        assert_eq!((world.stat(0, "claims_checked"), world.stat(0, "claims_ignored")), (0, 0));
    }
}

/// The group shows the peer's LID, which changed after the dump.
#[test]
fn preloaded_route_to_another_lid_than_that_of_the_peer_is_not_used() {
    let mut world = World::new(WorldConfig::default());
    let routes = world.route_table(0, OF_FILE);
    world.input(0, Input::Preloaded(routes));
    set_lid(&mut world, 1, 300);
    let path = world.resolve(0, &name(0), &name(1)).unwrap();
    assert_eq!((path.dlid, path.qos_sl.sl()), (Lid::new(300), OF_FABRIC));
}

#[test]
fn preloaded_route_back_to_a_peer_needs_no_query() {
    let mut world = loaded(WorldConfig::default());
    assert!(world.resolve(1, &name(1), &name(0)).is_ok());
    assert_eq!(sent(&world, 0), (1, 0), "only the response");
    assert_eq!(sl(world.resolve(0, &name(0), &name(1))), Ok(OF_FILE));
    // A request of a cached peer is no claim, although the file has no queue pair.
    load(&mut world, 1, OF_FILE);
    assert!(world.resolve(1, &name(1), &Address::from_text("10.0.0.1")).is_ok());
    world.restart(1);
    assert!(world.resolve(1, &name(1), &name(0)).is_ok());
    assert_eq!((world.stat(0, "claims_checked"), sent(&world, 0).1), (0, 0));
}

// docs/deviations.md: preload-lifetime
#[test]
fn preloaded_routes_are_used_while_the_port_has_the_lid_of_the_file() {
    let mut world = World::new(WorldConfig::default());
    set_lid(&mut world, 0, 200);
    load(&mut world, 0, OF_FILE);
    let (first, old) = (world.resolve(0, &name(0), &name(1)).unwrap(), sent(&world, 0));
    assert_eq!((first.slid, first.qos_sl.sl(), old), (Lid::new(200), OF_FILE, (0, 0)));
    set_lid(&mut world, 0, 300);
    let path = world.resolve(0, &name(0), &name(1)).unwrap();
    assert_eq!((path.slid, path.qos_sl.sl()), (Lid::new(300), OF_FABRIC), "the file has no section for this LID");
    assert_eq!(sent(&world, 0), (0, 1), "the address needs no multicast request");
    set_lid(&mut world, 0, 200);
    let dgid = world.port(1).gids[0];
    assert_eq!(
        sl(world.route(0, &PathRecord { dgid, ..PathRecord::default() })),
        Ok(OF_FILE),
        "the LID is that of the file again"
    );
}

// docs/deviations.md: preload-lifetime
#[test]
fn new_tables_replace_old_tables() {
    let mut world = loaded(WorldConfig { nodes: 3, ..WorldConfig::default() });
    let by_lid = PathRecord { dlid: world.port(1).lid, ..PathRecord::default() };
    assert_eq!((sl(world.resolve(0, &name(0), &name(1))), sl(world.route(0, &by_lid))), (Ok(OF_FILE), Ok(OF_FILE)));
    let other = ServiceLevel::of::<6>();
    load(&mut world, 0, other);
    assert_eq!((sl(world.resolve(0, &name(0), &name(1))), sl(world.route(0, &by_lid))), (Ok(other), Ok(other)));
    // The new host table has another GID for the name.
    let mut hosts = Hosts::builder();
    hosts.host(&name(1), world.port(2).gids[0]);
    world.input(0, Input::Preloaded(Preload::Hosts(hosts.finish().into())));
    assert_eq!(world.resolve(0, &name(0), &name(1)).unwrap().dlid, world.port(2).lid);
    assert_eq!(sent(&world, 0), (0, 0));
}

#[test]
fn unchanged_tables_keep_the_cache() {
    let mut world = loaded(WorldConfig::default());
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    load(&mut world, 0, OF_FILE);
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    assert_eq!((world.stat(0, "preload_used"), world.stat(0, "preload_loads")), (1, 4));
}

// docs/deviations.md: preload-lifetime
#[test]
fn preloaded_destinations_do_not_expire_and_return_after_eviction() {
    let limits = Limits { destinations: 5, unsolicited: 1, ..Limits::default() };
    let minute = Some(Duration::from_secs(60));
    let core = Config { limits, addr_timeout: minute, route_timeout: minute, ..Config::default() };
    let mut world = loaded(WorldConfig { nodes: 9, core, ..WorldConfig::default() });
    for _ in 0..3 {
        for node in 1..9 {
            assert_eq!(sl(world.resolve(0, &name(0), &name(node))), Ok(OF_FILE));
        }
        world.run_for(Duration::from_secs(3600));
    }
    assert!(world.stat(0, "destinations_evicted") > 0);
    assert_eq!(sent(&world, 0), (0, 0));
}

// docs/deviations.md: preload-lifetime
#[test]
fn preloaded_route_is_read_from_the_table_once() {
    let minute = Some(Duration::from_secs(60));
    let core = Config { addr_timeout: minute, route_timeout: minute, ..Config::default() };
    let mut world = loaded(WorldConfig { core, ..WorldConfig::default() });
    for _ in 0..3 {
        assert_eq!(sl(world.resolve(0, &name(0), &name(1))), Ok(OF_FILE));
        world.run_for(Duration::from_secs(3600));
    }
    assert_eq!((sent(&world, 0), world.stat(0, "preload_used")), ((0, 0), 1));
}

/// The peer's LID changes after the dump.
// docs/deviations.md: preload-lifetime
#[test]
fn claim_against_a_preloaded_host_is_accepted_if_confirmed() {
    let mut world = loaded(WorldConfig::default());
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    set_lid(&mut world, 1, 300);
    // The peer sends a request from its new LID.
    assert!(world.resolve(1, &name(1), &name(0)).is_ok());
    world.run_for(Duration::from_secs(10));
    let path = world.resolve(0, &name(0), &name(1)).unwrap();
    assert_eq!((path.dlid, path.qos_sl.sl()), (Lid::new(300), OF_FABRIC));
    assert_eq!((world.stat(0, "claims_confirmed"), world.stat(0, "preload_refuted")), (1, 1));
    // The peer's GID resolves to the new LID, too.
    let dgid = world.port(1).gids[0];
    let path = world.route(0, &PathRecord { dgid, ..PathRecord::default() }).unwrap();
    assert_eq!(path.dlid, Lid::new(300));
    // The cached path stays after a reload; other keys use the new table.
    let hosts = world.host_table();
    world.input(0, Input::Preloaded(hosts));
    load(&mut world, 0, ServiceLevel::of::<6>());
    let path = world.route(0, &PathRecord { dgid, ..PathRecord::default() }).unwrap();
    assert_eq!((path.dlid, path.qos_sl.sl()), (Lid::new(300), OF_FABRIC), "from the cache");
    let path = world.resolve(0, &name(0), &World::addresses(1)[1]).unwrap();
    assert_eq!((path.dlid, path.qos_sl.sl()), (Lid::new(300), ServiceLevel::of::<6>()));
}

// docs/deviations.md: preload-lifetime
#[test]
fn wrong_preloaded_host_is_looked_up_in_the_group() {
    let mut world = World::new(WorldConfig::default());
    let mut hosts = Hosts::builder();
    hosts.host(&name(1), "fe80::dead".parse().unwrap());
    world.input(0, Input::Preloaded(Preload::Hosts(hosts.finish().into())));
    assert_eq!(world.resolve(0, &name(0), &name(1)), Err(ClientStatus::ENODATA), "no port has this GID");
    assert_eq!((sent(&world, 0), world.stat(0, "preload_refuted")), ((0, 1), 1));
    let path = world.resolve(0, &name(0), &name(1)).unwrap();
    assert_eq!((path.dlid, sent(&world, 0)), (world.port(1).lid, (1, 2)));
}

// docs/deviations.md: preload-lifetime
#[test]
fn new_host_table_replaces_wrong_hosts() {
    let mut world = World::new(WorldConfig::default());
    let mut hosts = Hosts::builder();
    hosts.host(&name(1), "fe80::dead".parse().unwrap());
    world.input(0, Input::Preloaded(Preload::Hosts(hosts.finish().into())));
    assert_eq!(world.resolve(0, &name(0), &name(1)), Err(ClientStatus::ENODATA));
    assert_eq!((sent(&world, 0), world.stat(0, "preload_refuted")), ((0, 1), 1));
    let hosts = world.host_table();
    world.input(0, Input::Preloaded(hosts));
    let path = world.resolve(0, &name(0), &name(1)).unwrap();
    assert_eq!((path.dlid, sent(&world, 0)), (world.port(1).lid, (0, 2)), "no multicast request");
}

#[test]
fn loaded_tables_answer_pending_lookups_and_replace_failures() {
    let mut world = World::new(WorldConfig { nodes: 3, ..WorldConfig::default() });
    let (hosts, routes) = (world.host_table(), world.route_table(0, OF_FILE));
    // These nodes do not respond, and their lookups take seconds or have failed.
    let dgid = world.port(2).gids[0];
    for node in [1, 2] {
        world.lose_endpoints(node);
    }
    world.subnet.settings_mut().sa.mute = true;
    assert!(world.resolve(0, &name(0), &name(1)).is_err());
    let record = PathRecord { dgid, ..PathRecord::default() };
    let path = |record: &PathRecord| path_request(record, EntryFlags::empty(), [1; 8]);
    let clients = [
        world.request(0, &resolve_request(Some(&name(0)), &name(2), EntryFlags::empty(), [1; 8])),
        world.request(0, &path(&PathRecord { dlid: world.port(1).lid, ..PathRecord::default() })),
        world.request(0, &path(&record)),
    ];
    world.run_for(Duration::from_millis(300));
    assert!(clients.iter().all(|client| world.response(*client).is_none()));
    let now = world.now();
    world.input(0, Input::Preloaded(hosts));
    world.input(0, Input::Preloaded(routes));
    for client in clients {
        assert_eq!(sl(world.path(client).expect("an answer from the tables")), Ok(OF_FILE));
    }
    assert_eq!(sl(world.resolve(0, &name(0), &name(1))), Ok(OF_FILE), "the failure is not used");
    assert_eq!(world.now(), now);
}

// docs/deviations.md: preload-lifetime
#[test]
fn preloaded_route_that_the_sa_contradicts_is_not_used_again() {
    let mut world = loaded(WorldConfig { nodes: 3, ..WorldConfig::default() });
    let dgid = world.port(1).gids[0];
    // The link becomes slower than the route of the file.
    let mut port = world.port(0).clone();
    port.rate = ib_mad::Rate::GBPS_10;
    world.subnet.set_port(World::port_id(0), port).unwrap();
    world.read_port(0);
    let path = world.route(0, &PathRecord { dgid, ..PathRecord::default() }).unwrap();
    assert_eq!((path.rate.value(), path.qos_sl.sl()), (ib_mad::Rate::GBPS_10, OF_FABRIC));
    assert_eq!((sent(&world, 0), world.stat(0, "preload_refuted")), ((0, 1), 1));
    // The link is as fast as before. Only the contradicted route still needs a query.
    let mut port = world.port(0).clone();
    port.rate = ib_mad::Rate::GBPS_100;
    world.subnet.set_port(World::port_id(0), port).unwrap();
    world.read_port(0);
    assert_eq!(sl(world.resolve(0, &name(0), &name(1))), Ok(OF_FABRIC));
    assert_eq!(sl(world.resolve(0, &name(0), &name(2))), Ok(OF_FILE));
    assert_eq!((sent(&world, 0), world.stat(0, "preload_refuted")), ((0, 2), 1));
}

#[test]
fn forged_request_does_not_replace_a_preloaded_host() {
    let mut world = loaded(WorldConfig { nodes: 3, ..WorldConfig::default() });
    let remote = world.remote_host(2);
    world.forge_request(remote, 0, 7, &name(1), &name(0));
    world.run_for(Duration::from_secs(10));
    assert_eq!((world.stat(0, "claims_checked"), world.stat(0, "claims_confirmed")), (1, 0));
    world.forge_request(remote, 0, 7, &name(1), &name(0));
    world.run_for(Duration::from_secs(10));
    assert_eq!((world.stat(0, "claims_checked"), world.stat(0, "claims_confirmed")), (2, 0));
    assert_eq!(world.node(0).acm.counters().get(Counter::RouteCache), 0, "remote hosts do not count as users");
    let path = world.resolve(0, &name(0), &name(1)).unwrap();
    assert_eq!((path.dlid, path.qos_sl.sl()), (world.port(1).lid, OF_FILE));
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

#[test]
fn gid_of_another_subnet_is_not_taken_from_the_tables() {
    let mut world = loaded(WorldConfig::default());
    let guid = world.port(1).gids[0].interface_id();
    let dgid = Gid::from_parts(0xfec0_0000_0000_0007, guid);
    let sgid = world.port(0).gids[0];
    assert_eq!(world.route(0, &PathRecord { dgid, sgid, ..PathRecord::default() }), Err(ClientStatus::ENODATA));
    assert_eq!((sent(&world, 0), world.stat(0, "preload_refuted")), ((0, 1), 0));
}

/// The new table has another GID for the host.
#[test]
fn expired_route_to_a_preloaded_host_follows_the_new_table() {
    let core = Config { route_timeout: Some(Duration::from_secs(16 * 60)), ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 3, core, ..WorldConfig::default() });
    let hosts = world.host_table();
    world.input(0, Input::Preloaded(hosts));
    assert_eq!(world.resolve(0, &name(0), &name(1)).unwrap().dlid, world.port(1).lid);
    world.run_for(Duration::from_secs(20 * 60));
    let mut hosts = Hosts::builder();
    hosts.host(&name(1), world.port(2).gids[0]);
    world.input(0, Input::Preloaded(Preload::Hosts(hosts.finish().into())));
    assert_eq!(world.resolve(0, &name(0), &name(1)).unwrap().dlid, world.port(2).lid);
    assert_eq!(sent(&world, 0), (0, 2), "a path query and no multicast request");
}
