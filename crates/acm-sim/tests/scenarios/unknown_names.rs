//! Unknown names leave nothing in the cache and evict no cached path.
use acm_sansio::{Account, Config, config::Limits};
use acm_sim::{World, WorldConfig, name, unknown_name_request};
use acm_wire::client::{EntryFlags, RequestBuffer, resolve_request};
use core::time::Duration;

const USER: Account = Account::User(1);
const OTHER: Account = Account::User(2);

fn known(node: u32, flags: EntryFlags) -> RequestBuffer {
    resolve_request(Some(&name(0)), &name(node), flags, [1; 8])
}

/// A user requests names that no node has, 100,000 in a second: more than the cache has room for. Those that are refused
/// leave nothing in the cache, and those that fail evict nothing.
// docs/deadlines.md: not-found
#[test]
fn cached_paths_survive_the_unknown_names_of_another_user() {
    let small = Limits { destinations: 24, ..Limits::default() };
    for (limits, names) in [(small, 100_000), (Limits::default(), 150_000)] {
        let core = Config { limits, ..Config::default() };
        let mut world = World::new(WorldConfig { nodes: 21, core, transcript: false, ..WorldConfig::default() });
        for node in 1..21 {
            let client = world.request_as(0, USER, &known(node, EntryFlags::empty()));
            assert!(world.wait(client).is_ok());
        }
        let client = world.connect(0, OTHER);
        for number in 0..names {
            world.send(client, &unknown_name_request(number, EntryFlags::NO_DELAY));
            if number % 1000 == 999 {
                world.run_for(Duration::from_millis(10));
            }
        }
        assert_eq!(world.stat(0, "destinations_evicted"), 0);
        for node in 1..21 {
            let cached = world.request_as(0, USER, &known(node, EntryFlags::NO_DELAY));
            assert!(matches!(world.path(cached), Some(Ok(_))), "node {node}");
        }
        assert_eq!(world.node(0).acm.check(), Ok(()));
    }
}
