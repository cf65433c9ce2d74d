//! Doubts without witnesses: each leads to a proof, before the first use of the address.
use acm_sansio::{Config, Input, PortId};
use acm_sim::{World, WorldConfig, name};
use acm_wire::{
    Address,
    client::{EntryFlags, resolve_request},
};
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

/// The address moves after its owner has responded to the check, while the claimant is silent.
#[test]
fn claim_after_the_response_of_the_owner_is_checked() {
    let mut world = world();
    assert_eq!(resolve(&mut world), world.port(1).lid);
    world.input(2, Input::AddressAdded { port: PortId(0), pkey: None, address: address() });
    while world.stat(0, "claims_checked") == 0 {
        assert!(world.step(), "the claim is checked");
    }
    world.stop_daemon(2);
    world.run_for(SECOND / 10);
    move_address(&mut world, 1, 3);
    world.run_for(15 * SECOND);
    assert_eq!(resolve(&mut world), world.port(3).lid);
}

/// The SA is slow: the new owner announces the address while the old one queries the path for its response, or while the
/// path to the old one is queried.
#[test]
fn claim_during_a_lookup_is_checked_after_it() {
    for pause_ms in [100, 600] {
        let mut world = world();
        world.subnet.settings_mut().sa.delay = SECOND / 2;
        let message = resolve_request(Some(&name(0)), &address(), EntryFlags::empty(), [7; 8]);
        let client = world.request(0, &message);
        world.run_for(Duration::from_millis(pause_ms));
        move_address(&mut world, 1, 2);
        assert_eq!(world.wait(client).map(|path| path.dlid), Ok(world.port(1).lid));
        world.run_for(15 * SECOND);
        assert_eq!(resolve(&mut world), world.port(2).lid, "{pause_ms} ms");
    }
}

/// The path has expired, and the location is still cached.
#[test]
fn location_is_proven_after_its_host_has_lost_an_address() {
    let core = Config { route_timeout: Some(60 * SECOND), ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 4, core, witness: true, ..WorldConfig::default() });
    world.run_for(SECOND);
    assert_eq!(resolve(&mut world), world.port(1).lid);
    world.run_for(180 * SECOND);
    world.input(1, Input::AddressRemoved { port: PortId(0), pkey: None, address: address() });
    world.run_for(15 * SECOND);
    assert_eq!(resolve(&mut world), Lid::default());
}

/// The port is down while the new owner announces the address. A path that was renewed and not used since is renewed at
/// its next use only.
#[test]
fn address_is_proven_after_the_own_port_was_down_or_has_moved() {
    for (lid, is_renewed) in [(None, false), (Some(100), false), (None, true)] {
        let mut world = world();
        assert_eq!(resolve(&mut world), world.port(1).lid);
        world.run_for(SECOND);
        if is_renewed {
            world.subnet.restart_sm(None);
            assert_eq!(resolve(&mut world), world.port(1).lid);
            world.run_for(60 * SECOND);
        }
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
        assert_eq!(resolve(&mut world), world.port(2).lid, "{lid:?} {is_renewed}");
    }
}
