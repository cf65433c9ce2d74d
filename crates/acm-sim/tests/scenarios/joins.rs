//! Retries of joins, and leave requests that are lost.
use acm_sansio::{Output, Time};
use acm_sim::{World, WorldConfig};
use core::time::Duration;
use ib_mad::{AttributeId, Lid, Method, Pkey, PortState, Status};
use ib_sim::Port;

/// Returns the times of node 0's join requests.
fn joins(world: &World, since: usize) -> Vec<Time> {
    let is_join = |output: &Output| match output {
        Output::SaSend(send) => {
            (send.mad.header.attribute_id, send.mad.header.method) == (AttributeId::MC_MEMBER_RECORD, Method::SET)
        }
        _ => false,
    };
    world.transcript[since..]
        .iter()
        .filter(|(_, node, output)| *node == 0 && is_join(output))
        .map(|(at, ..)| *at)
        .collect()
}

/// The pauses are 1 s, 2 s, 4 s and so on up to 60 s, each multiplied by 3/4 to 5/4.
// docs/deviations.md: join-retry
#[test]
fn pauses_between_joins_grow_to_60_s_and_restart_after_a_success() {
    let mut world = World::new(WorldConfig::default());
    world.run_for(Duration::from_secs(1));
    for seconds in [&[1, 2, 4, 8, 16, 32, 60, 60, 60][..], &[1, 2]] {
        world.subnet.settings_mut().sa.status = Some(Status::SA_NO_RESOURCES);
        let since = world.transcript.len();
        world.subnet.restart_sm(None);
        world.run_for(Duration::from_secs(600));
        let times = joins(&world, since);
        let pauses: Vec<Duration> = times.windows(2).map(|pair| pair[1].since(pair[0])).collect();
        assert!(pauses.len() >= seconds.len(), "{pauses:?}");
        for (pause, seconds) in pauses.iter().zip(seconds) {
            let around = Duration::from_secs(*seconds);
            assert!((around * 3 / 4..=around * 5 / 4).contains(pause), "{pause:?} around {around:?}");
        }
        assert!(
            pauses.iter().skip(7).any(|pause| pause.as_secs() != 60),
            "the longest pauses have jitter, too: {pauses:?}"
        );
        world.subnet.settings_mut().sa.status = None;
        world.run_for(Duration::from_secs(80));
        assert_eq!(world.subnet.groups().map(|group| group.members.len()).collect::<Vec<_>>(), [2]);
    }
}

#[test]
fn join_that_ends_because_its_port_goes_down_is_no_failure() {
    let mut world = World::new(WorldConfig::default());
    world.run_for(Duration::from_secs(1));
    world.subnet.settings_mut().sa.mute = true;
    let since = world.transcript.len();
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_secs(1));
    assert!(!joins(&world, since).is_empty(), "the join is pending");
    world.subnet.set_port_state(World::port_id(0), PortState::DOWN).unwrap();
    world.run_for(Duration::from_secs(60));
    assert_eq!(world.stat(0, "joins_failed"), 0);
}

fn members(world: &World) -> Vec<usize> {
    world.subnet.groups().map(|group| group.members.len()).collect()
}

/// The join is sent and answered, and the subnet manager loses the membership, all at one instant.
#[test]
fn membership_lost_at_the_instant_of_the_join_is_requested_again() {
    let mut world = World::new(WorldConfig::default());
    world.run_for(Duration::from_secs(1));
    let (port, since) = (World::port_id(0), world.transcript.len());
    for state in [PortState::DOWN, PortState::ACTIVE] {
        world.subnet.set_port_state(port, state).unwrap();
        world.settle();
    }
    assert_eq!((members(&world), joins(&world, since)), (vec![2], vec![world.now()]));
    world.subnet.drop_memberships(port);
    world.subnet.reregister(port).unwrap();
    world.settle();
    assert_eq!((members(&world), joins(&world, since).len()), (vec![1], 1), "the next join waits for its random delay");
    world.run_for(Duration::from_secs(60));
    assert_eq!((members(&world), joins(&world, since).len()), (vec![2], 2));
}

/// Earlier failures may be those of another subnet manager.
#[test]
fn pauses_between_joins_restart_with_the_subnet_manager() {
    let mut world = World::new(WorldConfig::default());
    world.run_for(Duration::from_secs(1));
    world.subnet.settings_mut().sa.status = Some(Status::SA_NO_RESOURCES);
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_secs(200));
    let since = world.transcript.len();
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_secs(3));
    let times = joins(&world, since);
    let pause = times[1].since(times[0]);
    assert!((Duration::from_millis(750)..=Duration::from_millis(1250)).contains(&pause), "{pause:?}");
}

/// A join in flight while the memberships were lost is repeated if it succeeds, but not if another one followed it.
#[test]
fn join_that_follows_a_failed_one_is_not_repeated() {
    let mut world = World::new(WorldConfig::default());
    world.run_for(Duration::from_secs(1));
    world.subnet.settings_mut().sa.mute = true;
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_millis(500));
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_secs(60));
    world.subnet.settings_mut().sa.mute = false;
    let since = world.transcript.len();
    while members(&world) != [2] {
        world.run_for(Duration::from_secs(1));
    }
    world.run_for(Duration::from_secs(3));
    assert_eq!(joins(&world, since).len(), 1);
}

/// Loses a leave request, applies `change` before its repetition, returns the port to its partition, and checks that
/// the port is a member in the end.
fn after_a_lost_leave(change: impl Fn(&mut World)) {
    let mut world = World::new(WorldConfig::default());
    world.run_for(Duration::from_secs(1));
    let pkeys = |world: &mut World, pkey| {
        let port = Port { pkeys: vec![pkey], ..world.port(0).clone() };
        world.subnet.set_port(World::port_id(0), port).unwrap();
        world.read_port(0);
    };
    world.subnet.settings_mut().sa.mute = true;
    pkeys(&mut world, Pkey::new(0x8001));
    world.subnet.settings_mut().sa.mute = false;
    change(&mut world);
    world.settle();
    pkeys(&mut world, Pkey::DEFAULT_FULL);
    world.run_for(Duration::from_secs(60));
    let members: Vec<usize> = world.subnet.groups().map(|group| group.members.len()).collect();
    assert_eq!(members, [2], "{:?}", world.subnet.groups().collect::<Vec<_>>());
}

#[test]
fn repeated_leave_is_not_sent_after_the_next_join() {
    after_a_lost_leave(|world| {
        let port = Port { lid: Lid::new(300), ..world.port(0).clone() };
        world.subnet.set_port(World::port_id(0), port).unwrap();
    });
}

/// The subnet manager ends all memberships of a port that goes down.
#[test]
fn leave_request_ends_when_the_port_goes_down() {
    after_a_lost_leave(|world| {
        for state in [PortState::DOWN, PortState::ACTIVE] {
            world.subnet.set_port_state(World::port_id(0), state).unwrap();
            world.settle();
        }
    });
}

/// The core repeats the request, because the device does not repeat leave requests.
#[test]
fn lost_leave_request_is_repeated() {
    let mut world = World::new(WorldConfig::default());
    world.run_for(Duration::from_secs(1));
    let members = |world: &World| {
        let group = world.subnet.groups().find(|group| group.pkey == Pkey::DEFAULT_FULL);
        group.map(|group| group.members.len())
    };
    assert_eq!(members(&world), Some(2));
    world.subnet.settings_mut().sa.mute = true;
    let port = Port { pkeys: vec![Pkey::new(0x8001)], ..world.port(0).clone() };
    world.subnet.set_port(World::port_id(0), port).unwrap();
    world.read_port(0);
    world.run_for(Duration::from_secs(1));
    world.subnet.settings_mut().sa.mute = false;
    assert_eq!(members(&world), Some(2), "the request is lost");
    world.run_for(Duration::from_secs(10));
    assert_eq!(members(&world), Some(1));
}
