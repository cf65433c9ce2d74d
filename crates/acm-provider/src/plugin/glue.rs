//! What the daemon calls, for a provider in Rust.
#![allow(unsafe_code, reason = "functions that C calls")]
use super::{
    Address, Endpoint, Port, Provider, Refused, Request,
    loaded::{keep, no_panic},
    request::Kind,
};
use crate::{
    abi,
    daemon::{self, Level},
};
use acm_wire::address::ADDRESS_SIZE;
use core::{
    ffi::{CStr, c_int, c_uint, c_void},
    ptr::NonNull,
};
use ib_mad::acm::AcmAddressType;
use std::sync::{Arc, OnceLock, Weak};

/// The provider that [`export!`](crate::export) named.
pub trait Exported: 'static {
    /// The type that serves as the provider.
    type Provider: Provider;
    /// Where it is once it is loaded.
    fn place() -> &'static OnceLock<Self::Provider>;
}

/// The structure that the daemon gets: made once, and never changed.
#[derive(Debug)]
#[repr(transparent)]
pub struct Table(abi::Provider);
// SAFETY: nothing in it changes, and its name is a constant.
unsafe impl Sync for Table {}

impl Table {
    /// That of a provider, under a name.
    #[must_use]
    pub const fn of<E: Exported>(name: &'static CStr) -> Self {
        Self(abi::Provider {
            size: size_of::<abi::Provider>(),
            version: abi::VERSION,
            name: name.as_ptr(),
            open_device: Some(open_device),
            close_device: Some(close_device),
            open_port: Some(open_port::<E>),
            close_port: Some(close_port::<E>),
            open_endpoint: Some(open_endpoint::<E>),
            close_endpoint: Some(close_endpoint::<E>),
            add_address: Some(add_address::<E>),
            remove_address: Some(remove_address::<E>),
            resolve: Some(resolve::<E>),
            query: Some(query::<E>),
            handle_event: Some(handle_event::<E>),
            query_perf: Some(query_perf::<E>),
        })
    }

    /// `provider_query`.
    ///
    /// # Safety
    /// Both pointers can be written to.
    pub unsafe fn give<E: Exported>(
        &'static self,
        provider: *mut *mut abi::Provider,
        version: *mut u32,
        name: &'static CStr,
        function: *const c_void,
    ) -> c_int {
        daemon::set_name(name);
        keep(function);
        let loaded = no_panic("load", || {
            if E::place().get().is_none() {
                let _ = E::place().set(E::Provider::load()?);
            }
            Ok(())
        });
        if refused("load", loaded).is_none() {
            return -1;
        }
        // SAFETY: the caller gives two places, `provider` and `version`, that can be written to through this call.
        unsafe {
            *provider = (&raw const self.0).cast_mut();
            *version = abi::VERSION;
        }
        0
    }
}

struct OpenPort<P: Provider> {
    handle: Port,
    own: P::Port,
}

struct OpenEndpoint<P: Provider> {
    handle: Endpoint,
    own: Arc<P::Endpoint>,
}

/// ibacm may close an endpoint without having removed its addresses: they must not keep it.
struct OpenAddress<P: Provider> {
    endpoint: Weak<P::Endpoint>,
    address: Address,
}

/// What it gave, or `None` behind a line of the log.
fn refused<T>(what: &str, result: Option<Result<T, Refused>>) -> Option<T> {
    match result? {
        Ok(value) => Some(value),
        Err(why) => {
            daemon::log(Level::Always, format_args!("ERROR - {what}: {why}"));
            None
        }
    }
}

/// Hands something to the daemon, to get it back as a context.
///
/// # Safety
/// `place` can be written to.
unsafe fn open<T>(what: &str, place: *mut *mut c_void, make: impl FnOnce() -> Result<T, Refused>) -> c_int {
    let Some(made) = refused(what, no_panic(what, make)) else { return -1 };
    // SAFETY: the caller gives a `place` for one pointer that can be written to through this call.
    unsafe { *place = Box::into_raw(Box::new(made)).cast() };
    0
}

/// Takes it back.
///
/// # Safety
/// The context is one of [`open`] with this `T`, and is not used again.
unsafe fn close<T>(context: *mut c_void, what: &str, last: impl FnOnce(&T)) {
    // SAFETY: the context is a box that `open` made with this `T`, and the caller does not use it again.
    let opened = unsafe { Box::from_raw(context.cast::<T>()) };
    no_panic(what, || {
        last(&opened);
        drop(opened);
    });
}

unsafe extern "C" fn open_device(_device: *const abi::Device, context: *mut *mut c_void) -> c_int {
    // Each port knows its device.
    // SAFETY: the daemon gives a place for the context.
    unsafe { *context = NonNull::dangling().as_ptr() };
    0
}

unsafe extern "C" fn close_device(_context: *mut c_void) {}

unsafe extern "C" fn open_port<E: Exported>(
    port: *const abi::Port,
    _device: *mut c_void,
    context: *mut *mut c_void,
) -> c_int {
    let make = || {
        let (provider, port) = (loaded::<E>()?, not_null(port)?);
        // SAFETY: the daemon's port is valid until it is closed, which `close_port` says.
        let handle = unsafe { Port::new(port) };
        let own = provider.open_port(&handle).inspect_err(|_| handle.close())?;
        Ok(OpenPort::<E::Provider> { handle, own })
    };
    // SAFETY: the daemon gives a place for the context.
    unsafe { open("open_port", context, make) }
}

unsafe extern "C" fn close_port<E: Exported>(context: *mut c_void) {
    // SAFETY: a context of `open_port`, which the daemon forgets.
    unsafe { close::<OpenPort<E::Provider>>(context, "close_port", |port| port.handle.close()) };
}

unsafe extern "C" fn open_endpoint<E: Exported>(
    endpoint: *const abi::Endpoint,
    port: *mut c_void,
    context: *mut *mut c_void,
) -> c_int {
    let make = || {
        let (provider, endpoint) = (loaded::<E>()?, not_null(endpoint)?);
        // SAFETY: a context of `open_port`, which is not closed before this returns.
        let port = unsafe { &*port.cast::<OpenPort<E::Provider>>() };
        // SAFETY: the daemon's endpoint is valid until it is closed, which `close_endpoint` says.
        let handle = unsafe { Endpoint::new(endpoint, port.handle.clone()) };
        let own = provider.open_endpoint(&port.own, &handle).inspect_err(|_| handle.close())?;
        Ok(OpenEndpoint::<E::Provider> { handle, own: Arc::new(own) })
    };
    // SAFETY: the daemon gives a place for the context.
    unsafe { open("open_endpoint", context, make) }
}

unsafe extern "C" fn close_endpoint<E: Exported>(context: *mut c_void) {
    // SAFETY: a context of `open_endpoint`, which the daemon forgets.
    unsafe {
        close::<OpenEndpoint<E::Provider>>(context, "close_endpoint", |endpoint| endpoint.handle.close());
    };
}

unsafe extern "C" fn add_address<E: Exported>(
    address: *const abi::Address,
    endpoint: *mut c_void,
    context: *mut *mut c_void,
) -> c_int {
    let make = || {
        let (provider, address) = (loaded::<E>()?, not_null(address)?);
        // SAFETY: the daemon's address is valid until this returns; ibacm may move it later.
        let (kind, info) = unsafe { (address.as_ref().kind, address.as_ref().info) };
        let address = decode(kind, &info.0)?;
        // SAFETY: a context of `open_endpoint`, which is not closed before this returns.
        let endpoint = unsafe { &*endpoint.cast::<OpenEndpoint<E::Provider>>() };
        provider.add_address(&endpoint.own, &address)?;
        Ok(OpenAddress::<E::Provider> { endpoint: Arc::downgrade(&endpoint.own), address })
    };
    // SAFETY: the daemon gives a place for the context.
    unsafe { open("add_address", context, make) }
}

unsafe extern "C" fn remove_address<E: Exported>(context: *mut c_void) {
    let last = |opened: &OpenAddress<E::Provider>| {
        if let (Ok(provider), Some(endpoint)) = (loaded::<E>(), opened.endpoint.upgrade()) {
            provider.remove_address(&endpoint, &opened.address);
        }
    };
    // SAFETY: a context of `add_address`, which the daemon forgets.
    unsafe { close::<OpenAddress<E::Provider>>(context, "remove_address", last) };
}

unsafe extern "C" fn resolve<E: Exported>(context: *mut c_void, message: *mut abi::Message, id: u64) -> c_int {
    // SAFETY: as the daemon promises of `resolve`.
    unsafe { ask::<E>(context, message, id, Kind::Resolve) }
}

unsafe extern "C" fn query<E: Exported>(context: *mut c_void, message: *mut abi::Message, id: u64) -> c_int {
    // SAFETY: as the daemon promises of `query`.
    unsafe { ask::<E>(context, message, id, Kind::Query) }
}

/// The answer says everything: ibacm closes a client's connection if this gives anything but zero.
///
/// # Safety
/// A context of [`add_address`] that is not removed, a valid message, and an id that waits for one answer.
unsafe fn ask<E: Exported>(context: *mut c_void, message: *mut abi::Message, id: u64, kind: Kind) -> c_int {
    no_panic("resolve", || {
        // SAFETY: the message is valid until this returns, and is copied; the daemon waits for one answer to `id`.
        let request = unsafe { Request::new(id, kind, &*message) };
        // SAFETY: the context is one of `add_address`, which is not removed before this returns.
        let opened = unsafe { &*context.cast::<OpenAddress<E::Provider>>() };
        let (Ok(provider), Some(endpoint)) = (loaded::<E>(), opened.endpoint.upgrade()) else { return };
        match kind {
            Kind::Resolve => provider.resolve(&endpoint, request),
            Kind::Query => provider.query(&endpoint, request),
        }
    });
    0
}

unsafe extern "C" fn handle_event<E: Exported>(context: *mut c_void, event: c_uint) -> c_int {
    const CLIENT_REREGISTER: c_uint = 17;
    if event == CLIENT_REREGISTER {
        no_panic("reregister", || {
            // SAFETY: a context of `open_port`, which is not closed before this returns.
            let port = unsafe { &*context.cast::<OpenPort<E::Provider>>() };
            if let Ok(provider) = loaded::<E>() {
                provider.reregister(&port.own);
            }
        });
    }
    0
}

unsafe extern "C" fn query_perf<E: Exported>(context: *mut c_void, values: *mut u64, count: *mut u8) {
    /// More than ibacm has itself (7), and less than its message has room for.
    const MOST: u8 = 16;
    let counters = no_panic("counters", || {
        // SAFETY: a context of `open_endpoint`, which is not closed before this returns.
        let endpoint = unsafe { &*context.cast::<OpenEndpoint<E::Provider>>() };
        loaded::<E>().map(|provider| provider.counters(&endpoint.own)).unwrap_or_default()
    });
    let mut told = 0;
    for (index, value) in (0..MOST).zip(counters.unwrap_or_default()) {
        // SAFETY: the daemon has room for what a message holds, 72 values.
        unsafe { values.add(index.into()).write_unaligned(value.to_be()) };
        told = index.saturating_add(1);
    }
    // SAFETY: the daemon gives a place for the count.
    unsafe { *count = told };
}

fn loaded<E: Exported>() -> Result<&'static E::Provider, Refused> {
    E::place().get().ok_or_else(|| Refused::new("not loaded"))
}

fn not_null<T>(pointer: *const T) -> Result<NonNull<T>, Refused> {
    NonNull::new(pointer.cast_mut()).ok_or_else(|| Refused::new("the daemon gave a null pointer"))
}

fn decode(kind: u16, bytes: &[u8; ADDRESS_SIZE]) -> Result<Address, Refused> {
    let address = u8::try_from(kind).ok().and_then(|kind| Address::decode(AcmAddressType::new(kind), bytes));
    address.ok_or_else(|| Refused::new(format_args!("an address of type {kind}")))
}

/// Makes a library of a [`Provider`]: the function `provider_query`, by which ibacm and acm-mio find it, and the name that
/// `provider` lines of the options call it by.
#[macro_export]
macro_rules! export {
    ($provider:ty, $name:literal) => {
        const _: () = {
            use ::core::ffi::{CStr, c_int, c_void};
            use ::std::sync::OnceLock;
            use $crate::{abi, plugin::glue};

            struct This;
            impl glue::Exported for This {
                type Provider = $provider;
                fn place() -> &'static OnceLock<$provider> {
                    static PLACE: OnceLock<$provider> = OnceLock::new();
                    &PLACE
                }
            }
            const NAME: &CStr = match CStr::from_bytes_with_nul(concat!($name, "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("a name without zero bytes"),
            };
            static TABLE: glue::Table = glue::Table::of::<This>(NAME);

            #[unsafe(no_mangle)]
            unsafe extern "C" fn provider_query(provider: *mut *mut abi::Provider, version: *mut u32) -> c_int {
                let function: abi::ProviderQuery = provider_query;
                // SAFETY: the daemon gives places for both.
                unsafe { TABLE.give::<This>(provider, version, NAME, function as *const c_void) }
            }
        };
    };
}
