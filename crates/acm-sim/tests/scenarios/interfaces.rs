//! Addresses of network interfaces: they are served at the port of their interface only.
use acm_sansio::{Input, Output, PortId, port::InterfaceAddress};
use acm_sim::{World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter, EntryFlags, resolve_request},
};
use core::net::{IpAddr, Ipv6Addr};
use ib_mad::{Gid, Pkey, PortState, Qpn, sa::PathRecord};
use ib_sim::{NodeId, SubnetConfig};

/// Returns a world of nodes with two ports each. Names and addresses of the file belong to the first port.
fn world(nodes: u32) -> World {
    let subnet = SubnetConfig { ports_per_node: 2, ..SubnetConfig::default() };
    World::new(WorldConfig { nodes, subnet, ..WorldConfig::default() })
}

fn port(node: u32, number: u8) -> ib_sim::PortId {
    ib_sim::PortId { node: NodeId::new(node + 1), port: number }
}

fn gid(world: &World, node: u32, number: u8) -> Gid {
    world.subnet.port(port(node, number)).unwrap().gids[0]
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn at(gid: Gid, address: &str) -> InterfaceAddress {
    InterfaceAddress { gid, pkey: Some(Pkey::DEFAULT_FULL), address: ip(address) }
}

fn set_interfaces(world: &mut World, node: usize, all: &[InterfaceAddress]) {
    world.input(node, Input::Interfaces(all.to_vec()));
    // New endpoints join their groups.
    world.run_for(core::time::Duration::from_secs(1));
}

fn resolve(world: &mut World, node: usize, source: &str, dest: &str) -> Result<PathRecord, ClientStatus> {
    let path = world.resolve(node, &Address::from_text(source), &Address::from_text(dest));
    assert_eq!(world.node(node).acm.check(), Ok(()));
    path
}

#[test]
fn interface_address_belongs_to_the_port_of_its_interface() {
    let mut world = world(2);
    let (first, second) = (gid(&world, 0, 1), gid(&world, 0, 2));
    let link_local = Ipv6Addr::from(second).to_string();
    set_interfaces(
        &mut world,
        0,
        &[at(first, "10.8.0.1"), at(second, "10.8.0.2"), at(second, "fd08::2"), at(second, &link_local)],
    );
    for (dest, expected) in [("10.8.0.1", first), ("10.8.0.2", second), ("fd08::2", second), (&link_local, second)] {
        assert_eq!(resolve(&mut world, 1, "node2", dest).unwrap().dgid, expected, "{dest}");
        let local = resolve(&mut world, 0, dest, dest).unwrap();
        assert_eq!((local.sgid, local.dgid), (expected, expected), "{dest}");
        let other = resolve(&mut world, 0, dest, "node2").unwrap();
        assert_eq!(other.sgid, expected, "{dest}");
    }
}

#[test]
fn interface_address_is_served_once_its_port_is_active() {
    let mut world = world(2);
    let second = gid(&world, 0, 2);
    world.subnet.set_port_state(port(0, 2), PortState::DOWN).unwrap();
    world.settle();
    set_interfaces(&mut world, 0, &[at(second, "10.8.0.2"), at("fe80::77".parse().unwrap(), "10.8.0.3")]);
    for inactive in ["10.8.0.2", "10.8.0.3"] {
        assert_eq!(resolve(&mut world, 0, inactive, inactive), Err(ClientStatus::ESRCADDR));
    }
    world.subnet.set_port_state(port(0, 2), PortState::ACTIVE).unwrap();
    world.run_for(core::time::Duration::from_secs(1));
    assert_eq!(resolve(&mut world, 1, "node2", "10.8.0.2").unwrap().dgid, second);
    assert_eq!(resolve(&mut world, 0, "10.8.0.3", "10.8.0.3"), Err(ClientStatus::ESRCADDR));
}

#[test]
fn cached_paths_follow_an_address_that_moves_to_another_port() {
    let mut world = world(3);
    let (first, second) = (gid(&world, 0, 1), gid(&world, 0, 2));
    for (peer, home) in [(1, first), (2, second)] {
        set_interfaces(&mut world, 0, &[at(home, "10.8.0.1")]);
        // The node announces the address to the group within four seconds.
        world.run_for(core::time::Duration::from_secs(4));
        let local = resolve(&mut world, 0, "10.8.0.1", "10.8.0.1").unwrap();
        assert_eq!((local.sgid, local.dgid), (home, home));
        let name = format!("node{}", peer + 1);
        assert_eq!(resolve(&mut world, peer, &name, "10.8.0.1").unwrap().dgid, home);
        assert_eq!(resolve(&mut world, 0, "10.8.0.1", &name).unwrap().sgid, home);
    }
    set_interfaces(&mut world, 0, &[]);
    assert_eq!(resolve(&mut world, 0, "10.8.0.1", "node2"), Err(ClientStatus::ESRCADDR));
    assert_eq!(resolve(&mut world, 0, "node1", "10.8.0.1"), Err(ClientStatus::ETIMEDOUT));
}

/// The peer's address is cached when it is added to the second local port.
#[test]
fn address_taken_over_from_a_peer_is_local() {
    let mut world = world(2);
    let (peer, second) = (gid(&world, 1, 1), gid(&world, 0, 2));
    set_interfaces(&mut world, 1, &[at(peer, "10.8.0.9")]);
    assert_eq!(resolve(&mut world, 0, "node1", "10.8.0.9").unwrap().dgid, peer);
    set_interfaces(&mut world, 1, &[]);
    set_interfaces(&mut world, 0, &[at(second, "10.8.0.9")]);
    assert_eq!(resolve(&mut world, 0, "node1", "10.8.0.9").unwrap().dgid, second);
}

// docs/deviations.md: ip-in-file
#[test]
fn interface_address_takes_precedence_over_the_address_file() {
    let mut world = world(2);
    let (first, second) = (gid(&world, 0, 1), gid(&world, 0, 2));
    let address = Address::from_text("10.8.0.1");
    world.input(0, Input::AddressAdded { port: PortId(0), pkey: None, address });
    let served = |world: &mut World| resolve(world, 0, "10.8.0.1", "10.8.0.1").unwrap().dgid;
    assert_eq!(served(&mut world), first);
    set_interfaces(&mut world, 0, &[at(second, "10.8.0.1")]);
    assert_eq!(served(&mut world), second);
    // The interface gets another address, so the address file applies again.
    set_interfaces(&mut world, 0, &[at(second, "10.8.0.2")]);
    assert_eq!(served(&mut world), first);
    world.input(0, Input::AddressRemoved { port: PortId(0), pkey: None, address });
    assert_eq!(resolve(&mut world, 0, "10.8.0.1", "node2"), Err(ClientStatus::ESRCADDR));
}

#[test]
fn interface_address_is_served_in_its_partition_only() {
    let mut world = world(2);
    for node in 0..2 {
        let mut config = world.port(node).clone();
        config.pkeys = vec![Pkey::DEFAULT_FULL, Pkey::new(0x8001)];
        world.subnet.set_port(World::port_id(node), config).unwrap();
        world.settle();
        let child = |address| InterfaceAddress { pkey: Some(Pkey::new(0x0001)), ..address };
        let here = gid(&world, u32::try_from(node).unwrap(), 1);
        set_interfaces(&mut world, node, &[child(at(here, &format!("10.1.0.{}", node + 1)))]);
    }
    let path = resolve(&mut world, 0, "10.1.0.1", "10.1.0.2").unwrap();
    assert_eq!((path.pkey, path.dgid), (Pkey::new(0x8001), gid(&world, 1, 1)));
    assert_eq!(
        resolve(&mut world, 0, "node1", "10.1.0.2"),
        Err(ClientStatus::ETIMEDOUT),
        "not in the default partition"
    );
}

#[test]
fn unchanged_interfaces_cause_no_output() {
    let mut world = world(1);
    let all = [at(gid(&world, 0, 1), "10.8.0.1")];
    set_interfaces(&mut world, 0, &all);
    let (since, stats) = (world.transcript.len(), *world.node(0).acm.stats());
    set_interfaces(&mut world, 0, &all);
    assert_eq!((world.transcript.len(), *world.node(0).acm.stats()), (since, stats));
    set_interfaces(&mut world, 0, &[]);
    let closed =
        |output: &Output| matches!(output, Output::Log(event) if event.to_string().starts_with("Removed 10.8.0.1"));
    assert_eq!(world.transcript[since..].iter().filter(|(_, _, output)| closed(output)).count(), 1);
}

/// Receivers of a multicast request cache its source address, so repetitions must not have a removed address.
#[test]
fn lookup_continues_from_another_address_if_its_source_is_removed() {
    let mut world = world(2);
    let first = gid(&world, 0, 1);
    set_interfaces(&mut world, 0, &[at(first, "10.8.0.1")]);
    let (source, unknown) = (Address::from_text("10.8.0.1"), Address::from_text("nobody"));
    let client = world.request(0, &resolve_request(Some(&source), &unknown, EntryFlags::empty(), [1; 8]));
    let since = world.transcript.len();
    let sources = |world: &World, since: usize| -> Vec<Address> {
        let sent = world.transcript[since..].iter().filter_map(|(_, _, output)| match output {
            Output::Send { to, mad, .. } if to.qpn == Qpn::MULTICAST => Some(mad),
            _ => None,
        });
        sent.map(|mad| Address::decode(mad.src_type, &mad.src.0).unwrap()).collect()
    };
    assert_eq!(sources(&world, 0).last(), Some(&source));
    world.input(0, Input::Interfaces(vec![]));
    assert_eq!(world.wait(client), Err(ClientStatus::ETIMEDOUT));
    assert_eq!(sources(&world, since), [Address::from_text("node1"); 2]);
}

/// Names are compared without their case. One of two spellings of a name leaves, and the other stays.
#[test]
fn name_in_another_case_stays_when_one_leaves() {
    let mut world = World::new(WorldConfig::default());
    let [small, large] = ["extra", "EXTRA"].map(Address::from_text);
    for address in [small, large] {
        world.input(1, Input::AddressAdded { port: PortId(0), pkey: None, address });
    }
    world.input(1, Input::AddressRemoved { port: PortId(0), pkey: None, address: large });
    assert!(resolve(&mut world, 0, "node1", "extra").is_ok());
    let multicasts = |world: &World| world.node(1).acm.counters().get(Counter::AddrQuery);
    let before = multicasts(&world);
    assert!(resolve(&mut world, 1, "extra", "extra").is_ok());
    assert_eq!(multicasts(&world), before, "it is local");
    world.input(1, Input::AddressRemoved { port: PortId(0), pkey: None, address: small });
    assert_eq!(resolve(&mut world, 1, "extra", "node1"), Err(ClientStatus::ESRCADDR));
}
