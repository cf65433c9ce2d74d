//! Devices that are removed and return: each lost queue pair is reopened with its own back-off.
use acm_sansio::{Input, Output, PortId, Time, retry::OPEN_ENDPOINT};
use acm_sim::{World, WorldConfig};
use acm_wire::{Address, client::ClientStatus};
use core::time::Duration;
use ib_mad::PortState;

fn name(node: u32) -> Address {
    World::addresses(node)[0]
}

/// Returns the times at which node 0 requested a queue pair.
fn opens(world: &World, since: usize) -> Vec<Time> {
    let of = |(at, node, output): &(Time, usize, Output)| {
        (*node == 0 && matches!(output, Output::OpenEndpoint { .. })).then_some(*at)
    };
    world.transcript[since..].iter().filter_map(of).collect()
}

fn set_state(world: &mut World, state: PortState) {
    world.subnet.set_port_state(World::port_id(0), state).unwrap();
    world.settle();
}

/// The device closes and is available again. The node then finds peers and is found.
#[test]
fn lost_endpoint_is_reopened_at_once_and_attached_to_its_group() {
    let mut world = World::new(WorldConfig { nodes: 3, ..WorldConfig::default() });
    world.run_for(Duration::from_secs(1));
    let (now, since) = (world.now(), world.transcript.len());
    world.lose_endpoints(0);
    assert_eq!(opens(&world, since), [now], "at once");
    assert_eq!(world.stat(0, "endpoints_lost"), 1);
    let attached = |(_, node, output): &(Time, usize, Output)| *node == 0 && matches!(output, Output::Attach { .. });
    assert_eq!(world.transcript[since..].iter().filter(|entry| attached(entry)).count(), 1);
    assert!(world.resolve(1, &name(1), &name(0)).is_ok(), "node 0 is found");
    assert!(world.resolve(0, &name(0), &name(2)).is_ok(), "node 0 finds a peer");
    assert_eq!(world.now(), now, "without a time-out");
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

#[test]
fn cache_serves_without_a_queue_pair() {
    let mut world = World::new(WorldConfig::default());
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    world.set_opening_fails(0, true);
    world.lose_endpoints(0);
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    assert_eq!(world.resolve(0, &name(0), &Address::from_text("nobody")), Err(ClientStatus::ETIMEDOUT));
    world.set_opening_fails(0, false);
    world.run_for(Duration::from_secs(120));
    assert!(world.resolve(1, &name(1), &name(0)).is_ok());
}

/// The pauses are 100 ms, 200 ms and so on up to 60 s, each multiplied by 3/4 to 5/4.
#[test]
fn failed_open_is_retried_after_growing_pauses_with_jitter() {
    let mut firsts = Vec::new();
    for seed in 0..10 {
        let mut world = World::new(WorldConfig { seed, ..WorldConfig::default() });
        let since = world.transcript.len();
        world.set_opening_fails(0, true);
        world.lose_endpoints(0);
        world.run_for(Duration::from_secs(600));
        let times = opens(&world, since);
        let pauses: Vec<Duration> = times.windows(2).map(|pair| pair[1].since(pair[0])).collect();
        for (pause, failures) in pauses.iter().zip(1..) {
            let around = OPEN_ENDPOINT.pause(failures);
            assert!((around * 3 / 4..=around * 5 / 4).contains(pause), "{pause:?} around {around:?}");
        }
        assert!(pauses.len() > 12, "the retries continue: {pauses:?}");
        assert_eq!(world.stat(0, "endpoints_failed"), times.len() as u64);
        firsts.push(pauses[0]);
        // After a success, the next failure starts with a short pause.
        world.set_opening_fails(0, false);
        world.run_for(Duration::from_secs(75));
        assert!(world.resolve(1, &name(1), &name(0)).is_ok());
        let since = world.transcript.len();
        world.set_opening_fails(0, true);
        world.lose_endpoints(0);
        world.run_for(Duration::from_secs(1));
        let retries = opens(&world, since);
        assert!(retries[1].since(retries[0]) <= OPEN_ENDPOINT.first * 5 / 4);
        assert_eq!(world.node(0).acm.check(), Ok(()));
    }
    firsts.sort();
    firsts.dedup();
    assert_eq!(firsts.len(), 10, "all pauses differ");
}

#[test]
fn endpoint_of_a_port_that_is_down_is_reopened_with_the_port() {
    let mut world = World::new(WorldConfig::default());
    let since = world.transcript.len();
    set_state(&mut world, PortState::DOWN);
    world.lose_endpoints(0);
    world.run_for(Duration::from_secs(600));
    assert_eq!(opens(&world, since), []);
    let up = world.now();
    set_state(&mut world, PortState::ACTIVE);
    assert_eq!(opens(&world, since), [up]);
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    assert!(world.resolve(1, &name(1), &name(0)).is_ok());
}

/// A port event replaces the pending retry and adds no second series of retries.
#[test]
fn port_event_retries_a_failed_open_at_once() {
    let mut world = World::new(WorldConfig::default());
    world.set_opening_fails(0, true);
    world.lose_endpoints(0);
    world.run_for(Duration::from_secs(100));
    world.set_opening_fails(0, false);
    let (now, since) = (world.now(), world.transcript.len());
    world.read_port(0);
    world.run_for(Duration::from_secs(600));
    assert_eq!(opens(&world, since), [now]);
    assert!(world.resolve(1, &name(1), &name(0)).is_ok());
}

#[test]
fn endpoint_without_addresses_is_not_reopened() {
    let mut world = World::new(WorldConfig::default());
    world.set_opening_fails(0, true);
    world.lose_endpoints(0);
    let since = world.transcript.len();
    for address in World::addresses(0) {
        world.input(0, Input::AddressRemoved { port: PortId(0), pkey: None, address });
    }
    world.run_for(Duration::from_secs(600));
    assert_eq!(opens(&world, since), []);
}
