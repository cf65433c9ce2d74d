//! Tests of the objects with a library in Rust, which refuses what the test selects and keeps the daemon's pointers.
use super::*;
use crate::devices::{DeviceHandle, OpenedDevice};
use core::{
    cell::Cell,
    ffi::c_int,
    sync::atomic::{AtomicUsize, Ordering},
};
use std::sync::Arc;

const PORT: PortId = PortId(1);
const ENDPOINT: EndpointId = EndpointId::new(1, 0);

thread_local! {
    /// Result of the next function that opens an object.
    static RESULT: Cell<c_int> = const { Cell::new(0) };
    /// The last pointer that the daemon passed to the library.
    static LAST: Cell<*const c_void> = const { Cell::new(ptr::null()) };
}

unsafe extern "C" fn open_device(_: *const abi::Device, context: *mut *mut c_void) -> c_int {
    // SAFETY: the daemon provides writable memory.
    unsafe { *context = ptr::dangling_mut() };
    0
}

unsafe extern "C" fn open<T>(object: *const T, _: *mut c_void, context: *mut *mut c_void) -> c_int {
    LAST.set(object.cast());
    // SAFETY: the daemon provides writable memory.
    unsafe { *context = ptr::dangling_mut() };
    RESULT.get()
}

unsafe extern "C" fn close(_: *mut c_void) {}

unsafe extern "C" fn request(_: *mut c_void, _: *mut abi::Message, _: u64) -> c_int {
    0
}

unsafe extern "C" fn handle_event(_: *mut c_void, _: u32) -> c_int {
    0
}

unsafe extern "C" fn query_perf(_: *mut c_void, _: *mut u64, _: *mut u8) {}

const FUNCTIONS: Functions = Functions {
    open_device,
    close_device: close,
    open_port: open::<abi::Port>,
    close_port: close,
    open_endpoint: open::<abi::Endpoint>,
    close_endpoint: close,
    add_address: open::<abi::Address>,
    remove_address: close,
    resolve: request,
    query: request,
    handle_event,
    query_perf,
};

/// Counts the calls of [`DeviceHandle::discard_events`].
struct Counting(Arc<AtomicUsize>);

impl DeviceHandle for Counting {
    fn discard_events(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn objects(slot: u8) -> (Objects, Arc<AtomicUsize>) {
    let discarded = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&discarded);
    let device = OpenDevice::new(move |_| Ok(OpenedDevice::new(ptr::dangling_mut(), Counting(Arc::clone(&count)))));
    (Objects::new(FUNCTIONS, SlotId::of_a_test(slot), device), discarded)
}

fn attributes(port_number: u8) -> PortAttributes {
    let gids = vec!["fe80::1".parse().unwrap()];
    PortAttributes { device_guid: Guid::new(5), port_number, gids, ..PortAttributes::default() }
}

/// True if the library can send requests from the endpoint with the last pointer.
fn is_endpoint_registered() -> bool {
    let mad = registry::allocate(LAST.get().cast(), ptr::null_mut(), None);
    mad.is_some_and(|mad| registry::free(mad.as_ptr()))
}

fn is_port_registered() -> bool {
    registry::with_gids(LAST.get().cast(), <[_]>::len) == Some(1)
}

#[test]
fn endpoint_is_registered_only_while_it_is_open() {
    let (mut objects, _) = objects(10);
    assert_eq!(objects.open_port(PORT, &attributes(1)), Ok(true));
    RESULT.set(-1);
    assert!(!objects.open_endpoint(ENDPOINT, PORT, Pkey::DEFAULT_FULL));
    assert!(!is_endpoint_registered(), "the library refused it");
    RESULT.set(0);
    assert!(objects.open_endpoint(ENDPOINT, PORT, Pkey::DEFAULT_FULL));
    assert!(is_endpoint_registered());
    objects.close_endpoint(ENDPOINT);
    assert!(!is_endpoint_registered());
}

#[test]
fn port_is_registered_only_while_it_is_open() {
    let (mut objects, _) = objects(11);
    RESULT.set(-1);
    assert_eq!(objects.open_port(PORT, &attributes(1)), Ok(false));
    assert!(!is_port_registered(), "the library refused it");
    RESULT.set(0);
    assert_eq!(objects.open_port(PORT, &attributes(1)), Ok(true));
    assert!(is_port_registered());
    objects.close_port(PORT);
    assert!(!is_port_registered());
}

#[test]
fn address_that_the_library_refused_can_be_added_later() {
    let (mut objects, _) = objects(12);
    let address = Address::from_text("node1");
    assert_eq!(objects.open_port(PORT, &attributes(1)), Ok(true));
    assert!(objects.open_endpoint(ENDPOINT, PORT, Pkey::DEFAULT_FULL));
    RESULT.set(-1);
    assert!(!objects.add_address(ENDPOINT, address));
    assert!(!objects.resolve(ENDPOINT, &address, &[0; 16], 1), "it is not open");
    RESULT.set(0);
    assert!(objects.add_address(ENDPOINT, address) && objects.resolve(ENDPOINT, &address, &[0; 16], 1));
    LAST.set(ptr::null());
    assert!(objects.add_address(ENDPOINT, address) && LAST.get().is_null(), "the library has it");
    objects.remove_address(ENDPOINT, &address);
    assert!(!objects.resolve(ENDPOINT, &address, &[0; 16], 1));
}

/// The kernel keeps the events of each handle until they are read.
#[test]
fn events_of_the_handle_are_discarded_at_each_change_of_a_port() {
    let (mut objects, discarded) = objects(13);
    let count = || discarded.swap(0, Ordering::Relaxed);
    assert_eq!(objects.open_port(PORT, &attributes(1)), Ok(true));
    assert_eq!(count(), 0);
    assert_eq!(objects.open_port(PortId(2), &attributes(2)), Ok(true));
    assert_eq!(count(), 1, "another port");
    assert!(objects.event(PORT, 17));
    assert_eq!(count(), 1, "a reregistration");
    objects.close_port(PORT);
    assert_eq!(count(), 1, "the device stays open");
    objects.close_port(PortId(2));
    assert_eq!(count(), 0, "the device is closed");
}
