//! Doubts without witnesses: each leads to a proof, before the first use of the address.
use acm_sansio::{Config, Input, PortId};
use acm_sim::{World, WorldConfig, name};
use acm_wire::Address;
use core::time::Duration;
use ib_mad::{Lid, PortState};
use ib_sim::Port;

const SECOND: Duration = Duration::from_secs(1);

fn world() -> World {
    let core = Config { sa_notices: false, ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 4, core, ..WorldConfig::default() });
    world.run_for(SECOND);
    world
}

/// The IPv4 address of node 1, which moves.
fn address() -> Address {
    World::addresses(1)[1]
}

fn move_address(world: &mut World, from: usize, to: usize) {
    world.input(from, Input::AddressRemoved { port: PortId(0), pkey: None, address: address() });
    world.input(to, Input::AddressAdded { port: PortId(0), pkey: None, address: address() });
}

fn set_lid(world: &mut World, node: usize, lid: u16) {
    let port = Port { lid: Lid::new(lid), ..world.port(node).clone() };
    world.subnet.set_port(World::port_id(node), port).unwrap();
    world.settle();
}

fn resolve(world: &mut World) -> Lid {
    world.resolve(0, &name(0), &address()).map(|path| path.dlid).unwrap_or_default()
}

#[test]
fn path_of_the_sa_to_a_new_lid_does_not_prove_the_address() {
    let mut world = world();
    assert_eq!(resolve(&mut world), world.port(1).lid);
    let port = Port { lid: Lid::new(100), ..world.port(1).clone() };
    world.subnet.set_port(World::port_id(1), port).unwrap();
    world.input(1, Input::AddressRemoved { port: PortId(0), pkey: None, address: address() });
    world.run_for(5 * SECOND);
    assert!(world.stat(1, "addresses_refused") > 0);
    assert_eq!(resolve(&mut world), Lid::default());
}

#[test]
fn claim_during_the_check_of_another_one_is_checked_after_it() {
    for pause_ms in [100, 400, 700, 1000] {
        let mut world = world();
        assert_eq!(resolve(&mut world), world.port(1).lid);
        for (from, to) in [(1, 2), (2, 1), (1, 3)] {
            move_address(&mut world, from, to);
            world.run_for(Duration::from_millis(pause_ms));
        }
        world.run_for(15 * SECOND);
        assert_eq!(resolve(&mut world), world.port(3).lid, "{pause_ms} ms");
    }
}

/// The port is down while the new owner announces the address.
#[test]
fn address_is_proven_after_the_own_port_was_down_or_has_moved() {
    for lid in [None, Some(100)] {
        let mut world = world();
        assert_eq!(resolve(&mut world), world.port(1).lid);
        world.run_for(SECOND);
        world.subnet.set_port_state(World::port_id(0), PortState::DOWN).unwrap();
        world.settle();
        move_address(&mut world, 1, 2);
        world.run_for(3 * SECOND);
        world.subnet.set_port_state(World::port_id(0), PortState::ACTIVE).unwrap();
        world.settle();
        if let Some(lid) = lid {
            set_lid(&mut world, 0, lid);
        }
        world.run_for(180 * SECOND);
        assert_eq!(resolve(&mut world), world.port(2).lid, "{lid:?}");
    }
}
