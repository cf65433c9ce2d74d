//! The worlds of these tests, their requests, and queries of their logs and outputs.
use acm_sansio::{Account, Config, Event, Output, config::Limits};
use acm_sim::{Client, World, WorldConfig};
use acm_wire::client::{EntryFlags, path_request};
use core::time::Duration;
use ib_mad::sa::PathRecord;

pub(super) const USER: Account = Account::User(1);
pub(super) const OTHER: Account = Account::User(2);
pub(super) const SECOND: Duration = Duration::from_secs(1);

pub(super) fn with(limits: Limits) -> World {
    World::new(WorldConfig { core: Config { limits, ..Config::default() }, ..WorldConfig::default() })
}

pub(super) fn quiet() -> World {
    let mut world = World::new(WorldConfig::default());
    world.run_for(SECOND);
    world
}

pub(super) fn logged(world: &World, matches: impl Fn(&Event) -> bool) -> usize {
    world.node(0).host.events.iter().filter(|(_, event)| matches(event)).count()
}

pub(super) fn outputs(world: &World, since: usize, matches: impl Fn(&Output) -> bool) -> usize {
    world.transcript[since..].iter().filter(|(_, node, output)| *node == 0 && matches(output)).count()
}

pub(super) fn route(world: &mut World, account: Account, flags: EntryFlags) -> Client {
    let record = PathRecord { dlid: world.port(1).lid, ..PathRecord::default() };
    world.request_as(0, account, &path_request(&record, flags, [1; 8]))
}
