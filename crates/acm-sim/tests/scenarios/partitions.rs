//! Paths whose partition went away: each path in use is confirmed in the background, and a query of a client that shows
//! that there is none drops it at once.
use acm_sansio::{Input, Output, PortId, Time};
use acm_sim::{World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, path_request},
};
use core::time::Duration;
use ib_mad::{AttributeId, Lid, Mtu, Pkey, Selected, Selector, sa::PathRecord};

const STORAGE: Pkey = Pkey::new(0x8001);
const SECOND: Duration = Duration::from_secs(1);

fn set_pkeys(world: &mut World, node: usize, pkeys: &[Pkey]) {
    let mut port = world.port(node).clone();
    port.pkeys = pkeys.to_vec();
    world.subnet.set_port(World::port_id(node), port).unwrap();
    world.settle();
}

/// Returns a world whose nodes are in two partitions. Node 0 has an address in both.
fn world(nodes: u32) -> World {
    let mut world = World::new(WorldConfig { nodes, ..WorldConfig::default() });
    (0..nodes as usize).for_each(|node| set_pkeys(&mut world, node, &[Pkey::DEFAULT_FULL, STORAGE]));
    let address = Address::from_text("storage1");
    world.input(0, Input::AddressAdded { port: PortId(0), pkey: Some(STORAGE), address });
    world.run_for(SECOND);
    world
}

fn to(world: &World, node: usize) -> PathRecord {
    PathRecord { dgid: world.port(node).gids[0], pkey: STORAGE, ..PathRecord::default() }
}

/// Returns the times of the path queries of node 0.
fn queries(world: &World) -> Vec<Time> {
    let is_query = |output: &Output| matches!(output, Output::SaSend(send) if send.mad.header.attribute_id == AttributeId::PATH_RECORD);
    let of_node = world.transcript.iter().filter(|(_, node, output)| *node == 0 && is_query(output));
    of_node.map(|(at, ..)| *at).collect()
}

fn query_sa(world: &mut World, record: &PathRecord) -> Result<PathRecord, ClientStatus> {
    let client = world.request(0, &path_request(record, EntryFlags::QUERY_SA, [3; 8]));
    world.wait(client)
}

/// Nothing notifies node 0. A pass takes 30 s, and the first one begins within 38 s.
// docs/deviations.md: refresh
#[test]
fn path_in_use_whose_partition_went_away_is_dropped_within_a_minute() {
    let mut world = world(3);
    let [lost, kept] = [1, 2].map(|node| to(&world, node));
    assert!(world.route(0, &lost).is_ok() && world.route(0, &kept).is_ok());
    set_pkeys(&mut world, 1, &[Pkey::DEFAULT_FULL]);
    let mut served = 0;
    while world.route(0, &lost).is_ok() {
        assert!(world.route(0, &kept).is_ok());
        served += 1;
        world.run_for(SECOND);
    }
    assert!((1..=60).contains(&served), "{served} s");
    for _ in 0..100 {
        assert_eq!(world.route(0, &lost), Err(ClientStatus::ENODATA));
        assert!(world.route(0, &kept).is_ok());
        world.run_for(SECOND);
    }
    // Back again.
    set_pkeys(&mut world, 1, &[Pkey::DEFAULT_FULL, STORAGE]);
    world.run_for(2 * SECOND);
    assert!(world.route(0, &lost).is_ok());
}

/// The subnet manager requests reregistration, as it does after its restart.
#[test]
fn path_whose_partition_went_away_is_dropped_within_5_s_of_a_reregistration() {
    let mut world = world(3);
    let lost = to(&world, 1);
    assert!(world.route(0, &lost).is_ok());
    set_pkeys(&mut world, 1, &[Pkey::DEFAULT_FULL]);
    world.subnet.reregister(World::port_id(0)).unwrap();
    world.settle();
    world.run_for(5 * SECOND);
    assert_eq!(world.route(0, &lost), Err(ClientStatus::ENODATA));
}

/// A partition of the local port.
#[test]
fn path_in_a_removed_partition_of_the_local_port_is_dropped_at_once() {
    let mut world = world(3);
    let lost = to(&world, 1);
    assert!(world.route(0, &lost).is_ok());
    set_pkeys(&mut world, 0, &[Pkey::DEFAULT_FULL]);
    assert_eq!(world.route(0, &lost), Err(ClientStatus::ESRCADDR));
    set_pkeys(&mut world, 0, &[Pkey::DEFAULT_FULL, STORAGE]);
    let before = queries(&world).len();
    assert!(world.route(0, &lost).is_ok());
    assert_eq!(queries(&world).len(), before + 1, "not from the cache");
}

/// A client verifies a path (`ib_acme -v`): the subnet administrator has none.
// docs/deviations.md: refresh
#[test]
fn path_that_a_query_of_a_client_does_not_find_is_dropped_at_once() {
    let mut world = world(3);
    let records = [1, 2].map(|node| to(&world, node));
    let paths = records.map(|record| world.route(0, &record).unwrap());
    let default = PathRecord { pkey: Pkey::DEFAULT_FULL, ..records[0] };
    assert!(world.route(0, &default).is_ok());
    // There is no path with this MTU, which the cached path does not have, either.
    let other = PathRecord { mtu: Selected::new(Selector::LessThan, Mtu::B256), ..records[0] };
    assert_eq!(query_sa(&mut world, &other), Err(ClientStatus::ENODATA));
    set_pkeys(&mut world, 1, &[Pkey::DEFAULT_FULL]);
    assert_eq!(world.route(0, &records[0]), Ok(paths[0]), "from the cache");
    assert_eq!(query_sa(&mut world, &paths[0]), Err(ClientStatus::ENODATA));
    assert_eq!(world.route(0, &records[0]), Err(ClientStatus::ENODATA));
    assert_eq!(world.stat(0, "paths_refuted"), 1);
    let before = queries(&world).len();
    assert!(world.route(0, &records[1]).is_ok() && world.route(0, &default).is_ok());
    assert_eq!(queries(&world).len(), before, "the other paths are cached");
}

/// All nodes of a fabric of 100 ports together confirm 1,000 paths in a second.
#[test]
fn only_paths_in_use_are_confirmed_and_at_the_pace_of_the_fabric() {
    let mut world = world(100);
    let records: Vec<PathRecord> = (1..100).map(|node| to(&world, node)).collect();
    for record in &records {
        world.route(0, record).unwrap();
    }
    let found = queries(&world).len();
    world.run_for(300 * SECOND);
    assert_eq!(queries(&world).len(), found, "no path was used after it was found");
    for record in &records[..50] {
        world.route(0, record).unwrap();
    }
    world.run_for(3600 * SECOND);
    let times = queries(&world).split_off(found);
    assert_eq!(times.len(), 50, "each path once, because none was used again");
    let pauses = times.windows(2).map(|pair| pair[1].since(pair[0]));
    assert!(pauses.clone().all(|pause| pause >= Duration::from_millis(70)), "{:?}", pauses.min());
}

/// Returns a world whose SA prefers STORAGE, and whose first node has an address in both partitions.
fn with_choice() -> World {
    let mut world = world(3);
    (0..3).for_each(|node| set_pkeys(&mut world, node, &[STORAGE, Pkey::DEFAULT_FULL]));
    let address = Address::from_text("default1");
    world.input(0, Input::AddressAdded { port: PortId(0), pkey: Some(Pkey::DEFAULT_FULL), address });
    world.run_for(SECOND);
    world
}

/// Returns the partition of the path to a node by GID, with this P_Key.
fn partition(world: &mut World, node: usize, pkey: Pkey) -> Result<Pkey, ClientStatus> {
    let record = PathRecord { pkey, ..to(world, node) };
    world.route(0, &record).map(|path| path.pkey)
}

// docs/deviations.md: default-partition
#[test]
fn sa_chooses_the_partition_if_each_has_an_address_and_the_request_has_no_p_key() {
    let (mut world, open) = (with_choice(), Pkey::default());
    assert_eq!(partition(&mut world, 1, open), Ok(STORAGE));
    assert_eq!(partition(&mut world, 1, Pkey::DEFAULT_FULL), Ok(Pkey::DEFAULT_FULL));
    assert_eq!(partition(&mut world, 1, STORAGE), Ok(STORAGE));
    let found = queries(&world).len();
    assert_eq!(
        [open, Pkey::DEFAULT_FULL].map(|pkey| partition(&mut world, 1, pkey)),
        [Ok(STORAGE), Ok(Pkey::DEFAULT_FULL)]
    );
    assert_eq!(queries(&world).len(), found, "each is cached");
    // A node that is in one of the partitions.
    set_pkeys(&mut world, 2, &[Pkey::DEFAULT_FULL]);
    assert_eq!(partition(&mut world, 2, open), Ok(Pkey::DEFAULT_FULL));
}

/// The daemon could not notice changes of hosts in a partition in which it has no endpoint.
// docs/deviations.md: default-partition
#[test]
fn partition_without_an_address_is_not_used() {
    let (mut world, open) = (with_choice(), Pkey::default());
    assert_eq!(partition(&mut world, 1, open), Ok(STORAGE));
    let pkeys = [STORAGE, Pkey::DEFAULT_FULL, Pkey::new(0x8003)];
    [0, 1].into_iter().for_each(|node| set_pkeys(&mut world, node, &pkeys));
    assert_eq!(partition(&mut world, 1, open), Ok(Pkey::DEFAULT_FULL), "of the endpoint in the default partition");
    let address = Address::from_text("third1");
    world.input(0, Input::AddressAdded { port: PortId(0), pkey: Some(pkeys[2]), address });
    world.run_for(SECOND);
    assert_eq!(partition(&mut world, 1, open), Ok(STORAGE));
}

#[test]
fn path_in_a_chosen_partition_follows_the_partitions_of_both_ports() {
    let (mut world, open) = (with_choice(), Pkey::default());
    assert_eq!([1, 2].map(|node| partition(&mut world, node, open)), [Ok(STORAGE); 2]);
    // Nothing notifies node 0 that its peer left the partition.
    set_pkeys(&mut world, 1, &[Pkey::DEFAULT_FULL]);
    let mut served = 0;
    while partition(&mut world, 1, open) == Ok(STORAGE) {
        served += 1;
        world.run_for(SECOND);
    }
    assert!((1..=60).contains(&served), "{served} s");
    assert_eq!(partition(&mut world, 1, open), Ok(Pkey::DEFAULT_FULL));
    set_pkeys(&mut world, 0, &[Pkey::DEFAULT_FULL]);
    assert_eq!(partition(&mut world, 2, open), Ok(Pkey::DEFAULT_FULL), "at once");
}

/// The path to node 1 is in the cache of node 0's first endpoint, in the partition of the other one, which node 1's
/// witnesses reach.
#[test]
fn path_in_a_partition_of_the_sas_choice_is_renewed_when_a_datagram_of_that_partition_contradicts_it() {
    let mut world = world(2);
    set_pkeys(&mut world, 1, &[STORAGE]);
    let address = Address::from_text("storage2");
    world.input(1, Input::AddressAdded { port: PortId(0), pkey: Some(STORAGE), address });
    world.run_for(SECOND);
    let record = PathRecord { pkey: Pkey::default(), ..to(&world, 1) };
    let path = world.route(0, &record).unwrap();
    assert_eq!((path.pkey, path.dlid), (STORAGE, world.port(1).lid));
    let mut port = world.port(1).clone();
    port.lid = Lid::new(99);
    world.subnet.set_port(World::port_id(1), port).unwrap();
    world.settle();
    world.run_for(3 * SECOND);
    assert_eq!(world.route(0, &record).map(|path| path.dlid), Ok(Lid::new(99)));
}
