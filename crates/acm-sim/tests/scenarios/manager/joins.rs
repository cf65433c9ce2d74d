//! Groups that are joined, joined again, and left.
use super::shared::{change, depth, members, memberships, route, sends, world};
use acm_sansio::{
    Config, Input, Time,
    config::{RouteProtocol, SaDepth},
    retry::REJOIN_SPREAD,
};
use acm_sim::{World, WorldConfig};
use acm_wire::client::EntryFlags;
use core::time::Duration;
use ib_mad::{AttributeId, Gid, Guid, Lid, Method, Rate, Status};
use ib_sim::Port;

/// A manager that restarts asks every port to register again, and the port may be told that it is up as well.
#[test]
fn one_event_is_one_join() {
    let mut world = world(Config::default());
    let since = world.transcript.len();
    world.subnet.restart_sm(None);
    world.settle();
    change(&mut world, 0, |port| port.sm_lid = Lid::new(2));
    world.subnet.reregister(World::port_id(0)).unwrap();
    world.run_for(Duration::from_secs(5));
    assert_eq!(memberships(&world, 0, since, Method::SET).len(), 1);
    assert_eq!(members(&world), [2]);
    // A port that comes up joins at once; that it is also to register again says the same.
    let since = world.transcript.len();
    world.subnet.set_port_state(World::port_id(0), ib_mad::PortState::DOWN).unwrap();
    world.subnet.set_port_state(World::port_id(0), ib_mad::PortState::ACTIVE).unwrap();
    world.subnet.reregister(World::port_id(0)).unwrap();
    let up = world.now();
    world.run_for(Duration::from_secs(5));
    let joins: Vec<_> = memberships(&world, 0, since, Method::SET).iter().map(|(at, _)| *at).collect();
    assert_eq!(joins, [up]);
}

/// What is asked because the port moved is asked where it is now: it is not taken back and asked again.
#[test]
fn a_port_that_moves_joins_once() {
    let changes: [fn(&mut Port); 2] =
        [|port| port.lid = Lid::new(300), |port| (port.lid, port.sm_lid) = (Lid::new(300), Lid::new(2))];
    for changed in changes {
        let mut world = world(Config::default());
        let (start, since) = (world.now(), world.transcript.len());
        change(&mut world, 0, changed);
        world.run_for(Duration::from_secs(5));
        let joins: Vec<_> = memberships(&world, 0, since, Method::SET).iter().map(|(at, _)| *at).collect();
        assert_eq!(joins, [start]);
        assert_eq!(world.stat(0, "sa_reposted"), 0, "nothing was in flight");
    }
}

/// It goes before what is repeated, also with a single credit.
#[test]
fn a_port_that_moves_joins_before_it_repeats_routes() {
    let mut world = world(depth(SaDepth::Fixed(1)));
    world.subnet.settings_mut().sa.delay = Duration::from_millis(10);
    let asks = [1, 2].map(|class| route(&mut world, class, EntryFlags::empty()));
    let since = world.transcript.len();
    change(&mut world, 0, |port| port.lid = Lid::new(300));
    let first = sends(&world, 0, since);
    assert_eq!(first.len(), 1);
    assert_eq!(first[0].1.mad.header.attribute_id, AttributeId::MC_MEMBER_RECORD);
    for ask in asks {
        assert!(world.wait(ask).is_ok());
    }
}

/// A later event is another one.
#[test]
fn two_events_are_two_joins() {
    let mut world = world(Config::default());
    let since = world.transcript.len();
    for _ in 0..2 {
        world.subnet.reregister(World::port_id(0)).unwrap();
        world.run_for(Duration::from_secs(1));
    }
    assert_eq!(memberships(&world, 0, since, Method::SET).len(), 2);
}

#[test]
fn nodes_join_again_one_after_the_other() {
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
    assert_eq!(times.len(), NODES as usize, "once each");
    assert!(times.iter().all(|time| *time < REJOIN_SPREAD), "{:?}", times.last());
    let most =
        times.iter().map(|from| times.iter().filter(|at| (*from..*from + REJOIN_SPREAD / 10).contains(at)).count());
    let most = most.max().unwrap();
    println!("{NODES} nodes join again within {:?}, at most {most} within {:?}", times.last(), REJOIN_SPREAD / 10);
    // 20 of 200 on average; 45 is more than five standard deviations away.
    assert!(most < 45, "{most}");
}

/// A refused join is repeated after 1 s, 2 s, 4 s and so on, not at the same instant on every node.
#[test]
fn joins_that_fail_are_repeated_with_jitter() {
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

#[test]
fn the_group_of_a_rate_that_the_port_has_no_more_is_left() {
    let core = Config { route_protocol: RouteProtocol::Acm, ..Config::default() };
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
    // The MTU is part of the group's name, too.
    let since = world.transcript.len();
    change(&mut world, 0, |port| port.mtu = ib_mad::Mtu::B2048);
    world.run_for(Duration::from_secs(1));
    let left = memberships(&world, 0, since, Method::DELETE);
    assert_eq!(left.len(), 1);
    let mtus: Vec<_> =
        world.subnet.groups().filter(|group| group.rate == Rate::GBPS_40).map(|group| group.mtu).collect();
    assert_eq!(mtus, [ib_mad::Mtu::B2048]);
}

/// The GID that joined is the member; another one that the port got meanwhile is not.
#[test]
fn a_leave_names_the_gid_that_joined() {
    let mut world = world(Config::default());
    let old = world.port(0).gids[0];
    // Joining under the new one is refused.
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

/// The subnet has it as a member until it is left, whoever has it now.
#[test]
fn a_gid_that_the_port_joined_under_before_is_left() {
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
