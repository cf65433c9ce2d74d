//! Ports with LMC 2, which have four LIDs each.
use acm_sansio::{
    Config, EndpointId, Input, Output,
    api::DatagramSource,
    config::{Prefetch, RouteProt},
};
use acm_sim::{World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, path_request, resolve_request},
    multicast,
};
use core::time::Duration;
use ib_mad::{Lid, Method, Qpn, TransactionId, id::Lmc, sa::PathRecord};
use ib_sim::SubnetConfig;

fn name(node: u32) -> Address {
    World::addresses(node)[0]
}

fn world(route_prot: RouteProt) -> World {
    let subnet = SubnetConfig { lmc: Lmc::of::<2>(), ..SubnetConfig::default() };
    let core = Config { route_prot, ..Config::default() };
    World::new(WorldConfig { nodes: 3, core, subnet, ..WorldConfig::default() })
}

/// Node 0 receives a request of node 1, from LID `base + offset` of node 1 to the LID of node 0 with `path_bits`.
fn receive_request(world: &mut World, offset: u16, path_bits: u8, tid: u64) {
    let (mgid, _) = world.group();
    let mad = multicast::request(TransactionId::new(tid), &name(0), &name(1), &[mgid]);
    let lid = Lid::new(world.port(1).lid.get() + offset);
    let source = DatagramSource {
        lid,
        path_bits,
        qpn: Qpn::of::<99>(),
        gid: world.port(1).gids.first().copied(),
        group: Some(mgid),
    };
    let payload = ib_mad::as_bytes(&mad);
    world.input(0, Input::Datagram { endpoint: EndpointId::new(0, 0), source, payload });
}

/// Node 0 receives node 1's response to its last request, between these LIDs.
fn receive_response(world: &mut World, offset: u16, path_bits: u8) {
    let tid = world.transcript.iter().rev().find_map(|(_, node, output)| match output {
        Output::Send { mad, .. } if *node == 0 && mad.method == Method::GET => Some(mad.transaction_id),
        _ => None,
    });
    let response = multicast::response(tid.unwrap(), world.group().0);
    let source = DatagramSource {
        lid: Lid::new(world.port(1).lid.get() + offset),
        path_bits,
        qpn: Qpn::of::<99>(),
        gid: world.port(1).gids.first().copied(),
        group: None,
    };
    let payload = ib_mad::as_bytes(&response);
    world.input(0, Input::Datagram { endpoint: EndpointId::new(0, 0), source, payload });
}

/// Returns path bits and destination LIDs of node 0's datagrams with this method.
fn sends(world: &World, method: Method) -> Vec<(u8, Lid)> {
    let of = |output: &Output| match output {
        Output::Send { to, mad, .. } if mad.method == method => Some((to.way.path_bits, to.way.dlid)),
        _ => None,
    };
    world.transcript.iter().filter(|(_, node, _)| *node == 0).filter_map(|(_, _, output)| of(output)).collect()
}

#[test]
fn request_from_another_lid_of_a_peer_is_no_claim() {
    let mut world = world(RouteProt::Sa);
    let path = world.resolve(0, &name(0), &name(1)).unwrap();
    assert_eq!((path.dlid, path.slid), (world.port(1).lid, world.port(0).lid));
    for number in 1..4 {
        let peer = world.remote_host(1);
        world.forge_request(peer, number, u64::from(number), &name(1), &name(0));
    }
    assert_eq!(sends(&world, Method::GET_RESP).len(), 3, "one response for each at once");
    assert_eq!((world.stat(0, "claims_checked"), world.stat(0, "claims_ignored")), (0, 0));
    // The LID after those of the port belongs to another port.
    receive_request(&mut world, 4, 0, 9);
    assert_eq!(world.stat(0, "claims_checked"), 1);
}

/// The path record has the base LID, and the peer's request used another local LID.
#[test]
fn response_is_sent_from_the_lid_in_the_path_record() {
    let mut world = world(RouteProt::Sa);
    receive_request(&mut world, 0, 3, 1);
    assert_eq!(sends(&world, Method::GET_RESP), [(0, world.port(1).lid)]);
}

/// `route_prot acm` takes both LIDs of the path for a response from the request.
#[test]
fn response_by_the_group_uses_the_lids_of_the_request() {
    let mut world = world(RouteProt::Acm);
    receive_request(&mut world, 1, 3, 1);
    assert_eq!(sends(&world, Method::GET_RESP), [(3, Lid::new(world.port(1).lid.get() + 1))]);
}

/// `route_prot acm` takes both LIDs of the path from the response.
#[test]
fn path_of_the_group_uses_the_lids_of_the_response() {
    let mut world = world(RouteProt::Acm);
    let down = ib_sim::Faults { down: true, ..ib_sim::Faults::default() };
    world.subnet.set_link(World::port_id(1), World::port_id(0), Some(down));
    let client = world.request(0, &resolve_request(Some(&name(0)), &name(1), EntryFlags::empty(), [1; 8]));
    receive_response(&mut world, 1, 3);
    let path = world.wait(client).unwrap();
    assert_eq!(path.slid.get(), world.port(0).lid.get() + 3);
    assert_eq!(path.dlid.get(), world.port(1).lid.get() + 1);
}

#[test]
fn multicast_request_is_sent_from_the_base_lid() {
    let mut world = world(RouteProt::Acm);
    receive_request(&mut world, 1, 3, 1);
    assert!(world.resolve(0, &name(0), &name(2)).is_ok());
    let (_, mlid) = world.group();
    assert_eq!(sends(&world, Method::GET), [(0, mlid)]);
}

#[test]
fn claim_is_refuted_from_any_lid_of_the_owner() {
    let mut world = world(RouteProt::Sa);
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    let remote = world.remote_host(2);
    let down = ib_sim::Faults { down: true, ..ib_sim::Faults::default() };
    world.subnet.set_link(World::port_id(1), World::port_id(0), Some(down));
    world.forge_request(remote, 0, 7, &name(1), &name(0));
    world.run_for(Duration::from_millis(100));
    receive_response(&mut world, 2, 0);
    world.run_for(Duration::from_secs(1));
    assert_eq!(world.stat(0, "claims_refuted"), 1);
}

#[test]
fn lmc_change_invalidates_routes() {
    let mut world = world(RouteProt::Sa);
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    let before = world.subnet.counters().sa_path_queries;
    let mut port = world.port(0).clone();
    port.lmc = Lmc::of::<1>();
    world.subnet.set_port(World::port_id(0), port).unwrap();
    world.settle();
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    assert_eq!(world.subnet.counters().sa_path_queries, before + 1);
}

/// Clients request alternate paths by the other LIDs of both ports (`acm_client::alternates`).
#[test]
fn paths_between_other_lids_are_cached_one_by_one() {
    for (route_prot, prefetch) in
        [(RouteProt::Sa, Prefetch::Off), (RouteProt::Sa, Prefetch::On), (RouteProt::Acm, Prefetch::Off)]
    {
        let subnet = SubnetConfig { lmc: Lmc::of::<2>(), ..SubnetConfig::default() };
        let core = Config { route_prot, prefetch, ..Config::default() };
        let mut world = World::new(WorldConfig { nodes: 3, core, subnet, ..WorldConfig::default() });
        world.run_for(Duration::from_secs(30));
        let primary = world.resolve(0, &name(0), &name(1)).unwrap();
        for queries in [3, 0] {
            let before = world.transcript.len();
            for offset in 1..4 {
                let other = |lid: Lid| Lid::new(lid.get() ^ offset);
                let PathRecord { sgid, dgid, pkey, slid, dlid, .. } = primary;
                let (slid, dlid) = (other(slid), other(dlid));
                let wanted = PathRecord { sgid, dgid, slid, dlid, pkey, ..PathRecord::default() };
                let client = world.request(0, &path_request(&wanted, EntryFlags::empty(), [2; 8]));
                let found = world.wait(client).unwrap();
                assert_eq!((found.slid, found.dlid, found.dgid), (slid, dlid, dgid), "{route_prot:?} {prefetch:?}");
            }
            let sent = world.transcript[before..].iter().filter(|(.., output)| matches!(output, Output::SaSend(_)));
            assert_eq!(sent.count(), queries, "{route_prot:?} {prefetch:?}");
        }
        // The LIDs after those of the local port belong to another one.
        let wanted = PathRecord { slid: Lid::new(primary.slid.get() ^ 4), dgid: primary.dgid, ..PathRecord::default() };
        let before = world.transcript.len();
        let client = world.request(0, &path_request(&wanted, EntryFlags::empty(), [3; 8]));
        assert_eq!(world.wait(client), Err(ClientStatus::ESRCADDR));
        assert!(!world.transcript[before..].iter().any(|(.., output)| matches!(output, Output::SaSend(_))));
    }
}
