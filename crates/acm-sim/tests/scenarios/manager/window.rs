//! The window of requests in flight to subnet administration.
use super::shared::{route, sends, world};
use acm_sansio::{Account, Config, Time, config::ServiceIds};
use acm_sim::{Client, World, WorldConfig};
use acm_wire::client::{ClientStatus, EntryFlags, path_request};
use core::time::Duration;
use ib_mad::{Lid, Status, sa::PathRecord};
use ib_sim::SubnetConfig;

const MS: Duration = Duration::from_millis(1);

/// Returns the size of node 0's window from the report.
fn window(world: &World) -> u32 {
    let report = world.node(0).acm.report().to_string();
    let after = report.split("sa_depth ").nth(1).expect("the report has a port");
    after.split(' ').next().unwrap().parse().unwrap()
}

/// Requests `count` paths at once.
fn routes(world: &mut World, count: u32) -> Vec<Client> {
    let record = |number: u32| PathRecord {
        dlid: world.port(1).lid,
        service_id: ib_mad::ServiceId::new(u64::from(number) + 1),
        ..PathRecord::default()
    };
    let all: Vec<_> = (0..count).map(|number| path_request(&record(number), EntryFlags::empty(), [1; 8])).collect();
    all.iter().map(|message| world.request_as(0, Account::User(1), message)).collect()
}

#[test]
fn window_grows_to_64_and_halves_after_busy() {
    let mut world = world(Config { sa_notices: false, ..Config::default() });
    world.subnet.settings_mut().sa.delay = MS;
    let start = world.now();
    let since = world.transcript.len();
    let clients = routes(&mut world, 1000);
    assert_eq!(sends(&world, 0, since).len(), 1);
    let mut sizes = Vec::new();
    for _ in 0..8 {
        world.run_for(MS);
        sizes.push(window(&world));
    }
    println!("window after each round trip: {sizes:?}");
    assert_eq!(sizes, [2, 4, 8, 16, 32, 64, 64, 64], "one more for each response");
    // All 64 responses are BUSY. The window halves once for all of them.
    world.subnet.settings_mut().sa.status = Some(Status::BUSY);
    world.run_for(MS);
    world.subnet.settings_mut().sa.status = None;
    assert_eq!(window(&world), 32);
    assert_eq!(world.stat(0, "sa_busy"), 64);
    for client in clients {
        assert!(world.wait(client).is_ok());
    }
    println!("1,000 routes took {:?}", world.now().since(start));
}

#[test]
fn window_halves_after_a_time_out() {
    let mut world = world(Config::default());
    world.subnet.settings_mut().sa.delay = MS;
    for client in routes(&mut world, 200) {
        assert!(world.wait(client).is_ok());
    }
    assert_eq!(window(&world), 64);
    world.subnet.settings_mut().sa.mute = true;
    let clients = [201, 202].map(|class| route(&mut world, class, EntryFlags::empty()));
    for client in clients {
        assert_eq!(world.wait(client), Err(ClientStatus::ETIMEDOUT));
    }
    assert_eq!(window(&world), 32);
}

// docs/deadlines.md: sa-credits
#[test]
fn window_grows_only_with_quick_responses_while_queries_wait() {
    for (delay, count, expected) in [(4, 200, 64), (5, 200, 1), (4, 1, 1)] {
        let mut world = world(Config { sa_notices: false, ..Config::default() });
        world.subnet.settings_mut().sa.delay = MS * delay;
        for _ in 0..3 {
            let clients = routes(&mut world, count);
            assert!(clients.into_iter().all(|client| world.wait(client).is_ok()));
        }
        assert_eq!(window(&world), expected, "{count} queries at once, each takes {delay} ms");
    }
}

#[test]
fn window_begins_again_after_a_second() {
    let mut world = world(Config { sa_notices: false, ..Config::default() });
    world.subnet.settings_mut().sa.delay = MS;
    for client in routes(&mut world, 200) {
        assert!(world.wait(client).is_ok());
    }
    assert_eq!(window(&world), 64);
    world.run_for(MS * 1001);
    route(&mut world, 201, EntryFlags::empty());
    assert_eq!(window(&world), 1, "other nodes may have begun to send");
}

/// The subnet manager has LID 1000, so the pause after a response is less than 80 ms.
#[test]
fn slow_response_halves_the_window_and_pauses_the_port() {
    let subnet = SubnetConfig { sm_lid: Lid::new(1000), ..SubnetConfig::default() };
    for (delay, pauses) in [(24, false), (25, true)] {
        let core = Config { sa_notices: false, path_service_ids: ServiceIds::All, ..Config::default() };
        let mut world = World::new(WorldConfig { core, subnet: subnet.clone(), ..WorldConfig::default() });
        world.run_for(MS * 1000);
        world.subnet.settings_mut().sa.delay = MS * delay;
        let (since, clients) = (world.transcript.len(), routes(&mut world, 20));
        assert!(clients.into_iter().all(|client| world.wait(client).is_ok()));
        let times: Vec<_> = sends(&world, 0, since).iter().map(|(at, _)| *at).collect();
        let pause = |two: &[Time]| two[1].since(two[0]).saturating_sub(MS * delay);
        let all: Vec<Duration> = times.windows(2).map(pause).collect();
        assert!(all.iter().all(|pause| *pause < MS * 80), "{all:?}");
        assert_eq!(all.iter().any(|pause| !pause.is_zero()), pauses, "{all:?}");
    }
}

/// A port that comes up in a large fabric. All other ports may come up at the same instant.
#[test]
fn queries_of_a_port_that_comes_up_wait_until_all_ports_have_joined() {
    for (ports, waits) in [(512, false), (10_000, true)] {
        let subnet = SubnetConfig { sm_lid: Lid::new(ports), ..SubnetConfig::default() };
        let mut world = World::new(WorldConfig { subnet, ..WorldConfig::default() });
        let start = world.now();
        let client = route(&mut world, 1, EntryFlags::empty());
        assert!(world.wait(client).is_ok());
        let took = world.now().since(start);
        assert_eq!((MS * 1000..MS * 1800).contains(&took), waits, "{ports} ports: {took:?}");
    }
}

/// The device of each node repeats a request after another time.
#[test]
fn requests_that_are_lost_at_once_are_not_repeated_at_once() {
    let timeouts = (1..=8).map(|seed| {
        let mut world = World::new(WorldConfig { seed, ..WorldConfig::default() });
        let since = world.transcript.len();
        route(&mut world, 1, EntryFlags::empty());
        let send = sends(&world, 0, since)[0].1;
        assert!((2000..2500).contains(&send.timeout.as_millis()) && send.retries == 2, "{send:?}");
        send.timeout
    });
    assert_eq!(timeouts.collect::<std::collections::BTreeSet<_>>().len(), 8);
}
