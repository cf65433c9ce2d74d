//! Lifetimes of lookups: a lookup ends with its last waiting client or ticket, and their accounts are charged.
use acm_sansio::{
    Account, Config, Output,
    account::AccountKind,
    config::{Depth, Limits, Share},
};
use acm_sim::{World, WorldConfig, name, unknown_name_request};
use acm_wire::client::{ClientStatus, EntryFlags, path_request, resolve_request};
use core::time::Duration;
use ib_mad::sa::PathRecord;

const USER: Account = Account::User(1);
const OTHER: Account = Account::User(2);
/// `timeout` + subnet time, 2^(18 - 8) ms.
const SILENCE: Duration = Duration::from_millis(2000 + 1024);

fn sends(world: &World, since: usize) -> usize {
    world.transcript[since..].iter().filter(|(_, _, output)| matches!(output, Output::Send { .. })).count()
}

fn assert_consistent(world: &World) {
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

#[test]
fn ticket_is_charged_until_its_lookup_ends() {
    let limits = Limits { lookups: Share { total: 2, percent: 50 }, ..Limits::default() };
    let core = Config { limits, resolve_depth: Depth::Fixed(1), ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    let user = world.connect(0, USER);
    for (number, status) in [ClientStatus::ENODATA, ClientStatus::ENODATA, ClientStatus::ENOMEM].into_iter().enumerate()
    {
        world.send(user, &unknown_name_request(number, EntryFlags::NO_DELAY));
        assert_eq!(world.path(user), Some(Err(status)), "dead{number}");
    }
    assert_eq!(world.node(0).acm.stats().lookups_refused.of(AccountKind::User), 1);
    // The client closes and its tickets stay. Another account gets its floor.
    world.disconnect(user);
    let same_user = world.request_as(0, USER, &unknown_name_request(3, EntryFlags::empty()));
    assert_eq!(world.path(same_user), Some(Err(ClientStatus::ENOMEM)));
    let other = world.request_as(0, OTHER, &unknown_name_request(4, EntryFlags::empty()));
    assert_eq!(world.path(other), None);
    assert_consistent(&world);
    // The second lookup was sent 4 ms after the first, and each of the two was sent three times.
    world.run_for(3 * SILENCE + Duration::from_millis(4));
    let same_user = world.request_as(0, USER, &unknown_name_request(5, EntryFlags::empty()));
    assert_eq!(world.path(same_user), None, "the tickets are released");
    assert_consistent(&world);
}

#[test]
fn second_request_for_a_name_is_not_charged_again() {
    let limits = Limits { lookups: Share { total: 1, percent: 100 }, ..Limits::default() };
    let core = Config { limits, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    let clients = [(); 3].map(|()| world.request_as(0, USER, &unknown_name_request(0, EntryFlags::empty())));
    assert!(clients.iter().all(|client| world.path(*client).is_none()));
    let other = world.request_as(0, OTHER, &unknown_name_request(0, EntryFlags::empty()));
    assert_eq!(world.path(other), Some(Err(ClientStatus::ENOMEM)), "each account is charged for a shared lookup");
    assert_consistent(&world);
}

// docs/deviations.md: lookup-end
#[test]
fn queued_lookup_ends_when_its_last_client_closes() {
    let core = Config { resolve_depth: Depth::Fixed(1), ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    let since = world.transcript.len();
    world.request_as(0, USER, &unknown_name_request(0, EntryFlags::empty()));
    let [one, two] =
        [USER, OTHER].map(|account| world.request_as(0, account, &unknown_name_request(1, EntryFlags::empty())));
    world.disconnect(one);
    assert_eq!(world.stat(0, "lookups_unneeded"), 0, "another client still waits");
    world.disconnect(two);
    assert_eq!(world.stat(0, "lookups_unneeded"), 1);
    assert_consistent(&world);
    world.run_for(Duration::from_secs(1));
    assert_eq!(sends(&world, since), 1, "no request is sent for the name");
}

// docs/deviations.md: lookup-end
#[test]
fn ticket_keeps_a_queued_lookup_after_its_last_client_closes() {
    let core = Config { resolve_depth: Depth::Fixed(1), ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    let since = world.transcript.len();
    world.request_as(0, USER, &unknown_name_request(0, EntryFlags::empty()));
    world.request_as(0, USER, &unknown_name_request(1, EntryFlags::NO_DELAY));
    let waiter = world.request_as(0, USER, &unknown_name_request(1, EntryFlags::empty()));
    world.disconnect(waiter);
    assert_eq!(world.stat(0, "lookups_unneeded"), 0);
    world.run_for(Duration::from_secs(1));
    assert_eq!(sends(&world, since), 2);
    assert_consistent(&world);
}

// docs/deviations.md: lookup-end
#[test]
fn lookup_without_clients_ends_at_its_first_time_out() {
    let mut world = World::new(WorldConfig::default());
    let since = world.transcript.len();
    let client = world.request_as(0, USER, &unknown_name_request(0, EntryFlags::empty()));
    world.disconnect(client);
    world.run_for(SILENCE - Duration::from_nanos(1));
    assert_eq!(world.stat(0, "lookups_unneeded"), 0);
    world.run_for(Duration::from_nanos(1));
    assert_eq!(world.stat(0, "lookups_unneeded"), 1);
    world.run_for(Duration::from_secs(10));
    assert_eq!(sends(&world, since), 1, "the request is not repeated");
    assert_consistent(&world);
}

#[test]
fn result_of_a_lookup_without_clients_is_cached() {
    let mut world = World::new(WorldConfig::default());
    world.subnet.settings_mut().faults.delay = Duration::from_millis(1);
    let message = resolve_request(Some(&name(0)), &name(1), EntryFlags::empty(), [1; 8]);
    let client = world.request_as(0, USER, &message);
    world.disconnect(client);
    world.run_for(Duration::from_millis(2));
    let since = world.transcript.len();
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    assert_eq!(sends(&world, since), 0);
}

// docs/deviations.md: lookup-end
#[test]
fn queued_path_query_ends_when_its_last_client_closes() {
    let core = Config { sa_depth: Depth::Fixed(1), ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.delay = Duration::from_millis(10);
    let before = world.subnet.counters().sa_path_queries;
    let clients: Vec<_> = (1..=3)
        .map(|traffic_class| {
            let record = PathRecord { dlid: world.port(1).lid, traffic_class, ..PathRecord::default() };
            world.request_as(0, USER, &path_request(&record, EntryFlags::empty(), [1; 8]))
        })
        .collect();
    world.disconnect(clients[1]);
    assert!(world.wait(clients[2]).is_ok());
    assert_eq!(world.now().since_start(), Duration::from_millis(20), "two queries of 10 ms");
    assert_eq!(world.subnet.counters().sa_path_queries - before, 2);
    assert_consistent(&world);
}

/// Each unknown name holds the only credit for 4 ms, so 250 names are sent before the deadline of 1 s.
#[test]
fn queued_lookup_fails_at_queue_deadline() {
    let core = Config { queue_deadline: Duration::from_secs(1), ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    let since = world.transcript.len();
    let clients: Vec<_> =
        (0..300).map(|number| world.request_as(0, USER, &unknown_name_request(number, EntryFlags::empty()))).collect();
    world.run_for(Duration::from_millis(999));
    assert_eq!(sends(&world, since), 250);
    assert!(clients.iter().all(|client| world.path(*client).is_none()));
    world.run_for(Duration::from_millis(1));
    let failed = clients.iter().filter(|client| world.path(**client) == Some(Err(ClientStatus::ETIMEDOUT))).count();
    assert!((48..=50).contains(&failed), "{failed}: credits are freed at the same instant");
    assert_consistent(&world);
}

#[test]
fn queued_path_query_fails_at_queue_deadline() {
    let core = Config { queue_deadline: Duration::from_secs(1), sa_depth: Depth::Fixed(1), ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.mute = true;
    let start = world.now();
    let clients = [1, 2].map(|traffic_class| {
        let record = PathRecord { dlid: world.port(1).lid, traffic_class, ..PathRecord::default() };
        world.request_as(0, USER, &path_request(&record, EntryFlags::empty(), [1; 8]))
    });
    assert_eq!(world.wait(clients[1]), Err(ClientStatus::ETIMEDOUT));
    assert_eq!(world.now().since(start), Duration::from_secs(1));
    assert_eq!(world.stat(0, "sa_no_turn"), 1);
    assert_eq!(world.wait(clients[0]), Err(ClientStatus::ETIMEDOUT));
    let took = world.now().since(start).as_millis();
    assert!(
        (6000..=7500).contains(&took),
        "a sent query ends after (retries + 1) x timeout and up to a quarter: {took}"
    );
}
