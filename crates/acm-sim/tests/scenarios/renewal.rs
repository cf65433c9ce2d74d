//! What is known is asked for anew, in the background: before it ends if it is used, and after whatever may have made
//! it wrong. What is served is served meanwhile.
use acm_sansio::{
    Config, Input, Output, PortId, Time,
    config::{Limits, SaDepth},
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

/// Gives a node's port another LID; the node hears of it, and nobody else.
fn move_to(world: &mut World, node: usize, lid: u16) {
    let mut port = world.port(node).clone();
    port.lid = Lid::new(lid);
    world.subnet.set_port(World::port_id(node), port).unwrap();
    world.settle();
}

/// When node 0 asked subnet administration for paths.
fn path_queries(world: &World) -> Vec<Time> {
    let is_path = |output: &Output| matches!(output, Output::SaSend(send) if send.mad.header.attribute_id == AttributeId::PATH_RECORD);
    world.transcript.iter().filter(|(_, node, output)| *node == 0 && is_path(output)).map(|(at, ..)| *at).collect()
}

/// Resolves from node 0 without asking anybody; where it leads.
fn cached(world: &mut World, node: u32) -> Lid {
    let (start, queries) = (world.now(), path_queries(world).len());
    let path = world.resolve(0, &name(0), &name(node)).unwrap();
    assert_eq!((world.now(), path_queries(world).len()), (start, queries), "it is in the cache");
    path.dlid
}

#[test]
fn what_is_used_is_asked_for_anew_before_it_ends() {
    for (addr, route) in [(Some(16 * MINUTE), None), (None, Some(16 * MINUTE))] {
        let core = Config { addr_timeout: addr, route_timeout: route, ..Config::default() };
        let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
        let start = world.now();
        let wanted = PathRecord { dgid: world.port(1).gids[0], ..PathRecord::default() };
        world.route(0, &wanted).unwrap();
        world.resolve(0, &name(0), &name(1)).unwrap();
        let queries = count(&world, Counter::RouteQuery);
        for minutes in (1..60).step_by(10) {
            world.run_until(start + minutes * MINUTE);
            world.route(0, &wanted).unwrap();
            cached(&mut world, 1);
        }
        assert_eq!(count(&world, Counter::RouteQuery), queries, "no request had to wait, {addr:?} {route:?}");
        let renewals = world.stat(0, "renewals");
        assert!((6..=24).contains(&renewals), "{renewals} {addr:?} {route:?}");
    }
}

/// The peer is asked itself, and the group is left alone.
#[test]
fn an_address_is_checked_with_its_owner() {
    let core = Config { addr_timeout: Some(16 * MINUTE), ..Config::default() };
    let mut world = World::new(WorldConfig { core, nodes: 3, ..WorldConfig::default() });
    world.resolve(0, &name(0), &name(1)).unwrap();
    cached(&mut world, 1);
    let before = world.transcript.len();
    world.run_for(20 * MINUTE);
    let asked: Vec<(usize, Qpn)> = world.transcript[before..]
        .iter()
        .filter_map(|(_, node, output)| match output {
            Output::Send { to, mad, .. } if mad.method == Method::GET => Some((*node, to.qpn)),
            _ => None,
        })
        .collect();
    assert_eq!(asked, [(0, world.qpn(1))]);
    // A peer that is gone is not found, and ends in its time.
    cached(&mut world, 1);
    world.subnet.set_port_state(World::port_id(1), PortState::DOWN).unwrap();
    world.run_for(32 * MINUTE);
    assert_eq!(world.resolve(0, &name(0), &name(1)), Err(ClientStatus::ETIMEDOUT));
}

/// Node 0 knows nodes 1 and 2.
fn known(core: Config) -> World {
    let mut world = World::new(WorldConfig { nodes: 3, core, ..WorldConfig::default() });
    for node in [1, 2] {
        world.resolve(0, &name(0), &name(node)).unwrap();
    }
    world.run_for(Duration::from_secs(10));
    world
}

#[test]
fn a_restarted_subnet_manager_makes_all_of_it_be_asked_for_anew() {
    let mut world = known(Config::default());
    // Nobody tells node 0: its LID is another one when the manager is back.
    let mut port = world.port(1).clone();
    port.lid = Lid::new(200);
    world.subnet.set_port(World::port_id(1), port).unwrap();
    world.subnet.restart_sm(None);
    assert!(world.resolve(0, &name(0), &name(2)).is_ok(), "served meanwhile");
    world.run_for(Duration::from_secs(3));
    let (old, new) = (world.port(2).lid, Lid::new(200));
    assert_eq!((cached(&mut world, 1), cached(&mut world, 2)), (new, old));
    assert!(world.stat(0, "renewals") >= 2);
}

#[test]
fn a_port_that_bounces_keeps_what_it_knows_and_asks_anew() {
    let mut world = known(Config::default());
    world.subnet.set_port_state(World::port_id(0), PortState::DOWN).unwrap();
    world.settle();
    let mut port = world.port(1).clone();
    port.lid = Lid::new(200);
    world.subnet.set_port(World::port_id(1), port).unwrap();
    world.subnet.set_port_state(World::port_id(0), PortState::ACTIVE).unwrap();
    world.run_for(Duration::from_secs(3));
    assert_eq!(cached(&mut world, 1), Lid::new(200));
}

/// Routes that began at the LID that the port had are wrong at once; others are asked for in the background.
#[test]
fn a_new_lid_of_our_own_makes_routes_anew() {
    let mut world = known(Config::default());
    move_to(&mut world, 0, 300);
    let path = world.resolve(0, &name(0), &name(1)).unwrap();
    assert_eq!(path.slid, Lid::new(300), "never the old one");
    world.run_for(Duration::from_secs(3));
    let queries = path_queries(&world).len();
    let path = world.resolve(0, &name(0), &name(2)).unwrap();
    assert_eq!((path.slid, path_queries(&world).len()), (Lid::new(300), queries), "it was ready");
}

/// The peer tells the group, and whoever uses it asks subnet administration.
#[test]
fn a_peer_with_a_new_lid_is_followed_within_five_seconds() {
    let mut world = known(Config::default());
    move_to(&mut world, 1, 200);
    world.run_for(Duration::from_secs(5));
    assert_eq!(world.stat(1, "announcements"), 3, "name, IPv4, IPv6, once each");
    assert_eq!(cached(&mut world, 1), Lid::new(200));
    assert_eq!((world.stat(0, "claims_checked"), world.stat(0, "announcements")), (1, 0));
    // One that moves all the time is heard every two to four seconds.
    for lid in 0..100 {
        move_to(&mut world, 1, 1000 + lid);
        world.run_for(Duration::from_millis(100));
    }
    world.run_for(Duration::from_secs(10));
    assert!((12..=21).contains(&world.stat(1, "announcements")), "{}", world.stat(1, "announcements"));
    assert_eq!(cached(&mut world, 1), Lid::new(1099));
}

/// A path that was found anew after our own LID changed says where the peer is, too: it has moved meanwhile, and is
/// answered there.
#[test]
fn two_that_have_other_lids_answer_each_other() {
    for notices in [true, false] {
        let mut world = known(Config { sa_notices: notices, ..Config::default() });
        let lids = [300, 301].map(Lid::new);
        for (node, lid) in lids.into_iter().enumerate() {
            let port = Port { lid, ..world.port(node).clone() };
            world.subnet.set_port(World::port_id(node), port).unwrap();
        }
        world.settle();
        assert_eq!(world.resolve(0, &name(0), &name(1)).unwrap().dlid, lids[1]);
        world.run_for(Duration::from_secs(10));
        // Nobody has told of this one yet: the group is asked for it, by the one that is known.
        let late = Address::from_text("late");
        world.input(0, Input::AddressAdded { port: PortId(0), pkey: None, address: late });
        let start = world.now();
        let path = world.resolve(1, &name(1), &late).unwrap();
        assert_eq!((path.slid, path.dlid), (lids[1], lids[0]));
        assert!(world.now().since(start) < Duration::from_secs(1), "the first response reaches it");
    }
}

/// So does one with another queue pair: a response to the old one would be lost.
#[test]
fn a_peer_with_a_new_queue_pair_says_so() {
    let mut world = known(Config::default());
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

/// Another port says that it has the peer's GID, and its name: subnet administration knows better, and is asked once
/// for each `timeout`, whatever is said.
#[test]
fn a_forged_move_costs_a_query_and_changes_nothing() {
    let mut world = known(Config { sa_notices: false, ..Config::default() });
    let stranger = world.stranger(2);
    let mut port = world.port(2).clone();
    port.gids = world.port(1).gids.clone();
    world.subnet.set_port(World::port_id(2), port).unwrap();
    world.run_for(Duration::from_secs(10));
    let (lid, start, queries) = (world.port(1).lid, world.now(), path_queries(&world).len());
    let claims = |world: &World| ["claims_confirmed", "claims_refuted"].map(|name| world.stat(0, name));
    let [confirmed, refuted] = claims(&world);
    for tid in 0..1000 {
        let dest = if tid % 2 == 0 { name(0) } else { name(1) };
        world.forge_request(stranger, 0, tid, &name(1), &dest);
        world.run_for(Duration::from_millis(10));
        assert_eq!(world.resolve(0, &name(0), &name(1)).unwrap().dlid, lid);
    }
    let seconds = world.now().since(start).as_secs();
    let queries = path_queries(&world).len() - queries;
    assert!((1..=6).contains(&queries), "{queries} in {seconds} s");
    let [confirmed_then, refuted_then] = claims(&world);
    assert_eq!((confirmed_then - confirmed, refuted_then > refuted), (0, true));
}

/// A peer at another LID asks while its path is being asked for anew: that is strangers' question, too.
#[test]
fn a_peer_that_moved_shares_the_question_that_is_under_way() {
    let core = Config { route_timeout: Some(16 * MINUTE), sa_notices: false, ..Config::default() };
    let mut world = known(core);
    cached(&mut world, 1);
    world.run_for(11 * MINUTE);
    world.subnet.settings_mut().sa.mute = true;
    let queries = path_queries(&world).len();
    let asked = |world: &World| path_queries(world).len() > queries;
    for _ in 0..4 * 600 {
        if !asked(&world) {
            world.run_for(Duration::from_millis(100));
        }
    }
    assert!(asked(&world), "it is under way");
    move_to(&mut world, 1, 77);
    let stranger = world.stranger(1);
    for _ in 0..20 {
        world.forge_request(stranger, 0, 5, &name(1), &name(0));
        world.run_for(Duration::from_millis(500));
        assert_eq!(world.node(0).acm.check(), Ok(()));
    }
    world.subnet.settings_mut().sa.mute = false;
    world.run_for(2 * MINUTE);
    assert_eq!(world.resolve(0, &name(0), &name(1)).unwrap().dlid, Lid::new(77));
}

#[test]
fn a_path_that_the_administration_does_not_know_any_more_is_dropped() {
    let mut world = known(Config { sa_notices: false, ..Config::default() });
    world.subnet.set_port_state(World::port_id(1), PortState::DOWN).unwrap();
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_secs(3));
    assert_eq!(world.stat(0, "renewals_failed"), 1);
    assert_eq!(world.resolve(0, &name(0), &name(1)), Err(ClientStatus::ETIMEDOUT));
    cached(&mut world, 2);
}

/// A silent administration says nothing about paths: they are served, and it is asked now and then.
#[test]
fn a_silent_administration_is_not_asked_all_the_time() {
    let mut world = known(Config::default());
    world.subnet.settings_mut().sa.mute = true;
    world.subnet.restart_sm(None);
    let before = path_queries(&world).len();
    world.run_for(10 * MINUTE);
    let asked = path_queries(&world).len() - before;
    assert!((2..60).contains(&asked), "{asked}");
    cached(&mut world, 1);
    world.subnet.settings_mut().sa.mute = false;
    world.run_for(2 * MINUTE);
    let quiet = path_queries(&world).len();
    world.run_for(10 * MINUTE);
    assert_eq!(path_queries(&world).len(), quiet, "all is asked");
}

/// One that has no time says nothing about paths, either.
#[test]
fn a_busy_administration_takes_no_routes_away() {
    let mut world = known(Config { sa_notices: false, ..Config::default() });
    world.subnet.settings_mut().sa.status = Some(Status::BUSY);
    world.subnet.restart_sm(None);
    world.run_for(MINUTE);
    assert!(world.stat(0, "renewals_failed") > 0);
    cached(&mut world, 1);
    cached(&mut world, 2);
}

/// Hundreds of routes after an event: a quarter of the depth at a time, twenty in each tenth of a second, and a user's
/// question is not behind them.
#[test]
fn renewals_are_paced_and_behind_everybody_else() {
    let core = Config { sa_depth: SaDepth::Fixed(4), ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 3, core, ..WorldConfig::default() });
    let wanted = |world: &World, node: usize, traffic_class| PathRecord {
        dgid: world.port(node).gids[0],
        traffic_class,
        ..PathRecord::default()
    };
    for class in 0..=255 {
        let wanted = wanted(&world, 1, class);
        world.route(0, &wanted).unwrap();
    }
    let before = path_queries(&world).len();
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_secs(3));
    let times = path_queries(&world).split_off(before);
    assert_eq!(times.len(), 256);
    for (first, later) in times.iter().zip(times.iter().skip(20)) {
        assert!(later.since(*first) >= Duration::from_millis(100), "{first} {later}");
    }
    // Each takes half a second now: one is in flight for the background, and three are for others.
    world.subnet.settings_mut().sa.delay = Duration::from_millis(500);
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_secs(5));
    let start = world.now();
    let asks: Vec<_> = (0..3)
        .map(|class| {
            let wanted = wanted(&world, 2, class);
            world.ask(0, &path_request(&wanted, EntryFlags::empty(), [1; 8]))
        })
        .collect();
    for ask in asks {
        assert!(world.wait(ask).is_ok());
    }
    assert_eq!(world.now().since(start), Duration::from_millis(500));
}

/// A peer's answer to a probe, while subnet administration is asked because somebody claimed to be that peer elsewhere:
/// that one question is enough, and whoever waits for it pays for it once.
#[test]
fn a_renewal_that_is_under_way_is_not_begun_again() {
    let core = Config { addr_timeout: Some(16 * MINUTE), sa_notices: false, ..Config::default() };
    let mut world = known(core);
    let stranger = world.stranger(2);
    let mut port = world.port(2).clone();
    port.gids = world.port(1).gids.clone();
    world.subnet.set_port(World::port_id(2), port).unwrap();
    world.run_for(Duration::from_secs(10));
    let lid = cached(&mut world, 1);
    world.subnet.settings_mut().sa.delay = Duration::from_secs(1);
    // The claim comes while the peer is on its way to answer.
    world.subnet.settings_mut().faults.delay = Duration::from_millis(10);
    let (before, peer) = (world.transcript.len(), world.qpn(1));
    let probe = |(_, node, output): &(Time, usize, Output)| {
        *node == 0 && matches!(output, Output::Send { to, mad, .. } if mad.method == Method::GET && to.qpn == peer)
    };
    while !world.transcript[before..].iter().any(probe) {
        assert!(world.step());
    }
    let (queries, checked) = (path_queries(&world).len(), world.stat(0, "claims_checked"));
    world.forge_request(stranger, 0, 7, &name(1), &name(0));
    world.run_for(Duration::from_millis(500));
    assert_eq!(world.stat(0, "claims_checked"), checked + 1);
    assert_eq!(path_queries(&world).len(), queries + 1);
    assert_eq!(world.node(0).acm.check(), Ok(()));
    world.run_for(Duration::from_secs(5));
    assert_eq!((path_queries(&world).len(), world.node(0).acm.check()), (queries + 1, Ok(())));
    assert_eq!(cached(&mut world, 1), lid);
}

/// What waits to be asked for anew and becomes our own is not asked for: nobody knows better.
#[test]
fn an_address_that_has_become_our_own_is_not_asked_for() {
    let mut world = known(Config { sa_notices: false, ..Config::default() });
    let queries = path_queries(&world).len();
    world.subnet.restart_sm(None);
    // It is found, and has not had its turn.
    world.run_for(Duration::from_millis(20));
    assert_eq!(path_queries(&world).len(), queries);
    world.input(0, Input::AddressAdded { port: PortId(0), pkey: None, address: name(1) });
    world.run_for(Duration::from_secs(3));
    assert_eq!(path_queries(&world).len(), queries + 1, "the other one's");
    assert_eq!(cached(&mut world, 1), world.port(0).lid);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// The sweep takes a route that is void away before it knows whether there is room in the line; it comes back to it.
#[test]
fn what_found_no_room_in_the_line_is_asked_for_when_there_is() {
    let limits = Limits { renewals: 1, ..Limits::default() };
    let mut world = World::new(WorldConfig {
        nodes: 6,
        core: Config { limits, sa_notices: false, ..Config::default() },
        ..WorldConfig::default()
    });
    for node in 1..6 {
        world.resolve(0, &name(0), &name(node)).unwrap();
    }
    world.run_for(Duration::from_secs(10));
    move_to(&mut world, 0, 300);
    world.run_for(Duration::from_secs(10));
    assert!(world.stat(0, "renewals_put_off") > 0);
    for node in 1..6 {
        assert_eq!(cached(&mut world, node), world.port(usize::try_from(node).unwrap()).lid);
    }
}
