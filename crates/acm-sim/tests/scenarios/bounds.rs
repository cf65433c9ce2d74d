//! Limits of the cache, requests, lookups, refreshes and announcements. Refusals are counted.
use acm_sansio::{
    Account, ClientId, Config, Input, PortId, Time,
    account::AccountKind,
    api::GaugeScope,
    config::{Limits, Share},
};
use acm_sim::{World, WorldConfig, name, unknown_name_request};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter, EntryFlags, resolve_request},
};
use core::time::Duration;
use ib_mad::Lid;
use std::collections::BTreeMap;

/// Changes the LID of node 0's port.
fn change_lid(world: &mut World) {
    let port = ib_sim::Port { lid: Lid::new(300), ..world.port(0).clone() };
    world.subnet.set_port(World::port_id(0), port).unwrap();
    world.settle();
}

// docs/deadlines.md: destinations
#[test]
fn full_cache_evicts_unused_destinations_and_keeps_local_addresses() {
    let limits = Limits { destinations: 8, ..Limits::default() };
    let core = Config { limits, ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 20, core, ..WorldConfig::default() });
    for node in 1..20 {
        assert!(world.resolve(0, &name(0), &name(node)).is_ok(), "node {node}");
    }
    // The three local addresses are never evicted. The last one that was found evicts another at the next request.
    assert_eq!(world.stat(0, "destinations_evicted"), 19 - 5 - 1);
    for address in World::addresses(0) {
        assert!(world.resolve(0, &name(0), &address).is_ok());
    }
}

#[test]
fn remote_hosts_do_not_evict_requested_destinations() {
    let limits = Limits { unsolicited: 4, ..Limits::default() };
    let core = Config { limits, ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 30, core, ..WorldConfig::default() });
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    for node in 2..30 {
        // All nodes receive the multicast request and cache its sender.
        assert!(world.resolve(node as usize, &name(node), &name(1)).is_ok());
    }
    let queries = world.node(0).acm.counters().0[3];
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    assert_eq!(world.node(0).acm.counters().0[3], queries, "from the cache");
    assert!(world.stat(0, "destinations_evicted") >= 20);
}

// docs/deadlines.md: requests
#[test]
fn requests_over_the_limit_are_refused() {
    // One of eleven is for the kernel.
    let limits = Limits { requests: Share { total: 11, percent: 100 }, ..Limits::default() };
    let core = Config { limits, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    let clients: Vec<_> = (0..12)
        .map(|number| {
            let dest = Address::from_text(&format!("dead{number}"));
            world.request(0, &resolve_request(Some(&name(0)), &dest, EntryFlags::empty(), [1; 8]))
        })
        .collect();
    let refused = clients.iter().filter(|client| world.path(**client) == Some(Err(ClientStatus::ENOMEM))).count();
    assert_eq!(refused, 2);
    assert_eq!(world.stat(0, "requests_refused"), 2);
    world.run_for(Duration::from_secs(100));
    assert!(clients.iter().all(|client| world.path(*client).is_some()), "every request has a response");
}

// docs/deadlines.md: destinations
#[test]
fn remote_hosts_are_refused_if_requested_destinations_fill_the_cache() {
    // Three local addresses and one requested destination fill the cache.
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
    assert_eq!(world.node(0).acm.counters().0[3], queries, "from the cache");
    assert_eq!(world.stat(0, "destinations_refused"), 4);
}

// docs/deadlines.md: requests-per-client
#[test]
fn client_with_64_pending_requests_gets_cached_paths_and_no_further_request_waits() {
    let mut world = World::new(WorldConfig::default());
    let client = world.connect(0, Account::User(1));
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    let request = |dest: &Address| resolve_request(Some(&name(0)), dest, EntryFlags::empty(), [1; 8]);
    let dead = |number: usize| Address::from_text(&format!("dead{number}"));
    let takes_requests = |world: &World| world.node(0).acm.takes_requests(ClientId::new(0, 0));
    for number in 0..64 {
        assert!(takes_requests(&world), "{number} pending requests");
        world.send(client, &request(&dead(number)));
        assert_eq!(world.path(client), None);
    }
    assert!(!takes_requests(&world));
    world.send(client, &request(&name(1)));
    assert!(matches!(world.path(client), Some(Ok(_))), "it is cached");
    world.send(client, &request(&dead(64)));
    assert_eq!(world.path(client), Some(Err(ClientStatus::ENOMEM)));
    world.run_for(Duration::from_secs(100));
    assert!(takes_requests(&world) && !world.node(0).acm.has_requests(ClientId::new(0, 0)));
}

// docs/deadlines.md: remote-lookups
#[test]
fn lookups_for_remote_hosts_have_their_own_limit() {
    let limits = Limits { remote_lookups: 2, ..Limits::default() };
    let core = Config { limits, ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 7, core, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.delay = Duration::from_millis(100);
    let refusals_after = |world: &mut World, number: u64| {
        let source = Address::from_text(&format!("made-up{number}"));
        let remote = world.remote_host(usize::try_from(number).unwrap());
        world.forge_request(remote, 0, number, &source, &name(0));
        let lookups = world.node(0).acm.stats().lookups_refused.of(AccountKind::Remote);
        (lookups, world.stat(0, "responders_refused"))
    };
    assert_eq!([1, 2, 3].map(|number| refusals_after(&mut world, number)), [(0, 0), (0, 0), (1, 1)]);
    // Finished lookups make room.
    world.run_for(Duration::from_secs(1));
    assert_eq!([4, 5, 6].map(|number| refusals_after(&mut world, number)), [(1, 1), (1, 1), (2, 2)]);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

// docs/deadlines.md: negatives
#[test]
fn oldest_failed_name_is_evicted_from_the_negative_cache() {
    let limits = Limits { negatives: 2, ..Limits::default() };
    let negative_timeout = Some(Duration::from_secs(3600));
    let core = Config { limits, negative_timeout, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    let fails = |world: &mut World, number| {
        let client = world.request(0, &unknown_name_request(number, EntryFlags::empty()));
        assert_eq!(world.wait(client), Err(ClientStatus::ETIMEDOUT));
    };
    let is_cached = |world: &mut World, number| {
        let client = world.request(0, &unknown_name_request(number, EntryFlags::empty()));
        world.path(client) == Some(Err(ClientStatus::ETIMEDOUT))
    };
    (0..2).for_each(|number| fails(&mut world, number));
    assert_eq!([0, 1].map(|number| is_cached(&mut world, number)), [true, true]);
    assert_eq!(world.stat(0, "negatives_evicted"), 0);
    fails(&mut world, 2);
    assert_eq!(world.stat(0, "negatives_evicted"), 1);
    assert_eq!([1, 2, 0].map(|number| is_cached(&mut world, number)), [true, true, false]);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// The sweep queues five routes of a port whose LID has changed.
// docs/deadlines.md: renewals
#[test]
fn refreshes_over_the_limit_are_put_off_and_done_later() {
    for (renewals, is_enough) in [(5, true), (4, false)] {
        let limits = Limits { renewals, ..Limits::default() };
        let core = Config { limits, sa_notices: false, ..Config::default() };
        let mut world = World::new(WorldConfig { nodes: 6, core, ..WorldConfig::default() });
        for node in (1..6).chain(1..6) {
            world.resolve(0, &name(0), &name(node)).unwrap();
        }
        world.run_for(Duration::from_secs(10));
        let routes = |world: &World| world.node(0).acm.counters().get(Counter::RouteQuery);
        let before = routes(&world);
        change_lid(&mut world);
        world.run_for(Duration::from_secs(10));
        assert_eq!(routes(&world), before + 5);
        assert_eq!(world.stat(0, "renewals_put_off") == 0, is_enough);
    }
}

/// The peers do not respond to the unicast requests that refresh their addresses. Their responses took long before, so
/// that each request takes half a minute.
#[test]
fn at_most_64_refreshes_are_pending() {
    let core = Config { timeout: Duration::from_secs(10), sa_notices: false, ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 161, core, ..WorldConfig::default() });
    for node in (1..161).chain(1..161) {
        world.resolve(0, &name(0), &name(node)).unwrap();
    }
    world.subnet.settings_mut().faults.delay = Duration::from_millis(2400);
    for node in 1..4 {
        world.resolve(0, &World::addresses(0)[1], &World::addresses(node)[1]).unwrap();
    }
    // No peer responds. The paths are confirmed, because they were used.
    world.subnet.settings_mut().faults.down = true;
    let mut pending = 0;
    for _ in 0..120 {
        world.run_for(Duration::from_secs(1));
        world.node(0).acm.each_gauge(&mut |name, of, value| {
            if (name, of) == ("lookups", GaugeScope::Account(AccountKind::Daemon)) {
                pending = pending.max(value);
            }
        });
    }
    assert_eq!((pending, world.node(0).acm.check()), (64, Ok(())));
}

#[test]
fn port_announces_16_addresses_per_100_ms() {
    let core = Config { sa_notices: false, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    // The port has three addresses already.
    for number in 3..33 {
        let address = Address::from_text(&format!("other{number}"));
        world.input(0, Input::AddressAdded { port: PortId(0), pkey: None, address });
    }
    world.run_for(Duration::from_secs(10));
    let before = world.stat(0, "announcements");
    let mut announced: BTreeMap<Time, u64> = BTreeMap::new();
    change_lid(&mut world);
    let end = world.now() + Duration::from_secs(5);
    while world.next_time().is_some_and(|at| at < end) {
        world.step();
        announced.insert(world.now(), world.stat(0, "announcements") - before);
    }
    let steps: Vec<_> = announced.values().copied().collect();
    let mut different = steps.clone();
    different.dedup();
    assert_eq!(different, [0, 16, 32, 33]);
    let first = |count| announced.iter().find(|(_, total)| **total == count).map(|(at, _)| *at).unwrap();
    assert_eq!([32, 33].map(|count| first(count).since(first(16)).as_millis()), [100, 200]);
}
