//! Clients, what they send, and what they wait for.
use super::shared::{OTHER, SECOND, USER, outputs, quiet, route, told, with};
use acm_sansio::{
    ClientId, Config, Event, Input, Output,
    api::Level,
    config::{Limits, SaDepth, Share},
    ibacmp,
};
use acm_sim::{World, WorldConfig, dead};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, perf_request},
};
use ib_mad::Status;

#[test]
fn messages_that_are_none_and_clients_that_are_gone() {
    let mut world = quiet();
    let ask = world.connect(0, USER);
    world.say(ask, &perf_request(0, [1; 8])[..10]);
    assert_eq!((world.stat(0, "bad_messages"), world.is_closed(ask), world.answer(ask)), (1, false, None));
    world.say(ask, &[9; 20]);
    assert_eq!((world.stat(0, "bad_messages"), world.is_closed(ask)), (2, true));
    assert_eq!(told(&world, |event| matches!(event, Event::BadFrame(..))), 1);
    assert_eq!(world.stat(0, "stale_inputs"), 0);
    world.say(ask, &perf_request(0, [1; 8]));
    world.hang_up(ask);
    assert_eq!((world.stat(0, "stale_inputs"), world.answer(ask)), (2, None));
}

#[test]
fn a_client_number_that_is_used_again_without_a_word() {
    let mut world = quiet();
    let [old, new] = [0, 1].map(|generation| ClientId::new(50, generation));
    world.input(0, Input::ClientOpened { client: old, account: USER });
    world.input(0, Input::ClientMessage { client: old, message: &dead(0, EntryFlags::empty()) });
    world.input(0, Input::ClientOpened { client: new, account: OTHER });
    assert_eq!((world.stat(0, "stale_inputs"), world.stat(0, "requests_abandoned")), (1, 1));
    world.input(0, Input::ClientClosed(old));
    world.input(0, Input::ClientClosed(new));
    assert_eq!(world.stat(0, "stale_inputs"), 2);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

#[test]
fn a_client_whose_number_is_out_of_bounds_is_refused() {
    let mut world = quiet();
    let [last, beyond] = [ClientId::MAX_INDEX - 1, ClientId::MAX_INDEX].map(|number| ClientId::new(number, 0));
    for client in [last, beyond, ClientId::new(u32::MAX, 0)] {
        world.input(0, Input::ClientOpened { client, account: USER });
    }
    let refused = |event: &Event| matches!(event, Event::ConnectionRefused(client, USER) if *client != last);
    assert_eq!((world.stat(0, "connections_refused"), told(&world, refused)), (2, 2));
    assert_eq!(outputs(&world, 0, |output| matches!(output, Output::CloseClient(_))), 2);
    world.input(0, Input::ClientClosed(last));
    assert_eq!((world.stat(0, "stale_inputs"), world.node(0).acm.check()), (0, Ok(())));
}

/// Whoever has as many as the newcomer loses nothing for it.
#[test]
fn of_two_with_as_many_the_newcomer_loses_its_own() {
    let mut world = with(Limits { connections: Share { total: 4, percent: 100 }, ..Limits::default() });
    let all = [USER, USER, OTHER, OTHER].map(|account| world.connect(0, account));
    world.connect(0, USER);
    assert_eq!(all.map(|ask| world.is_closed(ask)), [true, false, false, false]);
}

#[test]
fn a_client_with_all_its_requests_gets_no_other() {
    let mut world = with(Limits { requests_per_client: 2, ..Limits::default() });
    let ask = world.connect(0, USER);
    for number in 0..2 {
        world.say(ask, &dead(number, EntryFlags::empty()));
        assert_eq!(world.path(ask), None);
    }
    world.say(ask, &dead(2, EntryFlags::empty()));
    assert_eq!(world.path(ask), Some(Err(ClientStatus::ENOMEM)));
    assert_eq!((world.stat(0, "requests_refused"), world.node(0).acm.check()), (1, Ok(())));
}

#[test]
fn a_lookup_fails_for_those_who_wait() {
    let mut world = quiet();
    world.ask(0, &dead(0, EntryFlags::NO_DELAY));
    world.run_for(20 * SECOND);
    assert_eq!(world.stat(0, "lookups_failed"), 0, "nobody waited");
    let asks = [(); 2].map(|()| world.ask(0, &dead(1, EntryFlags::empty())));
    assert_eq!(asks.map(|ask| world.wait(ask)), [Err(ClientStatus::ETIMEDOUT); 2]);
    assert_eq!(world.stat(0, "lookups_failed"), 1);
    assert_eq!(told(&world, |event| matches!(event, Event::Failed(_))), 2 + 1, "and who did not wait");
    let ask = world.ask(0, &dead(2, EntryFlags::empty()));
    assert_eq!(world.wait(ask), Err(ClientStatus::ETIMEDOUT));
    assert_eq!(world.stat(0, "lookups_failed"), 2);
}

#[test]
fn two_accounts_need_one_route() {
    let mut world = quiet();
    world.subnet.settings_mut().sa.mute = true;
    let [first, second] = [USER, OTHER].map(|account| route(&mut world, account, EntryFlags::empty()));
    assert_eq!(world.node(0).acm.check(), Ok(()));
    world.hang_up(first);
    assert_eq!((world.path(second), world.node(0).acm.check()), (None, Ok(())));
    world.hang_up(second);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// Whoever asks for what another waits for has its own turn for it.
#[test]
fn the_turn_of_another_account_counts() {
    let core = Config { log_level: Level::Debug, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    for number in 0..10 {
        world.ask_as(0, USER, &dead(number, EntryFlags::empty()));
    }
    world.ask_as(0, OTHER, &dead(9, EntryFlags::empty()));
    world.run_for(SECOND);
    let asked = world.node(0).host.events.iter().filter_map(|(_, event)| match event {
        Event::Ibacmp(ibacmp::Event::RequestSent(_, address, 1)) => Some(*address),
        _ => None,
    });
    assert_eq!(asked.clone().count(), 10);
    assert_eq!(asked.clone().position(|address| address == Address::from_text("dead9")), Some(2));
}

/// The ticket of an account without room is none, and no failure: the lookup goes on without it.
#[test]
fn who_does_not_wait_needs_no_room() {
    let mut world = with(Limits { lookups: Share { total: 1, percent: 100 }, ..Limits::default() });
    world.ask_as(0, USER, &dead(0, EntryFlags::empty()));
    let ask = world.ask_as(0, OTHER, &dead(0, EntryFlags::NO_DELAY));
    assert_eq!(world.path(ask), Some(Err(ClientStatus::ENODATA)));
    let ask = world.ask_as(0, OTHER, &dead(0, EntryFlags::empty()));
    assert_eq!(world.path(ask), Some(Err(ClientStatus::ENOMEM)));
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// What a client asked of subnet administration and does not wait for any more is not sent, or not sent again.
#[test]
fn a_query_whose_client_left_ends() {
    let core = Config { sa_depth: SaDepth::Fixed(1), ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.run_for(SECOND);
    world.subnet.settings_mut().sa.delay = SECOND;
    world.subnet.settings_mut().sa.status = Some(Status::BUSY);
    let since = world.transcript.len();
    let [sent, waiting] = [(); 2].map(|()| route(&mut world, USER, EntryFlags::QUERY_SA));
    let report = |world: &World| world.node(0).acm.report().to_string();
    assert!(report(&world).contains(" in_flight 1 waiting 1 "), "{}", report(&world));
    world.hang_up(waiting);
    assert!(report(&world).contains(" in_flight 1 waiting 0 "), "{}", report(&world));
    world.hang_up(sent);
    world.run_for(20 * SECOND);
    assert_eq!(outputs(&world, since, |output| matches!(output, Output::SaSend(_))), 1);
    assert_eq!((world.stat(0, "sa_busy"), world.node(0).acm.check()), (1, Ok(())));
}
