//! Worlds with cached paths, and their path queries.
use acm_sansio::{Config, Output, Time};
use acm_sim::{World, WorldConfig};
use acm_wire::{Address, client::Counter};
use core::time::Duration;
use ib_mad::{AttributeId, Lid};

pub(super) const MINUTE: Duration = Duration::from_secs(60);

pub(super) fn name(node: u32) -> Address {
    World::addresses(node)[0]
}

pub(super) fn count(world: &World, counter: Counter) -> u64 {
    world.node(0).acm.counters().get(counter)
}

/// Changes the LID of a node's port. Only the node gets an event.
pub(super) fn set_lid(world: &mut World, node: usize, lid: u16) {
    let mut port = world.port(node).clone();
    port.lid = Lid::new(lid);
    world.subnet.set_port(World::port_id(node), port).unwrap();
    world.settle();
}

/// Returns the times of node 0's path queries.
pub(super) fn path_queries(world: &World) -> Vec<Time> {
    let is_path = |output: &Output| matches!(output, Output::SaSend(send) if send.mad.header.attribute_id == AttributeId::PATH_RECORD);
    world.transcript.iter().filter(|(_, node, output)| *node == 0 && is_path(output)).map(|(at, ..)| *at).collect()
}

/// Resolves a node from node 0's cache and returns the destination LID.
pub(super) fn cached(world: &mut World, node: u32) -> Lid {
    let (start, queries) = (world.now(), path_queries(world).len());
    let path = world.resolve(0, &name(0), &name(node)).unwrap();
    assert_eq!((world.now(), path_queries(world).len()), (start, queries), "from the cache");
    path.dlid
}

/// Returns a world in which node 0 has cached nodes 1 and 2 and uses them.
pub(super) fn world_with_cache(core: Config) -> World {
    let mut world = World::new(WorldConfig { nodes: 3, core, ..WorldConfig::default() });
    for node in [1, 2, 1, 2] {
        world.resolve(0, &name(0), &name(node)).unwrap();
    }
    world.run_for(Duration::from_secs(10));
    world
}
