//! Addresses of network interfaces: wherever the kernel has them, and nowhere else.
use acm_sansio::{Input, Output, PortId, port::InterfaceAddress};
use acm_sim::{World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, resolve_request},
};
use core::net::{IpAddr, Ipv6Addr};
use ib_mad::{Gid, Pkey, PortState, Qpn, sa::PathRecord};
use ib_sim::{NodeId, SubnetConfig};

/// Nodes with two ports each; names and file addresses are on the first.
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

fn tell(world: &mut World, node: usize, all: &[InterfaceAddress]) {
    world.input(node, Input::Interfaces(all.to_vec()));
    // Endpoints join their groups.
    world.run_for(core::time::Duration::from_secs(1));
}

fn resolve(world: &mut World, node: usize, source: &str, dest: &str) -> Result<PathRecord, ClientStatus> {
    let path = world.resolve(node, &Address::from_text(source), &Address::from_text(dest));
    assert_eq!(world.node(node).acm.check(), Ok(()));
    path
}

#[test]
fn an_address_is_at_the_port_of_its_interface_in_both_families() {
    let mut world = world(2);
    let (first, second) = (gid(&world, 0, 1), gid(&world, 0, 2));
    let link_local = Ipv6Addr::from(second).to_string();
    tell(
        &mut world,
        0,
        &[at(first, "10.8.0.1"), at(second, "10.8.0.2"), at(second, "fd08::2"), at(second, &link_local)],
    );
    for (dest, expected) in [("10.8.0.1", first), ("10.8.0.2", second), ("fd08::2", second), (&link_local, second)] {
        assert_eq!(resolve(&mut world, 1, "node2", dest).unwrap().dgid, expected, "{dest}");
        let own = resolve(&mut world, 0, dest, dest).unwrap();
        assert_eq!((own.sgid, own.dgid), (expected, expected), "{dest}");
        let other = resolve(&mut world, 0, dest, "node2").unwrap();
        assert_eq!(other.sgid, expected, "{dest}");
    }
}

#[test]
fn an_address_may_come_before_its_port() {
    let mut world = world(2);
    let second = gid(&world, 0, 2);
    world.subnet.set_port_state(port(0, 2), PortState::DOWN).unwrap();
    world.settle();
    tell(&mut world, 0, &[at(second, "10.8.0.2"), at("fe80::77".parse().unwrap(), "10.8.0.3")]);
    for nobodys in ["10.8.0.2", "10.8.0.3"] {
        assert_eq!(resolve(&mut world, 0, nobodys, nobodys), Err(ClientStatus::ESRCADDR));
    }
    world.subnet.set_port_state(port(0, 2), PortState::ACTIVE).unwrap();
    world.run_for(core::time::Duration::from_secs(1));
    assert_eq!(resolve(&mut world, 1, "node2", "10.8.0.2").unwrap().dgid, second);
    assert_eq!(resolve(&mut world, 0, "10.8.0.3", "10.8.0.3"), Err(ClientStatus::ESRCADDR));
}

#[test]
fn an_address_that_moves_leaves_nothing_behind() {
    let mut world = world(3);
    let (first, second) = (gid(&world, 0, 1), gid(&world, 0, 2));
    for (asker, home) in [(1, first), (2, second)] {
        tell(&mut world, 0, &[at(home, "10.8.0.1")]);
        // The group is told of it within four seconds.
        world.run_for(core::time::Duration::from_secs(4));
        let own = resolve(&mut world, 0, "10.8.0.1", "10.8.0.1").unwrap();
        assert_eq!((own.sgid, own.dgid), (home, home));
        let name = format!("node{}", asker + 1);
        assert_eq!(resolve(&mut world, asker, &name, "10.8.0.1").unwrap().dgid, home);
        assert_eq!(resolve(&mut world, 0, "10.8.0.1", &name).unwrap().sgid, home);
    }
    tell(&mut world, 0, &[]);
    assert_eq!(resolve(&mut world, 0, "10.8.0.1", "node2"), Err(ClientStatus::ESRCADDR));
    assert_eq!(resolve(&mut world, 0, "node1", "10.8.0.1"), Err(ClientStatus::ETIMEDOUT));
}

/// What this node knew of a peer's address is void when the address is its own, at whatever port.
#[test]
fn an_address_that_comes_from_a_peer_is_the_peers_no_more() {
    let mut world = world(2);
    let (peer, second) = (gid(&world, 1, 1), gid(&world, 0, 2));
    tell(&mut world, 1, &[at(peer, "10.8.0.9")]);
    assert_eq!(resolve(&mut world, 0, "node1", "10.8.0.9").unwrap().dgid, peer);
    tell(&mut world, 1, &[]);
    tell(&mut world, 0, &[at(second, "10.8.0.9")]);
    assert_eq!(resolve(&mut world, 0, "node1", "10.8.0.9").unwrap().dgid, second);
}

#[test]
fn the_kernel_knows_better_than_a_file() {
    let mut world = world(2);
    let (first, second) = (gid(&world, 0, 1), gid(&world, 0, 2));
    let address = Address::from_text("10.8.0.1");
    world.input(0, Input::AddressAdded { port: PortId(0), pkey: None, address });
    let served = |world: &mut World| resolve(world, 0, "10.8.0.1", "10.8.0.1").unwrap().dgid;
    assert_eq!(served(&mut world), first);
    tell(&mut world, 0, &[at(second, "10.8.0.1")]);
    assert_eq!(served(&mut world), second);
    // The interface has another address: the file's word is the last one again.
    tell(&mut world, 0, &[at(second, "10.8.0.2")]);
    assert_eq!(served(&mut world), first);
    world.input(0, Input::AddressRemoved { port: PortId(0), pkey: None, address });
    assert_eq!(resolve(&mut world, 0, "10.8.0.1", "node2"), Err(ClientStatus::ESRCADDR));
}

#[test]
fn an_interface_is_in_its_partition() {
    let mut world = world(2);
    for node in 0..2 {
        let mut config = world.port(node).clone();
        config.pkeys = vec![Pkey::DEFAULT_FULL, Pkey::new(0x8001)];
        world.subnet.set_port(World::port_id(node), config).unwrap();
        world.settle();
        let child = |address| InterfaceAddress { pkey: Some(Pkey::new(0x0001)), ..address };
        let here = gid(&world, u32::try_from(node).unwrap(), 1);
        tell(&mut world, node, &[child(at(here, &format!("10.1.0.{}", node + 1)))]);
    }
    let path = resolve(&mut world, 0, "10.1.0.1", "10.1.0.2").unwrap();
    assert_eq!((path.pkey, path.dgid), (Pkey::new(0x8001), gid(&world, 1, 1)));
    assert_eq!(resolve(&mut world, 0, "node1", "10.1.0.2"), Err(ClientStatus::ETIMEDOUT), "it is in no other");
}

#[test]
fn the_same_again_costs_nothing() {
    let mut world = world(1);
    let all = [at(gid(&world, 0, 1), "10.8.0.1")];
    tell(&mut world, 0, &all);
    let (since, stats) = (world.transcript.len(), *world.node(0).acm.stats());
    tell(&mut world, 0, &all);
    assert_eq!((world.transcript.len(), *world.node(0).acm.stats()), (since, stats));
    tell(&mut world, 0, &[]);
    let closed =
        |output: &Output| matches!(output, Output::Log(event) if event.to_string().starts_with("Removed 10.8.0.1"));
    assert_eq!(world.transcript[since..].iter().filter(|(_, _, output)| closed(output)).count(), 1);
}

/// Whoever hears a request learns where its source is: nobody may learn that of an address that is gone.
#[test]
fn a_lookup_goes_on_from_another_address() {
    let mut world = world(2);
    let first = gid(&world, 0, 1);
    tell(&mut world, 0, &[at(first, "10.8.0.1")]);
    let (source, nobody) = (Address::from_text("10.8.0.1"), Address::from_text("nobody"));
    let ask = world.ask(0, &resolve_request(Some(&source), &nobody, EntryFlags::empty(), [1; 8]));
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
    assert_eq!(world.wait(ask), Err(ClientStatus::ETIMEDOUT));
    assert_eq!(sources(&world, since), [Address::from_text("node1"); 2]);
}
