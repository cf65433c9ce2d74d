//! What strangers say on the group is not believed where somebody here relies on something else.
use acm_sansio::{Input, Output, PortId, Time};
use acm_sim::{World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, resolve_request},
    multicast,
};
use core::time::Duration;
use ib_mad::{Gid, Method, Status, TransactionId};

/// `timeout` + subnet time, 2^(18 - 8) ms, three times.
const SILENCE: Duration = Duration::from_millis(3 * (2000 + 1024));

fn name(node: u32) -> Address {
    World::addresses(node)[0]
}

/// Node 0 knows node 1 and uses it.
fn world() -> World {
    let mut world = World::new(WorldConfig { nodes: 3, ..WorldConfig::default() });
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    world
}

/// Datagrams of node 0: when, and with which transaction id.
fn sends(world: &World, method: Method) -> Vec<(Time, TransactionId)> {
    let of = |(at, node, output): &(Time, usize, Output)| match output {
        Output::Send { mad, .. } if *node == 0 && mad.method == method => Some((*at, mad.transaction_id)),
        _ => None,
    };
    world.transcript.iter().filter_map(of).collect()
}

/// Node 0 leads to this node for node 1's name, and knew that already.
fn leads_to(world: &mut World, node: usize) {
    let before = sends(world, Method::GET).len();
    let path = world.resolve(0, &name(0), &name(1)).unwrap();
    assert_eq!((path.dlid, path.dgid), (world.port(node).lid, world.port(node).gids[0]));
    assert_eq!(sends(world, Method::GET).len(), before, "from the cache");
}

#[test]
fn a_forged_request_does_not_replace_a_route_in_use() {
    let mut world = world();
    let stranger = world.stranger(2);
    world.forge_request(stranger, 0, 7, &name(1), &name(0));
    // The group is asked, and the true owner says where it is.
    assert_eq!(sends(&world, Method::GET).len(), 2);
    assert_eq!((world.stat(0, "claims_checked"), world.stat(0, "claims_refuted")), (1, 1));
    world.run_for(Duration::from_secs(10));
    assert_eq!(world.stat(0, "claims_confirmed"), 0);
    assert_eq!(sends(&world, Method::GET_RESP).len(), 0, "whoever claimed it gets nothing");
    leads_to(&mut world, 1);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// The forger hears the check as all do, and answers before the true owner can.
#[test]
fn the_true_owners_answer_counts_although_the_forgers_is_first() {
    let mut world = world();
    let stranger = world.stranger(2);
    let slow = ib_sim::Faults { delay: Duration::from_millis(3), ..ib_sim::Faults::default() };
    world.subnet.set_link(World::port_id(1), World::port_id(0), Some(slow));
    world.forge_request(stranger, 0, 7, &name(1), &name(0));
    let (_, tid) = *sends(&world, Method::GET).last().unwrap();
    let response = multicast::response(tid, world.group().0);
    let qpn = world.qpn(0);
    world.forge_response(stranger, 0, qpn, &response);
    leads_to(&mut world, 1);
    world.run_for(Duration::from_millis(3));
    assert_eq!((world.stat(0, "claims_refuted"), world.stat(0, "claims_confirmed")), (1, 0));
    world.run_for(Duration::from_secs(10));
    leads_to(&mut world, 1);
    assert_eq!(sends(&world, Method::GET_RESP).len(), 0);
}

/// Its answer is later than is likely, and the one to the first question is lost.
#[test]
fn the_true_owner_may_be_late_and_lose_an_answer() {
    let mut world = world();
    let stranger = world.stranger(2);
    let down = ib_sim::Faults { down: true, ..ib_sim::Faults::default() };
    world.subnet.set_link(World::port_id(1), World::port_id(0), Some(down));
    world.forge_request(stranger, 0, 7, &name(1), &name(0));
    let (_, tid) = *sends(&world, Method::GET).last().unwrap();
    let (response, qpn) = (multicast::response(tid, world.group().0), world.qpn(0));
    world.forge_response(stranger, 0, qpn, &response);
    let late = ib_sim::Faults { delay: Duration::from_millis(15), ..ib_sim::Faults::default() };
    world.subnet.set_link(World::port_id(1), World::port_id(0), Some(late));
    world.run_for(Duration::from_secs(10));
    assert_eq!((world.stat(0, "claims_refuted"), world.stat(0, "claims_confirmed")), (1, 0));
    leads_to(&mut world, 1);
}

/// An owner that says nothing is taken to be where it was, if nobody says otherwise.
#[test]
fn a_claim_that_nobody_confirms_changes_nothing() {
    let mut world = world();
    let stranger = world.stranger(2);
    let down = ib_sim::Faults { down: true, ..ib_sim::Faults::default() };
    world.subnet.set_link(World::port_id(1), World::port_id(0), Some(down));
    world.forge_request(stranger, 0, 7, &name(1), &name(0));
    world.run_for(SILENCE + Duration::from_secs(1));
    assert_eq!((world.stat(0, "claims_refuted"), world.stat(0, "claims_confirmed")), (0, 0));
    leads_to(&mut world, 1);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

#[test]
fn an_address_that_moves_is_followed() {
    let mut world = world();
    let address = name(1);
    world.input(1, Input::AddressRemoved { port: PortId(0), pkey: None, address });
    world.input(2, Input::AddressAdded { port: PortId(0), pkey: None, address });
    let start = world.now();
    // By another address of node 0 than the one that node 2 has heard of.
    let path = world.resolve(2, &name(1), &World::addresses(0)[1]).unwrap();
    assert_eq!(path.dlid, world.port(0).lid);
    // As long as an answer of the one that had it is likely, and four times as long when the group was asked once more:
    // round trips took no time, so the least that is counted on.
    assert_eq!(world.now().since(start), Duration::from_millis(5 + 4 * 5));
    assert_eq!((world.stat(0, "claims_checked"), world.stat(0, "claims_confirmed")), (1, 1));
    leads_to(&mut world, 2);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// What nobody here uses is believed: a wrong one costs nobody anything.
#[test]
fn what_nobody_uses_is_learnt_as_before() {
    let mut world = World::new(WorldConfig { nodes: 3, ..WorldConfig::default() });
    let stranger = world.stranger(2);
    world.forge_request(stranger, 0, 7, &name(1), &name(0));
    assert_eq!(world.stat(0, "claims_checked"), 0);
    assert_eq!(sends(&world, Method::GET_RESP).len(), 1);
}

/// A stranger on the group hears the request and says that the address is not there, or names no group.
fn refusal(tid: TransactionId, mgid: Option<Gid>, status: Status) -> ib_mad::acm::AcmMad {
    let mut mad = multicast::response(tid, mgid.unwrap_or_default());
    mad.status = status;
    mad
}

#[test]
fn a_refusal_ends_nothing_while_the_true_answer_may_come() {
    let mut world = World::new(WorldConfig { nodes: 3, ..WorldConfig::default() });
    let stranger = world.stranger(2);
    let slow = ib_sim::Faults { delay: Duration::from_millis(500), ..ib_sim::Faults::default() };
    world.subnet.set_link(World::port_id(1), World::port_id(0), Some(slow));
    let ask = world.ask(0, &resolve_request(Some(&name(0)), &name(1), EntryFlags::empty(), [1; 8]));
    let (_, tid) = sends(&world, Method::GET)[0];
    let (group, qpn) = (world.group().0, world.qpn(0));
    for mad in [refusal(tid, Some(group), Status::new(0x0200)), refusal(tid, None, Status::default())] {
        world.forge_response(stranger, 0, qpn, &mad);
    }
    assert_eq!(world.stat(0, "refusals"), 2);
    assert_eq!(world.path(ask), None);
    assert_eq!(world.wait(ask).unwrap().dlid, world.port(1).lid);
    assert_eq!(world.now().since_start(), slow.delay);
}

/// If it was the truth, the client is told so, when the time for another answer is over.
#[test]
fn a_refusal_that_nobody_contradicts_is_told_at_the_time_out() {
    let mut world = World::new(WorldConfig::default());
    let stranger = world.stranger(1);
    let start = world.now();
    let dead = Address::from_text("nobody");
    let ask = world.ask(0, &resolve_request(Some(&name(0)), &dead, EntryFlags::empty(), [1; 8]));
    let (_, tid) = sends(&world, Method::GET)[0];
    let qpn = world.qpn(0);
    world.forge_response(stranger, 0, qpn, &refusal(tid, None, Status::default()));
    assert_eq!(world.wait(ask), Err(ClientStatus::ENODATA));
    assert_eq!(world.now().since(start), SILENCE);
}

/// Ten seconds of claims, a hundred a second: one is checked in each `timeout`, 2 s.
#[test]
fn a_flood_of_claims_costs_one_check_per_timeout() {
    let mut world = world();
    let stranger = world.stranger(2);
    let before = sends(&world, Method::GET).len();
    let start = world.now();
    for tid in 0..1000 {
        world.forge_request(stranger, 0, tid, &name(1), &name(0));
        world.run_for(Duration::from_millis(10));
    }
    let checks: Vec<_> = sends(&world, Method::GET)[before..].iter().map(|(at, _)| at.since(start)).collect();
    assert_eq!(checks, [0, 2, 4, 6, 8].map(Duration::from_secs));
    assert_eq!((world.stat(0, "claims_checked"), world.stat(0, "claims_ignored")), (5, 995));
    leads_to(&mut world, 1);
}

/// An address of our own stays ours, whoever says what.
#[test]
fn nobody_claims_our_own_address() {
    let mut world = world();
    let stranger = world.stranger(2);
    world.forge_request(stranger, 0, 7, &name(0), &name(1));
    let path = world.resolve(0, &name(0), &name(0)).unwrap();
    assert_eq!((path.dlid, path.slid), (world.port(0).lid, world.port(0).lid));
    assert_eq!(world.stat(0, "claims_checked"), 0);
}

/// A response to what was not asked, or by another endpoint's transaction id, is counted and nothing more.
#[test]
fn a_response_to_nothing_is_counted() {
    let mut world = world();
    let stranger = world.stranger(2);
    let response = multicast::response(TransactionId::new(1), world.group().0);
    let qpn = world.qpn(0);
    world.forge_response(stranger, 0, qpn, &response);
    assert_eq!(world.stat(0, "unexpected_responses"), 1);
    leads_to(&mut world, 1);
}
