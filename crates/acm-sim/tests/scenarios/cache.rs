//! Facts about cache entries for administrators, and the removal of entries.
use acm_sansio::{
    Account, Config, Input, Time,
    api::{CacheEntry, PathOrigin},
};
use acm_sim::{World, WorldConfig, name};
use acm_wire::{Address, client::Counter};
use core::time::Duration;

fn entry(world: &World, dest: &Address) -> Option<CacheEntry> {
    let mut found = None;
    let mut next = Some(0);
    while let Some(from) = next {
        next = world.node(0).acm.cache_entries(from, &mut |entry| {
            if entry.dest == *dest {
                found = Some(entry);
            }
        });
    }
    found
}

/// Returns when the path was found, confirmed and last used, and how often it was used.
fn times(world: &World) -> (Time, Time, Time, u32) {
    let path = entry(world, &name(1)).unwrap().path.unwrap();
    let last = path.last_use.unwrap();
    assert!(matches!(last.account, Account::User(_)));
    (path.found, path.confirmed, last.at, path.uses)
}

#[test]
fn entry_has_the_times_of_its_discovery_confirmation_and_uses() {
    let mut world = World::new(WorldConfig::default());
    assert_eq!(entry(&world, &name(1)), None);
    world.resolve(0, &name(0), &name(1)).unwrap();
    let found = world.now();
    let found_entry = entry(&world, &name(1)).unwrap();
    assert_eq!((found_entry.state, found_entry.cause), ("ready", "user"));
    assert_eq!(found_entry.gid, Some(world.port(1).gids[0]));
    let path = found_entry.path.unwrap();
    assert_eq!((path.source, path.record.dlid), (PathOrigin::Sa, world.port(1).lid));
    assert_eq!(times(&world).3, 1);
    world.run_for(Duration::from_secs(7));
    let used = world.now();
    world.resolve(0, &name(0), &name(1)).unwrap();
    let (first, confirmed, last, uses) = times(&world);
    assert!(first <= found && confirmed == first, "{first} {confirmed} {found}");
    assert_eq!((last, uses), (used, 2));
    // A path in use is confirmed in the background within a minute, which is no use of it.
    world.run_for(Duration::from_secs(120));
    let (again, confirmed, last, uses) = times(&world);
    assert!((again, last, uses) == (first, used, 2) && confirmed > used, "{confirmed}");
}

#[test]
fn source_is_the_group_with_route_prot_acm_and_local_for_an_own_address() {
    let core = Config { route_prot: acm_sansio::config::RouteProt::Acm, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.resolve(0, &name(0), &name(1)).unwrap();
    let sources = [1, 0].map(|node| entry(&world, &name(node)).unwrap().path.unwrap().source);
    assert_eq!(sources, [PathOrigin::Group, PathOrigin::Local]);
}

#[test]
fn failure_is_listed_until_it_expires() {
    let mut world = World::new(WorldConfig::default());
    let nobody = Address::from_text("nobody");
    world.resolve(0, &name(0), &nobody).unwrap_err();
    let failed = entry(&world, &nobody).unwrap();
    let (attempt, until) = failed.failure.unwrap();
    assert_eq!((failed.state, attempt.failure), ("failed", acm_sansio::Failure::NoResponse));
    assert_eq!(until, world.now() + Duration::from_secs(1));
}

#[test]
fn flushed_entry_is_looked_up_again_from_the_address_on() {
    let mut world = World::new(WorldConfig::default());
    let counts = |world: &World| {
        let counters = world.node(0).acm.counters();
        [Counter::AddrQuery, Counter::RouteQuery].map(|counter| counters.get(counter))
    };
    world.resolve(0, &name(0), &name(1)).unwrap();
    let before = counts(&world);
    let id = entry(&world, &name(1)).unwrap().id;
    world.input(0, Input::Flush(vec![id]));
    assert_eq!((entry(&world, &name(1)), world.stat(0, "destinations_flushed")), (None, 1));
    world.resolve(0, &name(0), &name(1)).unwrap();
    assert_eq!(counts(&world), before.map(|count| count + 1));
    // Its id is another one now.
    world.input(0, Input::Flush(vec![id]));
    assert!(entry(&world, &name(1)).is_some());
    assert_eq!(world.stat(0, "destinations_flushed"), 1);
}
