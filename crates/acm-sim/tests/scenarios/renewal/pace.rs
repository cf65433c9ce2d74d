//! The pace of refreshes: one at a time, behind requests of users, and slower at a slow SA.
use super::shared::*;
use acm_sansio::{
    Config,
    config::{Depth, Limits},
    retry::RENEW_INTERVAL,
};
use acm_sim::{World, WorldConfig};
use acm_wire::client::{EntryFlags, path_request};
use core::time::Duration;
use ib_mad::{Status, sa::PathRecord};

// docs/deviations.md: refresh
#[test]
fn silent_sa_gets_few_refresh_queries_and_paths_stay() {
    let mut world = world_with_cache(Config::default());
    world.subnet.settings_mut().sa.mute = true;
    world.subnet.restart_sm(None);
    let before = path_queries(&world).len();
    world.run_for(10 * MINUTE);
    let queries = path_queries(&world).len() - before;
    assert!((2..60).contains(&queries), "{queries}");
    cached(&mut world, 1);
    world.subnet.settings_mut().sa.mute = false;
    world.run_for(2 * MINUTE);
    let quiet = path_queries(&world).len();
    world.run_for(10 * MINUTE);
    assert_eq!(path_queries(&world).len(), quiet, "all paths are refreshed");
}

#[test]
fn busy_sa_keeps_cached_paths() {
    let mut world = world_with_cache(Config { sa_notices: false, ..Config::default() });
    world.subnet.settings_mut().sa.status = Some(Status::BUSY);
    world.subnet.restart_sm(None);
    world.run_for(MINUTE);
    assert!(world.stat(0, "renewals_failed") > 0);
    cached(&mut world, 1);
    cached(&mut world, 2);
}

/// A refusal is an answer of the SA, but no path.
#[test]
fn sa_that_refuses_gets_few_refresh_queries() {
    let mut world = world_with_cache(Config { sa_notices: false, ..Config::default() });
    world.subnet.settings_mut().sa.status = Some(Status::SA_REQUEST_INVALID);
    world.subnet.restart_sm(None);
    let before = path_queries(&world).len();
    world.run_for(10 * MINUTE);
    let queries = path_queries(&world).len() - before;
    assert!((2..60).contains(&queries), "{queries}");
    cached(&mut world, 1);
}

/// After an event, 256 paths are refreshed one at a time. The interval between two of them shrinks from 1 s to 5 ms.
#[test]
fn refreshes_are_paced_and_do_not_delay_user_requests() {
    let core = Config { sa_depth: Depth::Fixed(4), ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 3, core, ..WorldConfig::default() });
    let record = |world: &World, node: usize, traffic_class| PathRecord {
        dgid: world.port(node).gids[0],
        traffic_class,
        ..PathRecord::default()
    };
    for class in (0..=255).chain(0..=255) {
        let record = record(&world, 1, class);
        world.route(0, &record).unwrap();
    }
    let before = path_queries(&world).len();
    let start = world.now();
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_secs(20));
    let times = path_queries(&world).split_off(before);
    assert_eq!(times.len(), 256);
    assert!(times.iter().filter(|at| at.since(start) < Duration::from_secs(1)).count() <= 2, "{times:?}");
    let pauses: Vec<Duration> = times.windows(2).map(|two| two[1].since(two[0])).collect();
    assert!((Duration::from_millis(750)..Duration::from_millis(1250)).contains(&pauses[0]), "{pauses:?}");
    assert!(pauses.iter().all(|pause| *pause >= RENEW_INTERVAL.least * 3 / 4), "{pauses:?}");
    assert!(pauses[100..].iter().all(|pause| *pause <= RENEW_INTERVAL.least * 5 / 4), "{pauses:?}");
    // Each query takes 500 ms now. One credit is for the background and three are for users.
    for class in 0..=255 {
        let record = record(&world, 1, class);
        world.route(0, &record).unwrap();
    }
    world.subnet.settings_mut().sa.delay = Duration::from_millis(500);
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_secs(10));
    let start = world.now();
    let clients: Vec<_> = (0..3)
        .map(|class| {
            let record = record(&world, 2, class);
            world.request(0, &path_request(&record, EntryFlags::empty(), [1; 8]))
        })
        .collect();
    for client in clients {
        assert!(world.wait(client).is_ok());
    }
    assert_eq!(world.now().since(start), Duration::from_millis(500));
}

/// The pauses are 1 s, then shorter, and each query takes 2 s.
#[test]
fn one_refresh_is_in_flight_at_a_slow_sa() {
    let core = Config { timeout: Duration::from_secs(4), sa_notices: false, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    for traffic_class in (0..5).chain(0..5) {
        let record = PathRecord { dlid: world.port(1).lid, traffic_class, ..PathRecord::default() };
        world.route(0, &record).unwrap();
    }
    let before = path_queries(&world).len();
    world.subnet.settings_mut().sa.delay = Duration::from_secs(2);
    world.subnet.restart_sm(None);
    world.run_for(MINUTE);
    let times = path_queries(&world).split_off(before);
    assert_eq!(times.len(), 5);
    assert!(times.windows(2).all(|two| two[1].since(two[0]) >= Duration::from_secs(2)), "{times:?}");
}

#[test]
fn no_refresh_starts_while_a_request_waits() {
    let core = Config { sa_depth: Depth::Fixed(1), sa_notices: false, ..Config::default() };
    let mut world = world_with_cache(core);
    world.subnet.settings_mut().sa.delay = Duration::from_millis(500);
    let queries = path_queries(&world).len();
    world.subnet.restart_sm(None);
    // One query is in flight and the others wait, until the refreshes have been due for a while.
    let clients: Vec<_> = (1..=10)
        .map(|traffic_class| {
            let record = PathRecord { dlid: world.port(2).lid, traffic_class, ..PathRecord::default() };
            world.request(0, &path_request(&record, EntryFlags::empty(), [1; 8]))
        })
        .collect();
    for client in &clients[..9] {
        assert!(world.wait(*client).is_ok());
    }
    assert_eq!((path_queries(&world).len(), world.stat(0, "renewals")), (queries + 10, 0));
    assert!(world.wait(clients[9]).is_ok());
    world.run_for(MINUTE);
    assert_eq!(world.stat(0, "renewals"), 2);
}

/// The calm latency is that of the first queries. Later queries take ten times as long.
#[test]
fn slow_sa_gets_fewer_refreshes() {
    let refreshes = |delay| {
        let mut world = World::new(WorldConfig::default());
        world.subnet.settings_mut().sa.delay = Duration::from_micros(100);
        for traffic_class in (0..=100).chain(0..=100) {
            let record = PathRecord { dlid: world.port(1).lid, traffic_class, ..PathRecord::default() };
            world.route(0, &record).unwrap();
        }
        world.subnet.settings_mut().sa.delay *= delay;
        world.subnet.restart_sm(None);
        world.run_for(Duration::from_secs(10));
        world.stat(0, "renewals")
    };
    let (calm, slow) = (refreshes(1), refreshes(10));
    assert!(calm == 101 && (8..20).contains(&slow), "{calm} {slow}");
}

/// The sweep removes an invalid route even if the refresh queue is full, and returns to it later.
#[test]
fn paths_over_the_refresh_limit_are_refreshed_later() {
    let limits = Limits { renewals: 1, ..Limits::default() };
    let mut world = World::new(WorldConfig {
        nodes: 6,
        core: Config { limits, sa_notices: false, ..Config::default() },
        ..WorldConfig::default()
    });
    for node in (1..6).chain(1..6) {
        world.resolve(0, &name(0), &name(node)).unwrap();
    }
    world.run_for(Duration::from_secs(10));
    set_lid(&mut world, 0, 300);
    world.run_for(Duration::from_secs(10));
    assert!(world.stat(0, "renewals_put_off") > 0);
    for node in 1..6 {
        assert_eq!(cached(&mut world, node), world.port(usize::try_from(node).unwrap()).lid);
    }
}
