//! Joins, rejoins and leave requests.
use super::shared::{change, depth, members, memberships, route, sends, world};
use acm_sansio::{
    Config, Input, Time,
    config::{Depth, RouteProt},
    retry::JOIN_SPREAD,
};
use acm_sim::{World, WorldConfig};
use acm_wire::client::EntryFlags;
use core::time::Duration;
use ib_mad::{AttributeId, Gid, Guid, Lid, Method, Rate, Status};
use ib_sim::Port;

/// A restarted subnet manager requests reregistration, and the port may get further events of the same restart.
#[test]
fn events_of_one_restart_cause_one_join() {
    let mut world = world(Config::default());
    let since = world.transcript.len();
    world.subnet.restart_sm(None);
    world.settle();
    change(&mut world, 0, |port| port.sm_lid = Lid::new(2));
    world.subnet.reregister(World::port_id(0)).unwrap();
    world.run_for(Duration::from_secs(5));
    assert_eq!(memberships(&world, 0, since, Method::SET).len(), 1);
    assert_eq!(members(&world), [2]);
    // A port that becomes active joins at once. The reregistration adds no join.
    let since = world.transcript.len();
    world.subnet.set_port_state(World::port_id(0), ib_mad::PortState::DOWN).unwrap();
    world.subnet.set_port_state(World::port_id(0), ib_mad::PortState::ACTIVE).unwrap();
    world.subnet.reregister(World::port_id(0)).unwrap();
    let up = world.now();
    world.run_for(Duration::from_secs(5));
    let joins: Vec<_> = memberships(&world, 0, since, Method::SET).iter().map(|(at, _)| *at).collect();
    assert_eq!(joins, [up]);
}

/// The join is sent with the new LID only, so it needs no second request.
#[test]
fn port_with_a_new_lid_joins_once() {
    let changes: [fn(&mut Port); 2] =
        [|port| port.lid = Lid::new(300), |port| (port.lid, port.sm_lid) = (Lid::new(300), Lid::new(2))];
    for new_lid in changes {
        let mut world = world(Config::default());
        let (start, since) = (world.now(), world.transcript.len());
        change(&mut world, 0, new_lid);
        world.run_for(Duration::from_secs(5));
        let joins: Vec<_> = memberships(&world, 0, since, Method::SET).iter().map(|(at, _)| *at).collect();
        assert_eq!(joins, [start]);
        assert_eq!(world.stat(0, "sa_reposted"), 0, "no request was in flight");
    }
}

/// The join needs no credit, so it does not wait for a response to a query.
#[test]
fn port_with_a_new_lid_joins_before_it_repeats_path_queries() {
    let mut world = world(depth(Depth::Fixed(1)));
    world.subnet.settings_mut().sa.delay = Duration::from_millis(10);
    let clients = [1, 2].map(|class| route(&mut world, class, EntryFlags::empty()));
    let since = world.transcript.len();
    change(&mut world, 0, |port| port.lid = Lid::new(300));
    let first = sends(&world, 0, since);
    let attributes: Vec<_> = first.iter().map(|(_, send)| send.mad.header.attribute_id).collect();
    assert_eq!(attributes, [AttributeId::MC_MEMBER_RECORD, AttributeId::PATH_RECORD]);
    for client in clients {
        assert!(world.wait(client).is_ok());
    }
}

#[test]
fn later_event_causes_another_join() {
    let mut world = world(Config::default());
    let since = world.transcript.len();
    for _ in 0..2 {
        world.subnet.reregister(World::port_id(0)).unwrap();
        world.run_for(Duration::from_secs(1));
    }
    assert_eq!(memberships(&world, 0, since, Method::SET).len(), 2);
}

#[test]
fn rejoins_of_200_nodes_are_spread_over_100_ms() {
    const NODES: u32 = 200;
    let mut world = World::new(WorldConfig { nodes: NODES, ..WorldConfig::default() });
    world.run_for(Duration::from_secs(1));
    let (start, since) = (world.now(), world.transcript.len());
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_secs(1));
    assert_eq!(members(&world), [NODES as usize]);
    let mut times: Vec<Duration> = (0..NODES as usize)
        .flat_map(|node| memberships(&world, node, since, Method::SET))
        .map(|(at, _)| at.since(start))
        .collect();
    times.sort();
    assert_eq!(times.len(), NODES as usize, "one join per node");
    assert!(times.iter().all(|time| *time < JOIN_SPREAD.least), "{:?}", times.last());
    let most =
        times.iter().map(|from| times.iter().filter(|at| (*from..*from + JOIN_SPREAD.least / 10).contains(at)).count());
    let most = most.max().unwrap();
    println!("{NODES} nodes join again within {:?}, at most {most} within {:?}", times.last(), JOIN_SPREAD.least / 10);
    // The average is 20 of 200, and 45 is more than five standard deviations away.
    assert!(most < 45, "{most}");
}

/// A node with a high LID expects many others.
#[test]
fn joins_are_spread_over_more_time_in_a_large_fabric() {
    let mut world = world(Config::default());
    let below = JOIN_SPREAD.below(40_000);
    change(&mut world, 1, |port| port.lid = Lid::new(40_000));
    assert_eq!(members(&world), [2], "the subnet manager keeps the membership");
    world.run_for(Duration::from_secs(10));
    let joins = |world: &mut World, event: &dyn Fn(&mut World)| -> Vec<Duration> {
        let (start, since) = (world.now(), world.transcript.len());
        event(world);
        world.run_for(Duration::from_secs(10));
        memberships(world, 1, since, Method::SET).iter().map(|(at, _)| at.since(start)).collect()
    };
    let all: Vec<Duration> = (0..10)
        .flat_map(|round| match round % 2 {
            0 => joins(&mut world, &|world| world.subnet.restart_sm(None)),
            _ => joins(&mut world, &|world| {
                for state in [ib_mad::PortState::DOWN, ib_mad::PortState::ACTIVE] {
                    world.subnet.set_port_state(World::port_id(1), state).unwrap();
                    world.settle();
                }
            }),
        })
        .collect();
    assert_eq!(all.len(), 10, "{all:?}");
    assert!(all.iter().all(|time| (Duration::from_nanos(1)..below).contains(time)), "{all:?}");
    assert!(all.iter().any(|time| *time > below / 2), "{all:?}");
}

/// The pauses are 1 s, 2 s, 4 s and so on, and differ between nodes.
// docs/deviations.md: join-retry
#[test]
fn failed_joins_are_retried_with_jitter() {
    let mut world = World::new(WorldConfig { nodes: 20, ..WorldConfig::default() });
    world.run_for(Duration::from_secs(1));
    world.subnet.settings_mut().sa.status = Some(Status::SA_NO_RESOURCES);
    let since = world.transcript.len();
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_secs(4));
    let mut first = Vec::new();
    for node in 0..20 {
        let times: Vec<Time> = memberships(&world, node, since, Method::SET).iter().map(|(at, _)| *at).collect();
        let pause = times[1].since(times[0]);
        assert!((Duration::from_millis(750)..=Duration::from_millis(1250)).contains(&pause), "{pause:?}");
        let pause_2 = times[2].since(times[1]);
        assert!((Duration::from_millis(1500)..=Duration::from_millis(2500)).contains(&pause_2), "{pause_2:?}");
        first.push(pause);
    }
    first.sort();
    first.dedup();
    assert_eq!(first.len(), 20);
}

// docs/deviations.md: leave
#[test]
fn group_of_a_former_rate_or_mtu_is_left() {
    let core = Config { route_prot: RouteProt::Acm, ..Config::default() };
    let mut world = world(core);
    let of_rate = |world: &World, rate: Rate| {
        let id = World::port_id(0);
        world.subnet.groups().filter(|group| group.rate == rate && group.members.contains_key(&id)).count()
    };
    assert_eq!((of_rate(&world, Rate::GBPS_100), of_rate(&world, Rate::GBPS_40)), (1, 0));
    change(&mut world, 0, |port| port.rate = Rate::GBPS_40);
    world.run_for(Duration::from_secs(1));
    assert_eq!((of_rate(&world, Rate::GBPS_100), of_rate(&world, Rate::GBPS_40)), (0, 1));
    assert_eq!(of_rate(&world, Rate::GBPS_10), 1, "the base group stays");
    // The MGID depends on the MTU, too.
    let since = world.transcript.len();
    change(&mut world, 0, |port| port.mtu = ib_mad::Mtu::B2048);
    world.run_for(Duration::from_secs(1));
    let left = memberships(&world, 0, since, Method::DELETE);
    assert_eq!(left.len(), 1);
    let mtus: Vec<_> =
        world.subnet.groups().filter(|group| group.rate == Rate::GBPS_40).map(|group| group.mtu).collect();
    assert_eq!(mtus, [ib_mad::Mtu::B2048]);
}

/// The port gets another GID between the join and the leave request.
#[test]
fn leave_request_has_the_gid_of_the_join() {
    let mut world = world(Config::default());
    let old = world.port(0).gids[0];
    // The join with the new GID is refused.
    world.subnet.settings_mut().sa.status = Some(Status::SA_NO_RESOURCES);
    let new = Gid::from_parts(Gid::DEFAULT_PREFIX, Guid::new(0x77));
    let since = world.transcript.len();
    change(&mut world, 0, |port| port.gids = vec![new, old]);
    let joins = memberships(&world, 0, since, Method::SET);
    assert_eq!(joins.iter().map(|(_, member)| member.port_gid).collect::<Vec<_>>(), [new]);
    world.subnet.settings_mut().sa.status = None;
    world.input(0, Input::Shutdown);
    let left: Vec<Gid> =
        memberships(&world, 0, since, Method::DELETE).iter().map(|(_, member)| member.port_gid).collect();
    assert_eq!(left, [old]);
    assert_eq!(members(&world), [1]);
}

/// The subnet keeps the old GID as a member until the port leaves.
#[test]
fn membership_of_a_former_gid_is_left() {
    let mut world = world(Config::default());
    let old = world.port(0).gids[0];
    let new = Gid::from_parts(Gid::DEFAULT_PREFIX, Guid::new(0x77));
    let since = world.transcript.len();
    change(&mut world, 0, |port| port.gids = vec![new, old]);
    world.run_for(Duration::from_secs(5));
    let of = |method| -> Vec<Gid> {
        memberships(&world, 0, since, method).iter().map(|(_, member)| member.port_gid).collect()
    };
    assert_eq!((of(Method::SET), of(Method::DELETE)), (vec![new], vec![old]));
}
