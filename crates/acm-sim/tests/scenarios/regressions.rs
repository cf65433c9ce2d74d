//! Former defects, each with the sequence of inputs that showed it.
use acm_sansio::{Acm, ClientId, Config, EndpointId, Input, Output, PortId, Time, port::PortAttributes};
use acm_sim::{World, WorldConfig};
use acm_wire::{
    Address,
    client::{ClientStatus, EntryFlags, ResolveResponse, next_response, resolve_request},
};
use core::time::Duration;
use ib_mad::{Lid, Pkey, PortState, Qpn, Rate, sa::PathRecord};

const CLIENT: ClientId = ClientId::new(0, 0);

fn name(node: u32) -> Address {
    World::addresses(node)[0]
}

fn request_name(world: &mut World, dest: &str) -> acm_sim::Client {
    world.request(0, &resolve_request(Some(&name(0)), &Address::from_text(dest), EntryFlags::empty(), [1; 8]))
}

/// Returns the number of datagrams in the transcript from position `since` on.
fn sends(world: &World, since: usize) -> usize {
    world.transcript[since..].iter().filter(|(_, _, output)| matches!(output, Output::Send { .. })).count()
}

fn attributes(number: u8, lid: u16, sm_lid: u16, rate: Rate) -> PortAttributes {
    PortAttributes {
        port_number: number,
        port_count: 2,
        lid: Lid::new(lid),
        sm_lid: Lid::new(sm_lid),
        gids: vec![format!("fe80::{number}").parse().unwrap()],
        pkeys: vec![Pkey::DEFAULT_FULL],
        mtu: ib_mad::Mtu::B2048,
        rate,
        ..PortAttributes::default()
    }
}

/// Returns a core without a simulated subnet, with one client.
fn core() -> Acm {
    let mut acm = Acm::new(Config::default(), 1);
    input(&mut acm, Input::ClientOpened { client: CLIENT, account: acm_sansio::Account::User(0) });
    acm
}

fn input(acm: &mut Acm, input: Input<'_>) -> Vec<Output> {
    acm.handle_input(Time::ZERO, input);
    core::iter::from_fn(|| acm.poll_output()).collect()
}

fn up(acm: &mut Acm, port: u32, attributes: &PortAttributes) -> Vec<Output> {
    input(acm, Input::PortUp { port: PortId(port), attributes: attributes.clone() })
}

fn add(acm: &mut Acm, port: u32, address: &str) {
    input(acm, Input::AddressAdded { port: PortId(port), pkey: None, address: Address::from_text(address) });
}

/// Returns the immediate response of a core to a resolve request.
fn resolve(acm: &mut Acm, source: &str, dest: &str) -> Option<Result<PathRecord, ClientStatus>> {
    let (source, dest) = (Address::from_text(source), Address::from_text(dest));
    let message = resolve_request(Some(&source), &dest, EntryFlags::empty(), [1; 8]);
    input(acm, Input::ClientMessage { client: CLIENT, message: &message }).iter().find_map(|output| match output {
        Output::Reply { reply, .. } => {
            Some(ResolveResponse::parse(&next_response(reply).unwrap().unwrap()).map(|answer| answer.path))
        }
        _ => None,
    })
}

/// After an error of the completion queue, the endpoint gets a new queue pair.
#[test]
fn new_queue_pair_is_attached_to_the_group() {
    let mut world = World::new(WorldConfig::default());
    let since = world.transcript.len();
    world.input(0, Input::EndpointOpened { endpoint: EndpointId::new(0, 0), qpn: Qpn::of::<77>() });
    let attached = |(_, node, output): &(Time, usize, Output)| *node == 0 && matches!(output, Output::Attach { .. });
    assert_eq!(world.transcript[since..].iter().filter(|entry| attached(entry)).count(), 1);
}

/// The failing requests free credits, which must not send the queued requests.
#[test]
fn queued_requests_are_not_sent_when_they_fail_with_their_port() {
    let mut world = World::new(WorldConfig::default());
    let clients: Vec<_> = (0..20).map(|number| request_name(&mut world, &format!("dead{number}"))).collect();
    let since = world.transcript.len();
    world.subnet.set_port_state(World::port_id(0), PortState::DOWN).unwrap();
    world.settle();
    assert!(clients.iter().all(|client| world.path(*client) == Some(Err(ClientStatus::ENODATA))));
    assert_eq!(sends(&world, since), 0);
    // The credit is free.
    world.subnet.set_port_state(World::port_id(0), PortState::ACTIVE).unwrap();
    world.settle();
    let start = world.now();
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    assert_eq!(world.now(), start);
}

#[test]
fn address_of_two_ports_is_served_by_the_active_port() {
    let mut acm = core();
    for port in 0..2 {
        add(&mut acm, port, "node1");
        up(&mut acm, port, &attributes(port as u8 + 1, port as u16 + 16, 1, Rate::GBPS_100));
    }
    let slid = |acm: &mut Acm| resolve(acm, "node1", "node1").unwrap().map(|path| path.slid.get());
    assert_eq!(slid(&mut acm), Ok(16));
    input(&mut acm, Input::PortDown(PortId(0)));
    assert_eq!(slid(&mut acm), Ok(17));
    up(&mut acm, 0, &attributes(1, 16, 1, Rate::GBPS_100));
    assert_eq!(slid(&mut acm), Ok(16));
}

#[test]
fn address_that_moves_from_an_inactive_port_is_served() {
    let mut acm = core();
    add(&mut acm, 0, "10.0.0.1");
    add(&mut acm, 1, "node1");
    for port in 0..2 {
        up(&mut acm, port, &attributes(port as u8 + 1, port as u16 + 16, 1, Rate::GBPS_100));
    }
    input(&mut acm, Input::PortDown(PortId(0)));
    let address = Address::from_text("10.0.0.1");
    input(&mut acm, Input::AddressRemoved { port: PortId(0), pkey: None, address });
    add(&mut acm, 1, "10.0.0.1");
    assert_eq!(resolve(&mut acm, "10.0.0.1", "10.0.0.1").unwrap().map(|path| path.slid.get()), Ok(17));
}

#[test]
fn loopback_path_has_the_current_rate_of_the_port() {
    let mut acm = core();
    add(&mut acm, 0, "node1");
    up(&mut acm, 0, &attributes(1, 16, 1, Rate::GBPS_100));
    input(&mut acm, Input::EndpointOpened { endpoint: EndpointId::new(0, 0), qpn: Qpn::of::<77>() });
    let rate = |acm: &mut Acm| resolve(acm, "node1", "node1").unwrap().map(|path| path.rate.value());
    assert_eq!(rate(&mut acm), Ok(Rate::GBPS_100));
    input(&mut acm, Input::PortDown(PortId(0)));
    up(&mut acm, 0, &attributes(1, 16, 1, Rate::GBPS_40));
    assert_eq!(rate(&mut acm), Ok(Rate::GBPS_40), "after the port was down");
    up(&mut acm, 0, &attributes(1, 16, 1, Rate::GBPS_10));
    assert_eq!(rate(&mut acm), Ok(Rate::GBPS_10), "without a port down event");
}

#[test]
fn names_are_compared_without_regard_to_case() {
    let mut world = World::new(WorldConfig::default());
    let start = world.now();
    assert!(world.resolve(0, &name(0), &Address::from_text("NODE1")).is_ok(), "the local name");
    assert_eq!(world.now(), start);
    assert!(world.resolve(0, &name(0), &Address::from_text("Node2")).is_ok());
    let since = world.transcript.len();
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    assert_eq!(sends(&world, since), 0, "from the cache");
}

/// The join is granted after its endpoint was closed.
#[test]
fn group_whose_join_is_pending_at_shutdown_is_left() {
    let mut world = World::new(WorldConfig { nodes: 1, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.delay = Duration::from_millis(100);
    world.restart(0);
    world.input(0, Input::Shutdown);
    world.run_for(Duration::from_secs(1));
    assert!(world.node(0).host.stopped);
    assert_eq!(world.subnet.groups().map(|group| group.members.len()).sum::<usize>(), 0);
}

#[test]
fn no_endpoint_is_opened_after_shutdown() {
    let mut world = World::new(WorldConfig { nodes: 1, ..WorldConfig::default() });
    world.subnet.settings_mut().sa.delay = Duration::from_millis(100);
    world.input(0, Input::Shutdown);
    let since = world.transcript.len();
    world.subnet.reregister(World::port_id(0)).unwrap();
    world.subnet.set_port_state(World::port_id(0), PortState::ACTIVE).unwrap();
    world.input(0, Input::AddressAdded { port: PortId(0), pkey: None, address: Address::from_text("late") });
    world.run_for(Duration::from_secs(3));
    assert!(world.node(0).host.stopped);
    assert!(!world.transcript[since..].iter().any(|(_, _, output)| matches!(output, Output::OpenEndpoint { .. })));
    assert_eq!(world.subnet.groups().map(|group| group.members.len()).sum::<usize>(), 0);
}

/// Requests to the former subnet manager must not hold the credit of the join.
#[test]
fn join_is_sent_to_a_new_subnet_manager_at_once() {
    let mut acm = core();
    add(&mut acm, 0, "node1");
    up(&mut acm, 0, &attributes(1, 16, 1, Rate::GBPS_100));
    let sm_lids = |outputs: &[Output]| {
        let to = |output: &Output| match output {
            Output::SaSend(send) => Some(send.to.lid.get()),
            _ => None,
        };
        outputs.iter().filter_map(to).collect::<Vec<u16>>()
    };
    let endpoint = EndpointId::new(0, 0);
    assert_eq!(sm_lids(&input(&mut acm, Input::EndpointOpened { endpoint, qpn: Qpn::of::<77>() })), [1]);
    assert_eq!(sm_lids(&up(&mut acm, 0, &attributes(1, 16, 2, Rate::GBPS_100))), [2]);
}
