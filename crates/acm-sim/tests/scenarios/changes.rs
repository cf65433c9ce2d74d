//! What changes while the service runs: ports, the subnet manager, peers, time.
use acm_sansio::{Config, Input, PortId, config::SaDepth};
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
fn a_peer_with_a_new_queue_pair_is_followed() {
    let mut world = World::new(WorldConfig::default());
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    world.restart(1);
    // It asks us: our answer must go to its new queue pair.
    assert!(world.resolve(1, &name(1), &name(0)).is_ok());
    assert!(world.now().since_start() < Duration::from_secs(1), "no answer was lost: {}", world.now());
    world.restart(0);
    assert!(world.resolve(1, &name(1), &name(0)).is_ok());
}

#[test]
fn a_port_that_bounces_joins_again() {
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
fn requests_under_way_fail_when_the_port_goes_down() {
    use acm_wire::client::{EntryFlags, resolve_request};
    let mut world = World::new(WorldConfig::default());
    let dead = Address::from_text("nobody");
    let ask = world.ask(0, &resolve_request(Some(&name(0)), &dead, EntryFlags::empty(), [1; 8]));
    assert_eq!(world.path(ask), None);
    world.subnet.set_port_state(World::port_id(0), PortState::DOWN).unwrap();
    world.settle();
    assert_eq!(world.path(ask), Some(Err(ClientStatus::ENODATA)), "at once, not after a time-out");
}

#[test]
fn a_restarted_subnet_manager_gets_its_groups_back() {
    let mut world = World::new(WorldConfig { nodes: 4, ..WorldConfig::default() });
    world.run_for(Duration::from_secs(1));
    // Other MLIDs than before: what was attached must be attached anew.
    world.subnet.restart_sm(Some(Lid::new(0xc100)));
    world.run_for(Duration::from_secs(1));
    let members: Vec<usize> = world.subnet.groups().map(|group| group.members.len()).collect();
    assert_eq!(members, [4]);
    for node in 1..4 {
        assert!(world.resolve(0, &name(0), &name(node)).is_ok());
    }
}

#[test]
fn a_failed_join_is_tried_again_and_the_cache_serves_meanwhile() {
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
fn a_new_lid_voids_old_routes() {
    let mut world = World::new(WorldConfig::default());
    let old = world.resolve(0, &name(0), &name(1)).unwrap();
    let mut port = world.port(0).clone();
    port.lid = Lid::new(200);
    world.subnet.set_port(World::port_id(0), port).unwrap();
    world.settle();
    let new = world.resolve(0, &name(0), &name(1)).unwrap();
    assert_eq!((old.slid, new.slid), (Lid::new(16), Lid::new(200)));
    assert_eq!(count(&world, 0, Counter::AddrQuery), 1, "where the other one is was still known");
    assert_eq!(world.resolve(0, &name(0), &name(0)).unwrap().dlid, Lid::new(200), "loopback, too");
}

#[test]
fn addresses_and_routes_expire() {
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
fn an_address_that_is_taken_away_is_ours_no_more() {
    let mut world = World::new(WorldConfig::default());
    let address = name(0);
    world.input(0, Input::AddressRemoved { port: PortId(0), pkey: None, address });
    assert_eq!(world.resolve(0, &address, &name(1)), Err(ClientStatus::ESRCADDR));
    assert_eq!(world.resolve(1, &name(1), &address), Err(ClientStatus::ETIMEDOUT));
    world.input(0, Input::AddressAdded { port: PortId(0), pkey: None, address });
    world.run_for(Config::default().negative_timeout.unwrap());
    assert!(world.resolve(1, &name(1), &address).is_ok());
}

#[test]
fn shutdown_leaves_the_groups() {
    let mut world = World::new(WorldConfig::default());
    world.input(0, Input::Shutdown);
    assert!(world.node(0).host.stopped);
    let members: Vec<usize> = world.subnet.groups().map(|group| group.members.len()).collect();
    assert_eq!(members, [1]);
    // An administration that does not answer does not hold it up for long.
    world.subnet.settings_mut().sa.mute = true;
    let start = world.now();
    world.input(1, Input::Shutdown);
    assert!(!world.node(1).host.stopped);
    world.run_for(Duration::from_secs(3));
    assert!(world.node(1).host.stopped && world.now().since(start) == Duration::from_secs(3));
}

#[test]
fn joins_go_before_routes() {
    use acm_wire::client::{EntryFlags, path_request};
    use ib_mad::sa::PathRecord;
    let core = Config { sa_depth: SaDepth::Fixed(1), ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 3, core, ..WorldConfig::default() });
    world.run_for(Duration::from_secs(1));
    world.subnet.settings_mut().sa.delay = Duration::from_secs(1);
    let asks: Vec<_> = (1..20)
        .map(|sl| {
            let wanted = PathRecord { dlid: world.port(1).lid, traffic_class: sl, ..PathRecord::default() };
            world.ask(0, &path_request(&wanted, EntryFlags::empty(), [1; 8]))
        })
        .collect();
    let report = world.node(0).acm.report().to_string();
    assert!(report.contains(" in_flight 1 waiting 18 "), "{report}");
    world.subnet.restart_sm(None);
    // One route is in flight; the join comes within half a second, is next, and not behind eighteen others.
    world.run_for(Duration::from_millis(2600));
    let members: Vec<usize> = world.subnet.groups().map(|group| group.members.len()).collect();
    assert_eq!(members, [3]);
    assert!(asks.iter().filter(|ask| world.path(**ask).is_none()).count() > 15, "most routes still wait");
    for ask in asks {
        assert!(world.wait(ask).is_ok());
    }
}
