//! Effects of received multicast requests, by the state of the sender's address in the cache.
use acm_sansio::{
    Config, EndpointId, Event, Input, Output, PortId,
    api::{DatagramSource, ResolverEvent},
    config::{Depth, Limits, RouteProt},
};
use acm_sim::{World, WorldConfig};
use acm_wire::{
    Address,
    client::{Counter, EntryFlags, resolve_request},
    multicast,
};
use core::time::Duration;
use ib_mad::{Lid, Method, PortState, Qpn, TransactionId};

const SECOND: Duration = Duration::from_secs(1);

fn name(node: u32) -> Address {
    World::addresses(node)[0]
}

fn unknown() -> Address {
    Address::from_text("ghost")
}

fn world(core: Config) -> World {
    World::new(WorldConfig { nodes: 3, core, ..WorldConfig::default() })
}

/// Returns the number of node 0's datagrams with this method.
fn sends(world: &World, method: Method) -> usize {
    let matches = |(_, node, output): &&(_, usize, Output)| {
        *node == 0 && matches!(output, Output::Send { mad, .. } if mad.method == method)
    };
    world.transcript.iter().filter(matches).count()
}

fn count(world: &World, counter: Counter) -> u64 {
    world.node(0).acm.counters().get(counter)
}

fn peers_changed(world: &World) -> usize {
    let is_change = |event: &Event| matches!(event, Event::Ibacmp(ResolverEvent::PeerChanged(..)));
    world.node(0).host.events.iter().filter(|(_, event)| is_change(event)).count()
}

/// Delays datagrams of node 1 to node 0 by one second.
fn delay_responses(world: &mut World) {
    let slow = ib_sim::Faults { delay: SECOND, ..ib_sim::Faults::default() };
    world.subnet.set_link(World::port_id(1), World::port_id(0), Some(slow));
}

/// A forger could end it otherwise.
#[test]
fn request_of_the_looked_up_peer_does_not_end_the_lookup() {
    let mut world = world(Config::default());
    let client = world.request(0, &resolve_request(Some(&name(0)), &unknown(), EntryFlags::empty(), [1; 8]));
    assert_eq!(world.path(client), None);
    let remote = world.remote_host(2);
    world.forge_request(remote, 0, 7, &unknown(), &name(1));
    assert!(world.wait(client).is_err());
    assert_eq!(world.node(0).acm.check(), Ok(()));
    assert_eq!((sends(&world, Method::GET), world.stat(0, "lookups_failed")), (3, 1));
}

/// The only credit is in use, so that the request for node 1 waits. Then a multicast request of node 1 arrives.
#[test]
fn request_that_waits_is_sent_to_the_host_that_shows_up() {
    let mut world = world(Config { resolve_depth: Depth::Fixed(1), ..Config::default() });
    let lookup = |world: &mut World, dest: &Address| {
        world.request(0, &resolve_request(Some(&name(0)), dest, EntryFlags::empty(), [1; 8]))
    };
    lookup(&mut world, &unknown());
    let client = lookup(&mut world, &name(1));
    assert_eq!(sends(&world, Method::GET), 1);
    let before = world.subnet.counters().ud_multicast;
    assert!(world.resolve(1, &name(1), &name(2)).is_ok());
    assert_eq!(world.wait(client).unwrap().dlid, world.port(1).lid);
    assert_eq!((sends(&world, Method::GET), world.subnet.counters().ud_multicast), (2, before + 1));
}

#[test]
fn route_of_the_group_is_ready_as_soon_as_the_address_is_known() {
    let core = Config { route_prot: RouteProt::Acm, route_timeout: Some(60 * SECOND), ..Config::default() };
    let mut world = world(core);
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    world.run_for(61 * SECOND);
    let client = world.request(0, &resolve_request(Some(&name(0)), &name(1), EntryFlags::empty(), [1; 8]));
    assert_eq!(world.path(client).unwrap().unwrap().dlid, world.port(1).lid);
    assert_eq!((count(&world, Counter::AddrCache), sends(&world, Method::GET)), (1, 1));
}

/// The address is cached and in use, and its route has expired.
#[test]
fn claim_about_an_address_without_a_route_is_ignored() {
    let with_expired_route = || {
        let mut world = world(Config { route_timeout: Some(60 * SECOND), ..Config::default() });
        assert!(world.resolve(0, &name(0), &name(1)).is_ok());
        world.run_for(61 * SECOND);
        world
    };
    // A claim by the owner changes nothing.
    let mut same = with_expired_route();
    assert!(same.resolve(1, &name(1), &name(2)).is_ok());
    assert!(same.resolve(0, &name(0), &name(1)).is_ok());
    assert_eq!((same.stat(0, "claims_ignored"), sends(&same, Method::GET)), (0, 1));
    // A claim by another node is ignored, and the next lookup sends a multicast request. The owner's defence is lost.
    let mut other = with_expired_route();
    let [owner, user] = [1, 0].map(World::port_id);
    other.subnet.set_link(owner, user, Some(ib_sim::Faults { down: true, ..ib_sim::Faults::default() }));
    let remote = other.remote_host(2);
    other.forge_request(remote, 0, 7, &name(1), &unknown());
    assert_eq!(other.stat(0, "claims_ignored"), 1);
    other.subnet.set_link(owner, user, None);
    assert_eq!(other.resolve(0, &name(0), &name(1)).unwrap().dlid, other.port(1).lid);
    assert_eq!(sends(&other, Method::GET), 2);
}

#[test]
fn claim_during_a_path_query_is_ignored() {
    let mut world = world(Config::default());
    world.subnet.settings_mut().sa.delay = SECOND;
    let client = world.request(0, &resolve_request(Some(&name(0)), &name(1), EntryFlags::empty(), [1; 8]));
    // The peer queries its route back, too, before it responds.
    world.run_for(SECOND * 3 / 2);
    assert_eq!(count(&world, Counter::RouteQuery), 1);
    let remote = world.remote_host(2);
    world.forge_request(remote, 0, 7, &name(1), &name(0));
    assert_eq!((world.stat(0, "claims_ignored"), world.stat(0, "claims_checked")), (1, 0));
    assert_eq!(world.wait(client).unwrap().dlid, world.port(1).lid);
    assert_eq!(sends(&world, Method::GET_RESP), 0);
}

/// A request with another GID or another base LID is a claim by another peer.
#[test]
fn peer_is_identified_by_gid_and_base_lid() {
    for protocol in [RouteProt::Sa, RouteProt::Acm] {
        let mut world = world(Config { route_prot: protocol, ..Config::default() });
        assert!(world.resolve(0, &name(0), &name(1)).is_ok());
        let (gid_of_peer, [first, second]) =
            (world.port(1).gids[0], ["fe80::77", "fe80::78"].map(|gid| gid.parse().unwrap()));
        let lid = world.port(1).lid;
        let elsewhere = Lid::new(lid.get() + 100);
        for (number, (gid, lid)) in
            (0..).zip([(gid_of_peer, lid), (first, lid), (gid_of_peer, elsewhere), (second, elsewhere)])
        {
            let (mgid, _) = world.group();
            let mad = multicast::request(TransactionId::new(number), &name(0), &name(1), &[mgid]);
            let source = DatagramSource { lid, path_bits: 0, qpn: Qpn::of::<99>(), gid: Some(gid), group: None };
            let payload = ib_mad::as_bytes(&mad);
            world.input(0, Input::Datagram { endpoint: EndpointId::new(0, 0), source, payload });
            // The check of one claim ends before the next claim.
            world.run_for(20 * SECOND);
            assert_eq!(world.stat(0, "claims_checked"), number, "{gid} {lid:?} {protocol:?}");
        }
    }
}

#[test]
fn new_queue_pair_of_a_peer_is_a_change() {
    let mut world = world(Config::default());
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    assert!(world.resolve(1, &name(1), &unknown()).is_err());
    assert_eq!(peers_changed(&world), 0);
    world.restart(1);
    world.run_for(SECOND);
    assert!(world.resolve(1, &name(1), &unknown()).is_err());
    assert_eq!(peers_changed(&world), 1);
}

#[test]
fn requests_of_peers_over_the_bound_are_counted() {
    let limits = Limits { responders: 0, ..Limits::default() };
    let mut refusing = world(Config { limits, ..Config::default() });
    let remote = refusing.remote_host(2);
    refusing.forge_request(remote, 0, 7, &unknown(), &name(0));
    assert_eq!((refusing.stat(0, "responders_refused"), sends(&refusing, Method::GET_RESP)), (1, 0));
    // Requests that arrive while the path to their sender is queried.
    for (responders, refused) in [(16, 0), (1, 1)] {
        let limits = Limits { responders, ..Limits::default() };
        let mut world = world(Config { limits, ..Config::default() });
        world.subnet.settings_mut().sa.delay = SECOND;
        let remote = world.remote_host(2);
        for tid in [7, 8] {
            world.forge_request(remote, 0, tid, &unknown(), &name(0));
        }
        world.run_for(2 * SECOND);
        assert_eq!(
            (world.stat(0, "responders_refused"), sends(&world, Method::GET_RESP)),
            (refused, 2 - refused as usize)
        );
    }
}

#[test]
fn request_of_another_program_on_the_same_port_gets_a_response() {
    let mut world = world(Config::default());
    let remote = world.remote_host(0);
    world.forge_request(remote, 0, 7, &unknown(), &name(0));
    world.run_for(SECOND);
    assert_eq!(sends(&world, Method::GET_RESP), 1);
}

/// Returns a world in which node 0 has cached node 1 and checks the claim of a remote host to its name.
fn checking_a_claim() -> World {
    let mut world = world(Config::default());
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    delay_responses(&mut world);
    let remote = world.remote_host(2);
    world.forge_request(remote, 0, 7, &name(1), &name(0));
    assert_eq!(world.stat(0, "claims_checked"), 1);
    world
}

#[test]
fn cached_path_survives_a_claim_whose_check_ends_with_the_port() {
    let mut world = checking_a_claim();
    for state in [PortState::DOWN, PortState::ACTIVE] {
        world.subnet.set_port_state(World::port_id(0), state).unwrap();
        world.settle();
        assert_eq!(world.node(0).acm.check(), Ok(()));
    }
    let before = sends(&world, Method::GET);
    assert_eq!(world.resolve(0, &name(0), &name(1)).unwrap().dlid, world.port(1).lid);
    assert_eq!(sends(&world, Method::GET), before, "from the cache");
}

/// The check releases its lookup and its credit.
#[test]
fn check_of_a_claim_ends_when_the_address_becomes_local() {
    let mut world = checking_a_claim();
    world.input(0, Input::AddressAdded { port: PortId(0), pkey: None, address: name(1) });
    assert_eq!(world.node(0).acm.check(), Ok(()));
    assert_eq!(world.resolve(0, &name(0), &name(1)).unwrap().dlid, world.port(0).lid);
}
