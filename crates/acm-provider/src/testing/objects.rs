//! The daemon's objects: ports, endpoints and requests. A provider that only collects receives them from the daemon's
//! side of the interface.
#![allow(unsafe_code, reason = "calls a provider as a daemon does")]
use crate::{
    abi::{self, Address, Device, EpAddrData, EpInfo, Header, MESSAGE_ENTRIES, Message},
    plugin::{Endpoint, Port, Provider, Refused, Request, glue},
};
use core::{
    cell::RefCell,
    ffi::{CStr, c_void},
    ptr,
    sync::atomic::{AtomicU64, Ordering},
};
use std::sync::OnceLock;

/// Keeps the last object of each kind.
struct Collector;

thread_local! {
    static PORT: RefCell<Option<Port>> = const { RefCell::new(None) };
    static ENDPOINT: RefCell<Option<Endpoint>> = const { RefCell::new(None) };
    static REQUEST: RefCell<Option<Request>> = const { RefCell::new(None) };
}

impl Provider for Collector {
    type Port = ();
    type Endpoint = ();

    fn load() -> Result<Self, Refused> {
        Ok(Self)
    }

    fn open_port(&self, port: &Port) -> Result<(), Refused> {
        PORT.set(Some(port.clone()));
        Ok(())
    }

    fn open_endpoint(&self, (): &(), endpoint: &Endpoint) -> Result<(), Refused> {
        ENDPOINT.set(Some(endpoint.clone()));
        Ok(())
    }

    fn resolve(&self, (): &(), request: Request) {
        REQUEST.set(Some(request));
    }
}

impl glue::Exported for Collector {
    type Provider = Self;

    fn cell() -> &'static OnceLock<Self> {
        static CELL: OnceLock<Collector> = OnceLock::new();
        &CELL
    }
}

fn collector() -> &'static abi::Provider {
    const NAME: &CStr = c"test";
    static TABLE: glue::Table = glue::Table::of::<Collector>(NAME);
    let (mut provider, mut version) = (ptr::null_mut(), 0);
    // SAFETY: both variables are writable, and the table is valid for ever.
    unsafe {
        assert_eq!(TABLE.give::<Collector>(&raw mut provider, &raw mut version, NAME, ptr::null()), 0);
        &*provider
    }
}

/// The contexts of an open port, endpoint and address. They are never closed, as the daemon's structures are leaked.
struct Contexts {
    port: *mut c_void,
    endpoint: *mut c_void,
    address: *mut c_void,
}

fn open(node_guid: u64, number: u8, pkey: u16) -> Contexts {
    let provider = collector();
    let device = Box::leak(Box::new(Device { verbs: ptr::null_mut(), guid: node_guid.to_be_bytes() }));
    let port = Box::leak(Box::new(abi::Port { device, port_number: number }));
    let endpoint = Box::leak(Box::new(abi::Endpoint { port, pkey }));
    let mut info = EpInfo([0; 64]);
    info.0[..4].copy_from_slice(b"test");
    let address = Address { endpoint, info, id_string: ptr::null_mut(), kind: 1 };
    let mut opened = Contexts { port: ptr::null_mut(), endpoint: ptr::null_mut(), address: ptr::null_mut() };
    // SAFETY: the functions are called as a daemon calls them, one after another, and the structures are leaked.
    unsafe {
        let status = [
            provider.open_port.expect("a function")(port, ptr::null_mut(), &raw mut opened.port),
            provider.open_endpoint.expect("a function")(endpoint, opened.port, &raw mut opened.endpoint),
            provider.add_address.expect("a function")(&raw const address, opened.endpoint, &raw mut opened.address),
        ];
        assert_eq!(status, [0; 3]);
    }
    opened
}

/// Returns a port of a device with this node GUID. The device has no name, because the daemon has not opened it.
///
/// # Panics
/// Never.
#[must_use]
pub fn port(node_guid: u64, number: u8) -> Port {
    open(node_guid, number, 0xffff);
    PORT.take().expect("a port")
}

/// Returns an endpoint of a port with this node GUID and number. Tests run concurrently: each should use a P_Key of its
/// own, by which [`sa_requests`](super::sa_requests) selects.
///
/// # Panics
/// Never.
#[must_use]
pub fn endpoint(node_guid: u64, number: u8, pkey: u16) -> Endpoint {
    open(node_guid, number, pkey);
    ENDPOINT.take().expect("an endpoint")
}

/// Returns a request of a client (0 is the kernel) with this message, and its id for
/// [`responses`](super::responses). `chose_source` is true if the daemon chose the source. The id modulo 1,024 is the
/// client.
///
/// # Panics
/// If the message is shorter than a header or longer than the daemon's messages.
#[must_use]
pub fn request(client: u64, message: &[u8]) -> (Request, u64) {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let id = NEXT.fetch_add(1, Ordering::Relaxed) * 1024 + client;
    let mut message = converted(message);
    let opened = open(1, 1, 0xffff);
    // SAFETY: the address is open, and the message is valid until the call returns.
    let status = unsafe { collector().resolve.expect("a function")(opened.address, &raw mut message, id) };
    assert_eq!(status, 0);
    (REQUEST.take().expect("a request"), id)
}

/// Converts the bytes of a message.
fn converted(bytes: &[u8]) -> Message {
    let (head, body) = bytes.split_first_chunk::<16>().expect("a header");
    let nothing = EpAddrData { flags: 0, kind: 0, reserved: 0, info: EpInfo([0; 64]) };
    let mut entries = [nothing; MESSAGE_ENTRIES];
    assert!(body.len() <= MESSAGE_ENTRIES * 72, "a message of the daemon has {MESSAGE_ENTRIES} entries");
    for (entry, bytes) in entries.iter_mut().zip(body.chunks_exact(72)) {
        entry.flags = u32::from_ne_bytes(bytes[..4].try_into().expect("4 bytes"));
        entry.kind = u16::from_ne_bytes(bytes[4..6].try_into().expect("2 bytes"));
        entry.info.0.copy_from_slice(&bytes[8..]);
    }
    let [version, opcode, status, data @ ..] = *head;
    let data = [data[0], data[1], data[2]];
    let length = u16::from_ne_bytes([head[6], head[7]]);
    let tid = u64::from_ne_bytes(head[8..].try_into().expect("8 bytes"));
    Message { header: Header { version, opcode, status, data, length, tid }, entries }
}
