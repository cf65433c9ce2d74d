//! Paths by the parameters of a group that are compared with those of the subnet administrator (`route_prot acm`).
use acm_sansio::{Config, Event, Output, api::ResolverEvent, config::RouteProt};
use acm_sim::{World, WorldConfig, name};
use core::time::Duration;
use ib_mad::{AttributeId, ServiceLevel};
use ib_sim::Settings;

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);

fn world(nodes: u32, route_prot: RouteProt, change: impl Fn(&mut Settings)) -> World {
    let mut settings = Settings::default();
    change(&mut settings);
    let core = Config { route_prot, ..Config::default() };
    let mut world = World::new(WorldConfig { nodes, core, settings, ..WorldConfig::default() });
    world.run_for(5 * SECOND);
    world
}

/// Returns the number of path queries of all nodes.
fn queries(world: &World) -> usize {
    let is_query = |output: &Output| matches!(output, Output::SaSend(send) if send.mad.header.attribute_id == AttributeId::PATH_RECORD);
    world.transcript.iter().filter(|(.., output)| is_query(output)).count()
}

fn reported(world: &World) -> usize {
    let is_report = |event: &Event| matches!(event, Event::Ibacmp(ResolverEvent::GroupUnsuitable(..)));
    world.node(0).host.events.iter().filter(|(_, event)| is_report(event)).count()
}

fn resolve(world: &mut World, node: u32) {
    world.resolve(0, &name(0), &name(node)).unwrap();
    world.run_for(2 * SECOND);
}

// docs/deviations.md: compared-paths
#[test]
fn first_path_and_then_one_in_an_hour_is_compared_with_the_sas() {
    let mut world = world(4, RouteProt::Acm, |_| {});
    resolve(&mut world, 1);
    resolve(&mut world, 2);
    assert_eq!((world.stat(0, "paths_compared"), world.stat(0, "paths_unlike"), reported(&world)), (1, 0, 0));
    let before = queries(&world);
    world.run_for(HOUR);
    assert_eq!(queries(&world), before, "without a new path, nothing is compared");
    resolve(&mut world, 3);
    assert_eq!((world.stat(0, "paths_compared"), queries(&world)), (2, before + 1));
}

/// Paths to each peer have the same service level here, as those between two nodes of a torus.
// docs/deviations.md: compared-paths
#[test]
fn path_with_another_level_or_in_one_direction_is_counted_and_reported_once() {
    let sl = |settings: &mut Settings| settings.path.sl = ServiceLevel::of::<3>();
    let irreversible = |settings: &mut Settings| settings.path.reversible = false;
    let changes: [&dyn Fn(&mut Settings); 2] = [&sl, &irreversible];
    for change in changes {
        let mut world = world(4, RouteProt::Acm, change);
        resolve(&mut world, 1);
        assert_eq!((world.stat(0, "paths_unlike"), reported(&world)), (1, 1));
        world.run_for(HOUR);
        resolve(&mut world, 2);
        assert_eq!((world.stat(0, "paths_unlike"), reported(&world)), (2, 1));
    }
}

#[test]
fn nothing_is_compared_without_paths_by_the_group_or_without_a_response() {
    let mut by_sa = world(3, RouteProt::Sa, |settings| settings.path.sl = ServiceLevel::of::<3>());
    resolve(&mut by_sa, 1);
    assert_eq!((by_sa.stat(0, "paths_compared"), queries(&by_sa)), (0, 2), "the path, and that of the response");
    let mut silent = world(3, RouteProt::Acm, |_| {});
    silent.subnet.settings_mut().sa.mute = true;
    resolve(&mut silent, 1);
    silent.run_for(60 * SECOND);
    assert_eq!((silent.stat(0, "paths_compared"), reported(&silent)), (0, 0));
}

/// All nodes find their first paths at one instant.
#[test]
fn nodes_do_not_compare_their_first_paths_at_once() {
    let mut world = world(64, RouteProt::Acm, |_| {});
    for node in 0..64 {
        world
            .resolve(node, &name(u32::try_from(node).unwrap()), &name(u32::try_from((node + 1) % 64).unwrap()))
            .unwrap();
    }
    let end = world.now() + SECOND;
    world.run_for(2 * SECOND);
    let is_query = |output: &Output| matches!(output, Output::SaSend(send) if send.mad.header.attribute_id == AttributeId::PATH_RECORD);
    let mut times: Vec<_> =
        world.transcript.iter().filter(|(.., output)| is_query(output)).map(|(at, ..)| *at).collect();
    assert!(times.len() >= 64 && times.iter().all(|at| *at <= end), "{times:?}");
    times.dedup();
    assert!(times.len() > 32, "{times:?}");
}
