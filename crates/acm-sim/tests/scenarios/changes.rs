//! Changes at run time: ports, the subnet manager, peers, addresses, expiry, shutdown.
use acm_sansio::{Config, Input, PortId, config::Depth};
use acm_sim::{World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter},
};
use core::time::Duration;
use ib_mad::{Lid, PortState};

fn name(node: u32) -> Address {
    World::addresses(node)[0]
}

fn count(world: &World, node: usize, counter: Counter) -> u64 {
    world.node(node).acm.counters().get(counter)
}

#[test]
fn response_goes_to_the_new_queue_pair_of_a_restarted_peer() {
    let mut world = World::new(WorldConfig::default());
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    world.restart(1);
    // The response of node 0 must go to the new queue pair of node 1.
    assert!(world.resolve(1, &name(1), &name(0)).is_ok());
    assert!(world.now().since_start() < Duration::from_secs(1), "no response was lost: {}", world.now());
    world.restart(0);
    assert!(world.resolve(1, &name(1), &name(0)).is_ok());
}

#[test]
fn port_rejoins_its_groups_after_it_was_down() {
    let mut world = World::new(WorldConfig::default());
    world.subnet.set_port_state(World::port_id(0), PortState::DOWN).unwrap();
    world.settle();
    assert_eq!(world.resolve(0, &name(0), &name(1)), Err(ClientStatus::ESRCADDR));
    world.subnet.set_port_state(World::port_id(0), PortState::ACTIVE).unwrap();
    world.settle();
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    assert!(world.resolve(1, &name(1), &name(0)).is_ok());
}

#[test]
fn pending_requests_fail_at_once_when_the_port_goes_down() {
    use acm_wire::client::{EntryFlags, resolve_request};
    let mut world = World::new(WorldConfig::default());
    let unknown = Address::from_text("nobody");
    let client = world.request(0, &resolve_request(Some(&name(0)), &unknown, EntryFlags::empty(), [1; 8]));
    assert_eq!(world.path(client), None);
    world.subnet.set_port_state(World::port_id(0), PortState::DOWN).unwrap();
    world.settle();
    assert_eq!(world.path(client), Some(Err(ClientStatus::ENODATA)), "at once, without a time-out");
}

#[test]
fn groups_are_rejoined_after_a_subnet_manager_restart() {
    let mut world = World::new(WorldConfig { nodes: 4, ..WorldConfig::default() });
    world.run_for(Duration::from_secs(1));
    // The groups get other MLIDs, so the queue pairs must be attached again.
    world.subnet.restart_sm(Some(Lid::new(0xc100)));
    world.run_for(Duration::from_secs(1));
    let members: Vec<usize> = world.subnet.groups().map(|group| group.members.len()).collect();
    assert_eq!(members, [4]);
    for node in 1..4 {
        assert!(world.resolve(0, &name(0), &name(node)).is_ok());
    }
}

// docs/deviations.md: first-join
#[test]
fn cache_serves_until_a_failed_join_is_retried() {
    let mut world = World::new(WorldConfig::default());
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    world.run_for(Duration::from_secs(1));
    world.subnet.settings_mut().sa.mute = true;
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_secs(30));
    assert!(world.resolve(0, &name(0), &name(1)).is_ok(), "from the cache");
    assert!(world.resolve(0, &name(0), &name(0)).is_ok(), "loopback");
    assert_eq!(world.subnet.groups().count(), 0);
    world.subnet.settings_mut().sa.mute = false;
    world.run_for(Duration::from_secs(120));
    assert_eq!(world.subnet.groups().map(|group| group.members.len()).collect::<Vec<_>>(), [2]);
}

#[test]
fn lid_change_invalidates_routes_and_keeps_addresses() {
    let mut world = World::new(WorldConfig::default());
    let old = world.resolve(0, &name(0), &name(1)).unwrap();
    let mut port = world.port(0).clone();
    port.lid = Lid::new(200);
    world.subnet.set_port(World::port_id(0), port).unwrap();
    world.settle();
    let new = world.resolve(0, &name(0), &name(1)).unwrap();
    assert_eq!((old.slid, new.slid), (Lid::new(16), Lid::new(200)));
    assert_eq!(count(&world, 0, Counter::AddrQuery), 1, "the address stays in the cache");
    assert_eq!(
        world.resolve(0, &name(0), &name(0)).unwrap().dlid,
        Lid::new(200),
        "the loopback path has the new LID, too"
    );
}

#[test]
fn addresses_and_routes_expire_after_their_time_outs() {
    let core = Config {
        addr_timeout: Some(Duration::from_secs(600)),
        route_timeout: Some(Duration::from_secs(60)),
        ..Config::default()
    };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    world.run_for(Duration::from_secs(61));
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    assert_eq!((count(&world, 0, Counter::AddrQuery), count(&world, 0, Counter::RouteQuery)), (1, 2));
    assert_eq!(count(&world, 0, Counter::AddrCache), 1);
    world.run_for(Duration::from_secs(601));
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    assert_eq!((count(&world, 0, Counter::AddrQuery), count(&world, 0, Counter::RouteQuery)), (2, 3));
}

#[test]
fn removed_address_is_neither_a_source_nor_found_by_peers() {
    let mut world = World::new(WorldConfig::default());
    let address = name(0);
    world.input(0, Input::AddressRemoved { port: PortId(0), pkey: None, address });
    assert_eq!(world.resolve(0, &address, &name(1)), Err(ClientStatus::ESRCADDR));
    assert_eq!(world.resolve(1, &name(1), &address), Err(ClientStatus::ETIMEDOUT));
    world.input(0, Input::AddressAdded { port: PortId(0), pkey: None, address });
    world.run_for(Config::default().negative_timeout.unwrap());
    assert!(world.resolve(1, &name(1), &address).is_ok());
}

// docs/deviations.md: leave
#[test]
fn shutdown_leaves_all_groups_within_three_seconds() {
    let mut world = World::new(WorldConfig::default());
    world.input(0, Input::Shutdown);
    assert!(world.node(0).host.stopped);
    let members: Vec<usize> = world.subnet.groups().map(|group| group.members.len()).collect();
    assert_eq!(members, [1]);
    // A silent subnet administration delays the shutdown by three seconds at most.
    world.subnet.settings_mut().sa.mute = true;
    let start = world.now();
    world.input(1, Input::Shutdown);
    assert!(!world.node(1).host.stopped);
    world.run_for(Duration::from_secs(3));
    assert!(world.node(1).host.stopped && world.now().since(start) == Duration::from_secs(3));
}

#[test]
fn joins_are_sent_before_queued_path_queries() {
    use acm_wire::client::{EntryFlags, path_request};
    use ib_mad::sa::PathRecord;
    let core = Config { sa_depth: Depth::Fixed(1), ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 3, core, ..WorldConfig::default() });
    world.run_for(Duration::from_secs(1));
    world.subnet.settings_mut().sa.delay = Duration::from_secs(1);
    let clients: Vec<_> = (1..20)
        .map(|sl| {
            let record = PathRecord { dlid: world.port(1).lid, traffic_class: sl, ..PathRecord::default() };
            world.request(0, &path_request(&record, EntryFlags::empty(), [1; 8]))
        })
        .collect();
    let report = world.node(0).acm.report().to_string();
    assert!(report.contains(" in_flight 1 waiting 18 "), "{report}");
    world.subnet.restart_sm(None);
    // One path query is in flight. The join is due within 500 ms and is sent before the 18 queued queries.
    world.run_for(Duration::from_millis(2600));
    let members: Vec<usize> = world.subnet.groups().map(|group| group.members.len()).collect();
    assert_eq!(members, [3]);
    assert!(
        clients.iter().filter(|client| world.path(**client).is_none()).count() > 15,
        "most path queries are still queued"
    );
    for client in clients {
        assert!(world.wait(client).is_ok());
    }
}
