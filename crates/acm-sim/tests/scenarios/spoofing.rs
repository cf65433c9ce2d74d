//! Forged requests and responses of remote hosts do not replace cached paths in use.
use acm_sansio::{Input, Output, PortId, Time};
use acm_sim::{World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, resolve_request},
    multicast,
};
use core::time::Duration;
use ib_mad::{Gid, Method, Status, TransactionId};

/// Three times `timeout` plus the subnet's time-out of 2^(18 - 8) ms.
const SILENCE: Duration = Duration::from_millis(3 * (2000 + 1024));

fn name(node: u32) -> Address {
    World::addresses(node)[0]
}

/// Returns a world in which node 0 has cached node 1 and uses the path.
fn world() -> World {
    let mut world = World::new(WorldConfig { nodes: 3, ..WorldConfig::default() });
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    world
}

/// Returns times and transaction ids of node 0's datagrams with this method.
fn sends(world: &World, method: Method) -> Vec<(Time, TransactionId)> {
    let of = |(at, node, output): &(Time, usize, Output)| match output {
        Output::Send { mad, .. } if *node == 0 && mad.method == method => Some((*at, mad.transaction_id)),
        _ => None,
    };
    world.transcript.iter().filter_map(of).collect()
}

/// Checks that node 0 resolves node 1's name to `node` from its cache.
fn assert_cached(world: &mut World, node: usize) {
    let before = sends(world, Method::GET).len();
    let path = world.resolve(0, &name(0), &name(1)).unwrap();
    assert_eq!((path.dlid, path.dgid), (world.port(node).lid, world.port(node).gids[0]));
    assert_eq!(sends(world, Method::GET).len(), before, "from the cache");
}

#[test]
fn forged_request_does_not_replace_a_path_in_use() {
    let mut world = world();
    let remote = world.remote_host(2);
    world.forge_request(remote, 0, 7, &name(1), &name(0));
    // A multicast request is sent, and the owner responds.
    assert_eq!(sends(&world, Method::GET).len(), 2);
    assert_eq!((world.stat(0, "claims_checked"), world.stat(0, "claims_refuted")), (1, 1));
    world.run_for(Duration::from_secs(10));
    assert_eq!(world.stat(0, "claims_confirmed"), 0);
    assert_eq!(sends(&world, Method::GET_RESP).len(), 0, "no response to the forged request");
    assert_cached(&mut world, 1);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// The forger receives the multicast request of the check and responds first.
#[test]
fn response_of_the_owner_counts_after_a_forged_response() {
    let mut world = world();
    let remote = world.remote_host(2);
    let slow = ib_sim::Faults { delay: Duration::from_millis(3), ..ib_sim::Faults::default() };
    world.subnet.set_link(World::port_id(1), World::port_id(0), Some(slow));
    world.forge_request(remote, 0, 7, &name(1), &name(0));
    let (_, tid) = *sends(&world, Method::GET).last().unwrap();
    let response = multicast::response(tid, world.group().0);
    let qpn = world.qpn(0);
    world.forge_response(remote, 0, qpn, &response);
    assert_cached(&mut world, 1);
    world.run_for(Duration::from_millis(3));
    assert_eq!((world.stat(0, "claims_refuted"), world.stat(0, "claims_confirmed")), (1, 0));
    world.run_for(Duration::from_secs(10));
    assert_cached(&mut world, 1);
    assert_eq!(sends(&world, Method::GET_RESP).len(), 0);
}

/// The owner's response to the first request is lost, and its second response takes 15 ms.
#[test]
fn response_of_the_owner_may_be_late_and_lost_once() {
    let mut world = world();
    let remote = world.remote_host(2);
    let down = ib_sim::Faults { down: true, ..ib_sim::Faults::default() };
    world.subnet.set_link(World::port_id(1), World::port_id(0), Some(down));
    world.forge_request(remote, 0, 7, &name(1), &name(0));
    let (_, tid) = *sends(&world, Method::GET).last().unwrap();
    let (response, qpn) = (multicast::response(tid, world.group().0), world.qpn(0));
    world.forge_response(remote, 0, qpn, &response);
    let late = ib_sim::Faults { delay: Duration::from_millis(15), ..ib_sim::Faults::default() };
    world.subnet.set_link(World::port_id(1), World::port_id(0), Some(late));
    world.run_for(Duration::from_secs(10));
    assert_eq!((world.stat(0, "claims_refuted"), world.stat(0, "claims_confirmed")), (1, 0));
    assert_cached(&mut world, 1);
}

/// Neither the owner nor another node responds to the check.
#[test]
fn unconfirmed_claim_changes_nothing() {
    let mut world = world();
    let remote = world.remote_host(2);
    let down = ib_sim::Faults { down: true, ..ib_sim::Faults::default() };
    world.subnet.set_link(World::port_id(1), World::port_id(0), Some(down));
    world.forge_request(remote, 0, 7, &name(1), &name(0));
    world.run_for(SILENCE + Duration::from_secs(1));
    assert_eq!((world.stat(0, "claims_refuted"), world.stat(0, "claims_confirmed")), (0, 0));
    assert_cached(&mut world, 1);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

#[test]
fn address_that_moves_to_another_node_is_found_there() {
    let mut world = world();
    let address = name(1);
    world.input(1, Input::AddressRemoved { port: PortId(0), pkey: None, address });
    world.input(2, Input::AddressAdded { port: PortId(0), pkey: None, address });
    let start = world.now();
    // Node 2 has not cached this address of node 0.
    let path = world.resolve(2, &name(1), &World::addresses(0)[1]).unwrap();
    assert_eq!(path.dlid, world.port(0).lid);
    // The check waits 5 ms for a response of the former owner, repeats the request, and waits 4 x 5 ms. 5 ms is the
    // lowest estimate of a round trip.
    assert_eq!(world.now().since(start), Duration::from_millis(5 + 4 * 5));
    assert_eq!((world.stat(0, "claims_checked"), world.stat(0, "claims_confirmed")), (1, 1));
    assert_cached(&mut world, 2);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

#[test]
fn claim_about_an_unused_address_is_accepted_without_a_check() {
    let mut world = World::new(WorldConfig { nodes: 3, ..WorldConfig::default() });
    let remote = world.remote_host(2);
    world.forge_request(remote, 0, 7, &name(1), &name(0));
    assert_eq!(world.stat(0, "claims_checked"), 0);
    assert_eq!(sends(&world, Method::GET_RESP).len(), 1);
}

/// Returns a response of a remote host with a group and a status.
fn refusal(tid: TransactionId, mgid: Option<Gid>, status: Status) -> ib_mad::acm::AcmMad {
    let mut mad = multicast::response(tid, mgid.unwrap_or_default());
    mad.status = status;
    mad
}

#[test]
fn refusal_does_not_end_a_lookup_before_its_time_out() {
    let mut world = World::new(WorldConfig { nodes: 3, ..WorldConfig::default() });
    let remote = world.remote_host(2);
    let slow = ib_sim::Faults { delay: Duration::from_millis(500), ..ib_sim::Faults::default() };
    world.subnet.set_link(World::port_id(1), World::port_id(0), Some(slow));
    let client = world.request(0, &resolve_request(Some(&name(0)), &name(1), EntryFlags::empty(), [1; 8]));
    let (_, tid) = sends(&world, Method::GET)[0];
    let (group, qpn) = (world.group().0, world.qpn(0));
    for mad in [refusal(tid, Some(group), Status::new(0x0200)), refusal(tid, None, Status::default())] {
        world.forge_response(remote, 0, qpn, &mad);
    }
    assert_eq!(world.stat(0, "refusals"), 2);
    assert_eq!(world.path(client), None);
    assert_eq!(world.wait(client).unwrap().dlid, world.port(1).lid);
    assert_eq!(world.now().since_start(), slow.delay);
}

#[test]
fn refusal_without_another_response_is_reported_at_the_time_out() {
    let mut world = World::new(WorldConfig::default());
    let remote = world.remote_host(1);
    let start = world.now();
    let unknown = Address::from_text("nobody");
    let client = world.request(0, &resolve_request(Some(&name(0)), &unknown, EntryFlags::empty(), [1; 8]));
    let (_, tid) = sends(&world, Method::GET)[0];
    let qpn = world.qpn(0);
    world.forge_response(remote, 0, qpn, &refusal(tid, None, Status::default()));
    assert_eq!(world.wait(client), Err(ClientStatus::ENODATA));
    assert_eq!(world.now().since(start), SILENCE);
}

/// 100 claims per second for 10 seconds, with a `timeout` of 2 s.
#[test]
fn flood_of_claims_causes_one_check_per_time_out() {
    let mut world = world();
    let remote = world.remote_host(2);
    let before = sends(&world, Method::GET).len();
    let start = world.now();
    for tid in 0..1000 {
        world.forge_request(remote, 0, tid, &name(1), &name(0));
        world.run_for(Duration::from_millis(10));
    }
    let checks: Vec<_> = sends(&world, Method::GET)[before..].iter().map(|(at, _)| at.since(start)).collect();
    assert_eq!(checks, [0, 2, 4, 6, 8].map(Duration::from_secs));
    assert_eq!((world.stat(0, "claims_checked"), world.stat(0, "claims_ignored")), (5, 995));
    assert_cached(&mut world, 1);
}

#[test]
fn claim_about_a_local_address_is_ignored() {
    let mut world = world();
    let remote = world.remote_host(2);
    world.forge_request(remote, 0, 7, &name(0), &name(1));
    let path = world.resolve(0, &name(0), &name(0)).unwrap();
    assert_eq!((path.dlid, path.slid), (world.port(0).lid, world.port(0).lid));
    assert_eq!(world.stat(0, "claims_checked"), 0);
}

#[test]
fn response_without_a_request_is_counted_and_ignored() {
    let mut world = world();
    let remote = world.remote_host(2);
    let response = multicast::response(TransactionId::new(1), world.group().0);
    let qpn = world.qpn(0);
    world.forge_response(remote, 0, qpn, &response);
    assert_eq!(world.stat(0, "unexpected_responses"), 1);
    assert_cached(&mut world, 1);
}
