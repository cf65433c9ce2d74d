//! The requests that all nodes send to subnet administration when the subnet manager restarts.
use acm_sansio::{
    Account, Output, Time,
    retry::{JOIN_SPREAD, NOTICES_SPREAD},
};
use acm_sim::{World, WorldConfig};
use acm_wire::client::{EntryFlags, path_request};
use core::time::Duration;
use ib_mad::{AttributeId, sa::PathRecord};

const SECOND: Duration = Duration::from_secs(1);

/// Returns a world in which each node has this many paths to other nodes in use.
fn world_with_paths(nodes: u32, paths: usize) -> World {
    let mut world = World::new(WorldConfig { nodes, ..WorldConfig::default() });
    let sa = &mut world.subnet.settings_mut().sa;
    (sa.delay, sa.service_time, sa.queue) = (Duration::from_micros(50), Duration::from_micros(20), 4096);
    world.run_for(5 * SECOND);
    let nodes = nodes as usize;
    // The second request is answered from the cache, so that the path is in use.
    for node in (0..nodes).chain(0..nodes) {
        let client = world.connect(node, Account::User(0));
        for path in 0..paths {
            let record = PathRecord { dlid: world.port((node + 1 + path) % nodes).lid, ..PathRecord::default() };
            world.send(client, &path_request(&record, EntryFlags::empty(), [1; 8]));
        }
        world.run_for(Duration::from_millis(10));
        world.disconnect(client);
    }
    world.run_for(5 * SECOND);
    world
}

/// Returns the times of all requests with an attribute.
fn times(world: &World, since: usize, attribute: AttributeId) -> Vec<Time> {
    let is_it = |output: &Output| matches!(output, Output::SaSend(send) if send.mad.header.attribute_id == attribute);
    world.transcript[since..].iter().filter(|(.., output)| is_it(output)).map(|(at, ..)| *at).collect()
}

// docs/deviations.md: refresh
#[test]
fn restart_causes_joins_then_subscriptions_then_refreshes() {
    for (nodes, paths) in [(50, 49), (300, 10)] {
        let mut world = world_with_paths(nodes, paths);
        let (start, since) = (world.now(), world.transcript.len());
        world.subnet.restart_sm(None);
        world.run_for(20 * SECOND);
        let [joins, subscriptions, refreshes] =
            [AttributeId::MC_MEMBER_RECORD, AttributeId::INFORM_INFO, AttributeId::PATH_RECORD]
                .map(|attribute| times(&world, since, attribute));
        let nodes = nodes as usize;
        assert_eq!((joins.len(), subscriptions.len(), refreshes.len()), (nodes, 4 * nodes, paths * nodes));
        let joined = start + JOIN_SPREAD.least;
        assert!(joins.iter().all(|at| *at < joined) && subscriptions.iter().all(|at| *at >= joined));
        let subscribed = joined + NOTICES_SPREAD.least;
        assert!(refreshes.iter().all(|at| *at >= subscribed));
        let in_first_second = refreshes.iter().filter(|at| at.since(start) < SECOND).count();
        let in_a_second = |from: &Time| refreshes.iter().filter(|at| **at >= *from && at.since(*from) < SECOND).count();
        let most = refreshes.iter().step_by(nodes / 10).map(in_a_second).max().unwrap();
        println!("{nodes} nodes: {in_first_second} refreshes in the first second, at most {most} in a second");
        assert!(in_first_second <= 2 * nodes, "{in_first_second}");
        assert!(most <= 5000, "a tenth of the requests that the SA answers in a second: {most}");
    }
}

/// All ports come up at the same instant. The SA loses the joins beyond its queue.
#[test]
fn joins_beyond_the_queue_of_the_sa_are_repeated_within_five_seconds() {
    let mut world = world_with_paths(100, 0);
    let sa = &mut world.subnet.settings_mut().sa;
    (sa.service_time, sa.queue) = (Duration::from_millis(5), 10);
    for state in [ib_mad::PortState::DOWN, ib_mad::PortState::ACTIVE] {
        (0..100).for_each(|node| world.subnet.set_port_state(World::port_id(node), state).unwrap());
        world.settle();
    }
    world.run_for(5 * SECOND);
    assert!(world.subnet.counters().sa_overflows > 0);
    assert_eq!(world.subnet.groups().map(|group| group.members.len()).collect::<Vec<_>>(), [100]);
    assert_eq!(world.subnet.counters().mad_retries, 0, "no device repeats a request");
}

/// Requests for paths that are not cached, beside the refreshes of all nodes.
#[test]
fn request_takes_at_most_twice_the_calm_time_beside_refreshes() {
    const NODES: usize = 100;
    let mut world = world_with_paths(100, 20);
    let mut number = 0;
    let mut slowest = |world: &mut World| -> Vec<Duration> {
        let mut times: Vec<Duration> = (0..400)
            .map(|_| {
                number += 1;
                let (from, to) = (number * 7 % NODES, number * 31 % NODES);
                let record = PathRecord {
                    dlid: world.port(to).lid,
                    traffic_class: u8::try_from(1 + number % 255).unwrap(),
                    ..PathRecord::default()
                };
                let start = world.now();
                world.route(from, &record).unwrap();
                let time = world.now().since(start);
                world.run_for(Duration::from_millis(10));
                time
            })
            .filter(|time| !time.is_zero())
            .collect();
        assert!(times.len() > 300, "{}", times.len());
        times.sort();
        times.split_off(times.len() * 99 / 100)
    };
    let calm = slowest(&mut world)[0];
    let before: u64 = (0..NODES).map(|node| world.stat(node, "renewals")).sum();
    world.subnet.restart_sm(None);
    world.run_for(SECOND);
    let beside = slowest(&mut world)[0];
    let refreshes = (0..NODES).map(|node| world.stat(node, "renewals")).sum::<u64>() - before;
    println!("calm {calm:?}, beside {refreshes} refreshes {beside:?}");
    assert!(refreshes > 1500 && beside <= 2 * calm, "{beside:?}, calm {calm:?}");
}
