//! Lifetimes of cached paths and of failures.
use acm_sansio::{Config, Output};
use acm_sim::{World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter},
};
use core::time::Duration;
use ib_mad::{Method, PortState, sa::PathRecord};

const MINUTE: Duration = Duration::from_secs(60);

fn name(node: u32) -> Address {
    World::addresses(node)[0]
}

fn count(world: &World, counter: Counter) -> u64 {
    world.node(0).acm.counters().get(counter)
}

fn to(world: &World, node: usize) -> PathRecord {
    PathRecord { dgid: world.port(node).gids[0], ..PathRecord::default() }
}

/// `addr_timeout`, or `route_timeout` if it is shorter, is reduced by at most an eighth.
#[test]
fn paths_by_lid_and_gid_expire_after_the_shorter_time_out() {
    for (addr, route) in [(Some(16), None), (None, Some(16)), (Some(16), Some(99)), (Some(99), Some(16))] {
        let time = |minutes: Option<u32>| minutes.map(|minutes| minutes * MINUTE);
        let core = Config { addr_timeout: time(addr), route_timeout: time(route), ..Config::default() };
        let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
        let (start, record) = (world.now(), to(&world, 1));
        world.route(0, &record).unwrap();
        world.run_until(start + 16 * MINUTE);
        assert_eq!(count(&world, Counter::RouteQuery), 1, "{addr:?} {route:?}");
        world.route(0, &record).unwrap();
        assert_eq!(count(&world, Counter::RouteQuery), 2, "{addr:?} {route:?}");
    }
    let core = Config { addr_timeout: None, route_timeout: None, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    let record = to(&world, 1);
    world.route(0, &record).unwrap();
    world.run_for(100 * 24 * 60 * MINUTE);
    world.route(0, &record).unwrap();
    assert_eq!(count(&world, Counter::RouteQuery), 1, "no expiry");
}

/// Returns the number of node 0's multicast requests.
fn requests(world: &World) -> usize {
    let is_request = |output: &Output| matches!(output, Output::Send { mad, .. } if mad.method == Method::GET);
    world.transcript.iter().filter(|(_, node, output)| *node == 0 && is_request(output)).count()
}

// docs/deviations.md: negative-cache
#[test]
fn failed_name_is_not_looked_up_again_within_negative_timeout() {
    let mut world = World::new(WorldConfig::default());
    let unknown = Address::from_text("nobody");
    assert_eq!(world.resolve(0, &name(0), &unknown), Err(ClientStatus::ETIMEDOUT));
    let (failed, before) = (world.now(), requests(&world));
    world.run_until(failed + Duration::from_millis(999));
    let start = world.now();
    for _ in 0..100 {
        assert_eq!(world.resolve(0, &name(0), &unknown), Err(ClientStatus::ETIMEDOUT));
    }
    assert_eq!((world.now(), requests(&world), world.stat(0, "negative_answers")), (start, before, 100));
    world.run_until(failed + Duration::from_secs(1));
    assert_eq!(world.resolve(0, &name(0), &unknown), Err(ClientStatus::ETIMEDOUT));
    assert_eq!((requests(&world), world.stat(0, "negative_answers")), (2 * before, 100));
}

#[test]
fn failed_path_query_is_not_repeated_within_negative_timeout() {
    for (negative_timeout, queries) in [(None, 3), (Some(Duration::from_millis(500)), 1)] {
        let core = Config { negative_timeout, ..Config::default() };
        let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
        let unknown = PathRecord { dgid: "fe80::99".parse().unwrap(), ..PathRecord::default() };
        for _ in 0..3 {
            assert_eq!(world.route(0, &unknown), Err(ClientStatus::ENODATA));
        }
        assert_eq!(count(&world, Counter::RouteQuery), queries);
        world.run_for(Duration::from_millis(500));
        assert_eq!(world.route(0, &unknown), Err(ClientStatus::ENODATA));
        assert_eq!(count(&world, Counter::RouteQuery), queries + 1);
    }
}

/// Returns a world in which node 0 has a negative entry for node 1 for one minute, although node 1 is up again.
fn world_with_negative_entry() -> World {
    // A notice about the returned port would remove the entry.
    let core = Config { negative_timeout: Some(MINUTE), sa_notices: false, ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 3, core, ..WorldConfig::default() });
    world.subnet.set_port_state(World::port_id(1), PortState::DOWN).unwrap();
    world.settle();
    assert_eq!(world.resolve(0, &name(0), &name(1)), Err(ClientStatus::ETIMEDOUT));
    world.subnet.set_port_state(World::port_id(1), PortState::ACTIVE).unwrap();
    world.run_for(Duration::from_secs(2));
    assert_eq!(world.resolve(0, &name(0), &name(1)), Err(ClientStatus::ETIMEDOUT));
    assert_eq!(world.stat(0, "negative_answers"), 1);
    world
}

#[test]
fn request_of_a_peer_removes_its_negative_entry() {
    let mut world = world_with_negative_entry();
    assert!(world.resolve(1, &name(1), &name(2)).is_ok());
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
}

#[test]
fn subnet_manager_restart_removes_all_negative_entries() {
    let mut world = world_with_negative_entry();
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_secs(2));
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
}
