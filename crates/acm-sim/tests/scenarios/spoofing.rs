//! Forged requests and responses of remote hosts do not replace cached paths in use.
use acm_sansio::{EndpointId, Input, Output, PortId, Time, api::DatagramSource};
use acm_sim::{RemoteHost, World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, resolve_request},
    multicast,
};
use core::time::Duration;
use ib_mad::{Gid, Method, Pkey, Qpn, Status, TransactionId};
use ib_sim::Faults;

/// Three times `timeout` plus the subnet's time-out of 2^(18 - 8) ms.
const SILENCE: Duration = Duration::from_millis(3 * (2000 + 1024));

fn name(node: u32) -> Address {
    World::addresses(node)[0]
}

/// Returns a world in which node 0 has cached node 1 and uses the path.
fn world() -> World {
    let mut world = World::new(WorldConfig { nodes: 4, ..WorldConfig::default() });
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

/// Makes node 1 defend its name, so that it does not do so again for 10 s. C ibacm never does.
fn use_up_defence(world: &mut World, remote: RemoteHost) {
    world.forge_request(remote, 0, 1, &name(1), &name(0));
    world.run_for(Duration::from_secs(3));
    assert_eq!((world.stat(1, "defences"), world.stat(0, "claims_refuted")), (1, 1));
}

fn set_link(world: &mut World, from: usize, to: usize, faults: Faults) {
    world.subnet.set_link(World::port_id(from), World::port_id(to), Some(faults));
}

// docs/deviations.md: claim
#[test]
fn forged_request_does_not_replace_a_path_in_use() {
    let mut world = world();
    let remote = world.remote_host(2);
    world.forge_request(remote, 0, 7, &name(1), &name(0));
    assert_eq!((world.stat(0, "claims_checked"), world.stat(0, "claims_refuted")), (1, 1));
    assert_eq!((world.stat(1, "address_conflicts"), world.stat(1, "defences")), (1, 1));
    world.run_for(Duration::from_secs(10));
    assert_eq!(world.stat(0, "claims_confirmed"), 0);
    assert_eq!(sends(&world, Method::GET).len(), 1, "the owner was not asked");
    assert_cached(&mut world, 1);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

/// The responses of the owner to the first two requests are lost, and that to the third takes 15 ms.
// docs/deviations.md: claim
#[test]
fn response_of_the_owner_may_be_late_and_lost_twice() {
    let mut world = world();
    let remote = world.remote_host(2);
    use_up_defence(&mut world, remote);
    set_link(&mut world, 1, 0, Faults { down: true, ..Faults::default() });
    let before = sends(&world, Method::GET).len();
    world.forge_request(remote, 0, 7, &name(1), &name(0));
    while sends(&world, Method::GET).len() < before + 2 {
        assert!(world.step());
    }
    set_link(&mut world, 1, 0, Faults { delay: Duration::from_millis(15), ..Faults::default() });
    world.run_for(Duration::from_secs(10));
    assert_eq!((world.stat(0, "claims_refuted"), world.stat(0, "claims_confirmed")), (2, 0));
    assert_cached(&mut world, 1);
}

/// The forger responds when it is asked, which is after the owner.
// docs/deviations.md: claim
#[test]
fn forger_that_responds_is_a_conflict() {
    let mut world = world();
    let remote = world.remote_host(2);
    // The owner does not receive the claim.
    set_link(&mut world, 2, 1, Faults { down: true, ..Faults::default() });
    let before = sends(&world, Method::GET).len();
    world.forge_request(remote, 0, 7, &name(1), &name(0));
    while sends(&world, Method::GET).len() < before + 2 {
        assert!(world.step());
    }
    let (_, tid) = *sends(&world, Method::GET).last().unwrap();
    let (response, qpn) = (multicast::response(tid, world.group().0), world.qpn(0));
    world.forge_response(remote, 0, qpn, &response);
    assert_eq!((world.stat(0, "address_conflicts"), world.stat(0, "claims_confirmed")), (1, 0));
    world.run_for(Duration::from_secs(10));
    assert_cached(&mut world, 1);
}

/// A third host that knows the transaction id responds.
#[test]
fn response_of_a_third_host_does_not_count() {
    let mut world = world();
    let [remote, third] = [2, 3].map(|node| world.remote_host(node));
    set_link(&mut world, 1, 0, Faults { down: true, ..Faults::default() });
    world.forge_request(remote, 0, 7, &name(1), &name(0));
    world.run_for(Duration::from_millis(100));
    let (_, tid) = *sends(&world, Method::GET).last().unwrap();
    let (response, qpn) = (multicast::response(tid, world.group().0), world.qpn(0));
    world.forge_response(third, 0, qpn, &response);
    world.run_for(Duration::from_secs(10));
    assert_eq!((world.stat(0, "unexpected_responses"), world.stat(0, "claims_confirmed")), (1, 0));
    assert_cached(&mut world, 1);
}

/// Neither the owner nor another node responds to the check.
#[test]
fn unconfirmed_claim_changes_nothing() {
    let mut world = world();
    let remote = world.remote_host(2);
    let down = Faults { down: true, ..Faults::default() };
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
    // Node 0 responds at once, because its response depends on the GID only.
    let (start, address) = (world.now(), World::addresses(0)[1]);
    assert_eq!(world.resolve(2, &name(1), &address).unwrap().dlid, world.port(0).lid);
    assert_eq!(world.now(), start);
    // The pause is below 30 ms, and the former owner is asked for 100, 200 and 400 ms.
    assert_cached(&mut world, 1);
    world.run_for(Duration::from_millis(730));
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

// docs/deviations.md: negative-response
#[test]
fn refusal_does_not_end_a_lookup_before_its_time_out() {
    let mut world = World::new(WorldConfig { nodes: 3, ..WorldConfig::default() });
    let remote = world.remote_host(2);
    let slow = Faults { delay: Duration::from_millis(500), ..Faults::default() };
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

/// 100 claims per second for 20 seconds, with a `timeout` of 2 s. The owner defends its address at the first claim, and
/// then at each check.
#[test]
fn flood_of_claims_causes_checks_after_growing_pauses_up_to_five_seconds() {
    let mut world = world();
    let remote = world.remote_host(2);
    let before = sends(&world, Method::GET).len();
    let start = world.now();
    for tid in 0..2000 {
        world.forge_request(remote, 0, tid, &name(1), &name(0));
        world.run_for(Duration::from_millis(10));
    }
    let requests = &sends(&world, Method::GET)[before..];
    let seconds: Vec<_> = requests.iter().map(|(at, _)| at.since(start).as_secs()).collect();
    // The owner and the forger are asked once, because the owner defends its address.
    assert_eq!(seconds, [2, 2, 6, 6, 11, 11, 16, 16]);
    assert_eq!(
        (world.stat(0, "claims_checked"), world.stat(0, "claims_refuted"), world.stat(1, "defences")),
        (6, 5, 5)
    );
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

/// Node 0 has two endpoints. Another host learns the number of a request and responds to it in the other partition, to
/// which that host belongs.
#[test]
fn response_at_another_endpoint_than_that_of_its_request_is_no_answer() {
    let mut world = World::new(WorldConfig { nodes: 3, ..WorldConfig::default() });
    let ((mgid, _), pkey) = (world.group(), Pkey::new(0x8001));
    let port = ib_sim::Port { pkeys: vec![Pkey::DEFAULT_FULL, pkey], ..world.port(0).clone() };
    world.subnet.set_port(World::port_id(0), port).unwrap();
    world.settle();
    let address = Address::from_text("other");
    world.input(0, Input::AddressAdded { port: PortId(0), pkey: Some(pkey), address });
    world.run_for(Duration::from_secs(1));
    let client = world.request(0, &resolve_request(Some(&name(0)), &name(7), EntryFlags::empty(), [1; 8]));
    let (_, tid) = *sends(&world, Method::GET).last().unwrap();
    let respond = |world: &mut World, endpoint, mgid| {
        let remote = world.port(2).clone();
        let source = DatagramSource {
            lid: remote.lid,
            path_bits: 0,
            qpn: Qpn::of::<99>(),
            gid: remote.gids.first().copied(),
            group: None,
        };
        let mad = multicast::response(tid, mgid);
        world.input(0, Input::Datagram { endpoint, source, payload: ib_mad::as_bytes(&mad) });
        world.settle();
    };
    assert_eq!(world.path(client), None);
    let (other, _) = world.group();
    assert_ne!(mgid, other);
    respond(&mut world, EndpointId::new(1, 0), other);
    assert_eq!(world.path(client), None);
    respond(&mut world, EndpointId::new(0, 0), mgid);
    assert_eq!(world.wait(client).map(|path| path.dlid), Ok(world.port(2).lid));
}

/// A switch returns a request to its sender, which learns nothing from it and sends nothing.
#[test]
fn own_request_that_comes_back_changes_nothing() {
    let mut world = world();
    let (mgid, _) = world.group();
    let port = world.port(0).clone();
    let source = DatagramSource {
        lid: port.lid,
        path_bits: 0,
        qpn: world.qpn(0),
        gid: port.gids.first().copied(),
        group: Some(mgid),
    };
    let mad = multicast::request(TransactionId::new(5), &name(3), &name(0), &[mgid]);
    let before = (world.node(0).acm.report().to_string(), world.transcript.len());
    let endpoint = EndpointId::new(0, 0);
    world.input(0, Input::Datagram { endpoint, source, payload: ib_mad::as_bytes(&mad) });
    world.settle();
    assert_eq!((world.node(0).acm.report().to_string(), world.transcript.len()), before);
}
