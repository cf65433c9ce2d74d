//! What a provider is told of ports, endpoints and addresses, and in which order.
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
fn two_providers_serve_two_subnets_beside_the_built_in_one() {
    let mut machine = Machine::started();
    let asked = ["own", "one", "two"].map(|source| machine.resolve(1, source));
    let resolves = |machine: &mut Machine, provider| {
        machine.fake(provider).functions().iter().filter(|function| *function == "resolve").count()
    };
    machine.run(MS);
    assert_eq!((resolves(&mut machine, ONE), resolves(&mut machine, TWO)), (1, 1));
    // The built-in one has joined no group here.
    assert_eq!(asked.map(|client| machine.status(client)), [Some(3), Some(0), Some(0)]);
    for (index, provider) in [(1, "ibacmp"), (2, "one"), (3, "two")] {
        let client = machine.ask(1, &ep_request(index, 0, [2; 8]));
        let (_, reply) = machine.replies.iter().find(|(other, _)| *other == client).unwrap();
        let (head, _) = EpHead::parse_prefix(&reply[16..]).unwrap();
        assert_eq!(head.provider.as_text(), provider.as_bytes());
    }
    assert_eq!(machine.gauge("endpoint_open"), 3);
    machine.replay();
}

#[test]
fn a_port_is_opened_before_its_endpoints_and_closed_behind_them() {
    let mut machine = Machine::started();
    assert_eq!(machine.fake(ONE).functions(), ["open_port", "open_endpoint", "add_address"]);
    let closed = ["remove_address", "close_endpoint", "close_port"];
    let again = ["remove_address", "close_endpoint", "close_port", "open_port", "open_endpoint", "add_address"];
    // The same again is nothing, and what only the built-in one looks at, too.
    let mut link = attributes(OF_ONE, 8);
    link.mtu = ib_mad::Mtu::B2048;
    machine.up(1, &link);
    machine.run(MS);
    assert!(machine.fake(ONE).functions().is_empty());
    link.lid = ib_mad::Lid::new(9);
    machine.up(1, &link);
    machine.run(MS);
    assert_eq!(machine.fake(ONE).functions(), again, "another LID");
    machine.up(1, &attributes(OF_ONE, 9));
    machine.run(MS);
    assert_eq!(machine.fake(ONE).functions(), again, "another GID");
    machine.tell(Input::ClientReregister(PortId(1)));
    machine.run(MS);
    assert_eq!(machine.fake(ONE).functions(), ["handle_event"]);
    machine.tell(Input::PortDown(PortId(1)));
    machine.run(MS);
    assert_eq!(machine.fake(ONE).functions(), closed);
    machine.up(1, &attributes(OF_ONE, 9));
    machine.run(MS);
    assert_eq!(machine.fake(ONE).functions(), ["open_port", "open_endpoint", "add_address"]);
    let client = machine.resolve(1, "one");
    machine.run(MS);
    assert_eq!(machine.status(client), Some(0));
    machine.fake(ONE).functions();
    // Where the built-in one asks to join a group, and nobody answers.
    machine.tell(Input::PortDown(PortId(0)));
    machine.tell(Input::Shutdown);
    machine.run(Duration::from_secs(1));
    assert!(machine.stopped, "before the time that groups may take");
    assert_eq!(machine.fake(ONE).functions(), closed);
    machine.replay();
}

/// The second port's subnet is the other provider's, and then the built-in one's.
/// An endpoint comes or goes with its partition; the others are left alone.
#[test]
fn a_port_with_another_partition_stays_open() {
    let mut machine = Machine::started();
    machine.fake(ONE).functions();
    let mut with_another = attributes(OF_ONE, 8);
    with_another.pkeys.push(ib_mad::Pkey::new(0x8005));
    machine.up(1, &with_another);
    let address = super::shared::name("one in five");
    machine.tell(Input::AddressAdded { port: PortId(1), pkey: Some(ib_mad::Pkey::new(0x8005)), address });
    machine.run(MS);
    assert_eq!(machine.fake(ONE).functions(), ["open_endpoint", "add_address"]);
    machine.up(1, &attributes(OF_ONE, 8));
    machine.run(MS);
    assert_eq!(machine.fake(ONE).functions(), ["remove_address", "close_endpoint"]);
    machine.replay();
}

#[test]
fn a_port_with_another_prefix_is_another_providers() {
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
    assert_eq!(machine.status(client), Some(3), "no group is joined");
    machine.replay();
}

#[test]
fn what_a_provider_does_not_open_is_tried_again_and_what_it_does_not_take_is_not() {
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
        machine.tell(Input::PortDown(PortId(1)));
        machine.run(MS);
        machine.fake(ONE).functions();
    }
    assert!(machine.said("port 1: provider 1 did not open it; again in") >= 3);
    assert_eq!(machine.said("provider 1 did not take one"), 1);
    assert!(machine.stat("provider_refused") >= 7);
    machine.fake(ONE).refuses = None;
    machine.up(1, &attributes(OF_ONE, 8));
    machine.run(MS);
    let client = machine.resolve(1, "one");
    machine.run(MS);
    assert_eq!(machine.status(client), Some(0));
    machine.replay();
}

/// What is told is what there is now: nothing of what came and went meanwhile.
#[test]
fn one_call_at_a_time_opens_or_closes_something() {
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
