//! Nothing grows without bound; what is refused is counted.
use acm_sansio::{
    Account, ClientId, Config,
    config::{Limits, Share},
};
use acm_sim::{World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, resolve_request},
};
use core::time::Duration;

fn name(node: u32) -> Address {
    World::addresses(node)[0]
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
