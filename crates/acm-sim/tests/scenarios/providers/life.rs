//! Calls that open and close ports, endpoints and addresses at providers, and their order.
use super::shared::{Machine, OF_ONE, OF_TWO, ONE, OWN, TWO, attributes};
use acm_sansio::{
    Input, PortId,
    api::{ProviderCall, ProviderFunction},
};
use acm_wire::client::{EpHead, ep_request};
use core::time::Duration;
use ib_mad::Wire;

const MS: Duration = Duration::from_millis(1);

#[test]
fn two_providers_serve_two_subnets_beside_the_built_in_provider() {
    let mut machine = Machine::started();
    let clients = ["own", "one", "two"].map(|source| machine.resolve(1, source));
    let resolves = |machine: &mut Machine, provider| {
        machine.fake(provider).functions().iter().filter(|function| *function == "resolve").count()
    };
    machine.run(MS);
    assert_eq!((resolves(&mut machine, ONE), resolves(&mut machine, TWO)), (1, 1));
    // The built-in provider waits for its group: the join gets no response in this test.
    assert_eq!(clients.map(|client| machine.status(client)), [None, Some(0), Some(0)]);
    for (index, provider) in [(1, "ibacmp"), (2, "one"), (3, "two")] {
        let client = machine.request(1, &ep_request(index, 0, [2; 8]));
        let (_, reply) = machine.replies.iter().find(|(other, _)| *other == client).unwrap();
        let (head, _) = EpHead::parse_prefix(&reply[16..]).unwrap();
        assert_eq!(head.provider.as_text(), provider.as_bytes());
    }
    assert_eq!(machine.gauge("endpoint_open"), 3);
    machine.replay();
}

#[test]
fn port_is_opened_before_and_closed_after_its_endpoints() {
    let mut machine = Machine::started();
    assert_eq!(machine.fake(ONE).functions(), ["open_port", "open_endpoint", "add_address"]);
    let closed = ["remove_address", "close_endpoint", "close_port"];
    let reopened = ["remove_address", "close_endpoint", "close_port", "open_port", "open_endpoint", "add_address"];
    // An attribute that only the built-in provider uses causes no call.
    let mut link = attributes(OF_ONE, 8);
    link.mtu = ib_mad::Mtu::B2048;
    machine.up(1, &link);
    machine.run(MS);
    assert!(machine.fake(ONE).functions().is_empty());
    link.lid = ib_mad::Lid::new(9);
    machine.up(1, &link);
    machine.run(MS);
    assert_eq!(machine.fake(ONE).functions(), reopened, "a new LID");
    machine.up(1, &attributes(OF_ONE, 9));
    machine.run(MS);
    assert_eq!(machine.fake(ONE).functions(), reopened, "a new GID");
    machine.input(Input::ClientReregister(PortId(1)));
    machine.run(MS);
    assert_eq!(machine.fake(ONE).functions(), ["handle_event"]);
    let mut other_manager = attributes(OF_ONE, 9);
    other_manager.sm_lid = ib_mad::Lid::new(2);
    machine.up(1, &other_manager);
    assert_eq!(machine.fakes[&ONE].calls, [ProviderCall::ManagerChanged(PortId(1))]);
    machine.run(MS);
    assert_eq!(machine.fake(ONE).functions(), ["handle_event"], "once");
    machine.input(Input::PortDown(PortId(1)));
    machine.run(MS);
    assert_eq!(machine.fake(ONE).functions(), closed);
    machine.up(1, &attributes(OF_ONE, 9));
    machine.run(MS);
    assert_eq!(machine.fake(ONE).functions(), ["open_port", "open_endpoint", "add_address"]);
    let client = machine.resolve(1, "one");
    machine.run(MS);
    assert_eq!(machine.status(client), Some(0));
    machine.fake(ONE).functions();
    // The join of the built-in provider gets no response.
    machine.input(Input::PortDown(PortId(0)));
    machine.input(Input::Shutdown);
    machine.run(Duration::from_secs(1));
    assert!(machine.stopped, "before the time-out of leave requests");
    assert_eq!(machine.fake(ONE).functions(), closed);
    machine.replay();
}

#[test]
fn event_of_a_port_that_went_down_is_not_delivered_later() {
    let mut machine = Machine::started();
    machine.fake(ONE).functions();
    let mut other_manager = attributes(OF_ONE, 8);
    other_manager.sm_lid = ib_mad::Lid::new(2);
    machine.up(1, &other_manager);
    // The first call has not returned. The second event waits for its turn.
    machine.input(Input::ClientReregister(PortId(1)));
    machine.input(Input::PortDown(PortId(1)));
    machine.up(1, &other_manager);
    machine.run(MS);
    assert_eq!(machine.fake(ONE).functions(), ["handle_event"], "the port is as the provider has it");
    let client = machine.resolve(1, "one");
    machine.run(MS);
    assert_eq!(machine.status(client), Some(0), "its endpoint is served again");
    machine.replay();
}

#[test]
fn new_partition_opens_an_endpoint_and_keeps_the_port_open() {
    let mut machine = Machine::started();
    machine.fake(ONE).functions();
    let mut with_another = attributes(OF_ONE, 8);
    with_another.pkeys.push(ib_mad::Pkey::new(0x8005));
    machine.up(1, &with_another);
    let address = super::shared::name("one in five");
    machine.input(Input::AddressAdded { port: PortId(1), pkey: Some(ib_mad::Pkey::new(0x8005)), address });
    machine.run(MS);
    assert_eq!(machine.fake(ONE).functions(), ["open_endpoint", "add_address"]);
    machine.up(1, &attributes(OF_ONE, 8));
    machine.run(MS);
    assert_eq!(machine.fake(ONE).functions(), ["remove_address", "close_endpoint"]);
    machine.replay();
}

#[test]
fn port_with_a_new_prefix_moves_to_the_provider_of_the_prefix() {
    let mut machine = Machine::started();
    machine.fake(ONE).functions();
    machine.fake(TWO).functions();
    machine.up(1, &attributes(OF_TWO, 8));
    machine.run(MS);
    assert_eq!(machine.fake(ONE).functions(), ["remove_address", "close_endpoint", "close_port"]);
    assert_eq!(machine.fake(TWO).functions(), ["open_port", "open_endpoint", "add_address"]);
    let client = machine.resolve(1, "one");
    machine.run(MS);
    assert_eq!((machine.status(client), machine.fake(TWO).functions().len()), (Some(0), 1));
    machine.up(1, &attributes(OWN, 8));
    machine.run(MS);
    assert_eq!(machine.fake(TWO).functions(), ["remove_address", "close_endpoint", "close_port"]);
    let client = machine.resolve(1, "one");
    assert_eq!(machine.status(client), None, "the built-in provider waits for its group");
    machine.replay();
}

#[test]
fn failed_open_is_retried_and_a_refused_address_is_not() {
    let mut machine = Machine::new(|_| {});
    for function in [ProviderFunction::OpenPort, ProviderFunction::OpenEndpoint, ProviderFunction::AddAddress] {
        machine.fake(ONE).refuses = Some(function);
        machine.up(1, &attributes(OF_ONE, 8));
        machine.run(Duration::from_secs(1));
        let functions = machine.fake(ONE).functions();
        let tries = functions.iter().filter(|called| **called == function.to_string()).count();
        if function == ProviderFunction::AddAddress {
            assert_eq!(tries, 1, "{functions:?}");
        } else {
            assert!((3..6).contains(&tries), "within a second, with growing pauses: {functions:?}");
        }
        let client = machine.resolve(1, "one");
        machine.run(MS);
        assert_eq!(machine.status(client), Some(3));
        machine.input(Input::PortDown(PortId(1)));
        machine.run(MS);
        machine.fake(ONE).functions();
    }
    assert!(machine.logged("port 1: provider 1 did not open it; again in") >= 3);
    assert_eq!(machine.logged("provider 1 did not take one"), 1);
    assert!(machine.stat("provider_refused") >= 7);
    machine.fake(ONE).refuses = None;
    machine.up(1, &attributes(OF_ONE, 8));
    machine.run(MS);
    let client = machine.resolve(1, "one");
    machine.run(MS);
    assert_eq!(machine.status(client), Some(0));
    machine.replay();
}

/// The calls have the current attributes only: intermediate states cause no calls.
#[test]
fn one_open_or_close_call_is_pending_at_a_time() {
    let mut machine = Machine::new(|_| {});
    machine.fake(ONE).takes = Some(Duration::from_millis(100));
    for lid in 8..40 {
        machine.up(1, &attributes(OF_ONE, lid));
    }
    assert_eq!(machine.fake(ONE).functions(), ["open_port"]);
    machine.run(Duration::from_secs(10));
    let calls = &machine.fake(ONE).calls;
    let last = calls.iter().rev().find_map(|call| match call {
        ProviderCall::OpenPort { attributes, .. } => Some(attributes.lid.get()),
        _ => None,
    });
    assert_eq!((last, calls.len()), (Some(39), 4), "{calls:?}");
    assert_eq!(machine.fake(ONE).most, 1);
}
