//! The world of these tests, what is asked in it, and what it saw.
use acm_sansio::{Account, Config, Event, Output, config::Limits};
use acm_sim::{Ask, World, WorldConfig};
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

pub(super) fn told(world: &World, is_it: impl Fn(&Event) -> bool) -> usize {
    world.node(0).host.events.iter().filter(|(_, event)| is_it(event)).count()
}

pub(super) fn outputs(world: &World, since: usize, is_it: impl Fn(&Output) -> bool) -> usize {
    world.transcript[since..].iter().filter(|(_, node, output)| *node == 0 && is_it(output)).count()
}

pub(super) fn route(world: &mut World, account: Account, flags: EntryFlags) -> Ask {
    let wanted = PathRecord { dlid: world.port(1).lid, ..PathRecord::default() };
    world.ask_as(0, account, &path_request(&wanted, flags, [1; 8]))
}
