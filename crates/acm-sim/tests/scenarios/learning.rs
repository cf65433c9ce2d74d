//! What a node learns from requests that it hears, by what it knew before.
use acm_sansio::{
    Config, EndpointId, Event, Input, Output, PortId,
    api::DatagramSource,
    config::{Limits, RouteProtocol},
    ibacmp,
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

fn ghost() -> Address {
    Address::from_text("ghost")
}

fn world(core: Config) -> World {
    World::new(WorldConfig { nodes: 3, core, ..WorldConfig::default() })
}

/// Datagrams of node 0.
fn sends(world: &World, method: Method) -> usize {
    let is_it = |(_, node, output): &&(_, usize, Output)| {
        *node == 0 && matches!(output, Output::Send { mad, .. } if mad.method == method)
    };
    world.transcript.iter().filter(is_it).count()
}

fn count(world: &World, counter: Counter) -> u64 {
    world.node(0).acm.counters().get(counter)
}

fn peers_changed(world: &World) -> usize {
    let is_it = |event: &Event| matches!(event, Event::Ibacmp(ibacmp::Event::PeerChanged(..)));
    world.node(0).host.events.iter().filter(|(_, event)| is_it(event)).count()
}

/// Answers of node 1 to node 0 come too late for a test.
fn slow(world: &mut World) {
    let slow = ib_sim::Faults { delay: SECOND, ..ib_sim::Faults::default() };
    world.subnet.set_link(World::port_id(1), World::port_id(0), Some(slow));
}

#[test]
fn whom_we_ask_for_asks_us() {
    let mut world = world(Config::default());
    let ask = world.ask(0, &resolve_request(Some(&name(0)), &ghost(), EntryFlags::empty(), [1; 8]));
    assert_eq!(world.path(ask), None);
    let stranger = world.stranger(2);
    world.forge_request(stranger, 0, 7, &ghost(), &name(1));
    assert_eq!(world.wait(ask).unwrap().dlid, world.port(2).lid);
    assert_eq!(world.node(0).acm.check(), Ok(()));
    world.run_for(20 * SECOND);
    assert_eq!((sends(&world, Method::GET), world.stat(0, "lookups_failed")), (1, 0));
}

/// A route from subnet administration costs a query: only for who needs it. One of the group costs nothing.
#[test]
fn a_route_that_nobody_needs_is_made_only_if_it_costs_nothing() {
    for (route_protocol, cached) in [(RouteProtocol::Sa, 0), (RouteProtocol::Acm, 1)] {
        let mut world = world(Config { route_protocol, ..Config::default() });
        let stranger = world.stranger(2);
        world.forge_request(stranger, 0, 7, &ghost(), &name(1));
        assert_eq!(count(&world, Counter::RouteQuery), 0);
        assert_eq!(world.resolve(0, &name(0), &ghost()).unwrap().dlid, world.port(2).lid);
        assert_eq!((count(&world, Counter::RouteCache), sends(&world, Method::GET)), (cached, 0));
    }
}

/// With the parameters of the group, a route is there as soon as the address is.
#[test]
fn a_route_of_the_group_is_made_at_once() {
    let core = Config { route_protocol: RouteProtocol::Acm, route_timeout: Some(60 * SECOND), ..Config::default() };
    let mut world = world(core);
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    world.run_for(61 * SECOND);
    let ask = world.ask(0, &resolve_request(Some(&name(0)), &name(1), EntryFlags::empty(), [1; 8]));
    assert_eq!(world.path(ask).unwrap().unwrap().dlid, world.port(1).lid);
    assert_eq!((count(&world, Counter::AddrCache), sends(&world, Method::GET)), (1, 1));
}

#[test]
fn what_nobody_uses_is_believed_again_and_again() {
    let mut world = world(Config { route_protocol: RouteProtocol::Acm, ..Config::default() });
    let strangers = [1, 2].map(|node| world.stranger(node));
    for (tid, stranger) in (7..).zip(strangers) {
        world.forge_request(stranger, 0, tid, &ghost(), &name(1));
    }
    assert_eq!((world.stat(0, "claims_checked"), world.stat(0, "claims_ignored")), (0, 0));
    assert_eq!(world.resolve(0, &name(0), &ghost()).unwrap().dlid, world.port(2).lid);
}

/// The address is known and used, and its route has had its time.
#[test]
fn a_claim_about_an_address_without_a_route() {
    let known = || {
        let mut world = world(Config { route_timeout: Some(60 * SECOND), ..Config::default() });
        assert!(world.resolve(0, &name(0), &name(1)).is_ok());
        world.run_for(61 * SECOND);
        world
    };
    // By the one who has it: nothing is new.
    let mut same = known();
    assert!(same.resolve(1, &name(1), &name(2)).is_ok());
    assert!(same.resolve(0, &name(0), &name(1)).is_ok());
    assert_eq!((same.stat(0, "claims_ignored"), sends(&same, Method::GET)), (0, 1));
    // By another: it is not believed, and the next asker asks the group.
    let mut other = known();
    let stranger = other.stranger(2);
    other.forge_request(stranger, 0, 7, &name(1), &ghost());
    assert_eq!(other.stat(0, "claims_ignored"), 1);
    assert_eq!(other.resolve(0, &name(0), &name(1)).unwrap().dlid, other.port(1).lid);
    assert_eq!(sends(&other, Method::GET), 2);
}

#[test]
fn a_claim_while_the_route_is_asked_for() {
    let mut world = world(Config::default());
    world.subnet.settings_mut().sa.delay = SECOND;
    let ask = world.ask(0, &resolve_request(Some(&name(0)), &name(1), EntryFlags::empty(), [1; 8]));
    // The other end asks for its way back, too, before it answers.
    world.run_for(SECOND * 3 / 2);
    assert_eq!(count(&world, Counter::RouteQuery), 1);
    let stranger = world.stranger(2);
    world.forge_request(stranger, 0, 7, &name(1), &name(0));
    assert_eq!((world.stat(0, "claims_ignored"), world.stat(0, "claims_checked")), (1, 0));
    assert_eq!(world.wait(ask).unwrap().dlid, world.port(1).lid);
    assert_eq!(sends(&world, Method::GET_RESP), 0);
}

/// Both its GID and its LID, and nothing else: with the same LID and another GID it is somebody else.
#[test]
fn a_peer_is_the_port_with_its_gid_and_its_lid() {
    for protocol in [RouteProtocol::Sa, RouteProtocol::Acm] {
        let mut world = world(Config { route_protocol: protocol, ..Config::default() });
        assert!(world.resolve(0, &name(0), &name(1)).is_ok());
        let (own, [first, second]) = (world.port(1).gids[0], ["fe80::77", "fe80::78"].map(|gid| gid.parse().unwrap()));
        let lid = world.port(1).lid;
        let elsewhere = Lid::new(lid.get() + 100);
        for (number, (gid, lid)) in (0..).zip([(own, lid), (first, lid), (own, elsewhere), (second, elsewhere)]) {
            let (mgid, _) = world.group();
            let mad = multicast::request(TransactionId::new(number), &name(0), &name(1), &[mgid]);
            let source = DatagramSource { lid, path_bits: 0, qpn: Qpn::of::<99>(), gid: Some(gid) };
            let payload = ib_mad::as_bytes(&mad);
            world.input(0, Input::Datagram { endpoint: EndpointId::new(0, 0), source, payload });
            // What the first of the others leads to is over before the next one comes.
            world.run_for(20 * SECOND);
            assert_eq!(world.stat(0, "claims_checked"), number, "{gid} {lid:?} {protocol:?}");
        }
    }
}

#[test]
fn a_peer_has_moved_if_its_queue_pair_is_another() {
    let mut world = world(Config::default());
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    assert!(world.resolve(1, &name(1), &ghost()).is_err());
    assert_eq!(peers_changed(&world), 0);
    world.restart(1);
    world.run_for(SECOND);
    assert!(world.resolve(1, &name(1), &ghost()).is_err());
    assert_eq!(peers_changed(&world), 1);
}

#[test]
fn askers_beyond_the_bound_are_counted() {
    let limits = Limits { responders: 0, ..Limits::default() };
    let mut refusing = world(Config { limits, ..Config::default() });
    let stranger = refusing.stranger(2);
    refusing.forge_request(stranger, 0, 7, &ghost(), &name(0));
    assert_eq!((refusing.stat(0, "responders_refused"), sends(&refusing, Method::GET_RESP)), (1, 0));
    // Of those who claim an address while the first claim is checked.
    for (responders, refused) in [(16, 0), (1, 1)] {
        let limits = Limits { responders, ..Limits::default() };
        let mut world = world(Config { limits, ..Config::default() });
        assert!(world.resolve(0, &name(0), &name(1)).is_ok());
        slow(&mut world);
        let stranger = world.stranger(2);
        for tid in [7, 8] {
            world.forge_request(stranger, 0, tid, &name(1), &name(0));
        }
        assert_eq!((world.stat(0, "claims_checked"), world.stat(0, "responders_refused")), (1, refused));
    }
}

/// Another program on our own port is another one.
#[test]
fn a_neighbour_on_our_port_is_answered() {
    let mut world = world(Config::default());
    let stranger = world.stranger(0);
    world.forge_request(stranger, 0, 7, &ghost(), &name(0));
    world.run_for(SECOND);
    assert_eq!(sends(&world, Method::GET_RESP), 1);
}

/// Node 0 serves node 1's address, and checks a stranger's claim to it.
fn checking_a_claim() -> World {
    let mut world = world(Config::default());
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    slow(&mut world);
    let stranger = world.stranger(2);
    world.forge_request(stranger, 0, 7, &name(1), &name(0));
    assert_eq!(world.stat(0, "claims_checked"), 1);
    world
}

/// What is served stays when the check of a claim ends with the port.
#[test]
fn a_claim_that_is_checked_while_the_port_goes_down() {
    let mut world = checking_a_claim();
    for state in [PortState::DOWN, PortState::ACTIVE] {
        world.subnet.set_port_state(World::port_id(0), state).unwrap();
        world.settle();
        assert_eq!(world.node(0).acm.check(), Ok(()));
    }
    let asked = sends(&world, Method::GET);
    assert_eq!(world.resolve(0, &name(0), &name(1)).unwrap().dlid, world.port(1).lid);
    assert_eq!(sends(&world, Method::GET), asked, "from the cache");
}

/// Its check ends, with all that it holds.
#[test]
fn an_address_whose_claim_is_checked_becomes_ours() {
    let mut world = checking_a_claim();
    world.input(0, Input::AddressAdded { port: PortId(0), pkey: None, address: name(1) });
    assert_eq!(world.node(0).acm.check(), Ok(()));
    assert_eq!(world.resolve(0, &name(0), &name(1)).unwrap().dlid, world.port(0).lid);
}
