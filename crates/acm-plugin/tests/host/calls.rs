//! Calls to a provider in C, and its responses: during the call, from another thread, late, twice, and with unknown
//! numbers.
use crate::common::{ENDPOINT, Host, LIMIT, PORT, compile, open_port, resolve, response, source};
use acm_plugin::{Library, OpenDevice};
use acm_sansio::{
    PortId,
    api::{ExternalRequestId, ProviderCall, ProviderMessage},
};
use acm_wire::{
    Address,
    client::{Counter, EntryFlags, path_request},
};
use core::time::Duration;
use ib_mad::{Lid, sa::PathRecord};

const REQUEST: ExternalRequestId = ExternalRequestId::new(3, 70_000);

#[test]
fn close_of_a_port_closes_its_endpoints_and_addresses() {
    let mut host = Host::new();
    host.open();
    assert_eq!(
        host.take_lines(),
        [
            "open_device: verbs 1 guid 2c90300010203",
            "open_port: port 1 device 1 gid 0 at 1, other at 2, beyond -1, any 0",
            "add_address: node1 type 1 endpoint 1",
        ]
    );
    for (address, text) in [("10.0.0.7", "10.0.0.7 type 2"), ("fe80::9", "fe80::9 type 3")] {
        host.ok(ProviderCall::AddAddress { endpoint: ENDPOINT, address: Address::from_text(address) });
        assert_eq!(host.take_lines(), [format!("add_address: {text} endpoint 1")]);
    }
    let refused = ProviderCall::AddAddress { endpoint: ENDPOINT, address: Address::from_text("refused") };
    assert_eq!(host.call(refused), (vec![], false));
    // A second port does not open the device again. The provider refuses the third port.
    host.ok(open_port(PortId(8), 2));
    assert_eq!(host.call(open_port(PortId(9), 9)), (vec![], false));
    host.take_lines();
    host.ok(ProviderCall::RemoveAddress { endpoint: ENDPOINT, address: Address::from_text("10.0.0.7") });
    host.ok(ProviderCall::ClosePort(PORT));
    let closed =
        ["remove_address: 10.0.0.7", "remove_address: node1", "remove_address: fe80::9", "close_endpoint: pkey ffff"];
    let lines = host.take_lines();
    assert_eq!(lines, [&closed[..], &["close_port: port 1"]].concat());
    host.ok(ProviderCall::ClosePort(PortId(8)));
    assert_eq!(host.take_lines(), ["close_port: port 2", "close_device: verbs 1"]);
    // A port can be opened again.
    host.open();
    assert_eq!(host.take_lines().len(), 3);
    assert!(host.plugins.stop(LIMIT));
}

#[test]
fn response_may_come_during_the_call_from_a_thread_or_late() {
    let mut host = Host::new();
    host.open();
    for action in ["at once", "thread"] {
        assert_eq!(host.call(resolve(action, REQUEST)), (vec![response(action, REQUEST)], true));
    }
    assert_eq!(host.call(resolve("late", REQUEST)), (vec![], true));
    assert_eq!(host.call(ProviderCall::Reregister(PORT)), (vec![response("late", REQUEST)], true));
    // The endpoint does not have this address.
    let ProviderCall::Resolve { request, endpoint, message, .. } = resolve("at once", REQUEST) else { unreachable!() };
    let other = Address::from_text("other");
    assert_eq!(host.call(ProviderCall::Resolve { request, endpoint, source: other, message }), (vec![], false));
}

#[test]
fn second_response_is_passed_on_and_response_with_unknown_number_is_refused() {
    let mut host = Host::new();
    host.open();
    let message = response("twice", REQUEST);
    assert_eq!(host.call(resolve("twice", REQUEST)), (vec![message.clone(), message], true));
    host.take_lines();
    let (messages, is_ok) = host.call(resolve("garbage", REQUEST));
    assert!(is_ok);
    assert_eq!(host.take_lines(), ["resolve: refused -1 -1"]);
    let lengths = messages.iter().map(|message| match message {
        ProviderMessage::ResolveResponse { request, message } => (*request == REQUEST, message.len()),
        other => panic!("{other:?}"),
    });
    // The longest and the shortest message. The number of the first one is of another request.
    assert_eq!(lengths.collect::<Vec<_>>(), [(false, 592), (true, 16)]);
}

#[test]
fn query_is_called_with_the_clients_path_and_answered() {
    let mut host = Host::new();
    host.open();
    host.take_lines();
    let path =
        |slid: u16, dlid: u16| PathRecord { slid: Lid::new(slid), dlid: Lid::new(dlid), ..PathRecord::default() };
    let call = |dlid| {
        let message = path_request(&path(0, dlid), EntryFlags::QUERY_SA, [7; 8]).to_vec();
        ProviderCall::Query { request: REQUEST, endpoint: ENDPOINT, source: source(), message }
    };
    let (messages, is_ok) = host.call(call(5));
    let [ProviderMessage::ResolveResponse { request, message }] = &messages[..] else { panic!("{messages:?}") };
    assert!(is_ok && *request == REQUEST);
    assert_eq!((&message[..3], &message[24..]), (&[1, 0x81, 0][..], ib_mad::as_bytes(&path(7, 5))));
    // No response.
    assert_eq!(host.call(call(9)), (vec![], true));
    let lines = ["query: node1: QUERY_SA 1, length 88, dlid 5", "query: node1: QUERY_SA 1, length 88, dlid 9"];
    assert_eq!(host.take_lines(), lines);
}

#[test]
fn helper_functions_and_the_variable_of_the_option_file_work() {
    let mut host = Host::new();
    host.open();
    host.take_lines();
    assert_eq!(host.call(resolve("helpers", REQUEST)), (vec![response("helpers", REQUEST)], true));
    let lines =
        ["resolve: mask a010, none 0, null 0", "resolve: lo -1, none -1, path -1, null -1", "resolve: /tmp/opts 1"];
    assert_eq!(host.take_lines(), lines);
}

#[test]
fn change_of_the_subnet_manager_is_an_event_of_the_port() {
    let mut host = Host::new();
    host.open();
    host.take_lines();
    host.ok(ProviderCall::ManagerChanged(PORT));
    assert_eq!(host.take_lines(), ["handle_event: event 13 at port 1"]);
    assert_eq!(host.call(ProviderCall::ManagerChanged(PortId(99))), (vec![], false));
}

#[test]
fn counters_are_converted_to_host_byte_order() {
    let mut host = Host::new();
    host.open();
    let (messages, is_ok) = host.call(ProviderCall::QueryCounters { request: REQUEST, endpoint: ENDPOINT });
    let counters = ProviderMessage::Counters { request: REQUEST, values: vec![5, 1 << 32] };
    assert_eq!((messages, is_ok), (vec![ProviderMessage::IncrementCounter(Counter::RouteCache), counters], true));
}

#[test]
fn port_without_a_device_is_not_opened_and_logs_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::open(&compile(folder.path(), "libtest.so", &[])).unwrap();
    let none = OpenDevice::new(|guid| Err(format!("no device with node GUID {guid}")));
    let mut host = Host::with(&library, none, folder);
    assert_eq!(host.call(open_port(PORT, 1)), (vec![], false));
    assert_eq!(host.take_lines(), ["port 1 is not opened: no device with node GUID 0x0002c90300010203"]);
    let endpoint = ProviderCall::OpenEndpoint { endpoint: ENDPOINT, port: PORT, pkey: ib_mad::Pkey::DEFAULT_FULL };
    assert_eq!(host.call(endpoint), (vec![], false));
    assert_eq!(host.call(ProviderCall::AddAddress { endpoint: ENDPOINT, address: source() }), (vec![], false));
    assert_eq!(host.call(ProviderCall::QueryCounters { request: REQUEST, endpoint: ENDPOINT }), (vec![], false));
}

#[test]
fn hanging_call_does_not_block_other_libraries() {
    let mut hanging = Host::new();
    hanging.open();
    hanging.begin(resolve("hang", REQUEST));
    hanging.begin(ProviderCall::ClosePort(PORT));
    let mut other = Host::new();
    other.open();
    assert_eq!(other.call(resolve("at once", REQUEST)).0.len(), 1);
    assert!(other.plugins.stop(LIMIT));
    // `stop` does not wait for the call.
    assert!(!hanging.plugins.stop(Duration::from_millis(1)));
}
