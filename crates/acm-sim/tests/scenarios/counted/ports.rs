//! Ports that change, go down, or stay unchanged.
use super::shared::{SECOND, USER, logged, outputs, quiet, route};
use acm_sansio::{Config, Event, Input, Output, PortId, config::RouteProt, retry::JOIN_SPREAD};
use acm_sim::{World, WorldConfig, unknown_name_request};
use acm_wire::client::{ClientStatus, Counter, EntryFlags};
use core::time::Duration;
use ib_mad::{Lid, PortState};
use ib_sim::Port;

fn change(world: &mut World, change: impl FnOnce(&mut Port)) {
    let mut port = world.port(0).clone();
    change(&mut port);
    world.subnet.set_port(World::port_id(0), port).unwrap();
    world.settle();
    world.read_port(0);
}

#[test]
fn unchanged_port_causes_no_output() {
    let mut world = quiet();
    let since = world.transcript.len();
    world.read_port(0);
    world.run_for(JOIN_SPREAD.least);
    assert_eq!(outputs(&world, since, |_| true), 0);
}

#[test]
fn new_port_that_is_down_is_logged_once() {
    let mut world = quiet();
    for _ in 0..2 {
        world.input(0, Input::PortDown(PortId(7)));
    }
    assert_eq!(logged(&world, |event| *event == Event::PortDown(PortId(7))), 1);
}

#[test]
fn new_lid_and_new_subnet_manager_are_logged_and_a_new_rate_is_not() {
    let up = |event: &Event| matches!(event, Event::PortUp(..));
    let moved = |event: &Event| matches!(event, Event::SaMoved(..));
    let mut world = quiet();
    let before = logged(&world, up);
    change(&mut world, |port| port.sm_lid = Lid::new(2));
    assert_eq!(logged(&world, up), before + 1);
    change(&mut world, |port| port.lid = Lid::new(200));
    assert_eq!(logged(&world, up), before + 2);
    change(&mut world, |port| port.rate = ib_mad::Rate::GBPS_40);
    assert_eq!((logged(&world, up), logged(&world, moved)), (before + 2, 0), "no request was pending");
    assert_eq!(world.stat(0, "sa_reposted"), 0);
}

#[test]
fn group_is_joined_again_at_a_new_subnet_manager() {
    let mut world = quiet();
    let since = world.transcript.len();
    change(&mut world, |port| port.sm_lid = Lid::new(2));
    world.run_for(JOIN_SPREAD.least);
    assert_eq!(outputs(&world, since, |output| matches!(output, Output::SaSend(_))), 1);
}

#[test]
fn port_that_goes_down_detaches_from_its_group() {
    let mut world = quiet();
    let attaches = |world: &World, since| {
        let (attach, detach) = (
            outputs(world, since, |output| matches!(output, Output::Attach { .. })),
            outputs(world, since, |output| matches!(output, Output::Detach { .. })),
        );
        (attach, detach)
    };
    let since = world.transcript.len();
    world.subnet.set_port_state(World::port_id(0), PortState::DOWN).unwrap();
    world.settle();
    assert_eq!(attaches(&world, since), (0, 1));
    assert!(world.node(0).acm.report().to_string().contains(": groups 0 of 1 "));
    world.subnet.set_port_state(World::port_id(0), PortState::ACTIVE).unwrap();
    world.settle();
    assert_eq!(attaches(&world, since), (1, 1));
}

#[test]
fn sa_requests_end_at_once_when_the_port_goes_down() {
    let mut world = quiet();
    world.subnet.settings_mut().sa.mute = true;
    let clients = [EntryFlags::empty(), EntryFlags::QUERY_SA].map(|flags| route(&mut world, USER, flags));
    world.input(0, Input::PortDown(PortId(0)));
    assert_eq!(clients.map(|client| world.path(client)), [Some(Err(ClientStatus::ENODATA)); 2], "at once");
    assert_eq!(world.node(0).acm.check(), Ok(()));
    let report = world.node(0).acm.report().to_string();
    assert!(report.contains(" in_flight 0 waiting 0 strangers 0 joins 0\n"), "{report}");
}

#[test]
fn removed_local_address_is_looked_up_in_the_group() {
    let mut world = quiet();
    let [address, other, _] = World::addresses(0);
    world.input(0, Input::AddressRemoved { port: PortId(0), pkey: None, address });
    assert_eq!(world.resolve(0, &other, &address), Err(ClientStatus::ETIMEDOUT));
    assert!(world.node(0).acm.counters().get(Counter::AddrQuery) > 0);
}

#[test]
fn queued_requests_are_dropped_at_the_end_of_the_shutdown() {
    let core = Config { route_prot: RouteProt::Acm, sa_notices: false, ..Config::default() };
    let mut world = World::new(WorldConfig { core, ..WorldConfig::default() });
    world.run_for(SECOND);
    world.subnet.settings_mut().sa.mute = true;
    // The path query stays in flight, so that the second leave request stays queued until the end.
    route(&mut world, USER, EntryFlags::empty());
    let since = world.transcript.len();
    world.input(0, Input::Shutdown);
    world.run_for(5 * SECOND);
    assert!(world.node(0).host.stopped);
    let mut left: Vec<_> = world.transcript[since..]
        .iter()
        .filter_map(|(_, node, output)| match output {
            Output::SaSend(send) if *node == 0 => Some(send.mad.data),
            _ => None,
        })
        .collect();
    assert!(!left.is_empty());
    left.dedup();
    assert_eq!(left.len(), 1, "one of two leave requests was sent");
}

#[test]
fn endpoint_without_a_queue_pair_ignores_reregistration_and_ends_with_its_port() {
    let mut world = quiet();
    let client = world.request(0, &unknown_name_request(0, EntryFlags::empty()));
    world.set_opening_fails(0, true);
    world.lose_endpoints(0);
    let since = world.transcript.len();
    world.input(0, Input::ClientReregister(PortId(0)));
    world.run_for(Duration::from_millis(50));
    assert_eq!(outputs(&world, since, |output| matches!(output, Output::SaSend(_))), 0);
    assert_eq!(world.path(client), None);
    world.input(0, Input::PortDown(PortId(0)));
    assert_eq!(world.path(client), Some(Err(ClientStatus::ENODATA)));
}
