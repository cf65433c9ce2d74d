//! How long what is known stays known.
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

/// `addr_timeout` is theirs, less an eighth at most; `route_timeout`, too, if it is shorter.
#[test]
fn routes_by_lid_and_gid_expire_as_addresses_do() {
    for (addr, route) in [(Some(16), None), (None, Some(16)), (Some(16), Some(99)), (Some(99), Some(16))] {
        let time = |minutes: Option<u32>| minutes.map(|minutes| minutes * MINUTE);
        let core = Config { addr_timeout: time(addr), route_timeout: time(route), ..Config::default() };
        let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
        let (start, wanted) = (world.now(), to(&world, 1));
        world.route(0, &wanted).unwrap();
        world.run_until(start + 16 * MINUTE);
        assert_eq!(count(&world, Counter::RouteQuery), 1, "{addr:?} {route:?}");
        world.route(0, &wanted).unwrap();
        assert_eq!(count(&world, Counter::RouteQuery), 2, "{addr:?} {route:?}");
    }
    let core = Config { addr_timeout: None, route_timeout: None, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    let wanted = to(&world, 1);
    world.route(0, &wanted).unwrap();
    world.run_for(100 * 24 * 60 * MINUTE);
    world.route(0, &wanted).unwrap();
    assert_eq!(count(&world, Counter::RouteQuery), 1, "never");
}

/// Datagrams that a node sent to ask the group.
fn asked(world: &World) -> usize {
    let is_request = |output: &Output| matches!(output, Output::Send { mad, .. } if mad.method == Method::GET);
    world.transcript.iter().filter(|(_, node, output)| *node == 0 && is_request(output)).count()
}

#[test]
fn what_nobody_answered_is_not_asked_again_so_soon() {
    let mut world = World::new(WorldConfig::default());
    let dead = Address::from_text("nobody");
    assert_eq!(world.resolve(0, &name(0), &dead), Err(ClientStatus::ETIMEDOUT));
    let (failed, before) = (world.now(), asked(&world));
    world.run_until(failed + Duration::from_millis(999));
    let start = world.now();
    for _ in 0..100 {
        assert_eq!(world.resolve(0, &name(0), &dead), Err(ClientStatus::ETIMEDOUT));
    }
    assert_eq!((world.now(), asked(&world), world.stat(0, "negative_answers")), (start, before, 100));
    world.run_until(failed + Duration::from_secs(1));
    assert_eq!(world.resolve(0, &name(0), &dead), Err(ClientStatus::ETIMEDOUT));
    assert_eq!((asked(&world), world.stat(0, "negative_answers")), (2 * before, 100));
}

#[test]
fn what_the_administration_does_not_know_is_not_asked_again_so_soon() {
    for (negative_timeout, queries) in [(None, 3), (Some(Duration::from_millis(500)), 1)] {
        let core = Config { negative_timeout, ..Config::default() };
        let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
        let nobody = PathRecord { dgid: "fe80::99".parse().unwrap(), ..PathRecord::default() };
        for _ in 0..3 {
            assert_eq!(world.route(0, &nobody), Err(ClientStatus::ENODATA));
        }
        assert_eq!(count(&world, Counter::RouteQuery), queries);
        world.run_for(Duration::from_millis(500));
        assert_eq!(world.route(0, &nobody), Err(ClientStatus::ENODATA));
        assert_eq!(count(&world, Counter::RouteQuery), queries + 1);
    }
}

/// Node 0 has asked for node 1 while its port was down, and remembers that for a minute.
fn failed() -> World {
    // A notice that it is there again would end it.
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
fn a_peer_that_speaks_is_no_failure_any_more() {
    let mut world = failed();
    assert!(world.resolve(1, &name(1), &name(2)).is_ok());
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
}

#[test]
fn what_happens_to_the_port_ends_all_failures() {
    let mut world = failed();
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_secs(2));
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
}
