//! The world of these tests, what is asked in it, and what it saw.
use acm_sansio::{
    Account, Config, Output, Time,
    api::SaSend,
    config::{SaDepth, ServiceIds},
};
use acm_sim::{Ask, World, WorldConfig};
use acm_wire::client::{EntryFlags, path_request};
use core::time::Duration;
use ib_mad::{
    AttributeId, Method,
    sa::{McMemberRecord, PathRecord},
};
use ib_sim::Port;

pub(super) fn world(core: Config) -> World {
    // Each service id is a route of its own here.
    let core = Config { path_service_ids: ServiceIds::All, ..core };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    // Whatever belongs to the start is over.
    world.run_for(Duration::from_secs(1));
    world
}

pub(super) fn depth(sa_depth: SaDepth) -> Config {
    Config { sa_depth, ..Config::default() }
}

/// Asks for a route that nobody asked for before: the traffic class makes it one of its own.
pub(super) fn route(world: &mut World, traffic_class: u8, flags: EntryFlags) -> Ask {
    let wanted = PathRecord { dlid: world.port(1).lid, traffic_class, ..PathRecord::default() };
    world.ask_as(0, Account::User(1), &path_request(&wanted, flags, [1; 8]))
}

pub(super) fn change(world: &mut World, node: usize, change: impl FnOnce(&mut Port)) {
    let mut port = world.port(node).clone();
    change(&mut port);
    world.subnet.set_port(World::port_id(node), port).unwrap();
    world.settle();
    // Verbs have no event for a link that changes its speed; whoever runs the core reads the port now and then.
    world.read_port(node);
}

/// What a node sent to subnet administration, and when.
pub(super) fn sends(world: &World, node: usize, since: usize) -> Vec<(Time, SaSend)> {
    let of = |(at, from, output): &(Time, usize, Output)| match output {
        Output::SaSend(send) if *from == node => Some((*at, *send)),
        _ => None,
    };
    world.transcript[since..].iter().filter_map(of).collect()
}

/// What a node asked about memberships, and when.
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
