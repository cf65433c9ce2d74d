//! A provider in Rust, seen from the daemon: responses, refusals, closed handles, panics.
#![allow(unsafe_code, reason = "calls a provider as a daemon does")]
mod trial;

use acm_provider::abi::{self, Address, Device, EpAddrData, EpInfo, Header, Message};
use acm_provider::testing::{
    Response, allocated_sa_requests, exhaust_sa_requests, lines, refuse_sa_requests, response, responses, sa_requests,
};
use acm_wire::client::EntryFlags;
use core::{ffi::c_void, ptr};
use ib_mad::{Lid, sa::PathRecord};
use std::sync::Arc;

unsafe extern "C" {
    fn provider_query(provider: *mut *mut abi::Provider, version: *mut u32) -> i32;
}

/// Returns the provider of this program.
fn provider() -> &'static abi::Provider {
    let (mut provider, mut version) = (ptr::null_mut(), 0);
    // SAFETY: both variables are writable, and the provider is valid for ever.
    unsafe {
        assert_eq!(provider_query(&raw mut provider, &raw mut version), 0);
        assert_eq!(version, abi::VERSION);
        &*provider
    }
}

/// The contexts of an open endpoint with an address.
struct Opened {
    endpoint: *mut c_void,
    address: *mut c_void,
    port: *mut c_void,
}

/// Opens an endpoint in this partition, with an address of this name. The name selects the behaviour of [`trial`].
fn open(name: &str, pkey: u16) -> Opened {
    let provider = provider();
    // The structures are leaked: the daemon's structures, too, live longer than the contexts.
    let device = Box::leak(Box::new(Device { verbs: ptr::null_mut(), guid: [1; 8] }));
    let port = Box::leak(Box::new(abi::Port { device, port_number: 1 }));
    let endpoint = Box::leak(Box::new(abi::Endpoint { port, pkey }));
    let mut opened = Opened { endpoint: ptr::null_mut(), address: ptr::null_mut(), port: ptr::null_mut() };
    let mut device_context = ptr::null_mut();
    // SAFETY: the functions are called as a daemon calls them, one after another.
    unsafe {
        assert_eq!(provider.open_device.unwrap()(device, &raw mut device_context), 0);
        assert_eq!(provider.open_port.unwrap()(port, device_context, &raw mut opened.port), 0);
        assert!(!device_context.is_null() && !opened.port.is_null());
        assert_eq!(provider.open_endpoint.unwrap()(endpoint, opened.port, &raw mut opened.endpoint), 0);
        let address = address(endpoint, name);
        assert_eq!(provider.add_address.unwrap()(&raw const address, opened.endpoint, &raw mut opened.address), 0);
    }
    opened
}

fn info(text: &str) -> EpInfo {
    let mut info = EpInfo([0; 64]);
    info.0[..text.len()].copy_from_slice(text.as_bytes());
    info
}

fn address(endpoint: *mut abi::Endpoint, name: &str) -> Address {
    Address { endpoint, info: info(name), id_string: ptr::null_mut(), kind: 1 }
}

const NOTHING: EpAddrData = EpAddrData { flags: 0, kind: 0, reserved: 0, info: EpInfo([0; 64]) };

/// A request for this name. The daemon chose the source, which follows the destination.
fn request_for(name: &str) -> Message {
    let data = [1, 1, 0];
    let header = Header { version: 1, opcode: 1, status: 0, data, length: 88, tid: 99 };
    let mut entries = [NOTHING; abi::MESSAGE_ENTRIES];
    entries[0] = EpAddrData { flags: 2, kind: 1, info: info(name), ..NOTHING };
    entries[1] = EpAddrData { flags: 1, kind: 2, info: info("\x0a\x4d\x00\x01"), ..NOTHING };
    Message { header, entries }
}

/// `resolve` or `query`.
type Call = unsafe extern "C" fn(*mut c_void, *mut Message, u64) -> i32;

fn resolve(opened: &Opened, name: &str, id: u64) {
    let mut message = request_for(name);
    // SAFETY: the address is open. The message is valid until the call returns, and is then overwritten.
    unsafe { assert_eq!(provider().resolve.unwrap()(opened.address, &raw mut message, id), 0) };
    message.entries = [NOTHING; abi::MESSAGE_ENTRIES];
    core::hint::black_box(&message);
}

#[test]
fn response_has_the_layout_of_libibacmp() {
    let opened = open("answer", 0xffff);
    resolve(&opened, "node2", 10);
    let Response { to_resolve, message, .. } = response(10);
    assert!(to_resolve);
    assert_eq!(message.header, Header { data: [0; 3], length: 160, ..request_for("").header });
    assert_eq!((message.entries[0].flags, message.entries[0].kind), (0x2b, 0x10));
    let path = PathRecord { dlid: Lid::new(2), ..PathRecord::default() };
    assert_eq!(message.entries[0].info.0, *ib_mad::as_bytes(&path));
    assert_eq!(message.entries[1], request_for("").entries[1], "the source that the daemon chose");
    // A response to `query` keeps the client's message.
    let mut query = request_for("");
    query.entries[0] = EpAddrData { flags: 1 << 31, kind: 0x10, ..NOTHING };
    // SAFETY: as in `resolve`.
    unsafe { assert_eq!(provider().query.unwrap()(opened.address, &raw mut query, 11), 0) };
    let Response { to_resolve, message, .. } = response(11);
    assert_eq!((to_resolve, message.header), (false, Header { opcode: 0x81, status: 3, ..query.header }));
    assert_eq!(message.entries, query.entries);
}

#[test]
fn request_is_read_from_the_entries_that_its_header_names() {
    let opened = open("inspect", 0x8006);
    let no_delay = EntryFlags::NO_DELAY.bits();
    let call = |function: Call, mut message: Message, id| {
        // SAFETY: as in `resolve`.
        unsafe { assert_eq!(function(opened.address, &raw mut message, id), 0) };
        trial::inspected().remove(0)
    };
    let (resolve, query) = (provider().resolve.unwrap(), provider().query.unwrap());

    // A name, whose source the daemon chose.
    let mut by_name = request_for("node2");
    by_name.entries[0].flags |= no_delay;
    let source = Some(acm_provider::plugin::Address::from_text("10.77.0.1"));
    let expected = trial::Inspected { path: None, source, chose_source: true, no_delay: true, length: 88 };
    assert_eq!(call(resolve, by_name, 40), expected);

    // A path record. Clients of ibacm leave any bytes in the rest of the header.
    let path = PathRecord { dlid: Lid::new(5), ..PathRecord::default() };
    let mut by_path = request_for("");
    by_path.header.data = [1, 1, 1];
    by_path.entries[0] = EpAddrData {
        flags: no_delay,
        kind: 0x10,
        info: EpInfo(ib_mad::as_bytes(&path).try_into().unwrap()),
        ..NOTHING
    };
    let expected =
        trial::Inspected { path: Some(Lid::new(5)), source: None, chose_source: false, no_delay: true, length: 88 };
    assert_eq!(call(resolve, by_path, 41), expected);

    // A query has no chosen source, and its response has the flags of the query.
    let mut queried = by_name;
    queried.entries[0].flags = 1 << 31;
    assert!(!call(query, queried, 42).chose_source);
    let Response { message, .. } = response(42);
    assert_eq!((message.header.length, message.entries[0].flags), (88, 1 << 31));
}

#[test]
fn provider_that_refuses_to_load_is_not_given_to_the_daemon() {
    let (mut provider, mut version) = (ptr::null_mut(), 0);
    assert_ne!(trial::refused_to_load(&raw mut provider, &raw mut version, provider_query as *const c_void), 0);
    assert!(provider.is_null() && version == 0);
    assert!(lines().iter().any(|line| line == "0 trial: ERROR - load: not today"));
}

#[test]
fn dropped_request_is_answered_with_enodata() {
    for (name, id) in [("forget", 20), ("panic", 21), ("elsewhere", 22)] {
        let opened = open(name, 0xffff);
        resolve(&opened, "node2", id);
        assert_eq!(
            response(id).message.header,
            Header { status: 3, data: [0; 3], length: 16, ..request_for("").header },
            "{name}"
        );
        assert_eq!(responses(id).len(), 1, "{name}");
    }
    assert!(lines().iter().any(|line| line == "0 trial: ERROR - panic in resolve: expected by the test"));
}

#[test]
fn refusal_or_panic_of_a_provider_is_reported_to_the_daemon() {
    let opened = open("refusals", 0xffff);
    for name in ["refused", "panic at add"] {
        let endpoint = Box::leak(Box::new(abi::Endpoint { port: ptr::null_mut(), pkey: 1 }));
        let (address, mut context) = (address(endpoint, name), ptr::null_mut());
        // SAFETY: the endpoint is open.
        let status = unsafe { provider().add_address.unwrap()(&raw const address, opened.endpoint, &raw mut context) };
        assert!(status != 0 && context.is_null(), "{name}");
    }
    let lines = lines().join("\n");
    assert!(lines.contains("trial: ERROR - add_address: not this one\\n, nor a forged line\n"), "{lines}");
    assert!(lines.contains("trial: ERROR - panic in add_address: expected by the test"), "{lines}");
}

#[test]
fn kept_handle_of_a_closed_endpoint_or_port_fails() {
    let opened = open("keep", 0x8001);
    assert!(trial::ask_sa(0x8001).is_ok());
    let request = sa_requests(0x8001).remove(0);
    let mad = request.mad();
    request.respond(mad);
    assert_eq!(trial::sa_responses(0x8001), ["answer with tid 0x1122334455667788"]);
    assert!(trial::ask_sa(0x8001).is_ok());
    sa_requests(0x8001).remove(0).fail(110_u32.wrapping_neg());
    assert_eq!(trial::sa_responses(0x8001), ["no answer in time"]);
    // ibacm may close an endpoint before it removes its addresses.
    // SAFETY: only the address is used afterwards.
    unsafe { provider().close_endpoint.unwrap()(opened.endpoint) };
    assert_eq!(trial::ask_sa(0x8001).unwrap_err().to_string(), "the endpoint is closed");
    resolve(&opened, "node2", 30);
    assert_eq!(response(30).message.header.status, 3);
    // SAFETY: as above. Each is closed once.
    unsafe {
        provider().remove_address.unwrap()(opened.address);
        assert_eq!(trial::gid(0x8001), Some([7; 16]));
        provider().close_port.unwrap()(opened.port);
    }
    assert_eq!(trial::gid(0x8001), None);
}

#[test]
fn counters_are_in_network_byte_order_and_limited_to_the_room() {
    let opened = open("counters", 0xffff);
    let (mut values, mut count) = ([0_u64; 72], 0);
    // SAFETY: the endpoint is open, and there is as much room as in the daemon's message.
    unsafe { provider().query_perf.unwrap()(opened.endpoint, (&raw mut values).cast(), &raw mut count) };
    assert_eq!((count, values[0], values[15], values[16]), (16, 1_u64.to_be(), 16_u64.to_be(), 0));
}

/// The daemon frees an endpoint that the provider refused.
#[test]
fn kept_handle_of_a_refused_endpoint_fails() {
    let opened = open("refuses", 0x8005);
    let endpoint = Box::leak(Box::new(abi::Endpoint { port: ptr::null_mut(), pkey: trial::REFUSED }));
    let mut context = ptr::null_mut();
    // SAFETY: the port is open.
    let status = unsafe { provider().open_endpoint.unwrap()(endpoint, opened.port, &raw mut context) };
    assert!(status != 0 && context.is_null());
    assert_eq!(trial::ask_sa(trial::REFUSED).unwrap_err().to_string(), "the endpoint is closed");
}

#[test]
fn memory_of_sa_requests_is_freed_after_each_end() {
    open("sa", 0x8002);
    let sent = |count| {
        (0..count).for_each(|_| trial::ask_sa(0x8002).unwrap());
        sa_requests(0x8002)
    };
    for (request, errno) in sent(3).into_iter().zip([0, 5, 110]) {
        request.fail(errno);
    }
    assert_eq!(allocated_sa_requests(0x8002), 0, "a response, a failure, a time-out");
    let mut tids: Vec<_> = sent(3).iter().map(|request| request.mad()[8..16].to_owned()).collect();
    tids.dedup();
    assert!(tids.len() == 3 && tids.iter().all(|tid| tid[..4] == [0; 4]), "no two are alike in 32 bits: {tids:?}");
    assert_eq!(allocated_sa_requests(0x8002), 3);
    refuse_sa_requests(0x8002);
    assert_eq!(trial::ask_sa(0x8002).unwrap_err().to_string(), "the daemon could not send it (-5)");
    assert_eq!(allocated_sa_requests(0x8002), 3, "the refused request is freed");
}

#[test]
fn handler_of_a_refused_sa_request_is_dropped() {
    open("handlers", 0x8007);
    let held = Arc::new(());
    let refused = |held: &Arc<()>| trial::ask_sa_holding(0x8007, held.clone()).unwrap_err().to_string();
    refuse_sa_requests(0x8007);
    assert_eq!(refused(&held), "the daemon could not send it (-5)");
    exhaust_sa_requests(0x8007);
    assert_eq!(refused(&held), "the daemon has no room");
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn removed_address_is_passed_to_the_provider_once() {
    let opened = open("removed", 0x8003);
    // SAFETY: the address is open, and is not used again.
    unsafe { provider().remove_address.unwrap()(opened.address) };
    assert_eq!(trial::removed(), ["removed"]);
    // SAFETY: the endpoint is open, and is not used again.
    unsafe { provider().close_endpoint.unwrap()(opened.endpoint) };
    assert_eq!(trial::removed(), [] as [String; 0]);
}

#[test]
fn only_a_reregistration_is_passed_to_the_provider() {
    let opened = open("reregister", 0x8004);
    let before = trial::reregistrations();
    for event in [9, 17, 18] {
        // SAFETY: the port is open.
        assert_eq!(unsafe { provider().handle_event.unwrap()(opened.port, event) }, 0);
    }
    assert_eq!(trial::reregistrations(), before + 1);
}
