//! The source of a path when the client names none: it needs room only if the answer is not known.
use acm_sansio::{
    Account, Config, Input, Output,
    account::AccountKind,
    config::{Limits, Share},
};
use acm_sim::{World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, RequestBuffer, ResolveAnswer, next_answer, resolve_request},
};

const USER: Account = Account::User(1);

fn without_source(dest: &Address) -> RequestBuffer {
    resolve_request(None, dest, EntryFlags::empty(), [1; 8])
}

/// One request may wait, and one does.
fn full() -> World {
    let limits = Limits { requests: Share { total: 1, percent: 100 }, ..Limits::default() };
    let core = Config { limits, ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 3, core, ..WorldConfig::default() });
    assert!(world.resolve(0, &World::addresses(0)[1], &World::addresses(1)[1]).is_ok());
    let dead = Address::from_text("nobody");
    let ask =
        world.ask_as(0, USER, &resolve_request(Some(&World::addresses(0)[0]), &dead, EntryFlags::empty(), [1; 8]));
    assert_eq!(world.path(ask), None);
    world
}

#[test]
fn what_is_cached_needs_no_room() {
    let mut world = full();
    let [_, known, _] = World::addresses(1);
    let ask = world.ask_as(0, USER, &without_source(&known));
    assert_eq!(world.path(ask).unwrap().unwrap().dlid, world.port(1).lid);
    assert_eq!(world.node(0).acm.stats().requests_refused.total(), 0);
}

#[test]
fn what_is_not_cached_is_refused_and_counted_once() {
    let mut world = full();
    let [_, unknown, _] = World::addresses(2);
    let ask = world.ask_as(0, USER, &without_source(&unknown));
    assert_eq!(world.path(ask), Some(Err(ClientStatus::ENOMEM)));
    assert_eq!(world.node(0).acm.stats().requests_refused.of(AccountKind::User), 1);
    assert_eq!(world.node(0).acm.stats().requests_refused.total(), 1);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// The routing table answers once; saying it again is about nothing.
#[test]
fn a_source_that_is_told_twice_is_stale() {
    let mut world = World::new(WorldConfig::default());
    let since = world.transcript.len();
    let [_, dest, _] = World::addresses(1);
    let ask = world.ask_as(0, USER, &without_source(&dest));
    assert!(world.wait(ask).is_ok());
    let request = world.transcript[since..].iter().find_map(|(_, _, output)| match output {
        Output::SelectSource { request, .. } => Some(*request),
        _ => None,
    });
    let source = World::addresses(0)[1].ip();
    world.input(0, Input::SourceSelected { request: request.unwrap(), source });
    assert_eq!(world.stat(0, "stale_inputs"), 1);
}

#[test]
fn a_source_of_the_destinations_own_family() {
    let mut world = World::new(WorldConfig::default());
    for family in [1, 2] {
        let ask = world.ask(0, &without_source(&World::addresses(1)[family]));
        assert!(world.wait(ask).is_ok());
        let frame = next_answer(world.answer(ask).unwrap()).unwrap().unwrap();
        assert_eq!(ResolveAnswer::parse(&frame).unwrap().source, Some(World::addresses(0)[family]));
    }
}

/// Not the number of an error of the routing table: ESRCADDR is 7.
#[test]
fn a_destination_without_a_route() {
    let mut world = World::new(WorldConfig::default());
    for dest in ["192.0.2.1", "2001:db8::1"] {
        let ask = world.ask(0, &without_source(&Address::from_text(dest)));
        assert_eq!(world.path(ask), Some(Err(ClientStatus::new(7))), "at once");
    }
    assert_eq!(world.node(0).acm.check(), Ok(()));
}
