//! Requests without a source address: the routing table selects one, and a cached path needs no request slot.
use acm_sansio::{
    Account, Config, Input, Output,
    account::AccountKind,
    config::{Limits, Share},
};
use acm_sim::{World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, RequestBuffer, ResolveResponse, next_response, resolve_request},
};

const USER: Account = Account::User(1);

fn without_source(dest: &Address) -> RequestBuffer {
    resolve_request(None, dest, EntryFlags::empty(), [1; 8])
}

/// Returns a world in which the limit of one pending request is reached.
fn full() -> World {
    let limits = Limits { requests: Share { total: 1, percent: 100 }, ..Limits::default() };
    let core = Config { limits, ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 3, core, ..WorldConfig::default() });
    assert!(world.resolve(0, &World::addresses(0)[1], &World::addresses(1)[1]).is_ok());
    let unknown = Address::from_text("nobody");
    let client = world.request_as(
        0,
        USER,
        &resolve_request(Some(&World::addresses(0)[0]), &unknown, EntryFlags::empty(), [1; 8]),
    );
    assert_eq!(world.path(client), None);
    world
}

#[test]
fn cached_path_without_source_needs_no_request_slot() {
    let mut world = full();
    let [_, cached, _] = World::addresses(1);
    let client = world.request_as(0, USER, &without_source(&cached));
    assert_eq!(world.path(client).unwrap().unwrap().dlid, world.port(1).lid);
    assert_eq!(world.node(0).acm.stats().requests_refused.total(), 0);
}

#[test]
fn uncached_request_without_source_is_refused_and_counted_once() {
    let mut world = full();
    let [_, unknown, _] = World::addresses(2);
    let client = world.request_as(0, USER, &without_source(&unknown));
    assert_eq!(world.path(client), Some(Err(ClientStatus::ENOMEM)));
    assert_eq!(world.node(0).acm.stats().requests_refused.of(AccountKind::User), 1);
    assert_eq!(world.node(0).acm.stats().requests_refused.total(), 1);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

#[test]
fn second_selected_source_is_stale() {
    let mut world = World::new(WorldConfig::default());
    let since = world.transcript.len();
    let [_, dest, _] = World::addresses(1);
    let client = world.request_as(0, USER, &without_source(&dest));
    assert!(world.wait(client).is_ok());
    let request = world.transcript[since..].iter().find_map(|(_, _, output)| match output {
        Output::SelectSource { request, .. } => Some(*request),
        _ => None,
    });
    let source = World::addresses(0)[1].ip();
    world.input(0, Input::SourceSelected { request: request.unwrap(), source });
    assert_eq!(world.stat(0, "stale_inputs"), 1);
}

#[test]
fn selected_source_has_the_address_family_of_the_destination() {
    let mut world = World::new(WorldConfig::default());
    for family in [1, 2] {
        let client = world.request(0, &without_source(&World::addresses(1)[family]));
        assert!(world.wait(client).is_ok());
        let frame = next_response(world.response(client).unwrap()).unwrap().unwrap();
        assert_eq!(ResolveResponse::parse(&frame).unwrap().source, Some(World::addresses(0)[family]));
    }
}

/// The status is ESRCADDR (7), not an error number of the routing table.
#[test]
fn destination_without_a_route_fails_with_esrcaddr() {
    let mut world = World::new(WorldConfig::default());
    for dest in ["192.0.2.1", "2001:db8::1"] {
        let client = world.request(0, &without_source(&Address::from_text(dest)));
        assert_eq!(world.path(client), Some(Err(ClientStatus::new(7))), "at once");
    }
    assert_eq!(world.node(0).acm.check(), Ok(()));
}
