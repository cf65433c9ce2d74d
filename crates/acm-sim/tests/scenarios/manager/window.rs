//! The window of requests in flight to subnet administration.
use super::shared::{route, sends, world};
use acm_sansio::{Account, Config};
use acm_sim::{Client, World};
use acm_wire::client::{ClientStatus, EntryFlags, path_request};
use core::time::Duration;
use ib_mad::{Status, sa::PathRecord};

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
    world.subnet.settings_mut().sa.delay = Duration::from_millis(10);
    let start = world.now();
    let since = world.transcript.len();
    let clients = routes(&mut world, 1000);
    assert_eq!(sends(&world, 0, since).len(), 5, "four, and one more for the response to the join");
    let mut sizes = Vec::new();
    for _ in 0..6 {
        world.run_for(Duration::from_millis(10));
        sizes.push(window(&world));
    }
    println!("window after each round trip: {sizes:?}");
    assert_eq!(sizes, [10, 20, 40, 64, 64, 64], "one more for each response");
    // All 64 responses are BUSY. The window halves once for all of them.
    world.subnet.settings_mut().sa.status = Some(Status::BUSY);
    world.run_for(Duration::from_millis(10));
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
    world.subnet.settings_mut().sa.delay = Duration::from_millis(10);
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
