//! Shares of connections, requests and lookups: each account gets its share, and no account takes the shares of others.
use acm_sansio::{
    Account, Config,
    account::AccountKind,
    config::{Limits, Share},
};
use acm_sim::{Client, World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, RequestBuffer, perf_request, resolve_request},
};
use core::{
    net::{IpAddr, Ipv4Addr},
    time::Duration,
};

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

fn unknown(number: usize) -> RequestBuffer {
    resolve_request(Some(&name(0)), &Address::from_text(&format!("dead{number}")), EntryFlags::empty(), [1; 8])
}

fn known() -> RequestBuffer {
    resolve_request(Some(&name(0)), &name(1), EntryFlags::empty(), [1; 8])
}

fn closed(world: &World, all: &[Client]) -> Vec<usize> {
    all.iter().enumerate().filter(|(_, client)| world.is_closed(**client)).map(|(number, _)| number).collect()
}

fn connections(total: usize, percent: u8) -> Limits {
    Limits { connections: Share { total, percent }, ..Limits::default() }
}

// docs/deviations.md: connections
// docs/deadlines.md: connections
#[test]
fn account_over_its_share_loses_its_longest_idle_connection() {
    // Half of ten.
    let mut world = world(connections(10, 50));
    let all: Vec<_> = (0..5).map(|_| world.connect(0, HOG)).collect();
    // Connection 0 waits for a response, connection 1 sent the latest request.
    world.send(all[0], &unknown(0));
    world.send(all[1], &known());
    assert!(world.wait(all[1]).is_ok());
    assert_eq!(closed(&world, &all), [0_usize; 0]);
    let more = [(); 4].map(|()| world.connect(0, HOG));
    assert_eq!(closed(&world, &all), [1, 2, 3, 4], "connection 0 waits for a response");
    assert_eq!(closed(&world, &more), [0_usize; 0]);
    assert_eq!(world.node(0).acm.stats().connections_closed.of(AccountKind::User), 4);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

#[test]
fn idle_connection_with_the_older_request_is_closed_first() {
    let mut world = world(connections(4, 50));
    let all = [(); 2].map(|()| world.connect(0, HOG));
    // PERF gets its response at once, so the connection does not wait.
    world.send(all[0], &perf_request(0, [1; 8]));
    world.connect(0, HOG);
    assert_eq!(closed(&world, &all), [1]);
}

// docs/deadlines.md: connections
#[test]
fn connection_is_refused_if_all_connections_of_the_account_wait_for_responses() {
    let mut world = world(connections(4, 50));
    let all: Vec<_> = (0..2).map(|number| world.request_as(0, peer(1), &unknown(number))).collect();
    let more = world.connect(0, peer(1));
    assert!(world.is_closed(more));
    assert_eq!(closed(&world, &all), [0_usize; 0]);
    assert_eq!(world.node(0).acm.stats().connections_refused.of(AccountKind::Peer), 1);
    assert_eq!(world.node(0).acm.stats().connections_refused.total(), 1);
}

/// One user opens all connections of its share. Then 100 other users connect, and each is served and stays connected.
// docs/deviations.md: connections
#[test]
fn account_with_all_connections_keeps_no_other_account_out() {
    for percent in [90, 100] {
        let mut world = world(connections(200, percent));
        let hog: Vec<_> = (0..1000).map(|_| world.connect(0, HOG)).collect();
        let held = hog.len() - closed(&world, &hog).len();
        assert_eq!(held, 2 * usize::from(percent));
        world.run_for(Duration::from_secs(5));
        let mut others = Vec::new();
        for user in 2..102 {
            let client = world.request_as(0, Account::User(user), &known());
            assert!(world.wait(client).is_ok(), "user {user}");
            others.push(client);
        }
        assert_eq!(closed(&world, &others), [0_usize; 0], "only the hog loses connections");
        assert_eq!(world.node(0).acm.check(), Ok(()));
    }
}

// docs/deadlines.md: connections
#[test]
fn account_with_few_connections_keeps_them_beside_large_accounts() {
    let mut world = world(connections(100, 50));
    // Each takes half of what the ones before have left: 50, 25, 13, 6, 3.
    for user in 10..15 {
        for _ in 0..100 {
            let _ = world.connect(0, Account::User(user));
        }
    }
    world.run_for(Duration::from_secs(5));
    // Those of the last account: what it has beyond its share would have been taken from connections of this instant.
    let refused = world.node(0).acm.stats().connections_refused;
    // 3 connections are free, which is a share of 2. Each connection has sent a request and waits for its response.
    let few: Vec<_> = (0..8).map(|number| world.request_as(0, OTHER, &unknown(number))).collect();
    assert_eq!(closed(&world, &few), [0_usize; 0]);
    // The ninth is beyond the floor.
    let ninth = world.connect(0, OTHER);
    assert!(!world.is_closed(ninth), "a larger account loses one, because all connections are used");
    assert_eq!(closed(&world, &few), [0_usize; 0]);
    assert_eq!(world.node(0).acm.stats().connections_refused, refused);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// One user has all 32 connections. Two more are for accounts with few, and two for each of the two users.
// docs/deadlines.md: small-accounts
#[test]
fn connection_that_is_busy_or_was_used_within_5_s_is_not_closed_for_another_account() {
    for is_busy in [false, true] {
        let mut world = world(connections(32, 100));
        let hog: Vec<_> = (0..32).map(|_| world.connect(0, HOG)).collect();
        world.run_for(Duration::from_secs(4));
        let request = if is_busy { unknown(1).to_vec() } else { perf_request(0, [1; 8]).to_vec() };
        hog.iter().for_each(|client| world.send(*client, &request));
        world.run_for(Duration::from_millis(4999));
        let others: Vec<_> = (0..7).map(|_| world.connect(0, OTHER)).collect();
        assert_eq!((closed(&world, &hog), closed(&world, &others)), (vec![], vec![6]), "{is_busy}");
        assert_eq!(world.node(0).acm.check(), Ok(()));
        world.run_for(Duration::from_millis(1));
        let last = world.connect(0, OTHER);
        assert_eq!((closed(&world, &hog).len(), world.is_closed(last)), (usize::from(!is_busy), is_busy));
        assert_eq!(world.node(0).acm.check(), Ok(()));
    }
}

/// Opens up to 32 connections of an account at the same time, until one is refused, and returns their number.
fn fill(world: &mut World, account: Account) -> usize {
    let mut opens = || {
        let client = world.connect(0, account);
        !world.is_closed(client)
    };
    (0..32).take_while(|_| opens()).count()
}

/// All 32 connections are used, and nobody gives one up. Two more are for accounts with few, and eight for two of each
/// user, however many the users before have. The place of a connection that was given up and is not closed yet may be one
/// more.
// docs/deadlines.md: guaranteed-connections
#[test]
fn each_user_gets_two_connections_up_to_a_quarter_of_all() {
    let mut world = world(connections(32, 100));
    let held = [HOG, OTHER, peer(1), Account::User(3), peer(2), Account::User(4), Account::User(5), Account::User(6)]
        .map(|account| fill(&mut world, account));
    assert_eq!(held, [32, 6, 0, 2, 0, 2, 1, 0], "a peer may have any number of addresses");
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// 838 users take 22 connections each, and 162 take 7, none of which is given up: an attack that left nothing.
#[test]
fn new_user_gets_a_connection_beside_1000_users_who_give_none_up() {
    let mut world = world(connections(16_195, 90));
    for (users, count) in [(1000..1838, 22), (1838..2000, 7)] {
        for user in users {
            for _ in 0..count {
                world.connect(0, Account::User(user));
            }
        }
    }
    for user in 5000..5090 {
        let client = world.request_as(0, Account::User(user), &known());
        assert!(world.wait(client).is_ok(), "user {user}");
    }
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// One user uses all 32 connections all the time. Another one has the rest.
#[test]
fn user_loses_a_connection_that_was_idle_for_5_s_to_a_new_one_if_no_other_account_gives_one_up() {
    let mut world = world(connections(32, 100));
    let hog: Vec<_> = (0..32).map(|_| world.connect(0, HOG)).collect();
    let few: Vec<_> = (0..6).map(|_| world.connect(0, OTHER)).collect();
    world.run_for(Duration::from_millis(4999));
    hog.iter().for_each(|client| world.send(*client, &perf_request(0, [1; 8])));
    let early = world.connect(0, OTHER);
    assert!(world.is_closed(early));
    world.run_for(Duration::from_millis(1));
    let next = world.connect(0, OTHER);
    assert_eq!((closed(&world, &few), world.is_closed(next)), (vec![0], false));
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// The largest user uses all of its connections all the time.
#[test]
fn connection_of_a_smaller_account_is_closed_if_the_largest_has_no_idle_one() {
    let mut world = world(connections(32, 100));
    let middle: Vec<_> = (0..12).map(|_| world.connect(0, OTHER)).collect();
    let hog: Vec<_> = (0..20).map(|_| world.connect(0, HOG)).collect();
    world.run_for(Duration::from_secs(5));
    hog.iter().for_each(|client| world.send(*client, &perf_request(0, [1; 8])));
    let new: Vec<_> = (0..6).map(|_| world.connect(0, Account::User(7))).collect();
    let closed = [&hog, &middle, &new].map(|clients| closed(&world, clients));
    assert_eq!(closed, [vec![], vec![0, 1, 2, 3, 4, 5], vec![]], "as many as are left of the smaller account");
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

// docs/deviations.md: shares
// docs/deadlines.md: requests
#[test]
fn account_over_its_share_of_requests_is_refused() {
    let requests = Share { total: 1600, percent: 50 };
    let mut world = world(Limits { requests, ..Limits::default() });
    let mut refused = |account: Account, count: usize, from: usize| {
        let clients: Vec<_> =
            (from..from + count).map(|number| world.request_as(0, account, &unknown(number))).collect();
        let refused = clients.iter().filter(|client| world.path(**client) == Some(Err(ClientStatus::ENOMEM))).count();
        (refused, *world.node(0).acm.stats())
    };
    let (of_hog, stats) = refused(HOG, 703, 0);
    assert_eq!((of_hog, stats.requests_refused.of(AccountKind::User)), (3, 3), "the share is half of 1,400");
    let (of_peer, stats) = refused(peer(1), 351, 1000);
    assert_eq!((of_peer, stats.requests_refused.of(AccountKind::Peer)), (1, 1), "the share is half of the other 700");
    let (of_other, _) = refused(OTHER, 1, 2000);
    assert_eq!(of_other, 0, "a further account still gets a request");
}

// docs/deviations.md: shares
// docs/deadlines.md: lookups
#[test]
fn account_over_its_share_of_lookups_is_refused() {
    let lookups = Share { total: 1600, percent: 50 };
    let mut world = world(Limits { lookups, ..Limits::default() });
    let clients: Vec<_> = (0..703).map(|number| world.request_as(0, HOG, &unknown(number))).collect();
    let refused = clients.iter().filter(|client| world.path(**client) == Some(Err(ClientStatus::ENOMEM))).count();
    assert_eq!(refused, 3);
    assert_eq!(world.node(0).acm.stats().lookups_refused.of(AccountKind::User), 3);
    assert_eq!(world.node(0).acm.stats().requests_refused.total(), 0);
    let client = world.request_as(0, OTHER, &known());
    assert!(world.wait(client).is_ok());
    // Closing a client releases its lookups.
    for client in &clients {
        world.disconnect(*client);
    }
    world.run_for(Duration::from_secs(10));
    let later = world.request_as(0, HOG, &unknown(0));
    assert_eq!(world.path(later), None);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

#[test]
fn single_account_may_use_nine_tenths_of_the_requests_that_are_not_reserved() {
    let requests = Share { total: 100, ..Limits::default().requests };
    let mut world = world(Limits { requests, ..Limits::default() });
    let clients: Vec<_> = (0..100).map(|number| world.request_as(0, HOG, &unknown(number))).collect();
    let refused = clients.iter().filter(|client| world.path(**client) == Some(Err(ClientStatus::ENOMEM))).count();
    assert_eq!(refused, 100 - 80, "nine tenths of 88, rounded up");
}
