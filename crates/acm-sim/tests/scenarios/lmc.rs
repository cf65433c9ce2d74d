//! A port with several LIDs: LMC 2, four of them.
use acm_sansio::{Config, EndpointId, Input, Output, api::DatagramSource, config::RouteProtocol};
use acm_sim::{World, WorldConfig};
use acm_wire::{Address, multicast};
use ib_mad::{Lid, Method, Qpn, TransactionId, id::Lmc};
use ib_sim::SubnetConfig;

fn name(node: u32) -> Address {
    World::addresses(node)[0]
}

fn world(route_protocol: RouteProtocol) -> World {
    let subnet = SubnetConfig { lmc: Lmc::of::<2>(), ..SubnetConfig::default() };
    let core = Config { route_protocol, ..Config::default() };
    World::new(WorldConfig { nodes: 3, core, subnet, ..WorldConfig::default() })
}

/// Node 1's stranger-like datagram: a request by name 1 from one of node 1's LIDs to one of ours.
fn asked_from(world: &mut World, number: u16, path_bits: u8, tid: u64) {
    let (mgid, _) = world.group();
    let mad = multicast::request(TransactionId::new(tid), &name(0), &name(1), &[mgid]);
    let lid = Lid::new(world.port(1).lid.get() + number);
    let source = DatagramSource { lid, path_bits, qpn: Qpn::of::<99>(), gid: world.port(1).gids.first().copied() };
    let payload = ib_mad::as_bytes(&mad);
    world.input(0, Input::Datagram { endpoint: EndpointId::new(0, 0), source, payload });
}

/// The path bits and destinations of node 0's datagrams.
fn sends(world: &World, method: Method) -> Vec<(u8, Lid)> {
    let of = |output: &Output| match output {
        Output::Send { to, mad, .. } if mad.method == method => Some((to.way.path_bits, to.way.dlid)),
        _ => None,
    };
    world.transcript.iter().filter(|(_, node, _)| *node == 0).filter_map(|(_, _, output)| of(output)).collect()
}

#[test]
fn a_peer_that_asks_from_another_of_its_lids_is_the_same_peer() {
    let mut world = world(RouteProtocol::Sa);
    let path = world.resolve(0, &name(0), &name(1)).unwrap();
    assert_eq!((path.dlid, path.slid), (world.port(1).lid, world.port(0).lid));
    for number in 1..4 {
        let peer = world.stranger(1);
        world.forge_request(peer, number, u64::from(number), &name(1), &name(0));
    }
    assert_eq!(sends(&world, Method::GET_RESP).len(), 3, "each is answered at once");
    assert_eq!((world.stat(0, "claims_checked"), world.stat(0, "claims_ignored")), (0, 0));
    // The next base LID is another port.
    asked_from(&mut world, 4, 0, 9);
    assert_eq!(world.stat(0, "claims_checked"), 1);
}

/// Subnet administration's path leaves from the base LID, whichever of our LIDs the peer has used.
#[test]
fn answers_leave_from_the_lid_that_the_path_names() {
    let mut world = world(RouteProtocol::Sa);
    asked_from(&mut world, 0, 3, 1);
    assert_eq!(sends(&world, Method::GET_RESP), [(0, world.port(1).lid)]);
}

/// With the group's parameters the path leads back the way that the request came.
#[test]
fn a_path_of_the_group_leads_back_the_way_it_came() {
    let mut world = world(RouteProtocol::Acm);
    asked_from(&mut world, 1, 3, 1);
    assert_eq!(sends(&world, Method::GET_RESP), [(3, Lid::new(world.port(1).lid.get() + 1))]);
    let path = world.resolve(0, &name(0), &name(1)).unwrap();
    assert_eq!(path.slid.get(), world.port(0).lid.get() + 3);
    assert_eq!(path.dlid.get(), world.port(1).lid.get() + 1);
}

#[test]
fn requests_to_the_group_leave_from_the_base_lid() {
    let mut world = world(RouteProtocol::Acm);
    asked_from(&mut world, 1, 3, 1);
    assert!(world.resolve(0, &name(0), &name(2)).is_ok());
    let (_, mlid) = world.group();
    assert_eq!(sends(&world, Method::GET), [(0, mlid)]);
}

#[test]
fn a_claim_is_refuted_from_any_lid_of_the_owner() {
    let mut world = world(RouteProtocol::Sa);
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    let stranger = world.stranger(2);
    let down = ib_sim::Faults { down: true, ..ib_sim::Faults::default() };
    world.subnet.set_link(World::port_id(1), World::port_id(0), Some(down));
    world.forge_request(stranger, 0, 7, &name(1), &name(0));
    let tid = world.transcript.iter().rev().find_map(|(_, node, output)| match output {
        Output::Send { mad, .. } if *node == 0 && mad.method == Method::GET => Some(mad.transaction_id),
        _ => None,
    });
    let response = multicast::response(tid.unwrap(), world.group().0);
    let source = DatagramSource {
        lid: Lid::new(world.port(1).lid.get() + 2),
        path_bits: 0,
        qpn: Qpn::of::<99>(),
        gid: world.port(1).gids.first().copied(),
    };
    let payload = ib_mad::as_bytes(&response);
    world.input(0, Input::Datagram { endpoint: EndpointId::new(0, 0), source, payload });
    assert_eq!(world.stat(0, "claims_refuted"), 1);
}

#[test]
fn a_port_that_gets_another_lmc_asks_for_its_routes_again() {
    let mut world = world(RouteProtocol::Sa);
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    let before = world.subnet.counters().sa_path_queries;
    let mut port = world.port(0).clone();
    port.lmc = Lmc::of::<1>();
    world.subnet.set_port(World::port_id(0), port).unwrap();
    world.settle();
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    assert_eq!(world.subnet.counters().sa_path_queries, before + 1);
}
