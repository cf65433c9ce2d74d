//! Clients: bad messages, closed connections, limits, lookups and tickets.
use super::shared::{OTHER, SECOND, USER, logged, outputs, quiet, route, with};
use acm_sansio::{
    ClientId, Config, Event, Input, Output,
    api::{Level, ResolverEvent},
    config::{Depth, Limits, Share},
};
use acm_sim::{World, WorldConfig, unknown_name_request};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, perf_request},
};
use ib_mad::Status;

#[test]
fn bad_messages_are_counted_and_messages_of_closed_clients_are_stale() {
    let mut world = quiet();
    let client = world.connect(0, USER);
    world.send(client, &perf_request(0, [1; 8])[..10]);
    assert_eq!((world.stat(0, "bad_messages"), world.is_closed(client), world.response(client)), (1, false, None));
    world.send(client, &[9; 20]);
    assert_eq!((world.stat(0, "bad_messages"), world.is_closed(client)), (2, true));
    assert_eq!(logged(&world, |event| matches!(event, Event::BadFrame(..))), 1);
    assert_eq!(world.stat(0, "stale_inputs"), 0);
    world.send(client, &perf_request(0, [1; 8]));
    world.disconnect(client);
    assert_eq!((world.stat(0, "stale_inputs"), world.response(client)), (2, None));
}

#[test]
fn reused_client_number_closes_the_old_client() {
    let mut world = quiet();
    let [old, new] = [0, 1].map(|generation| ClientId::new(50, generation));
    world.input(0, Input::ClientOpened { client: old, account: USER });
    world.input(0, Input::ClientMessage { client: old, message: &unknown_name_request(0, EntryFlags::empty()) });
    world.input(0, Input::ClientOpened { client: new, account: OTHER });
    assert_eq!((world.stat(0, "stale_inputs"), world.stat(0, "requests_abandoned")), (1, 1));
    world.input(0, Input::ClientClosed(old));
    world.input(0, Input::ClientClosed(new));
    assert_eq!(world.stat(0, "stale_inputs"), 2);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

#[test]
fn client_number_out_of_bounds_is_refused() {
    let mut world = quiet();
    let [last, beyond] = [1_048_575, 1_048_576].map(|number| ClientId::new(number, 0));
    for client in [last, beyond, ClientId::new(u32::MAX, 0)] {
        world.input(0, Input::ClientOpened { client, account: USER });
    }
    let refused = |event: &Event| matches!(event, Event::ConnectionRefused(client, USER) if *client != last);
    assert_eq!((world.stat(0, "connections_refused"), logged(&world, refused)), (2, 2));
    assert_eq!(outputs(&world, 0, |output| matches!(output, Output::CloseClient(_))), 2);
    world.input(0, Input::ClientClosed(last));
    assert_eq!((world.stat(0, "stale_inputs"), world.node(0).acm.check()), (2, Ok(())), "the ends of those two");
}

#[test]
fn new_connection_closes_one_of_its_own_account_if_shares_are_equal() {
    let mut world = with(Limits { connections: Share { total: 4, percent: 100 }, ..Limits::default() });
    let all = [USER, USER, OTHER, OTHER].map(|account| world.connect(0, account));
    world.connect(0, USER);
    assert_eq!(all.map(|client| world.is_closed(client)), [true, false, false, false]);
}

// docs/deadlines.md: requests-per-client
#[test]
fn request_over_requests_per_client_is_refused() {
    let mut world = with(Limits { requests_per_client: 2, ..Limits::default() });
    let client = world.connect(0, USER);
    for number in 0..2 {
        world.send(client, &unknown_name_request(number, EntryFlags::empty()));
        assert_eq!(world.path(client), None);
    }
    world.send(client, &unknown_name_request(2, EntryFlags::empty()));
    assert_eq!(world.path(client), Some(Err(ClientStatus::ENOMEM)));
    assert_eq!((world.stat(0, "requests_refused"), world.node(0).acm.check()), (1, Ok(())));
}

#[test]
fn failed_lookup_is_counted_once_if_clients_wait_for_it() {
    let mut world = quiet();
    world.request(0, &unknown_name_request(0, EntryFlags::NO_DELAY));
    world.run_for(20 * SECOND);
    assert_eq!(world.stat(0, "lookups_failed"), 0, "no client waits");
    let clients = [(); 2].map(|()| world.request(0, &unknown_name_request(1, EntryFlags::empty())));
    assert_eq!(clients.map(|client| world.wait(client)), [Err(ClientStatus::ETIMEDOUT); 2]);
    assert_eq!(world.stat(0, "lookups_failed"), 1);
    assert_eq!(logged(&world, |event| matches!(event, Event::Failed(_))), 2 + 1, "and one for the NODELAY request");
    let client = world.request(0, &unknown_name_request(2, EntryFlags::empty()));
    assert_eq!(world.wait(client), Err(ClientStatus::ETIMEDOUT));
    assert_eq!(world.stat(0, "lookups_failed"), 2);
}

#[test]
fn shared_route_query_is_charged_to_each_waiting_account() {
    let mut world = quiet();
    world.subnet.settings_mut().sa.mute = true;
    let [first, second] = [USER, OTHER].map(|account| route(&mut world, account, EntryFlags::empty()));
    assert_eq!(world.node(0).acm.check(), Ok(()));
    world.disconnect(first);
    assert_eq!((world.path(second), world.node(0).acm.check()), (None, Ok(())));
    world.disconnect(second);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// Another account requests the last name in the queue of the first account.
// docs/deviations.md: order
#[test]
fn second_account_moves_a_shared_lookup_forward() {
    let core = Config { resolve_depth: Depth::Fixed(1), log_level: Level::Debug, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    for number in 0..10 {
        world.request_as(0, USER, &unknown_name_request(number, EntryFlags::empty()));
    }
    world.request_as(0, OTHER, &unknown_name_request(9, EntryFlags::empty()));
    world.run_for(SECOND);
    let sent = world.node(0).host.events.iter().filter_map(|(_, event)| match event {
        Event::Ibacmp(ResolverEvent::RequestSent(_, address, 1)) => Some(*address),
        _ => None,
    });
    assert_eq!(sent.clone().count(), 10);
    assert_eq!(sent.clone().position(|address| address == Address::from_text("dead9")), Some(1));
}

/// The account gets no ticket, and the lookup of the other account continues.
#[test]
fn nodelay_request_without_a_share_of_lookups_is_not_refused() {
    let mut world = with(Limits { lookups: Share { total: 1, percent: 100 }, ..Limits::default() });
    world.request_as(0, USER, &unknown_name_request(0, EntryFlags::empty()));
    let client = world.request_as(0, OTHER, &unknown_name_request(0, EntryFlags::NO_DELAY));
    assert_eq!(world.path(client), Some(Err(ClientStatus::ENODATA)));
    let client = world.request_as(0, OTHER, &unknown_name_request(0, EntryFlags::empty()));
    assert_eq!(world.path(client), Some(Err(ClientStatus::ENOMEM)));
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// One query is in flight and one is queued when the client closes.
#[test]
fn sa_query_of_a_closed_client_is_not_sent_again() {
    let core = Config { sa_depth: Depth::Fixed(1), ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.run_for(SECOND);
    world.subnet.settings_mut().sa.delay = SECOND;
    world.subnet.settings_mut().sa.status = Some(Status::BUSY);
    let since = world.transcript.len();
    let [sent, waiting] = [(); 2].map(|()| route(&mut world, USER, EntryFlags::QUERY_SA));
    let report = |world: &World| world.node(0).acm.report().to_string();
    assert!(report(&world).contains(" in_flight 1 waiting 1 "), "{}", report(&world));
    world.disconnect(waiting);
    assert!(report(&world).contains(" in_flight 1 waiting 0 "), "{}", report(&world));
    world.disconnect(sent);
    world.run_for(20 * SECOND);
    assert_eq!(outputs(&world, since, |output| matches!(output, Output::SaSend(_))), 1);
    assert_eq!((world.stat(0, "sa_busy"), world.node(0).acm.check()), (1, Ok(())));
}
