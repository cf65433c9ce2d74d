//! Background refreshes of cached paths: before they expire if they are in use, and after events that may have made
//! them wrong. The cache serves the old path until then.
use acm_sansio::{
    Config, Input, Output, PortId, Time,
    config::{Depth, Limits},
    retry::{MOVE_SLOT, RENEW_INTERVAL},
};
use acm_sim::{World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter, EntryFlags, path_request},
};
use core::time::Duration;
use ib_mad::{AttributeId, Lid, Method, PortState, Qpn, Status, sa::PathRecord};
use ib_sim::Port;

const MINUTE: Duration = Duration::from_secs(60);

fn name(node: u32) -> Address {
    World::addresses(node)[0]
}

fn count(world: &World, counter: Counter) -> u64 {
    world.node(0).acm.counters().get(counter)
}

/// Changes the LID of a node's port. Only the node gets an event.
fn set_lid(world: &mut World, node: usize, lid: u16) {
    let mut port = world.port(node).clone();
    port.lid = Lid::new(lid);
    world.subnet.set_port(World::port_id(node), port).unwrap();
    world.settle();
}

/// Returns the times of node 0's path queries.
fn path_queries(world: &World) -> Vec<Time> {
    let is_path = |output: &Output| matches!(output, Output::SaSend(send) if send.mad.header.attribute_id == AttributeId::PATH_RECORD);
    world.transcript.iter().filter(|(_, node, output)| *node == 0 && is_path(output)).map(|(at, ..)| *at).collect()
}

/// Resolves a node from node 0's cache and returns the destination LID.
fn cached(world: &mut World, node: u32) -> Lid {
    let (start, queries) = (world.now(), path_queries(world).len());
    let path = world.resolve(0, &name(0), &name(node)).unwrap();
    assert_eq!((world.now(), path_queries(world).len()), (start, queries), "from the cache");
    path.dlid
}

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

/// There is no multicast request.
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
    assert_eq!(requests, [(0, world.qpn(1))]);
    // The refresh of a peer that is down fails, and the entry expires.
    cached(&mut world, 1);
    world.subnet.set_port_state(World::port_id(1), PortState::DOWN).unwrap();
    world.run_for(32 * MINUTE);
    assert_eq!(world.resolve(0, &name(0), &name(1)), Err(ClientStatus::ETIMEDOUT));
}

/// Returns a world in which node 0 has cached nodes 1 and 2 and uses them.
fn world_with_cache(core: Config) -> World {
    let mut world = World::new(WorldConfig { nodes: 3, core, ..WorldConfig::default() });
    for node in [1, 2, 1, 2] {
        world.resolve(0, &name(0), &name(node)).unwrap();
    }
    world.run_for(Duration::from_secs(10));
    world
}

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

/// The unused path stays in the cache and is marked as stale. Its first use returns it and refreshes it.
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
    assert_eq!((path_queries(&world).len(), cached(&mut world, 1)), (queries + 2, Lid::new(200)));
}

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

/// Paths from the old LID are invalid at once. Those in use are refreshed in the background.
#[test]
fn new_local_lid_refreshes_paths_in_use() {
    let mut world = world_with_cache(Config::default());
    set_lid(&mut world, 0, 300);
    let path = world.resolve(0, &name(0), &name(1)).unwrap();
    assert_eq!(path.slid, Lid::new(300), "never the old LID");
    world.run_for(Duration::from_secs(3));
    let queries = path_queries(&world).len();
    let path = world.resolve(0, &name(0), &name(2)).unwrap();
    assert_eq!((path.slid, path_queries(&world).len()), (Lid::new(300), queries), "refreshed before the request");
}

/// The peer announces its addresses to the group, and nodes that use them send a path query.
#[test]
fn new_lid_of_a_peer_is_cached_within_five_seconds() {
    let mut world = world_with_cache(Config::default());
    set_lid(&mut world, 1, 200);
    world.run_for(Duration::from_secs(5));
    assert_eq!(world.stat(1, "announcements"), 3, "name, IPv4 and IPv6 address, once each");
    assert_eq!(cached(&mut world, 1), Lid::new(200));
    assert_eq!((world.stat(0, "claims_checked"), world.stat(0, "announcements")), (1, 0));
    // A peer with frequent LID changes announces its addresses every two to four seconds.
    for lid in 0..100 {
        set_lid(&mut world, 1, 1000 + lid);
        world.run_for(Duration::from_millis(100));
    }
    world.run_for(Duration::from_secs(10));
    assert!((12..=21).contains(&world.stat(1, "announcements")), "{}", world.stat(1, "announcements"));
    assert_eq!(cached(&mut world, 1), Lid::new(1099));
}

/// Both LIDs change at the same time. The path that node 0 refreshes also gives the new LID of the peer, and the
/// response to the peer is sent there.
#[test]
fn two_nodes_with_new_lids_find_each_other() {
    for notices in [true, false] {
        let mut world = world_with_cache(Config { sa_notices: notices, ..Config::default() });
        let lids = [300, 301].map(Lid::new);
        for (node, lid) in lids.into_iter().enumerate() {
            let port = Port { lid, ..world.port(node).clone() };
            world.subnet.set_port(World::port_id(node), port).unwrap();
        }
        world.settle();
        assert_eq!(world.resolve(0, &name(0), &name(1)).unwrap().dlid, lids[1]);
        world.run_for(Duration::from_secs(10));
        // The new address has not been announced, so the peer sends a multicast request.
        let late = Address::from_text("late");
        world.input(0, Input::AddressAdded { port: PortId(0), pkey: None, address: late });
        let start = world.now();
        let path = world.resolve(1, &name(1), &late).unwrap();
        assert_eq!((path.slid, path.dlid), (lids[1], lids[0]));
        assert!(world.now().since(start) < Duration::from_secs(1), "the first response arrives");
    }
}

/// A response to the old queue pair would be lost.
#[test]
fn peer_announces_its_new_queue_pair() {
    let mut world = world_with_cache(Config::default());
    world.lose_endpoints(1);
    let qpn = world.qpn(1);
    world.run_for(Duration::from_secs(5));
    assert_eq!((world.stat(1, "announcements"), world.stat(0, "announcements")), (3, 0));
    let before = world.transcript.len();
    assert!(world.resolve(1, &World::addresses(1)[1], &World::addresses(0)[1]).is_ok());
    let responses = world.transcript[before..].iter().filter_map(|(_, node, output)| match output {
        Output::Send { to, mad, .. } if *node == 0 && mad.method == Method::GET_RESP => Some(to.qpn),
        _ => None,
    });
    assert!(responses.eq([qpn]));
}

/// Another port claims the peer's GID and name. Each `timeout`, claims cause at most two path queries: for the name, and
/// for the GID that a response goes to.
#[test]
fn forged_lid_change_causes_path_queries_and_changes_no_path() {
    let mut world = world_with_cache(Config { sa_notices: false, ..Config::default() });
    let remote = world.remote_host(2);
    let mut port = world.port(2).clone();
    port.gids = world.port(1).gids.clone();
    world.subnet.set_port(World::port_id(2), port).unwrap();
    world.run_for(Duration::from_secs(10));
    let (lid, start, queries) = (world.port(1).lid, world.now(), path_queries(&world).len());
    let claims = |world: &World| ["claims_confirmed", "claims_refuted"].map(|name| world.stat(0, name));
    let [confirmed, refuted] = claims(&world);
    for tid in 0..1000 {
        let dest = if tid % 2 == 0 { name(0) } else { name(1) };
        world.forge_request(remote, 0, tid, &name(1), &dest);
        world.run_for(Duration::from_millis(10));
        assert_eq!(world.resolve(0, &name(0), &name(1)).unwrap().dlid, lid);
    }
    let seconds = world.now().since(start).as_secs();
    let queries = path_queries(&world).len() - queries;
    assert!((1..=12).contains(&queries), "{queries} in {seconds} s");
    let [confirmed_then, refuted_then] = claims(&world);
    assert_eq!((confirmed_then - confirmed, refuted_then > refuted), (0, true));
}

/// The peer's LID changes while its path is being refreshed. The query is then charged to remote hosts, too.
#[test]
fn request_from_a_new_lid_shares_the_pending_path_query() {
    let core = Config { route_timeout: Some(16 * MINUTE), sa_notices: false, ..Config::default() };
    let mut world = world_with_cache(core);
    cached(&mut world, 1);
    world.run_for(11 * MINUTE);
    world.subnet.settings_mut().sa.mute = true;
    let queries = path_queries(&world).len();
    let is_pending = |world: &World| path_queries(world).len() > queries;
    for _ in 0..4 * 600 {
        if !is_pending(&world) {
            world.run_for(Duration::from_millis(100));
        }
    }
    assert!(is_pending(&world), "a query is pending");
    set_lid(&mut world, 1, 77);
    let remote = world.remote_host(1);
    for _ in 0..20 {
        world.forge_request(remote, 0, 5, &name(1), &name(0));
        world.run_for(Duration::from_millis(500));
        assert_eq!(world.node(0).acm.check(), Ok(()));
    }
    world.subnet.settings_mut().sa.mute = false;
    world.run_for(2 * MINUTE);
    assert_eq!(world.resolve(0, &name(0), &name(1)).unwrap().dlid, Lid::new(77));
}

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

#[test]
fn silent_sa_gets_few_refresh_queries_and_paths_stay() {
    let mut world = world_with_cache(Config::default());
    world.subnet.settings_mut().sa.mute = true;
    world.subnet.restart_sm(None);
    let before = path_queries(&world).len();
    world.run_for(10 * MINUTE);
    let queries = path_queries(&world).len() - before;
    assert!((2..60).contains(&queries), "{queries}");
    cached(&mut world, 1);
    world.subnet.settings_mut().sa.mute = false;
    world.run_for(2 * MINUTE);
    let quiet = path_queries(&world).len();
    world.run_for(10 * MINUTE);
    assert_eq!(path_queries(&world).len(), quiet, "all paths are refreshed");
}

#[test]
fn busy_sa_keeps_cached_paths() {
    let mut world = world_with_cache(Config { sa_notices: false, ..Config::default() });
    world.subnet.settings_mut().sa.status = Some(Status::BUSY);
    world.subnet.restart_sm(None);
    world.run_for(MINUTE);
    assert!(world.stat(0, "renewals_failed") > 0);
    cached(&mut world, 1);
    cached(&mut world, 2);
}

/// After an event, 256 paths are refreshed one at a time. The interval between two of them shrinks from 1 s to 5 ms.
#[test]
fn refreshes_are_paced_and_do_not_delay_user_requests() {
    let core = Config { sa_depth: Depth::Fixed(4), ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 3, core, ..WorldConfig::default() });
    let record = |world: &World, node: usize, traffic_class| PathRecord {
        dgid: world.port(node).gids[0],
        traffic_class,
        ..PathRecord::default()
    };
    for class in (0..=255).chain(0..=255) {
        let record = record(&world, 1, class);
        world.route(0, &record).unwrap();
    }
    let before = path_queries(&world).len();
    let start = world.now();
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_secs(20));
    let times = path_queries(&world).split_off(before);
    assert_eq!(times.len(), 256);
    assert!(times.iter().filter(|at| at.since(start) < Duration::from_secs(1)).count() <= 2, "{times:?}");
    let pauses: Vec<Duration> = times.windows(2).map(|two| two[1].since(two[0])).collect();
    assert!((Duration::from_millis(750)..Duration::from_millis(1250)).contains(&pauses[0]), "{pauses:?}");
    assert!(pauses.iter().all(|pause| *pause >= RENEW_INTERVAL.least * 3 / 4), "{pauses:?}");
    assert!(pauses[100..].iter().all(|pause| *pause <= RENEW_INTERVAL.least * 5 / 4), "{pauses:?}");
    // Each query takes 500 ms now. One credit is for the background and three are for users.
    for class in 0..=255 {
        let record = record(&world, 1, class);
        world.route(0, &record).unwrap();
    }
    world.subnet.settings_mut().sa.delay = Duration::from_millis(500);
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_secs(10));
    let start = world.now();
    let clients: Vec<_> = (0..3)
        .map(|class| {
            let record = record(&world, 2, class);
            world.request(0, &path_request(&record, EntryFlags::empty(), [1; 8]))
        })
        .collect();
    for client in clients {
        assert!(world.wait(client).is_ok());
    }
    assert_eq!(world.now().since(start), Duration::from_millis(500));
}

/// The pauses are 1 s, then shorter, and each query takes 2 s.
#[test]
fn one_refresh_is_in_flight_at_a_slow_sa() {
    let core = Config { timeout: Duration::from_secs(4), sa_notices: false, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    for traffic_class in (0..5).chain(0..5) {
        let record = PathRecord { dlid: world.port(1).lid, traffic_class, ..PathRecord::default() };
        world.route(0, &record).unwrap();
    }
    let before = path_queries(&world).len();
    world.subnet.settings_mut().sa.delay = Duration::from_secs(2);
    world.subnet.restart_sm(None);
    world.run_for(MINUTE);
    let times = path_queries(&world).split_off(before);
    assert_eq!(times.len(), 5);
    assert!(times.windows(2).all(|two| two[1].since(two[0]) >= Duration::from_secs(2)), "{times:?}");
}

#[test]
fn no_refresh_starts_while_a_request_waits() {
    let core = Config { sa_depth: Depth::Fixed(1), sa_notices: false, ..Config::default() };
    let mut world = world_with_cache(core);
    world.subnet.settings_mut().sa.delay = Duration::from_millis(500);
    let queries = path_queries(&world).len();
    world.subnet.restart_sm(None);
    // One query is in flight and the others wait, until the refreshes have been due for a while.
    let clients: Vec<_> = (1..=10)
        .map(|traffic_class| {
            let record = PathRecord { dlid: world.port(2).lid, traffic_class, ..PathRecord::default() };
            world.request(0, &path_request(&record, EntryFlags::empty(), [1; 8]))
        })
        .collect();
    for client in &clients[..9] {
        assert!(world.wait(*client).is_ok());
    }
    assert_eq!((path_queries(&world).len(), world.stat(0, "renewals")), (queries + 10, 0));
    assert!(world.wait(clients[9]).is_ok());
    world.run_for(MINUTE);
    assert_eq!(world.stat(0, "renewals"), 2);
}

/// The calm latency is that of the first queries. Later queries take ten times as long.
#[test]
fn slow_sa_gets_fewer_refreshes() {
    let refreshes = |delay| {
        let mut world = World::new(WorldConfig::default());
        world.subnet.settings_mut().sa.delay = Duration::from_micros(100);
        for traffic_class in (0..=100).chain(0..=100) {
            let record = PathRecord { dlid: world.port(1).lid, traffic_class, ..PathRecord::default() };
            world.route(0, &record).unwrap();
        }
        world.subnet.settings_mut().sa.delay *= delay;
        world.subnet.restart_sm(None);
        world.run_for(Duration::from_secs(10));
        world.stat(0, "renewals")
    };
    let (calm, slow) = (refreshes(1), refreshes(10));
    assert!(calm == 101 && (8..20).contains(&slow), "{calm} {slow}");
}

/// Each node that uses the peer has a slot of 10 ms by its LID.
#[test]
fn nodes_refresh_the_path_to_a_peer_that_moved_in_different_slots() {
    const NODES: usize = 40;
    let core = Config { sa_notices: false, ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 40, core, ..WorldConfig::default() });
    for _ in 0..2 {
        for node in 1..NODES {
            world.resolve(node, &World::addresses(u32::try_from(node).unwrap())[0], &name(0)).unwrap();
        }
    }
    world.run_for(Duration::from_secs(10));
    let since = world.transcript.len();
    set_lid(&mut world, 0, 200);
    world.run_for(Duration::from_secs(5));
    let mut times: Vec<Time> = world.transcript[since..]
        .iter()
        .filter(|(_, node, output)| {
            *node > 0
                && matches!(output, Output::SaSend(send) if send.mad.header.attribute_id == AttributeId::PATH_RECORD)
        })
        .map(|(at, ..)| *at)
        .collect();
    times.sort();
    assert_eq!(times.len(), NODES - 1);
    assert!(times.windows(2).all(|two| two[1].since(two[0]) >= MOVE_SLOT), "{times:?}");
}

/// A claim of another LID arrives while a unicast request to the peer is pending. The peer's response shows where it
/// is, so that the claim is not checked.
#[test]
fn claim_during_a_refresh_is_ignored() {
    let core = Config { addr_timeout: Some(16 * MINUTE), sa_notices: false, ..Config::default() };
    let mut world = world_with_cache(core);
    let remote = world.remote_host(2);
    let mut port = world.port(2).clone();
    port.gids = world.port(1).gids.clone();
    world.subnet.set_port(World::port_id(2), port).unwrap();
    world.run_for(Duration::from_secs(10));
    let lid = cached(&mut world, 1);
    world.subnet.settings_mut().sa.delay = Duration::from_secs(1);
    // The claim arrives before the peer's response.
    world.subnet.settings_mut().faults.delay = Duration::from_millis(10);
    let (before, peer) = (world.transcript.len(), world.qpn(1));
    let probe = |(_, node, output): &(Time, usize, Output)| {
        *node == 0 && matches!(output, Output::Send { to, mad, .. } if mad.method == Method::GET && to.qpn == peer)
    };
    while !world.transcript[before..].iter().any(probe) {
        assert!(world.step());
    }
    let (queries, checked) = (path_queries(&world).len(), world.stat(0, "claims_checked"));
    world.forge_request(remote, 0, 7, &name(1), &name(1));
    world.run_for(Duration::from_millis(500));
    assert_eq!((world.stat(0, "claims_checked"), world.stat(0, "claims_ignored")), (checked, 1));
    assert_eq!(path_queries(&world).len(), queries + 1);
    assert_eq!(world.node(0).acm.check(), Ok(()));
    world.run_for(Duration::from_secs(5));
    assert_eq!((path_queries(&world).len(), world.node(0).acm.check()), (queries + 1, Ok(())));
    assert_eq!(cached(&mut world, 1), lid);
}

#[test]
fn address_that_becomes_local_is_not_refreshed() {
    let mut world = world_with_cache(Config { sa_notices: false, ..Config::default() });
    let queries = path_queries(&world).len();
    world.subnet.restart_sm(None);
    // The address is queued for refresh.
    world.run_for(Duration::from_millis(20));
    assert_eq!(path_queries(&world).len(), queries);
    world.input(0, Input::AddressAdded { port: PortId(0), pkey: None, address: name(1) });
    world.run_for(Duration::from_secs(3));
    assert_eq!(path_queries(&world).len(), queries + 1, "for the other peer");
    assert_eq!(cached(&mut world, 1), world.port(0).lid);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// The sweep removes an invalid route even if the refresh queue is full, and returns to it later.
#[test]
fn paths_over_the_refresh_limit_are_refreshed_later() {
    let limits = Limits { renewals: 1, ..Limits::default() };
    let mut world = World::new(WorldConfig {
        nodes: 6,
        core: Config { limits, sa_notices: false, ..Config::default() },
        ..WorldConfig::default()
    });
    for node in (1..6).chain(1..6) {
        world.resolve(0, &name(0), &name(node)).unwrap();
    }
    world.run_for(Duration::from_secs(10));
    set_lid(&mut world, 0, 300);
    world.run_for(Duration::from_secs(10));
    assert!(world.stat(0, "renewals_put_off") > 0);
    for node in 1..6 {
        assert_eq!(cached(&mut world, node), world.port(usize::try_from(node).unwrap()).lid);
    }
}
