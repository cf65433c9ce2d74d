//! Round-robin service: unknown names, many path requests and forged sources of one account delay no other account.
use acm_sansio::{
    Account, Config, EndpointId, Input, Output, Time,
    api::{DatagramSource, GaugeScope, SaSend},
    config::Depth,
};
use acm_sim::{Client, World, WorldConfig, name, unknown_name_request};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, RequestBuffer, path_request, resolve_request},
    multicast,
};
use core::time::Duration;
use ib_mad::{Gid, Lid, Qpn, TransactionId, sa::PathRecord};

const HOG: Account = Account::User(1);
const OTHER: Account = Account::User(2);
/// Time for which a credit is held before a round trip has been measured.
const CREDIT: Duration = Duration::from_millis(4);

/// Returns a world of nodes with a single credit for multicast requests.
fn with_one_credit() -> World {
    let core = Config { resolve_depth: Depth::Fixed(1), ..Config::default() };
    World::new(WorldConfig { nodes: 4, core, ..WorldConfig::default() })
}

fn known(node: u32) -> RequestBuffer {
    resolve_request(Some(&name(0)), &name(node), EntryFlags::empty(), [1; 8])
}

/// Returns a request for a path that is not cached: each traffic class is a separate path.
fn route(world: &World, traffic_class: u8) -> RequestBuffer {
    let record = PathRecord { dlid: world.port(1).lid, traffic_class, ..PathRecord::default() };
    path_request(&record, EntryFlags::empty(), [1; 8])
}

/// Waits for the path and returns the time since `start`.
fn time_of(world: &mut World, client: Client, start: Time) -> Duration {
    assert!(world.wait(client).is_ok());
    world.now().since(start)
}

fn sa_sends(world: &World, since: usize) -> Vec<(Time, SaSend)> {
    let of = |(at, node, output): &(Time, usize, Output)| match output {
        Output::SaSend(send) if *node == 0 => Some((*at, *send)),
        _ => None,
    };
    world.transcript[since..].iter().filter_map(of).collect()
}

/// Of 100 unknown names of one user, no other is looked up before another user's known name.
#[test]
fn known_name_waits_for_one_credit_at_most() {
    let mut world = with_one_credit();
    let all: Vec<_> =
        (0..100).map(|number| world.request_as(0, HOG, &unknown_name_request(number, EntryFlags::empty()))).collect();
    let start = world.now();
    let client = world.request_as(0, OTHER, &known(1));
    // One unknown name holds the credit.
    assert_eq!(time_of(&mut world, client, start), CREDIT);
    for client in all {
        assert_eq!(world.wait(client), Err(ClientStatus::ETIMEDOUT));
    }
}

/// All options have their defaults. The unknown names are requested with NODELAY by a client that then closes.
#[test]
fn unknown_names_of_a_closed_client_delay_another_user_by_less_than_50_ms() {
    for count in [20, 2000] {
        let mut world = World::new(WorldConfig::default());
        let hog = world.connect(0, HOG);
        for number in 0..count {
            world.send(hog, &unknown_name_request(number, EntryFlags::NO_DELAY));
            assert_eq!(world.path(hog), Some(Err(ClientStatus::ENODATA)));
        }
        world.disconnect(hog);
        let start = world.now();
        let client = world.request_as(0, OTHER, &known(1));
        let took = time_of(&mut world, client, start);
        println!("{count} unknown names of a closed client: another user's known name took {took:?}");
        assert_eq!(took, CREDIT);
        assert!(took < Duration::from_millis(50));
    }
}

/// Returns the number of cached paths of node 0, including those to its three own addresses.
fn cached_paths(world: &World) -> usize {
    let mut count = 0;
    world.node(0).acm.each_gauge(&mut |name, of, value| {
        count += if (name, of) == ("destinations", GaugeScope::State("ready")) { value } else { 0 };
    });
    count
}

/// Starts a lookup with NODELAY for each of `count` unknown names.
fn leave_tickets(world: &mut World, account: Account, count: usize) {
    let client = world.connect(0, account);
    for number in 0..count {
        world.send(client, &unknown_name_request(number, EntryFlags::NO_DELAY));
        assert_eq!(world.path(client), Some(Err(ClientStatus::ENODATA)));
    }
}

// docs/deviations.md: order
#[test]
fn name_with_a_waiting_client_comes_before_2000_tickets_of_its_account() {
    let mut world = with_one_credit();
    leave_tickets(&mut world, OTHER, 2000);
    let start = world.now();
    let client = world.request_as(0, OTHER, &known(1));
    let took = time_of(&mut world, client, start);
    println!("2,000 tickets of the same user: a known name took {took:?}");
    assert!(took <= CREDIT, "one unknown name holds the credit");
}

#[test]
fn ticket_comes_first_as_soon_as_a_client_waits_for_it() {
    let mut world = with_one_credit();
    leave_tickets(&mut world, OTHER, 100);
    let ticket = resolve_request(Some(&name(0)), &name(1), EntryFlags::NO_DELAY, [1; 8]);
    let client = world.request_as(0, OTHER, &ticket);
    assert_eq!(world.path(client), Some(Err(ClientStatus::ENODATA)));
    let start = world.now();
    let client = world.request_as(0, OTHER, &known(1));
    assert!(time_of(&mut world, client, start) <= CREDIT);
}

#[test]
fn name_whose_waiting_client_leaves_a_ticket_moves_back() {
    let mut world = with_one_credit();
    world.subnet.settings_mut().faults.delay = Duration::from_millis(1);
    leave_tickets(&mut world, OTHER, 1);
    let client = world.request_as(0, OTHER, &known(1));
    let ticket = resolve_request(Some(&name(0)), &name(1), EntryFlags::NO_DELAY, [1; 8]);
    world.request_as(0, OTHER, &ticket);
    world.disconnect(client);
    let client = world.request_as(0, OTHER, &known(2));
    assert!(world.wait(client).is_ok());
    assert_eq!(cached_paths(&world), 4);
    world.run_for(CREDIT);
    assert_eq!(cached_paths(&world), 5);
}

/// Of one account, one lookup in sixteen is a ticket's, however many requests wait.
#[test]
fn tickets_are_served_beside_waiting_requests() {
    let mut world = with_one_credit();
    let ticket = resolve_request(Some(&name(0)), &name(1), EntryFlags::NO_DELAY, [1; 8]);
    let waiting: Vec<_> =
        (0..40).map(|number| world.request_as(0, OTHER, &unknown_name_request(number, EntryFlags::empty()))).collect();
    world.request_as(0, OTHER, &ticket);
    world.run_for(15 * CREDIT);
    assert_eq!(cached_paths(&world), 3);
    world.run_for(2 * CREDIT);
    assert_eq!(cached_paths(&world), 4);
    assert!(waiting.iter().all(|client| world.path(*client).is_none()));
}

#[test]
fn credit_is_held_for_the_estimated_round_trip() {
    let mut world = with_one_credit();
    world.subnet.settings_mut().faults.delay = Duration::from_millis(10);
    // The round trips take 20 ms. Estimates by RFC 6298: 20 ms + 4 x 10 ms, then 20 ms + 4 x 7.5 ms.
    for node in [1, 2] {
        assert!(world.resolve(0, &name(0), &name(node)).is_ok());
    }
    world.request_as(0, HOG, &unknown_name_request(0, EntryFlags::empty()));
    let start = world.now();
    let client = world.request_as(0, OTHER, &known(3));
    assert_eq!(time_of(&mut world, client, start), Duration::from_millis(50 + 20));
}

// docs/deviations.md: order
#[test]
fn path_query_with_a_waiting_client_comes_before_tickets() {
    let core = Config { sa_depth: Depth::Fixed(1), ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.delay = Duration::from_millis(10);
    let ticket = |world: &World, class| {
        let record = PathRecord { dlid: world.port(1).lid, traffic_class: class, ..PathRecord::default() };
        path_request(&record, EntryFlags::NO_DELAY, [1; 8])
    };
    for class in 1..=50 {
        let request = ticket(&world, class);
        world.request_as(0, OTHER, &request);
    }
    let start = world.now();
    let client = world.request_as(0, OTHER, &route(&world, 51));
    assert_eq!(time_of(&mut world, client, start), Duration::from_millis(20), "one ticket is in flight");
    let client = world.request_as(0, OTHER, &route(&world, 50));
    assert_eq!(time_of(&mut world, client, start), Duration::from_millis(40), "the last ticket moved up");
}

// docs/deviations.md: order
#[test]
fn path_queries_of_users_are_sent_round_robin() {
    let core = Config { sa_depth: Depth::Fixed(1), ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.delay = Duration::from_millis(10);
    let start = world.now();
    let all: Vec<_> = (1..=50).map(|class| world.request_as(0, HOG, &route(&world, class))).collect();
    let client = world.request_as(0, OTHER, &route(&world, 51));
    assert_eq!(time_of(&mut world, client, start), Duration::from_millis(20), "one query in flight");
    for client in &all {
        assert!(world.wait(*client).is_ok());
    }
    assert_eq!(world.now().since(start), Duration::from_millis(510));
}

/// A multicast request for node 0's address from a source that does not exist. It needs a route back.
fn forged_request(world: &mut World, number: u64) {
    let (mgid, _) = world.group();
    let from = Address::from_text(&format!("made-up{number}"));
    let mad = multicast::request(TransactionId::new(number), &name(0), &from, &[mgid]);
    let gid = Gid::from_parts(Gid::DEFAULT_PREFIX, ib_mad::Guid::new(0xbad0_0000_0000 + number));
    let source =
        DatagramSource { lid: Lid::new(0x4000), path_bits: 0, qpn: Qpn::of::<77>(), gid: Some(gid), group: Some(mgid) };
    let payload = ib_mad::as_bytes(&mad);
    world.input(0, Input::Datagram { endpoint: EndpointId::new(0, 0), source, payload });
}

// docs/deviations.md: order
#[test]
fn remote_hosts_hold_at_most_a_quarter_of_the_credits() {
    let core = Config { sa_depth: Depth::Fixed(8), ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.delay = Duration::from_millis(10);
    let since = world.transcript.len();
    for number in 0..20 {
        forged_request(&mut world, number);
    }
    assert_eq!(sa_sends(&world, since).len(), 2, "a quarter of eight credits");
    let local: Vec<_> = (1..=7).map(|class| world.request_as(0, HOG, &route(&world, class))).collect();
    assert_eq!(sa_sends(&world, since).len(), 8, "the other credits are for users");
    world.run_for(Duration::from_millis(10));
    // The seventh request of the user is sent before the 18 queued requests of remote hosts.
    let later: Vec<_> = sa_sends(&world, since).split_off(8);
    let classes: Vec<u8> =
        later.iter().map(|(_, send)| send.mad.record::<PathRecord>().unwrap().traffic_class).collect();
    assert_eq!(classes, [7, 0, 0]);
    assert!(local.iter().all(|client| world.path(*client).is_some() || *client == local[6]));
}

/// The single credit is held by a remote host's query.
// docs/deadlines.md: remote-lookups
#[test]
fn flood_of_forged_sources_delays_a_user_by_at_most_one_round_trip() {
    let round_trip = Duration::from_millis(1);
    for sa_depth in [Depth::Auto, Depth::Fixed(1)] {
        let core = Config { sa_depth, ..Config::default() };
        let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
        world.subnet.settings_mut().sa.delay = round_trip;
        for number in 0..65_536 {
            forged_request(&mut world, number);
        }
        assert_eq!(world.stat(0, "responders_refused"), 65_536 - 4096, "remote hosts have their own limit");
        let start = world.now();
        let client = world.request_as(0, OTHER, &route(&world, 1));
        let took = time_of(&mut world, client, start);
        println!("65,536 forged sources, {sa_depth:?}: a user's path took {took:?}, a round trip {round_trip:?}");
        assert_eq!(took, 2 * round_trip);
    }
}
