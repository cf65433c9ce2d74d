//! Every account has its share of connections, requests and lookups, and keeps no other one out.
use acm_sansio::{
    Account, Config,
    account::AccountKind,
    config::{Limits, Share},
};
use acm_sim::{Ask, World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, RequestBuffer, perf_request, resolve_request},
};
use core::net::{IpAddr, Ipv4Addr};

const HOG: Account = Account::User(1);
const OTHER: Account = Account::User(2);

fn name(node: u32) -> Address {
    World::addresses(node)[0]
}

fn peer(last: u8) -> Account {
    Account::Peer(IpAddr::V4(Ipv4Addr::new(192, 0, 2, last)))
}

fn world(limits: Limits) -> World {
    World::new(WorldConfig { core: Config { limits, ..Config::default() }, ..WorldConfig::default() })
}

fn dead(number: usize) -> RequestBuffer {
    resolve_request(Some(&name(0)), &Address::from_text(&format!("dead{number}")), EntryFlags::empty(), [1; 8])
}

fn live() -> RequestBuffer {
    resolve_request(Some(&name(0)), &name(1), EntryFlags::empty(), [1; 8])
}

fn closed(world: &World, all: &[Ask]) -> Vec<usize> {
    all.iter().enumerate().filter(|(_, ask)| world.is_closed(**ask)).map(|(number, _)| number).collect()
}

fn connections(total: usize, percent: u8) -> Limits {
    Limits { connections: Share { total, percent }, ..Limits::default() }
}

#[test]
fn an_account_over_its_share_loses_the_connection_that_is_idle_for_longest() {
    // Half of ten.
    let mut world = world(connections(10, 50));
    let all: Vec<_> = (0..5).map(|_| world.connect(0, HOG)).collect();
    // The first one waits for an answer, the second one said something just now.
    world.say(all[0], &dead(0));
    world.say(all[1], &live());
    assert!(world.wait(all[1]).is_ok());
    assert_eq!(closed(&world, &all), [0_usize; 0]);
    let more = [(); 4].map(|()| world.connect(0, HOG));
    assert_eq!(closed(&world, &all), [1, 2, 3, 4], "not the one that waits");
    assert_eq!(closed(&world, &more), [0_usize; 0]);
    assert_eq!(world.node(0).acm.stats().connections_closed.of(AccountKind::User), 4);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

#[test]
fn of_two_idle_connections_the_one_that_spoke_last_stays() {
    let mut world = world(connections(4, 50));
    let all = [(); 2].map(|()| world.connect(0, HOG));
    // Answered at once: it never waited.
    world.say(all[0], &perf_request(0, [1; 8]));
    world.connect(0, HOG);
    assert_eq!(closed(&world, &all), [1]);
}

#[test]
fn an_account_whose_connections_all_wait_gets_no_other() {
    let mut world = world(connections(4, 50));
    let all: Vec<_> = (0..2).map(|number| world.ask_as(0, peer(1), &dead(number))).collect();
    let more = world.connect(0, peer(1));
    assert!(world.is_closed(more));
    assert_eq!(closed(&world, &all), [0_usize; 0]);
    assert_eq!(world.node(0).acm.stats().connections_refused.of(AccountKind::Peer), 1);
    assert_eq!(world.node(0).acm.stats().connections_refused.total(), 1);
}

/// One user opens all it can; a hundred others come, one after the other, and each is served and stays.
#[test]
fn a_hog_of_connections_keeps_nobody_out() {
    for percent in [90, 100] {
        let mut world = world(connections(200, percent));
        let hog: Vec<_> = (0..1000).map(|_| world.connect(0, HOG)).collect();
        let held = hog.len() - closed(&world, &hog).len();
        assert_eq!(held, 2 * usize::from(percent));
        let mut others = Vec::new();
        for user in 2..102 {
            let ask = world.ask_as(0, Account::User(user), &live());
            assert!(world.wait(ask).is_ok(), "user {user}");
            others.push(ask);
        }
        assert_eq!(closed(&world, &others), [0_usize; 0], "nobody but the hog loses any");
        assert_eq!(world.node(0).acm.check(), Ok(()));
    }
}

#[test]
fn requests_have_shares() {
    let requests = Share { total: 10, percent: 50 };
    let mut world = world(Limits { requests, ..Limits::default() });
    let mut refused = |account: Account, count: usize, from: usize| {
        let asks: Vec<_> = (from..from + count).map(|number| world.ask_as(0, account, &dead(number))).collect();
        let refused = asks.iter().filter(|ask| world.path(**ask) == Some(Err(ClientStatus::ENOMEM))).count();
        (refused, *world.node(0).acm.stats())
    };
    let (of_hog, stats) = refused(HOG, 8, 0);
    assert_eq!((of_hog, stats.requests_refused.of(AccountKind::User)), (3, 3), "it has half of ten");
    let (of_peer, stats) = refused(peer(1), 4, 100);
    assert_eq!((of_peer, stats.requests_refused.of(AccountKind::Peer)), (1, 1), "half of the five left, rounded up");
    let (of_other, _) = refused(OTHER, 1, 200);
    assert_eq!(of_other, 0, "there is always something for the next one");
}

#[test]
fn lookups_have_shares() {
    let lookups = Share { total: 10, percent: 50 };
    let mut world = world(Limits { lookups, ..Limits::default() });
    let asks: Vec<_> = (0..8).map(|number| world.ask_as(0, HOG, &dead(number))).collect();
    let refused = asks.iter().filter(|ask| world.path(**ask) == Some(Err(ClientStatus::ENOMEM))).count();
    assert_eq!(refused, 3);
    assert_eq!(world.node(0).acm.stats().lookups_refused.of(AccountKind::User), 3);
    assert_eq!(world.node(0).acm.stats().requests_refused.total(), 0);
    let ask = world.ask_as(0, OTHER, &live());
    assert!(world.wait(ask).is_ok());
    // Whoever is answered or leaves gives back what it had.
    for ask in &asks {
        world.hang_up(*ask);
    }
    world.run_for(core::time::Duration::from_secs(10));
    let again = world.ask_as(0, HOG, &dead(0));
    assert_eq!(world.path(again), None);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// An account that is alone may use what is idle: nine tenths by default.
#[test]
fn an_account_that_is_alone_has_nearly_all() {
    let requests = Share { total: 100, ..Limits::default().requests };
    let mut world = world(Limits { requests, ..Limits::default() });
    let asks: Vec<_> = (0..100).map(|number| world.ask_as(0, HOG, &dead(number))).collect();
    let refused = asks.iter().filter(|ask| world.path(**ask) == Some(Err(ClientStatus::ENOMEM))).count();
    assert_eq!(refused, 10);
}
