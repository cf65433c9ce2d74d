//! The daemon's own requests to subnet administration, which no account waits for. The core repeats them, not the
//! device.
use acm_sansio::{
    Config, Output, Time,
    api::SaSend,
    retry::{JOIN, NOTICES},
};
use acm_sim::{World, WorldConfig, name};
use acm_wire::client::{EntryFlags, resolve_request};
use core::time::Duration;
use ib_mad::{AttributeId, Lid, PortState, sa::PathRecord};
use ib_sim::Port;

/// Returns node 0's requests with their times.
fn sends(world: &World, since: usize, attribute: AttributeId) -> Vec<(Time, SaSend)> {
    let of = |(at, node, output): &(Time, usize, Output)| match output {
        Output::SaSend(send) if *node == 0 && send.mad.header.attribute_id == attribute => Some((*at, *send)),
        _ => None,
    };
    world.transcript[since..].iter().filter_map(of).collect()
}

#[test]
fn device_repeats_only_requests_that_an_account_waits_for() {
    let mut world = World::new(WorldConfig::default());
    let record = PathRecord { dlid: world.port(1).lid, ..PathRecord::default() };
    world.route(0, &record).unwrap();
    let retries = |sends: Vec<(Time, SaSend)>| sends.iter().map(|(_, send)| send.retries).collect::<Vec<_>>();
    assert_eq!(retries(sends(&world, 0, AttributeId::PATH_RECORD)), [Config::default().retries]);
    let since = world.transcript.len();
    // From the cache, so that the path is in use.
    world.route(0, &record).unwrap();
    world.subnet.restart_sm(None);
    world.run_for(Duration::from_secs(5));
    let attributes = [AttributeId::MC_MEMBER_RECORD, AttributeId::INFORM_INFO, AttributeId::PATH_RECORD];
    assert_eq!(
        attributes.map(|attribute| retries(sends(&world, since, attribute))),
        [vec![0], vec![0; 4], vec![0]],
        "a join, four subscriptions, a renewal"
    );
}

/// The pause after the time-out has jitter, so that the nodes of a subnet do not repeat their requests in step.
#[test]
fn lost_join_and_subscription_are_repeated_with_jitter() {
    let pauses: Vec<[Duration; 2]> = (1..=8)
        .map(|seed| {
            let mut world = World::new(WorldConfig { seed, ..WorldConfig::default() });
            world.run_for(Duration::from_secs(5));
            world.subnet.settings_mut().sa.mute = true;
            let since = world.transcript.len();
            for state in [PortState::DOWN, PortState::ACTIVE] {
                world.subnet.set_port_state(World::port_id(0), state).unwrap();
                world.settle();
            }
            world.run_for(Duration::from_secs(20));
            let timeout = world.node(0).acm.config().timeout;
            [(AttributeId::MC_MEMBER_RECORD, JOIN), (AttributeId::INFORM_INFO, NOTICES)].map(|(attribute, policy)| {
                let sends = sends(&world, since, attribute);
                let pause = sends[1].0.since(sends[0].0).saturating_sub(timeout);
                assert!((policy.first * 3 / 4..policy.first * 5 / 4).contains(&pause), "{pause:?}");
                pause
            })
        })
        .collect();
    for kind in [0, 1] {
        let kinds: std::collections::BTreeSet<Duration> = pauses.iter().map(|pauses| pauses[kind]).collect();
        assert_eq!(kinds.len(), 8);
    }
}

/// The path of the local port's previous LID is invalid. The daemon queries the new path on its own account.
#[test]
fn query_of_the_daemon_that_a_request_joined_is_repeated() {
    let core = Config { sa_notices: false, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    for _ in 0..2 {
        world.resolve(0, &name(0), &name(1)).unwrap();
    }
    world.run_for(Duration::from_secs(10));
    let since = world.transcript.len();
    let port = Port { lid: Lid::new(300), ..world.port(0).clone() };
    world.subnet.set_port(World::port_id(0), port).unwrap();
    world.settle();
    world.subnet.settings_mut().sa.mute = true;
    while sends(&world, since, AttributeId::PATH_RECORD).is_empty() {
        assert!(world.step());
    }
    let start = world.now();
    let client = world.request(0, &resolve_request(Some(&name(0)), &name(1), EntryFlags::empty(), [1; 8]));
    world.run_for(Duration::from_secs(1));
    world.subnet.settings_mut().sa.mute = false;
    assert!(world.wait(client).is_ok());
    assert_eq!(world.now().since(start), world.node(0).acm.config().timeout);
}
