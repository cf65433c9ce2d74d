//! Paths that clients read without a request (`shared_cache`): never another one than a request would get.
use acm_sansio::{Config, Input, Output, PortId, config::ServiceIds};
use acm_sim::{World, WorldConfig};
use acm_wire::Address;
use core::time::Duration;
use ib_mad::{Gid, Lid, Pkey, PortState, sa::PathRecord};

const SECOND: Duration = Duration::from_secs(1);

fn world(core: Config) -> World {
    let core = Config { shared_cache: true, ..core };
    World::new(WorldConfig { nodes: 3, core, ..WorldConfig::default() })
}

/// Returns what a client of the first node reads.
fn read(world: &World, source: &Address, dest: &Address) -> Option<PathRecord> {
    world.node(0).host.published.path(world.now(), Some(source), dest)
}

fn published(world: &World) -> usize {
    world.node(0).host.published.len()
}

/// Requests the paths to each address of the second node, and to its GID and LID. Returns these destinations.
fn request_all(world: &mut World) -> Vec<Address> {
    let [source, ..] = World::addresses(0);
    let (gid, lid) = (world.port(1).gids[0], world.port(1).lid);
    for dest in World::addresses(1) {
        assert_eq!(world.resolve(0, &source, &dest).unwrap().dlid, lid);
    }
    world.route(0, &PathRecord { dgid: gid, ..PathRecord::default() }).unwrap();
    world.route(0, &PathRecord { dlid: lid, ..PathRecord::default() }).unwrap();
    let mut all = World::addresses(1).to_vec();
    all.extend([Address::Gid(gid), Address::Lid(lid)]);
    all
}

#[test]
fn client_reads_what_a_request_gets_from_every_source_to_every_kind_of_destination() {
    let mut world = world(Config::default());
    for dest in request_all(&mut world) {
        for source in World::addresses(0) {
            let requested = match dest {
                Address::Gid(dgid) => world.route(0, &PathRecord { dgid, ..PathRecord::default() }),
                Address::Lid(dlid) => world.route(0, &PathRecord { dlid, ..PathRecord::default() }),
                dest => world.resolve(0, &source, &dest),
            };
            assert_eq!(read(&world, &source, &dest), Some(requested.unwrap()), "{source} to {dest}");
        }
    }
    let [source, ..] = World::addresses(0);
    assert!(read(&world, &Address::from_text("NODE1"), &Address::from_text("nOde2")).is_some(), "in any case");
    assert_eq!(read(&world, &Address::from_text("node2"), &Address::from_text("node2")), None, "no local source");
    assert_eq!(read(&world, &source, &Address::from_text("node3")), None, "nobody requested it");
    // The address of this node itself.
    world.resolve(0, &source, &source).unwrap();
    assert_eq!(read(&world, &source, &source).unwrap().dlid, world.port(0).lid);
}

/// The path in a response is published before the response, and is withdrawn before any output of the input that shows
/// that it may be wrong.
// docs/deviations.md: shared-cache
#[test]
fn path_is_withdrawn_before_the_next_output_after_its_peer_left() {
    let mut world = world(Config::default());
    // Joins of groups, and subscriptions to notices.
    world.run_for(10 * SECOND);
    let all = request_all(&mut world);
    let [source, ..] = World::addresses(0);
    assert!(all.iter().all(|dest| read(&world, &source, dest).is_some()));
    let before = world.transcript.len();
    world.subnet.set_port_state(World::port_id(1), PortState::DOWN).unwrap();
    world.settle();
    let outputs: Vec<&Output> =
        world.transcript[before..].iter().filter(|(_, node, _)| *node == 0).map(|(_, _, output)| output).collect();
    let withdrawn = outputs.iter().take_while(|output| matches!(output, Output::Publish(_))).count();
    // The destination by LID is found by its GID, too.
    assert_eq!(withdrawn, all.len(), "{outputs:?}");
    assert!(all.iter().all(|dest| read(&world, &source, dest).is_none()));
}

#[test]
fn event_of_the_port_withdraws_all_its_paths_until_they_are_confirmed() {
    let mut world = world(Config::default());
    let all = request_all(&mut world);
    world.input(0, Input::ClientReregister(PortId(0)));
    let [source, ..] = World::addresses(0);
    world.resolve(0, &source, &all[0]).unwrap();
    assert_eq!(published(&world), 0, "it is served, and not confirmed");
    world.run_for(60 * SECOND);
    world.resolve(0, &source, &all[0]).unwrap();
    assert!(read(&world, &source, &all[0]).is_some(), "renewed, and requested again");
    world.subnet.set_port_state(World::port_id(0), PortState::DOWN).unwrap();
    world.settle();
    assert_eq!((published(&world), read(&world, &source, &all[0])), (0, None));
    let another = ib_sim::Port { state: PortState::ACTIVE, lid: Lid::new(0x77), ..world.port(0).clone() };
    world.subnet.set_port(World::port_id(0), another).unwrap();
    world.run_for(10 * SECOND);
    assert_eq!(world.resolve(0, &source, &all[0]).unwrap().slid, Lid::new(0x77));
    assert_eq!(read(&world, &source, &all[0]).unwrap().slid, Lid::new(0x77));
}

#[test]
fn address_that_the_node_lost_is_no_source() {
    let mut world = world(Config::default());
    let all = request_all(&mut world);
    let [name, ip, _] = World::addresses(0);
    assert!(read(&world, &ip, &all[0]).is_some());
    world.input(0, Input::AddressRemoved { port: PortId(0), pkey: None, address: ip });
    assert_eq!(read(&world, &ip, &all[0]), None);
    assert!(read(&world, &name, &all[0]).is_some(), "another source");
}

/// Clients that read a path give no sign of its use. Once in a minute, one of them sends a request.
#[test]
fn path_is_published_for_a_minute_and_not_longer_than_it_is_valid() {
    let core = Config { addr_timeout: Some(30 * SECOND), ..Config::default() };
    for (core, least, most) in [(Config::default(), 59 * SECOND, 60 * SECOND), (core, 26 * SECOND, 30 * SECOND)] {
        let mut world = world(core);
        let [source, ..] = World::addresses(0);
        let dest = Address::from_text("node2");
        world.resolve(0, &source, &dest).unwrap();
        world.run_for(least);
        assert!(read(&world, &source, &dest).is_some());
        world.run_for(most - least);
        assert_eq!(read(&world, &source, &dest), None);
        world.resolve(0, &source, &dest).unwrap();
        assert!(read(&world, &source, &dest).is_some(), "for another minute");
    }
}

/// Requests with conditions, or with a source beside a GID, and destinations that only remote hosts requested.
#[test]
fn only_responses_to_plain_requests_are_published() {
    // With `Auto`, the path without a service id is cached as well.
    let mut world = world(Config { path_service_ids: ServiceIds::All, ..Config::default() });
    let (dgid, slid) = (world.port(1).gids[0], world.port(0).lid);
    world.route(0, &PathRecord { dgid, slid, ..PathRecord::default() }).unwrap();
    let service_id = ib_mad::ServiceId::new(0x0106_03db);
    world.route(0, &PathRecord { dgid, service_id, ..PathRecord::default() }).unwrap();
    // Node 2 requests node 0, which caches the path to node 2.
    let [source, ..] = World::addresses(2);
    world.resolve(2, &source, &World::addresses(0)[0]).unwrap();
    assert_eq!(published(&world), 0);
    assert_eq!(read(&world, &source, &Address::Gid(dgid)), None);
    assert_eq!(read(&world, &source, &Address::Gid(Gid::default())), None);
}

// docs/deviations.md: shared-cache
#[test]
fn nothing_is_published_without_the_option() {
    let mut world = World::new(WorldConfig { nodes: 3, ..WorldConfig::default() });
    request_all(&mut world);
    let publications = |world: &World| {
        let is_publication = |output: &Output| matches!(output, Output::Publish(_));
        world.transcript.iter().filter(|(_, _, output)| is_publication(output)).count()
    };
    assert_eq!(publications(&world), 0);
}

// docs/deviations.md: shared-cache
#[test]
fn option_is_switched_on_and_off_while_the_daemon_runs() {
    let mut world = World::new(WorldConfig { nodes: 3, ..WorldConfig::default() });
    // Joins of groups, and subscriptions to notices.
    world.run_for(10 * SECOND);
    let [source, ..] = World::addresses(0);
    let all = request_all(&mut world);
    for is_on in [true, false, true] {
        let before = world.transcript.len();
        world.input(0, Input::Configure(Config { shared_cache: is_on, ..Config::default() }.into()));
        assert_eq!(published(&world), 0, "paths are published by requests");
        request_all(&mut world);
        assert!(all.iter().all(|dest| read(&world, &source, dest).is_some() == is_on));
        if !is_on {
            // A path that was published before is withdrawn once, with all others.
            world.subnet.set_port_state(World::port_id(1), PortState::DOWN).unwrap();
            world.settle();
            world.subnet.set_port_state(World::port_id(1), PortState::ACTIVE).unwrap();
            world.run_for(10 * SECOND);
            let outputs =
                world.transcript[before..].iter().filter(|(_, node, _)| *node == 0).map(|(.., output)| output);
            let later = outputs.skip_while(|output| matches!(output, Output::Publish(_)));
            assert_eq!(later.filter(|output| matches!(output, Output::Publish(_))).count(), 0);
        }
    }
}

/// An endpoint closes with its last address, and all endpoints close with the daemon.
#[test]
fn endpoint_that_closes_withdraws_all_its_paths() {
    let mut world = world(Config::default());
    let storage = ["storage1", "storage2"].map(Address::from_text);
    let pkey = Pkey::new(0x8001);
    for (node, address) in storage.into_iter().enumerate() {
        // No address is in the third partition, so that the SA does not choose one.
        let pkeys = vec![Pkey::DEFAULT_FULL, pkey, Pkey::new(0x8002)];
        let port = ib_sim::Port { pkeys, ..world.port(node).clone() };
        world.subnet.set_port(World::port_id(node), port).unwrap();
        world.settle();
        world.input(node, Input::AddressAdded { port: PortId(0), pkey: Some(pkey), address });
    }
    world.run_for(SECOND);
    let all = request_all(&mut world);
    world.resolve(0, &storage[0], &storage[1]).unwrap();
    assert!(read(&world, &storage[0], &storage[1]).is_some());
    assert_eq!(published(&world), all.len() + 1);
    world.input(0, Input::AddressRemoved { port: PortId(0), pkey: Some(pkey), address: storage[0] });
    assert_eq!(published(&world), all.len());
    world.input(0, Input::Shutdown);
    assert_eq!(published(&world), 0);
}

/// The SA chooses the partition of a path to a GID, as long as each partition of the port has an address.
#[test]
fn path_in_a_partition_of_the_sas_choice_is_published_until_the_port_has_other_partitions() {
    let mut world = world(Config::default());
    let storage = Pkey::new(0x8001);
    for node in [0, 1] {
        let port = ib_sim::Port { pkeys: vec![storage, Pkey::DEFAULT_FULL], ..world.port(node).clone() };
        world.subnet.set_port(World::port_id(node), port).unwrap();
        world.settle();
    }
    let dgid = world.port(1).gids[0];
    let (to, gid) = (|pkey| PathRecord { dgid, pkey, ..PathRecord::default() }, Address::Gid(dgid));
    let [source, ..] = World::addresses(0);
    let pkeys = |world: &World| read(world, &source, &gid).map(|path| path.pkey);
    let (open, address) = (Pkey::default(), Address::from_text("storage1"));
    let add = |pkey, address| Input::AddressAdded { port: PortId(0), pkey, address };
    // The names of the world are in the first partition of the table.
    world.input(0, add(Some(Pkey::DEFAULT_FULL), address));
    world.run_for(SECOND);
    assert_eq!(world.route(0, &to(open)).unwrap().pkey, storage);
    assert_eq!(pkeys(&world), Some(storage));
    assert_eq!(world.route(0, &to(Pkey::DEFAULT_FULL)).unwrap().pkey, Pkey::DEFAULT_FULL);
    assert_eq!(pkeys(&world), Some(storage), "a request with a P_Key");
    // The default partition loses its address: the daemon has one partition of two.
    world.input(0, Input::AddressRemoved { port: PortId(0), pkey: Some(Pkey::DEFAULT_FULL), address });
    assert_eq!(pkeys(&world), None);
    assert_eq!(world.route(0, &to(open)).unwrap().pkey, storage, "of the only endpoint");
    world.input(0, add(Some(Pkey::DEFAULT_FULL), address));
    world.run_for(SECOND);
    assert_eq!(pkeys(&world), None);
    assert_eq!(world.route(0, &to(Pkey::DEFAULT_FULL)).unwrap().pkey, Pkey::DEFAULT_FULL);
    assert_eq!(pkeys(&world), None, "a request with a P_Key");
    assert_eq!(world.route(0, &to(open)).unwrap().pkey, storage);
    assert_eq!(pkeys(&world), Some(storage));
}
