//! A lookup lives as long as somebody waits for it or left a ticket, and whoever does is charged.
use acm_sansio::{
    Account, Config, Output,
    account::AccountKind,
    config::{Limits, SaDepth, Share},
};
use acm_sim::{World, WorldConfig, dead, name};
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

fn consistent(world: &World) {
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

#[test]
fn a_ticket_is_charged_until_its_lookup_ends() {
    let limits = Limits { lookups: Share { total: 4, percent: 50 }, ..Limits::default() };
    let core = Config { limits, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    let user = world.connect(0, USER);
    for (number, status) in [ClientStatus::ENODATA, ClientStatus::ENODATA, ClientStatus::ENOMEM].into_iter().enumerate()
    {
        world.say(user, &dead(number, EntryFlags::NO_DELAY));
        assert_eq!(world.path(user), Some(Err(status)), "dead{number}");
    }
    assert_eq!(world.node(0).acm.stats().lookups_refused.of(AccountKind::User), 1);
    // It leaves, its tickets stay; somebody else has a share of their own.
    world.hang_up(user);
    let same = world.ask_as(0, USER, &dead(3, EntryFlags::empty()));
    assert_eq!(world.path(same), Some(Err(ClientStatus::ENOMEM)));
    let other = world.ask_as(0, OTHER, &dead(4, EntryFlags::empty()));
    assert_eq!(world.path(other), None);
    consistent(&world);
    // The second dead name had its turn 10 ms later; each was asked for three times.
    world.run_for(3 * SILENCE + Duration::from_millis(10));
    let same = world.ask_as(0, USER, &dead(5, EntryFlags::empty()));
    assert_eq!(world.path(same), None, "the tickets are paid back");
    consistent(&world);
}

/// An account that asks for one thing twice needs one lookup.
#[test]
fn a_second_request_for_the_same_is_not_charged_again() {
    let limits = Limits { lookups: Share { total: 1, percent: 100 }, ..Limits::default() };
    let core = Config { limits, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    let asks = [(); 3].map(|()| world.ask_as(0, USER, &dead(0, EntryFlags::empty())));
    assert!(asks.iter().all(|ask| world.path(*ask).is_none()));
    let other = world.ask_as(0, OTHER, &dead(0, EntryFlags::empty()));
    assert_eq!(world.path(other), Some(Err(ClientStatus::ENOMEM)), "each account that needs it pays");
    consistent(&world);
}

#[test]
fn a_queued_lookup_ends_with_its_last_waiter() {
    let mut world = World::new(WorldConfig::default());
    let since = world.transcript.len();
    world.ask_as(0, USER, &dead(0, EntryFlags::empty()));
    let [one, two] = [USER, OTHER].map(|account| world.ask_as(0, account, &dead(1, EntryFlags::empty())));
    world.hang_up(one);
    assert_eq!(world.stat(0, "lookups_unneeded"), 0, "another one waits still");
    world.hang_up(two);
    assert_eq!(world.stat(0, "lookups_unneeded"), 1);
    consistent(&world);
    world.run_for(Duration::from_secs(1));
    assert_eq!(sends(&world, since), 1, "nobody is asked for it");
}

#[test]
fn a_ticket_keeps_a_queued_lookup_when_the_last_waiter_leaves() {
    let mut world = World::new(WorldConfig::default());
    let since = world.transcript.len();
    world.ask_as(0, USER, &dead(0, EntryFlags::empty()));
    world.ask_as(0, USER, &dead(1, EntryFlags::NO_DELAY));
    let waiter = world.ask_as(0, USER, &dead(1, EntryFlags::empty()));
    world.hang_up(waiter);
    assert_eq!(world.stat(0, "lookups_unneeded"), 0);
    world.run_for(Duration::from_secs(1));
    assert_eq!(sends(&world, since), 2);
    consistent(&world);
}

#[test]
fn a_lookup_in_flight_ends_at_its_first_silence_when_nobody_waits() {
    let mut world = World::new(WorldConfig::default());
    let since = world.transcript.len();
    let ask = world.ask_as(0, USER, &dead(0, EntryFlags::empty()));
    world.hang_up(ask);
    world.run_for(SILENCE - Duration::from_nanos(1));
    assert_eq!(world.stat(0, "lookups_unneeded"), 0);
    world.run_for(Duration::from_nanos(1));
    assert_eq!(world.stat(0, "lookups_unneeded"), 1);
    world.run_for(Duration::from_secs(10));
    assert_eq!(sends(&world, since), 1, "it is not repeated");
    consistent(&world);
}

/// What is found although nobody waits any more is known to the next who asks.
#[test]
fn an_answer_to_a_lookup_in_flight_is_kept() {
    let mut world = World::new(WorldConfig::default());
    world.subnet.settings_mut().faults.delay = Duration::from_millis(1);
    let message = resolve_request(Some(&name(0)), &name(1), EntryFlags::empty(), [1; 8]);
    let ask = world.ask_as(0, USER, &message);
    world.hang_up(ask);
    world.run_for(Duration::from_millis(2));
    let since = world.transcript.len();
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    assert_eq!(sends(&world, since), 0);
}

/// A question that waits at subnet administration goes with its last waiter, too.
#[test]
fn a_queued_question_ends_with_its_last_waiter() {
    let core = Config { sa_depth: SaDepth::Fixed(1), ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.delay = Duration::from_millis(10);
    let before = world.subnet.counters().sa_path_queries;
    let asks: Vec<_> = (1..=3)
        .map(|traffic_class| {
            let wanted = PathRecord { dlid: world.port(1).lid, traffic_class, ..PathRecord::default() };
            world.ask_as(0, USER, &path_request(&wanted, EntryFlags::empty(), [1; 8]))
        })
        .collect();
    world.hang_up(asks[1]);
    assert!(world.wait(asks[2]).is_ok());
    assert_eq!(world.now().since_start(), Duration::from_millis(20), "the second one took no time");
    assert_eq!(world.subnet.counters().sa_path_queries - before, 2);
    consistent(&world);
}

/// 10 ms for each dead name, and a second for all: a hundred have their turn.
#[test]
fn a_lookup_that_waits_for_its_turn_for_too_long_fails() {
    let core = Config { queue_deadline: Duration::from_secs(1), ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    let since = world.transcript.len();
    let asks: Vec<_> = (0..150).map(|number| world.ask_as(0, USER, &dead(number, EntryFlags::empty()))).collect();
    world.run_for(Duration::from_millis(999));
    assert_eq!(sends(&world, since), 100);
    assert!(asks.iter().all(|ask| world.path(*ask).is_none()));
    world.run_for(Duration::from_millis(1));
    let failed = asks.iter().filter(|ask| world.path(**ask) == Some(Err(ClientStatus::ETIMEDOUT))).count();
    assert!((49..=50).contains(&failed), "{failed}: the next credit is free in the same instant");
    consistent(&world);
}

#[test]
fn a_question_that_waits_for_its_turn_for_too_long_fails() {
    let core = Config { queue_deadline: Duration::from_secs(1), sa_depth: SaDepth::Fixed(1), ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.mute = true;
    let start = world.now();
    let asks = [1, 2].map(|traffic_class| {
        let wanted = PathRecord { dlid: world.port(1).lid, traffic_class, ..PathRecord::default() };
        world.ask_as(0, USER, &path_request(&wanted, EntryFlags::empty(), [1; 8]))
    });
    assert_eq!(world.wait(asks[1]), Err(ClientStatus::ETIMEDOUT));
    assert_eq!(world.now().since(start), Duration::from_secs(1));
    assert_eq!(world.stat(0, "sa_no_turn"), 1);
    assert_eq!(world.wait(asks[0]), Err(ClientStatus::ETIMEDOUT));
    assert_eq!(world.now().since(start), Duration::from_secs(6), "what is sent has (retries + 1) x timeout");
}
