//! The world of these tests, its requests, and queries of its transcript.
use acm_sansio::{
    Account, Config, Output, Time,
    api::SaSend,
    config::{Depth, ServiceIds},
};
use acm_sim::{Client, World, WorldConfig};
use acm_wire::client::{EntryFlags, path_request};
use core::time::Duration;
use ib_mad::{
    AttributeId, Method,
    sa::{McMemberRecord, PathRecord},
};
use ib_sim::Port;

pub(super) fn world(core: Config) -> World {
    // Each service id is a separate route in these tests.
    let core = Config { path_service_ids: ServiceIds::All, ..core };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    // Requests of the start have ended.
    world.run_for(Duration::from_secs(1));
    world
}

pub(super) fn depth(sa_depth: Depth) -> Config {
    Config { sa_depth, ..Config::default() }
}

/// Requests a path that is not cached: each traffic class is a separate path.
pub(super) fn route(world: &mut World, traffic_class: u8, flags: EntryFlags) -> Client {
    let record = PathRecord { dlid: world.port(1).lid, traffic_class, ..PathRecord::default() };
    world.request_as(0, Account::User(1), &path_request(&record, flags, [1; 8]))
}

pub(super) fn change(world: &mut World, node: usize, change: impl FnOnce(&mut Port)) {
    let mut port = world.port(node).clone();
    change(&mut port);
    world.subnet.set_port(World::port_id(node), port).unwrap();
    world.settle();
    // Verbs have no event for a new link speed, so a daemon reads the port periodically.
    world.read_port(node);
}

/// Returns a node's requests to subnet administration with their times.
pub(super) fn sends(world: &World, node: usize, since: usize) -> Vec<(Time, SaSend)> {
    let of = |(at, from, output): &(Time, usize, Output)| match output {
        Output::SaSend(send) if *from == node => Some((*at, *send)),
        _ => None,
    };
    world.transcript[since..].iter().filter_map(of).collect()
}

/// Returns a node's membership requests with their times.
pub(super) fn memberships(world: &World, node: usize, since: usize, method: Method) -> Vec<(Time, McMemberRecord)> {
    sends(world, node, since)
        .into_iter()
        .filter(|(_, send)| send.mad.header.attribute_id == AttributeId::MC_MEMBER_RECORD)
        .filter(|(_, send)| send.mad.header.method == method)
        .map(|(at, send)| (at, *send.mad.record::<McMemberRecord>().unwrap()))
        .collect()
}

pub(super) fn members(world: &World) -> Vec<usize> {
    world.subnet.groups().map(|group| group.members.len()).collect()
}
