//! Refusals: a host that is asked by unicast for an address that it does not have.
use acm_sansio::{Input, Output, PortId};
use acm_sim::{World, WorldConfig, name};
use acm_wire::{Address, multicast};
use core::time::Duration;
use ib_mad::{Gid, Method, TransactionId, mad::Status};

const SECOND: Duration = Duration::from_secs(1);

fn world() -> World {
    World::new(WorldConfig { nodes: 3, ..WorldConfig::default() })
}

/// Returns the status and groups of the responses of a node.
fn responses(world: &World, of: usize) -> Vec<(Status, Vec<Gid>)> {
    let response = |(_, node, output): &(_, usize, Output)| match output {
        Output::Send { mad, .. } if *node == of && mad.method.is_response() => {
            Some((mad.status, mad.groups().to_vec()))
        }
        _ => None,
    };
    world.transcript.iter().filter_map(response).collect()
}

// docs/deviations.md: refusal
#[test]
fn host_refuses_a_request_to_it_alone_for_an_address_that_it_does_not_have() {
    let mut world = world();
    let (remote, group, qpn) = (world.remote_host(2), world.group().0, world.qpn(0));
    let ask = |world: &mut World, dest: &Address, groups: &[Gid]| {
        let request = multicast::request(TransactionId::new(7), dest, &name(2), groups);
        assert_eq!(request.method, Method::GET);
        world.forge_response(remote, 0, qpn, &request);
    };
    ask(&mut world, &name(1), &[group]);
    assert_eq!(responses(&world, 0), [(Status::new(0x0900), vec![])]);
    assert_eq!(world.stat(0, "addresses_refused"), 1);
    ask(&mut world, &name(0), &[group]);
    assert_eq!(responses(&world, 0)[1..], [(Status::OK, vec![group])], "its own address");
    world.forge_request(remote, 0, 8, &name(2), &name(1));
    ask(&mut world, &name(1), &[]);
    assert_eq!(responses(&world, 0).len(), 2, "the group is not refused, nor is a host without a common group");
}

/// No other host claims the address, so that the path would be confirmed until `addr_timeout`.
// docs/deviations.md: refusal
#[test]
fn host_that_lost_an_address_is_replaced_when_the_path_is_confirmed() {
    let mut world = world();
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    let input = Input::AddressRemoved { port: PortId(0), pkey: None, address: name(1) };
    world.input(1, input);
    world.run_for(60 * SECOND);
    assert_eq!(world.stat(1, "addresses_refused"), 1);
    assert!(world.resolve(0, &name(0), &name(1)).is_err());
    world.input(2, Input::AddressAdded { port: PortId(0), pkey: None, address: name(1) });
    world.run_for(2 * SECOND);
    assert_eq!(world.resolve(0, &name(0), &name(1)).unwrap().dlid, world.port(2).lid);
}

/// The own port has another LID, so that the address is proven before its next use. The daemon of the host is stopped.
#[test]
fn silence_of_a_host_that_had_the_address_does_not_end_a_lookup() {
    let mut world = world();
    assert!(world.resolve(0, &name(0), &name(1)).is_ok());
    // The path is refreshed, and not used since, so that it is not refreshed again.
    world.subnet.restart_sm(None);
    world.run_for(60 * SECOND);
    let port = ib_sim::Port { lid: ib_mad::Lid::new(100), ..world.port(0).clone() };
    world.stop_daemon(1);
    world.subnet.set_port(World::port_id(0), port).unwrap();
    world.run_for(SECOND);
    let (start, multicasts) = (world.now(), world.subnet.counters().ud_multicast);
    let path = world.resolve(0, &name(0), &name(1)).unwrap();
    assert_eq!((path.slid, path.dlid), (world.port(0).lid, world.port(1).lid));
    assert!(world.now().since(start) < SECOND, "the kernel waits 2 s");
    assert_eq!(world.subnet.counters().ud_multicast, multicasts);
}

/// Nobody else can refuse for the owner: a refusal counts only if its request was sent to that host.
#[test]
fn refusal_of_a_host_that_was_not_asked_ends_nothing() {
    let mut world = world();
    world.subnet.set_link(
        World::port_id(0),
        World::port_id(1),
        Some(ib_sim::Faults { down: true, ..Default::default() }),
    );
    let client =
        world.request(0, &acm_wire::client::resolve_request(Some(&name(0)), &name(1), Default::default(), [7; 8]));
    world.run_for(SECOND / 1000);
    let tid = world.transcript.iter().find_map(|(_, node, output)| match output {
        Output::Send { mad, .. } if *node == 0 && mad.method == Method::GET => Some(mad.transaction_id),
        _ => None,
    });
    let (remote, qpn) = (world.remote_host(2), world.qpn(0));
    world.forge_response(remote, 0, qpn, &multicast::refusal(tid.unwrap()));
    world.subnet.set_link(World::port_id(0), World::port_id(1), None);
    assert_eq!(world.wait(client).unwrap().dlid, world.port(1).lid);
}
