//! Witnesses: requests that show the addresses of a node to all others at regular intervals.
use acm_sansio::{Config, Input, Output, PortId, Time};
use acm_sim::{World, WorldConfig, name};
use acm_wire::{
    Address,
    multicast::{self, MulticastMessage},
};
use core::time::Duration;
use ib_mad::{Pkey, TransactionId, sa::PathRecord};
use ib_sim::Faults;

const SECOND: Duration = Duration::from_secs(1);

fn world(nodes: u32) -> World {
    World::new(WorldConfig { nodes, witness: true, ..WorldConfig::default() })
}

/// Returns the witnesses of a node: time and both addresses.
fn witnesses(world: &World, of: usize) -> Vec<(Time, Address, Address)> {
    let witness = |(at, node, output): &(Time, usize, Output)| match output {
        Output::Send { mad, .. } if *node == of => match MulticastMessage::parse(ib_mad::as_bytes(mad)) {
            Ok(MulticastMessage::Request(request)) => request.also.map(|also| (*at, request.source, also)),
            _ => None,
        },
        _ => None,
    };
    world.transcript.iter().filter_map(witness).collect()
}

fn set_down(world: &mut World, from: usize, to: usize, down: bool) {
    let faults = Faults { down, ..Faults::default() };
    world.subnet.set_link(World::port_id(from), World::port_id(to), Some(faults));
}

// docs/deviations.md: witness
#[test]
fn witness_shows_two_addresses_in_turn_and_gets_no_response() {
    let mut world = world(3);
    world.run_for(SECOND);
    let before = world.subnet.counters();
    world.run_for(600 * SECOND);
    let sent = witnesses(&world, 0);
    let [first, second, third] = World::addresses(0);
    assert!(sent.iter().all(|(_, source, _)| *source == first));
    let also: Vec<Address> = sent.iter().map(|(.., also)| *also).collect();
    assert_eq!(also[..4], [second, third, first, second]);
    let pauses: Vec<Duration> = sent.windows(2).map(|pair| pair[1].0.since(pair[0].0)).collect();
    let range = Duration::from_millis(3750)..=Duration::from_millis(6250);
    assert!(pauses.len() > 100 && pauses.iter().all(|pause| range.contains(pause)), "{pauses:?}");
    let now = world.subnet.counters();
    assert_eq!((now.ud_unicast - before.ud_unicast, now.sa_path_queries - before.sa_path_queries), (0, 0));
    assert_eq!(world.stat(0, "witnesses"), sent.len() as u64);
}

/// Each address is in every third witness.
// docs/deviations.md: overheard
#[test]
fn each_address_that_a_witness_has_shown_is_found_without_the_group() {
    let mut world = world(3);
    world.run_for(30 * SECOND);
    for address in World::addresses(1) {
        let before = world.subnet.counters();
        assert_eq!(world.resolve(0, &name(0), &address).unwrap().dlid, world.port(1).lid);
        let now = world.subnet.counters();
        assert_eq!((now.ud_multicast - before.ud_multicast, now.ud_unicast - before.ud_unicast), (0, 2), "{address}");
    }
}

#[test]
fn interval_of_witnesses_grows_with_the_fabric() {
    let mut world = world(2);
    let port = ib_sim::Port { lid: ib_mad::Lid::new(10_000), ..world.port(0).clone() };
    world.subnet.set_port(World::port_id(0), port).unwrap();
    world.run_for(600 * SECOND);
    let count = witnesses(&world, 0).len();
    assert!((9..=17).contains(&count), "every 50 s: {count}");
}

#[test]
fn no_witness_is_sent_without_the_option() {
    let mut world = World::new(WorldConfig { nodes: 2, ..WorldConfig::default() });
    world.run_for(600 * SECOND);
    assert!(witnesses(&world, 0).is_empty());
    let config = Config { witness: true, ..world.node(0).acm.config().clone() };
    world.input(0, Input::Configure(config.clone().into()));
    world.run_for(600 * SECOND);
    let sent = witnesses(&world, 0).len();
    assert!(sent > 80, "from the next join on: {sent}");
    world.input(0, Input::Configure(Config { witness: false, ..config }.into()));
    world.run_for(600 * SECOND);
    assert_eq!(witnesses(&world, 0).len(), sent);
}

/// Node 2 does not receive the announcement of node 1, whose path it uses by GID.
// docs/deviations.md: witness
#[test]
fn missed_announcement_is_made_good_by_a_witness() {
    let core = Config { sa_notices: false, ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 3, core, witness: true, ..WorldConfig::default() });
    world.run_for(SECOND);
    let to = PathRecord { dgid: world.port(1).gids[0], ..PathRecord::default() };
    assert!(world.route(2, &to).is_ok());
    set_down(&mut world, 1, 2, true);
    let lids = [0, 1].map(|node| world.port(node).lid);
    for (node, lid) in [(0, lids[1]), (1, lids[0])] {
        let port = ib_sim::Port { lid: ib_mad::Lid::new(lid.get() + 100), ..world.port(node).clone() };
        world.subnet.set_port(World::port_id(node), port).unwrap();
    }
    world.run_for(SECOND);
    set_down(&mut world, 1, 2, false);
    assert_eq!(world.route(2, &to).unwrap().dlid, lids[1], "the old LID");
    world.run_for(8 * SECOND);
    assert_eq!(world.route(2, &to).unwrap().dlid, world.port(1).lid);
}

/// No host claims the address, and the node does not use it.
// docs/deviations.md: address-set
#[test]
fn address_that_a_host_has_lost_is_proven_after_its_next_witness() {
    let mut world = world(3);
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    assert!(world.resolve(0, &name(0), &World::addresses(1)[1]).is_ok());
    world.run_for(90 * SECOND);
    world.input(1, Input::AddressRemoved { port: PortId(0), pkey: None, address: name(1) });
    world.run_for(8 * SECOND);
    assert_eq!(world.stat(1, "addresses_refused"), 1, "the other address is proven");
    assert!(world.resolve(0, &name(0), &name(1)).is_err());
    let multicasts = world.subnet.counters().ud_multicast;
    assert!(world.resolve(0, &name(0), &World::addresses(1)[1]).is_ok());
    assert_eq!(world.subnet.counters().ud_multicast, multicasts);
}

/// Nothing else notifies node 0: the next confirmation would be up to a minute later.
// docs/deviations.md: witness
#[test]
fn path_to_a_host_that_left_the_partition_is_dropped_after_its_witnesses_are_missed() {
    const STORAGE: Pkey = Pkey::new(0x8001);
    let mut world = world(2);
    let set_pkeys = |world: &mut World, node: usize, pkeys: Vec<Pkey>| {
        let port = ib_sim::Port { pkeys, ..world.port(node).clone() };
        world.subnet.set_port(World::port_id(node), port).unwrap();
        world.settle();
    };
    for node in 0..2 {
        set_pkeys(&mut world, node, vec![Pkey::DEFAULT_FULL, STORAGE]);
        let address = Address::from_text(&format!("storage{node}"));
        world.input(node, Input::AddressAdded { port: PortId(0), pkey: Some(STORAGE), address });
    }
    world.run_for(10 * SECOND);
    let to = PathRecord { dgid: world.port(1).gids[0], pkey: STORAGE, ..PathRecord::default() };
    assert!(world.route(0, &to).is_ok());
    world.run_for(100 * SECOND);
    set_pkeys(&mut world, 1, vec![Pkey::DEFAULT_FULL]);
    // The path is not used, so that it is not confirmed.
    world.run_for(15 * SECOND);
    assert!(world.route(0, &to).is_err());
}

/// A burst of witnesses with the GID of another host, from its own LID.
#[test]
fn forged_witnesses_cost_one_proof_in_each_time_out() {
    let mut world = world(3);
    let addresses = World::addresses(1);
    addresses.iter().for_each(|address| assert!(world.resolve(0, &name(0), address).is_ok()));
    world.run_for(100 * SECOND);
    let remote = world.remote_host(1);
    let mgid = world.group().0;
    let before = world.subnet.counters();
    for number in 0..1000 {
        let mad = multicast::witness(TransactionId::new(number), &name(1), &name(1), &[mgid]);
        world.forge_multicast(remote, 0, &multicast::with_generation(mad, 1 + number as u16));
        world.run_for(SECOND / 1000);
    }
    let now = world.subnet.counters();
    let unicasts = now.ud_unicast - before.ud_unicast;
    assert!(unicasts <= 20, "{unicasts}");
    assert!(now.sa_path_queries - before.sa_path_queries <= 6);
    for address in addresses {
        assert_eq!(world.resolve(0, &name(0), &address).unwrap().dlid, world.port(1).lid);
    }
}

/// The subnet manager deletes the group without a notice. Nobody receives a witness, and the next repeated join would be
/// up to two minutes later.
// docs/deviations.md: join-retry
#[test]
fn groups_are_joined_again_when_no_host_sends_witnesses() {
    let core = Config { sa_notices: false, ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: 3, core, witness: true, ..WorldConfig::default() });
    world.run_for(20 * SECOND);
    let mgid = world.group().0;
    world.subnet.delete_group(mgid);
    let joins = world.stat(0, "joins");
    world.run_for(15 * SECOND);
    assert_eq!(world.stat(0, "joins"), joins + 1);
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
}

/// A witness compares 16 addresses. None of those that are gone is in a witness.
#[test]
fn each_of_many_addresses_that_a_host_no_longer_has_is_refused_within_three_witnesses() {
    let mut world = world(2);
    let all: Vec<Address> = (0..40).map(|number| Address::from_text(&format!("many{number}"))).collect();
    all.iter().for_each(|address| world.add_address(1, *address));
    world.run_for(10 * SECOND);
    all.iter().for_each(|address| _ = world.resolve(0, &name(0), address).unwrap());
    let (kept, gone) = all.split_at(20);
    gone.iter().for_each(|address| world.remove_address(1, *address));
    world.run_for(20 * SECOND);
    for address in kept {
        assert_eq!(world.resolve(0, &name(0), address).unwrap().dlid, world.port(1).lid, "{address}");
    }
    for address in gone {
        assert!(world.resolve(0, &name(0), address).is_err(), "{address}");
    }
}
