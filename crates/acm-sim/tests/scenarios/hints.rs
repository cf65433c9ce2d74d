//! The first use of an address whose owner no response has confirmed: the host that claimed it before the group is
//! asked, and the group if there is any doubt.
use acm_sansio::{
    Config, EndpointId, Event, Input, Output, PortId,
    api::{DatagramSource, ResolverEvent},
    config::RouteProt,
};
use acm_sim::{World, WorldConfig};
use acm_wire::{Address, multicast};
use core::time::Duration;
use ib_mad::{Gid, Guid, Lid, Method, Qpn, TransactionId};

fn name(node: u32) -> Address {
    World::addresses(node)[0]
}

fn unknown() -> Address {
    Address::from_text("ghost")
}

fn world() -> World {
    World::new(WorldConfig { nodes: 4, ..WorldConfig::default() })
}

/// Returns the receivers of node 0's requests: `true` is a group.
fn asks(world: &World) -> Vec<bool> {
    let request = |(_, node, output): &(_, usize, Output)| match output {
        Output::Send { to, mad, .. } if *node == 0 && mad.method == Method::GET => Some(to.way.dlid.is_multicast()),
        _ => None,
    };
    world.transcript.iter().filter_map(request).collect()
}

/// Resolves a name of a node from node 0, and checks that the path leads there.
fn assert_found(world: &mut World, node: u32) {
    let path = world.resolve(0, &name(0), &name(node)).unwrap();
    assert_eq!(path.dlid, world.port(node as usize).lid);
}

fn is_conflict(event: &Event) -> bool {
    matches!(event, Event::Ibacmp(ResolverEvent::AddressConflict(..)))
}

// docs/deviations.md: overheard
#[test]
fn host_of_an_overheard_request_is_asked_by_unicast() {
    for route_prot in [RouteProt::Sa, RouteProt::Acm] {
        let core = Config { route_prot, ..Config::default() };
        let mut world = World::new(WorldConfig { nodes: 4, core, ..WorldConfig::default() });
        assert!(world.resolve(1, &name(1), &name(2)).is_ok());
        assert_found(&mut world, 1);
        assert_eq!(asks(&world), [false]);
        assert_found(&mut world, 1);
        assert_eq!(asks(&world), [false], "from the cache");
    }
}

#[test]
fn two_nodes_learn_both_directions_from_one_multicast_request() {
    let mut world = world();
    assert!(world.resolve(1, &name(1), &name(0)).is_ok());
    let before = world.subnet.counters();
    assert_found(&mut world, 1);
    let now = world.subnet.counters();
    assert_eq!((now.ud_multicast - before.ud_multicast, now.ud_unicast - before.ud_unicast), (0, 2));
}

/// The owner defends its name, so that two hosts claim it.
// docs/deviations.md: overheard
#[test]
fn group_is_asked_for_an_address_that_two_hosts_claim() {
    let mut world = world();
    let remote = world.remote_host(2);
    world.forge_request(remote, 0, 7, &name(1), &unknown());
    world.run_for(Duration::from_secs(1));
    assert_eq!((world.stat(1, "defences"), asks(&world)), (1, vec![]));
    // Another claim of the forger removes no doubt.
    world.forge_request(remote, 0, 8, &name(1), &unknown());
    assert_found(&mut world, 1);
    assert_eq!(asks(&world), [true]);
}

/// The owner does not receive it.
// docs/deviations.md: overheard
#[test]
fn group_is_asked_for_an_address_that_was_claimed_by_unicast() {
    let mut world = world();
    let (mgid, _) = world.group();
    let mad = multicast::request(TransactionId::new(7), &name(0), &name(1), &[mgid]);
    let before = world.node(0).acm.report().to_string();
    let gid = Some("fe80::77".parse().unwrap());
    let source = DatagramSource { lid: Lid::new(99), path_bits: 0, qpn: Qpn::of::<99>(), gid, group: None };
    world.input(0, Input::Datagram { endpoint: EndpointId::new(0, 0), source, payload: ib_mad::as_bytes(&mad) });
    assert_eq!(world.node(0).acm.report().to_string(), before, "nothing is cached");
    assert_found(&mut world, 1);
    assert_eq!(asks(&world), [true]);
}

// docs/deviations.md: overheard
#[test]
fn group_is_asked_after_a_claimant_that_is_silent() {
    let mut world = world();
    let remote = world.remote_host(2);
    world.forge_request(remote, 0, 7, &unknown(), &name(1));
    assert!(world.resolve(0, &name(0), &unknown()).is_err());
    assert_eq!(asks(&world), [false, true, true, true]);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

// docs/deviations.md: defence
#[test]
fn two_hosts_that_respond_are_a_conflict() {
    let mut world = world();
    world.input(2, Input::AddressAdded { port: PortId(0), pkey: None, address: name(1) });
    let path = world.resolve(0, &name(0), &name(1)).unwrap();
    world.run_for(Duration::from_secs(1));
    assert_eq!((world.stat(0, "address_conflicts"), world.stat(0, "unexpected_responses")), (1, 0));
    assert_eq!(world.resolve(0, &name(0), &name(1)).unwrap(), path, "the first response counts");
    let mut conflict = None;
    world.node(0).acm.cache_entries(0, &mut |entry| {
        if entry.dest == name(1) {
            conflict = entry.conflict;
        }
    });
    let gids = [1, 2].map(|node| world.port(node).gids[0]);
    let conflict = conflict.expect("the entry has it");
    assert!(gids.contains(&conflict.used) && gids.contains(&conflict.other) && conflict.used != conflict.other);
    assert_eq!(conflict.used, path.dgid, "the path is that of the host that responded first");
    let logged = world.node(0).host.events.iter().filter(|(_, event)| is_conflict(event)).count();
    assert_eq!((world.stat(0, "address_conflicts"), logged), (1, 1));
}

/// Returns a world in which node 2 is another port of node 1's adapter, with the same name.
fn with_two_ports() -> World {
    let mut world = world();
    let mut port = world.port(2).clone();
    let gid = world.port(1).gids[0];
    port.gids = vec![Gid::from_parts(gid.prefix(), Guid::new(gid.interface_id().get() + 1))];
    world.subnet.set_port(World::port_id(2), port).unwrap();
    world.input(2, Input::AddressAdded { port: PortId(0), pkey: None, address: name(1) });
    world.run_for(Duration::from_secs(10));
    world
}

// docs/deviations.md: defence
#[test]
fn two_ports_of_an_adapter_with_one_name_are_no_conflict() {
    let mut world = with_two_ports();
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    assert!(world.resolve(2, &name(1), &name(3)).is_ok());
    assert!(world.resolve(1, &name(1), &name(3)).is_ok());
    world.run_for(Duration::from_secs(1));
    assert_eq!(["address_conflicts", "unexpected_responses", "claims_checked"].map(|stat| world.stat(0, stat)), [0; 3]);
}
