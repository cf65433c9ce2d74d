//! Paths in use are refreshed before they expire, and after events that may have made them wrong.
use super::shared::*;
use acm_sansio::{Config, Output, api::GaugeScope};
use acm_sim::{World, WorldConfig};
use acm_wire::client::{ClientStatus, Counter};
use core::time::Duration;
use ib_mad::{Lid, Method, PortState, Qpn, sa::PathRecord};

// docs/deviations.md: refresh
#[test]
fn used_path_is_refreshed_before_it_expires() {
    for (addr, route) in [(Some(16 * MINUTE), None), (None, Some(16 * MINUTE))] {
        let core = Config { addr_timeout: addr, route_timeout: route, ..Config::default() };
        let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
        let start = world.now();
        let record = PathRecord { dgid: world.port(1).gids[0], ..PathRecord::default() };
        world.route(0, &record).unwrap();
        world.resolve(0, &name(0), &name(1)).unwrap();
        let queries = count(&world, Counter::RouteQuery);
        for minutes in (1..60).step_by(10) {
            world.run_until(start + minutes * MINUTE);
            world.route(0, &record).unwrap();
            cached(&mut world, 1);
        }
        assert_eq!(count(&world, Counter::RouteQuery), queries, "all requests from the cache, {addr:?} {route:?}");
        let renewals = world.stat(0, "renewals");
        assert!((6..=24).contains(&renewals), "{renewals} {addr:?} {route:?}");
    }
}

/// When it is confirmed, and before it expires. There is no multicast request.
// docs/deviations.md: refresh
#[test]
fn address_is_refreshed_by_a_unicast_request_to_its_owner() {
    let core = Config { addr_timeout: Some(16 * MINUTE), ..Config::default() };
    let mut world = World::new(WorldConfig { core, nodes: 3, ..WorldConfig::default() });
    world.resolve(0, &name(0), &name(1)).unwrap();
    cached(&mut world, 1);
    let before = world.transcript.len();
    world.run_for(20 * MINUTE);
    let requests: Vec<(usize, Qpn)> = world.transcript[before..]
        .iter()
        .filter_map(|(_, node, output)| match output {
            Output::Send { to, mad, .. } if mad.method == Method::GET => Some((*node, to.qpn)),
            _ => None,
        })
        .collect();
    assert_eq!(requests, [(0, world.qpn(1)); 2]);
    // The refresh of a peer that is down fails, and the entry expires.
    cached(&mut world, 1);
    world.subnet.set_port_state(World::port_id(1), PortState::DOWN).unwrap();
    world.run_for(32 * MINUTE);
    assert_eq!(world.resolve(0, &name(0), &name(1)), Err(ClientStatus::ETIMEDOUT));
}

// docs/deviations.md: path-query, refresh
#[test]
fn subnet_manager_restart_refreshes_paths_in_use() {
    let mut world = world_with_cache(Config::default());
    // Node 0 gets no event about the new LID of node 1.
    let mut port = world.port(1).clone();
    port.lid = Lid::new(200);
    world.subnet.set_port(World::port_id(1), port).unwrap();
    world.subnet.restart_sm(None);
    assert!(world.resolve(0, &name(0), &name(2)).is_ok(), "from the cache");
    world.run_for(Duration::from_secs(3));
    let (old, new) = (world.port(2).lid, Lid::new(200));
    assert_eq!((cached(&mut world, 1), cached(&mut world, 2)), (new, old));
    assert!(world.stat(0, "renewals") >= 2);
}

/// The host that is used all the time does not respond, so that its path has to be queried before and after it is asked.
#[test]
fn subnet_manager_restart_causes_two_queries_for_a_silent_host_in_use() {
    let mut world = world_with_cache(Config::default());
    world.stop_daemon(1);
    let queries = path_queries_to(&world, 1);
    world.subnet.restart_sm(None);
    for _ in 0..300 {
        assert!(world.resolve(0, &name(0), &name(1)).is_ok());
        world.run_for(Duration::from_millis(100));
    }
    assert_eq!(path_queries_to(&world, 1) - queries, 2);
}

/// Returns the number of node 0's path queries for the port of a node.
fn path_queries_to(world: &World, node: usize) -> usize {
    let gid = world.port(node).gids[0];
    let is_to = |output: &Output| {
        let Output::SaSend(send) = output else { return false };
        send.mad.record::<PathRecord>().is_ok_and(|path| path.dgid == gid)
    };
    world.transcript.iter().filter(|(_, node, output)| *node == 0 && is_to(output)).count()
}

/// The unused path stays in the cache and is marked as stale. Its first use returns it and refreshes it.
// docs/deviations.md: refresh
#[test]
fn unused_path_is_refreshed_when_it_is_used_after_a_restart() {
    let mut world = World::new(WorldConfig { nodes: 3, ..WorldConfig::default() });
    for node in [1, 2] {
        world.resolve(0, &name(0), &name(node)).unwrap();
    }
    world.run_for(Duration::from_secs(10));
    let queries = path_queries(&world).len();
    world.subnet.restart_sm(None);
    world.run_for(MINUTE);
    assert_eq!(path_queries(&world).len(), queries + 2, "for both, which were requested");
    world.resolve(0, &name(0), &name(2)).unwrap();
    world.subnet.restart_sm(None);
    world.run_for(MINUTE);
    let queries = queries + 2;
    assert_eq!(path_queries(&world).len(), queries + 1, "for node 2, which was used again");
    let mut port = world.port(1).clone();
    port.lid = Lid::new(200);
    world.subnet.set_port(World::port_id(1), port).unwrap();
    let start = world.now();
    let path = world.resolve(0, &name(0), &name(1)).unwrap();
    assert_eq!((world.now(), path.dlid == Lid::new(200)), (start, false), "the stale path, at once");
    // Nobody is at the old LID: the peer is silent, and then the SA is asked.
    world.run_for(Duration::from_secs(1));
    assert_eq!((path_queries(&world).len(), cached(&mut world, 1)), (queries + 2, Lid::new(200)));
}

/// Returns the number of node 0's destinations with a path.
fn paths(world: &World) -> usize {
    let mut found = 0;
    world.node(0).acm.each_gauge(&mut |name, of, value| {
        if (name, of) == ("destinations", GaugeScope::State("ready")) {
            found = value;
        }
    });
    found
}

/// Without a query: the peer asks again if it needs a response.
#[test]
fn stale_path_that_no_local_user_has_requested_is_removed() {
    let mut world = World::new(WorldConfig::default());
    let before = paths(&world);
    world.resolve(1, &name(1), &name(0)).unwrap();
    assert_eq!(paths(&world), before + 1, "the path of the response");
    world.subnet.restart_sm(None);
    world.run_for(20 * MINUTE);
    assert_eq!(paths(&world), before);
}

// docs/deviations.md: refresh
#[test]
fn port_that_returns_keeps_its_cache_and_refreshes_it() {
    let mut world = world_with_cache(Config::default());
    world.subnet.set_port_state(World::port_id(0), PortState::DOWN).unwrap();
    world.settle();
    let mut port = world.port(1).clone();
    port.lid = Lid::new(200);
    world.subnet.set_port(World::port_id(1), port).unwrap();
    world.subnet.set_port_state(World::port_id(0), PortState::ACTIVE).unwrap();
    world.run_for(Duration::from_secs(3));
    assert_eq!(cached(&mut world, 1), Lid::new(200));
}

// docs/deviations.md: refresh
#[test]
fn path_is_dropped_if_the_sa_has_no_record() {
    let mut world = world_with_cache(Config { sa_notices: false, ..Config::default() });
    world.subnet.set_port_state(World::port_id(1), PortState::DOWN).unwrap();
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_secs(3));
    assert_eq!(world.stat(0, "renewals_failed"), 1);
    assert_eq!(world.resolve(0, &name(0), &name(1)), Err(ClientStatus::ETIMEDOUT));
    cached(&mut world, 2);
}
