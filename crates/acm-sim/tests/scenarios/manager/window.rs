//! How many requests are in flight to subnet administration.
use super::shared::{route, sends, world};
use acm_sansio::{Account, Config};
use acm_sim::{Ask, World};
use acm_wire::client::{ClientStatus, EntryFlags, path_request};
use core::time::Duration;
use ib_mad::{Status, sa::PathRecord};

/// The depth of node 0's window, as the report tells it.
fn window(world: &World) -> u32 {
    let report = world.node(0).acm.report().to_string();
    let after = report.split("sa_depth ").nth(1).expect("a port with a queue");
    after.split(' ').next().unwrap().parse().unwrap()
}

/// Asks for so many routes at once.
fn routes(world: &mut World, count: u32) -> Vec<Ask> {
    let wanted = |number: u32| PathRecord {
        dlid: world.port(1).lid,
        service_id: ib_mad::ServiceId::new(u64::from(number) + 1),
        ..PathRecord::default()
    };
    let all: Vec<_> = (0..count).map(|number| path_request(&wanted(number), EntryFlags::empty(), [1; 8])).collect();
    all.iter().map(|message| world.ask_as(0, Account::User(1), message)).collect()
}

#[test]
fn the_window_grows_to_64_and_halves_when_the_administration_is_busy() {
    let mut world = world(Config { sa_notices: false, ..Config::default() });
    world.subnet.settings_mut().sa.delay = Duration::from_millis(10);
    let start = world.now();
    let since = world.transcript.len();
    let asks = routes(&mut world, 1000);
    assert_eq!(sends(&world, 0, since).len(), 5, "four, and one for the answer to the join");
    let mut sizes = Vec::new();
    for _ in 0..6 {
        world.run_for(Duration::from_millis(10));
        sizes.push(window(&world));
    }
    println!("window after each round trip: {sizes:?}");
    assert_eq!(sizes, [10, 20, 40, 64, 64, 64], "one more for each answer");
    // All that is in flight comes back BUSY: it halves once for all of it.
    world.subnet.settings_mut().sa.status = Some(Status::BUSY);
    world.run_for(Duration::from_millis(10));
    world.subnet.settings_mut().sa.status = None;
    assert_eq!(window(&world), 32);
    assert_eq!(world.stat(0, "sa_busy"), 64);
    for ask in asks {
        assert!(world.wait(ask).is_ok());
    }
    println!("1,000 routes took {:?}", world.now().since(start));
}

#[test]
fn the_window_halves_when_no_answer_comes() {
    let mut world = world(Config::default());
    world.subnet.settings_mut().sa.delay = Duration::from_millis(10);
    for ask in routes(&mut world, 200) {
        assert!(world.wait(ask).is_ok());
    }
    assert_eq!(window(&world), 64);
    world.subnet.settings_mut().sa.mute = true;
    let asks = [201, 202].map(|class| route(&mut world, class, EntryFlags::empty()));
    for ask in asks {
        assert_eq!(world.wait(ask), Err(ClientStatus::ETIMEDOUT));
    }
    assert_eq!(window(&world), 32);
}
