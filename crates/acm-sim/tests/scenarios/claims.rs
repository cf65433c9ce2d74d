//! Claims of an address that many nodes use: their cost, and that nobody is misled.
use acm_sansio::{Config, Event, Input, PortId, api::ResolverEvent};
use acm_sim::{World, WorldConfig};
use acm_wire::Address;
use core::time::Duration;
use ib_mad::PortState;
use ib_sim::{Counters, Faults, Probability};

const NODES: u32 = 100;
const SECOND: Duration = Duration::from_secs(1);

fn name(node: u32) -> Address {
    World::addresses(node)[0]
}

/// Returns a world in which all nodes from 2 on use the name of node 0. Notices of the SA would reveal a dead port.
fn users() -> World {
    let core = Config { sa_notices: false, ..Config::default() };
    let mut world = World::new(WorldConfig { nodes: NODES, core, transcript: false, ..WorldConfig::default() });
    for node in 2..NODES {
        assert!(world.resolve(node as usize, &name(node), &name(0)).is_ok());
    }
    world.run_for(30 * SECOND);
    world
}

/// Runs for five seconds. Returns multicast datagrams, unicast datagrams and path queries from `before` on.
fn cost(world: &mut World, before: Counters) -> (u64, u64, u64) {
    world.run_for(5 * SECOND);
    let now = world.subnet.counters();
    let [multicast, unicast] = [now.ud_multicast - before.ud_multicast, now.ud_unicast - before.ud_unicast];
    (multicast, unicast, now.sa_path_queries - before.sa_path_queries)
}

/// Checks that all nodes from 2 on have the path to `owner` in their caches.
fn assert_all_use(world: &mut World, owner: usize) {
    let before = world.subnet.counters().ud_multicast;
    for node in 2..NODES {
        let path = world.resolve(node as usize, &name(node), &name(0)).unwrap();
        assert_eq!(path.dlid, world.port(owner).lid, "node {node}");
    }
    assert_eq!(world.subnet.counters().ud_multicast, before, "no multicast request");
}

fn sum(world: &World, stat: &str) -> u64 {
    (0..NODES).map(|node| world.stat(node as usize, stat)).sum()
}

fn add_address(world: &mut World, node: usize) {
    world.input(node, Input::AddressAdded { port: PortId(0), pkey: None, address: name(0) });
}

// docs/deviations.md: defence
#[test]
fn forged_claim_costs_one_defence() {
    let mut world = users();
    let remote = world.remote_host(1);
    let before = world.subnet.counters();
    world.forge_request(remote, 0, 7, &name(0), &name(0));
    assert_eq!(cost(&mut world, before), (2, 0, 0), "the claim and the defence");
    assert_eq!((world.stat(0, "defences"), world.stat(0, "address_conflicts")), (1, 1));
    assert_eq!(sum(&world, "claims_refuted"), u64::from(NODES) - 2);
    assert_all_use(&mut world, 0);
}

/// The owner defends its address at once only once in 10 s. After that, the first node that checks a claim causes the
/// defence, and the others do not check it.
// docs/deviations.md: defence
#[test]
fn forged_claim_within_ten_seconds_of_a_defence_costs_one_check() {
    let mut world = users();
    let remote = world.remote_host(1);
    world.forge_request(remote, 0, 7, &name(0), &name(0));
    world.run_for(3 * SECOND);
    let before = world.subnet.counters();
    world.forge_request(remote, 0, 8, &name(0), &name(0));
    // The claim and the defence; a request to the owner, its response, and a request to the forger.
    assert_eq!(cost(&mut world, before), (2, 3, 0));
    assert_eq!(world.stat(0, "defences"), 2);
    assert_eq!((sum(&world, "claims_refuted"), sum(&world, "claims_confirmed")), (2 * (u64::from(NODES) - 2), 0));
    assert_all_use(&mut world, 0);
}

/// An owner that does not receive the claim does not defend its address, nor does C ibacm. Each user asks it by unicast
/// and then, in vain, the forger.
#[test]
fn forged_claim_without_a_defence_costs_no_multicast_request() {
    let mut world = users();
    let remote = world.remote_host(1);
    let down = Faults { down: true, ..Faults::default() };
    world.subnet.set_link(World::port_id(1), World::port_id(0), Some(down));
    let before = world.subnet.counters();
    world.forge_request(remote, 0, 8, &name(0), &name(0));
    let users = u64::from(NODES) - 2;
    assert_eq!(cost(&mut world, before), (1, 5 * users, 0));
    assert_eq!((sum(&world, "claims_refuted"), sum(&world, "claims_confirmed")), (users, 0));
    assert_all_use(&mut world, 0);
}

#[test]
fn forged_claim_misleads_nobody_when_datagrams_are_lost() {
    let mut world = users();
    let remote = world.remote_host(1);
    world.subnet.settings_mut().faults = Faults { loss: Probability::percent(20), ..Faults::default() };
    let before = world.subnet.counters();
    for tid in 0..10 {
        world.forge_request(remote, 0, tid, &name(0), &name(0));
        world.run_for(SECOND / 10);
    }
    let (multicast, ..) = cost(&mut world, before);
    // The first defence, and that at the first check.
    assert_eq!((multicast, sum(&world, "claims_confirmed")), (12, 0));
    assert_all_use(&mut world, 0);
}

/// The old owner is dead, or alive without the address.
// docs/deviations.md: claim
#[test]
fn all_users_follow_an_address_that_moves_within_five_seconds() {
    for is_dead in [true, false] {
        let mut world = users();
        if is_dead {
            world.subnet.set_port_state(World::port_id(0), PortState::DOWN).unwrap();
            world.settle();
        } else {
            world.input(0, Input::AddressRemoved { port: PortId(0), pkey: None, address: name(0) });
        }
        let before = world.subnet.counters();
        add_address(&mut world, 1);
        let (multicast, unicast, queries) = cost(&mut world, before);
        // The new owner announces its four addresses; each node asks the old owner three times, and the new one.
        assert_eq!((multicast, sum(&world, "claims_confirmed")), (4, u64::from(NODES) - 2));
        assert!(unicast <= 5 * u64::from(NODES) && queries <= 2 * u64::from(NODES), "{unicast} {queries}");
        assert_all_use(&mut world, 1);
    }
}

#[test]
fn address_of_two_hosts_is_a_conflict_and_keeps_its_path() {
    let mut world = users();
    add_address(&mut world, 1);
    // Both have defended it: once at the claim of the other, and then at the checks of the users, once in 5 s.
    for (seconds, defences) in [(5, 2), (600, 122)] {
        world.run_for(seconds * SECOND);
        let counts = [0, 1].map(|node| (world.stat(node, "defences"), world.stat(node, "address_conflicts")));
        assert_eq!(counts, [(defences, 1); 2]);
    }
    assert_all_use(&mut world, 0);
}

#[test]
fn conflict_is_logged_with_both_gids() {
    let mut world = World::new(WorldConfig { nodes: 3, ..WorldConfig::default() });
    assert!(world.resolve(2, &name(2), &name(0)).is_ok());
    add_address(&mut world, 1);
    world.run_for(5 * SECOND);
    let [first, second] = [0, 1].map(|node| world.port(node).gids[0]);
    let logged = |node: usize| {
        world.node(node).host.events.iter().any(|(_, event)| {
            matches!(event, Event::Ibacmp(ResolverEvent::AddressConflict(_, address, known, other))
                if *address == name(0) && [*known, *other] == if node == 1 { [second, first] } else { [first, second] })
        })
    };
    // The user is spared the check.
    assert_eq!([0, 1, 2].map(logged), [true, true, false]);
    assert_eq!(world.stat(2, "claims_confirmed"), 0);
}
