//! Nothing grows without bound; what is refused is counted.
use acm_sansio::{
    Account, ClientId, Config, Input, Output, PortId, Time,
    account::AccountKind,
    config::{Limits, SaDepth, Share},
};
use acm_sim::{World, WorldConfig, dead, name};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter, EntryFlags, resolve_request},
};
use core::time::Duration;
use ib_mad::{AttributeId, Lid, sa::PathRecord};
use std::collections::BTreeMap;

/// Gives node 0's port another LID.
fn move_away(world: &mut World) {
    let port = ib_sim::Port { lid: Lid::new(300), ..world.port(0).clone() };
    world.subnet.set_port(World::port_id(0), port).unwrap();
    world.settle();
}

#[test]
fn the_cache_throws_out_what_was_not_used_and_keeps_our_own() {
    let limits = Limits { destinations: 8, ..Limits::default() };
    let core = Config { limits, ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 20, core, ..WorldConfig::default() });
    for node in 1..20 {
        assert!(world.resolve(0, &name(0), &name(node)).is_ok(), "node {node}");
    }
    // Three places are taken by our own addresses for ever.
    assert_eq!(world.stat(0, "destinations_evicted"), 19 - 5);
    for address in World::addresses(0) {
        assert!(world.resolve(0, &name(0), &address).is_ok());
    }
}

#[test]
fn strangers_cannot_push_out_what_was_asked_for() {
    let limits = Limits { unsolicited: 4, ..Limits::default() };
    let core = Config { limits, ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 30, core, ..WorldConfig::default() });
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    for node in 2..30 {
        // All hear it and learn where the asker is.
        assert!(world.resolve(node as usize, &name(node), &name(1)).is_ok());
    }
    let queries = world.node(0).acm.counters().0[3];
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    assert_eq!(world.node(0).acm.counters().0[3], queries, "still known");
    assert!(world.stat(0, "destinations_evicted") >= 20);
}

#[test]
fn requests_that_wait() {
    let limits = Limits { requests: Share { total: 10, percent: 100 }, ..Limits::default() };
    let core = Config { limits, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    let asks: Vec<_> = (0..12)
        .map(|number| {
            let dest = Address::from_text(&format!("dead{number}"));
            world.ask(0, &resolve_request(Some(&name(0)), &dest, EntryFlags::empty(), [1; 8]))
        })
        .collect();
    let refused = asks.iter().filter(|ask| world.path(**ask) == Some(Err(ClientStatus::ENOMEM))).count();
    assert_eq!(refused, 2);
    assert_eq!(world.stat(0, "requests_refused"), 2);
    world.run_for(Duration::from_secs(100));
    assert!(asks.iter().all(|ask| world.path(*ask).is_some()), "every request is answered");
}

#[test]
fn strangers_find_no_room_in_a_cache_full_of_what_was_asked_for() {
    // Three places for our own addresses, one for what is asked for.
    let limits = Limits { destinations: 4, ..Limits::default() };
    let core = Config { limits, ..Config::default() };
    let mut world = World::new(WorldConfig {
        nodes: 6,
        core: Config::default(),
        special: vec![(0, core)],
        ..WorldConfig::default()
    });
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    for node in 2..6 {
        assert!(world.resolve(node as usize, &name(node), &name(1)).is_ok());
    }
    let queries = world.node(0).acm.counters().0[3];
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    assert_eq!(world.node(0).acm.counters().0[3], queries, "still known");
    assert_eq!(world.stat(0, "destinations_refused"), 4);
}

/// A client that does not wait for its answers has 64 requests open; whoever owns its connection does not read on then.
#[test]
fn requests_of_one_client() {
    let mut world = World::new(WorldConfig::default());
    let ask = world.connect(0, Account::User(1));
    let takes_requests = |world: &World| world.node(0).acm.takes_requests(ClientId::new(0, 0));
    for number in 0..64 {
        assert!(takes_requests(&world), "{number} are open");
        let dest = Address::from_text(&format!("dead{number}"));
        world.say(ask, &resolve_request(Some(&name(0)), &dest, EntryFlags::empty(), [1; 8]));
        assert_eq!(world.path(ask), None);
    }
    assert!(!takes_requests(&world));
    world.run_for(Duration::from_secs(100));
    assert!(takes_requests(&world) && !world.node(0).acm.has_requests(ClientId::new(0, 0)));
}

/// Strangers have a bound of their own: so many are looked up for them at a time.
#[test]
fn lookups_for_strangers() {
    let limits = Limits { remote_lookups: 2, ..Limits::default() };
    let core = Config { limits, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.delay = Duration::from_millis(100);
    let stranger = world.stranger(1);
    let asked_and_refused = |world: &mut World, number: u64| {
        let source = Address::from_text(&format!("made-up{number}"));
        world.forge_request(stranger, 0, number, &source, &name(0));
        let lookups = world.node(0).acm.stats().lookups_refused.of(AccountKind::Remote);
        (lookups, world.stat(0, "responders_refused"))
    };
    assert_eq!([1, 2, 3].map(|number| asked_and_refused(&mut world, number)), [(0, 0), (0, 0), (1, 1)]);
    // What is answered makes room.
    world.run_for(Duration::from_secs(1));
    assert_eq!([4, 5, 6].map(|number| asked_and_refused(&mut world, number)), [(1, 1), (1, 1), (2, 2)]);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// So many failures are remembered; beyond it, the one of longest standing is tried again.
#[test]
fn names_that_failed() {
    let limits = Limits { negatives: 2, ..Limits::default() };
    let negative_timeout = Some(Duration::from_secs(3600));
    let core = Config { limits, negative_timeout, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    let fails = |world: &mut World, number| {
        let ask = world.ask(0, &dead(number, EntryFlags::empty()));
        assert_eq!(world.wait(ask), Err(ClientStatus::ETIMEDOUT));
    };
    let is_known = |world: &mut World, number| {
        let ask = world.ask(0, &dead(number, EntryFlags::empty()));
        world.path(ask) == Some(Err(ClientStatus::ETIMEDOUT))
    };
    (0..2).for_each(|number| fails(&mut world, number));
    assert_eq!([0, 1].map(|number| is_known(&mut world, number)), [true, true]);
    assert_eq!(world.stat(0, "negatives_evicted"), 0);
    fails(&mut world, 2);
    assert_eq!(world.stat(0, "negatives_evicted"), 1);
    assert_eq!([1, 2, 0].map(|number| is_known(&mut world, number)), [true, true, false]);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// What the sweep finds, five routes of a port that has moved, waits in a line of its own.
#[test]
fn destinations_that_wait_for_being_asked_for_anew() {
    for (renewals, is_enough) in [(5, true), (4, false)] {
        let limits = Limits { renewals, ..Limits::default() };
        let core = Config { limits, sa_notices: false, ..Config::default() };
        let mut world = World::new(WorldConfig { nodes: 6, core, ..WorldConfig::default() });
        for node in 1..6 {
            world.resolve(0, &name(0), &name(node)).unwrap();
        }
        world.run_for(Duration::from_secs(10));
        let routes = |world: &World| world.node(0).acm.counters().get(Counter::RouteQuery);
        let before = routes(&world);
        move_away(&mut world);
        world.run_for(Duration::from_secs(10));
        assert_eq!(routes(&world), before + 5);
        assert_eq!(world.stat(0, "renewals_put_off") == 0, is_enough);
    }
}

/// Twenty are asked for anew each tenth of a second, and none while 64 are under way.
#[test]
fn renewals_that_are_under_way() {
    let core = Config { sa_depth: SaDepth::Fixed(1024), sa_notices: false, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    for traffic_class in 0..=255 {
        let wanted = PathRecord { dlid: world.port(1).lid, traffic_class, ..PathRecord::default() };
        world.route(0, &wanted).unwrap();
    }
    world.run_for(Duration::from_secs(10));
    let since = world.transcript.len();
    world.subnet.restart_sm(None);
    world.subnet.settings_mut().sa.mute = true;
    world.run_for(Duration::from_secs(3));
    let mut asked: BTreeMap<Time, usize> = BTreeMap::new();
    for (at, node, output) in &world.transcript[since..] {
        if let Output::SaSend(send) = output
            && (*node, send.mad.header.attribute_id) == (0, AttributeId::PATH_RECORD)
        {
            *asked.entry(*at).or_default() += 1;
        }
    }
    assert_eq!(asked.values().copied().collect::<Vec<_>>(), [20, 20, 20, 4]);
    let times: Vec<_> = asked.keys().copied().collect();
    assert!(times.windows(2).all(|two| two[1].since(two[0]) == Duration::from_millis(100)), "{times:?}");
}

/// A port that has moved tells the group sixteen of its addresses each tenth of a second.
#[test]
fn addresses_that_are_announced() {
    let core = Config { sa_notices: false, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    // It has three already.
    for number in 3..33 {
        let address = Address::from_text(&format!("other{number}"));
        world.input(0, Input::AddressAdded { port: PortId(0), pkey: None, address });
    }
    world.run_for(Duration::from_secs(10));
    let before = world.stat(0, "announcements");
    let mut told: BTreeMap<Time, u64> = BTreeMap::new();
    move_away(&mut world);
    let end = world.now() + Duration::from_secs(5);
    while world.next_time().is_some_and(|at| at < end) {
        world.step();
        told.insert(world.now(), world.stat(0, "announcements") - before);
    }
    let steps: Vec<_> = told.values().copied().collect();
    let mut different = steps.clone();
    different.dedup();
    assert_eq!(different, [0, 16, 32, 33]);
    let first = |count| told.iter().find(|(_, told)| **told == count).map(|(at, _)| *at).unwrap();
    assert_eq!([32, 33].map(|count| first(count).since(first(16)).as_millis()), [100, 200]);
}
