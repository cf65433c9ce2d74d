//! The C functions of a provider in Rust.
#![allow(unsafe_code, reason = "functions that C calls")]
use super::{
    Address, Endpoint, Port, Provider, Refused, Request,
    loaded::{catch_panic, keep},
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

/// The provider that [`export!`](crate::export) exports.
pub trait Exported: 'static {
    /// The type of the provider.
    type Provider: Provider;
    /// Returns the cell that holds the provider after loading.
    fn cell() -> &'static OnceLock<Self::Provider>;
}

/// The structure that the daemon gets. It is created once and never changed.
#[derive(Debug)]
#[repr(transparent)]
pub struct Table(abi::Provider);
// SAFETY: the table is never modified, and its name is a constant.
unsafe impl Sync for Table {}

impl Table {
    /// Returns the table of a provider with a name.
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

    /// Implements `provider_query`.
    ///
    /// # Safety
    /// Both pointers must be writable.
    pub unsafe fn give<E: Exported>(
        &'static self,
        provider: *mut *mut abi::Provider,
        version: *mut u32,
        name: &'static CStr,
        function: *const c_void,
    ) -> c_int {
        daemon::set_name(name);
        keep(function);
        let loaded = catch_panic("load", || {
            if E::cell().get().is_none() {
                let _ = E::cell().set(E::Provider::load()?);
            }
            Ok(())
        });
        if refused("load", loaded).is_none() {
            return -1;
        }
        // SAFETY: the caller guarantees that `provider` and `version` are writable.
        unsafe {
            *provider = (&raw const self.0).cast_mut();
            *version = abi::VERSION;
        }
        0
    }
}

struct OpenPort<P: Provider> {
    handle: Port,
    state: P::Port,
}

struct OpenEndpoint<P: Provider> {
    handle: Endpoint,
    state: Arc<P::Endpoint>,
}

/// An address of an open endpoint. The reference is weak because ibacm may close an endpoint before its addresses are
/// removed.
struct OpenAddress<P: Provider> {
    endpoint: Weak<P::Endpoint>,
    address: Address,
}

/// Returns the value, or logs the error and returns `None`.
fn refused<T>(what: &str, result: Option<Result<T, Refused>>) -> Option<T> {
    match result? {
        Ok(value) => Some(value),
        Err(why) => {
            daemon::log(Level::Always, format_args!("ERROR - {what}: {why}"));
            None
        }
    }
}

/// Creates a value and passes it to the daemon as a context.
///
/// # Safety
/// `out` must be writable.
unsafe fn open<T>(what: &str, out: *mut *mut c_void, make: impl FnOnce() -> Result<T, Refused>) -> c_int {
    let Some(made) = refused(what, catch_panic(what, make)) else { return -1 };
    // SAFETY: the caller guarantees that `out` is writable.
    unsafe { *out = Box::into_raw(Box::new(made)).cast() };
    0
}

/// Drops a context that the daemon returned.
///
/// # Safety
/// The context must come from [`open`] with the same `T`, and must not be used again.
unsafe fn close<T>(context: *mut c_void, what: &str, last: impl FnOnce(&T)) {
    // SAFETY: `open` created the context as a box with the same `T`, and the caller does not use it again.
    let opened = unsafe { Box::from_raw(context.cast::<T>()) };
    catch_panic(what, || {
        last(&opened);
        drop(opened);
    });
}

unsafe extern "C" fn open_device(_device: *const abi::Device, context: *mut *mut c_void) -> c_int {
    // Devices have no context, because each port stores its device. SAFETY: the daemon provides writable memory for the
    // context.
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
        // SAFETY: the daemon's port is valid until it calls `close_port`.
        let handle = unsafe { Port::new(port) };
        let state = provider.open_port(&handle).inspect_err(|_| handle.close())?;
        Ok(OpenPort::<E::Provider> { handle, state })
    };
    // SAFETY: the daemon provides writable memory for the context.
    unsafe { open("open_port", context, make) }
}

unsafe extern "C" fn close_port<E: Exported>(context: *mut c_void) {
    // SAFETY: the context comes from `open_port`, and the daemon does not use it again.
    unsafe { close::<OpenPort<E::Provider>>(context, "close_port", |port| port.handle.close()) };
}

unsafe extern "C" fn open_endpoint<E: Exported>(
    endpoint: *const abi::Endpoint,
    port: *mut c_void,
    context: *mut *mut c_void,
) -> c_int {
    let make = || {
        let (provider, endpoint) = (loaded::<E>()?, not_null(endpoint)?);
        // SAFETY: the context comes from `open_port`, and the port stays open until this function returns.
        let port = unsafe { &*port.cast::<OpenPort<E::Provider>>() };
        // SAFETY: the daemon's endpoint is valid until it calls `close_endpoint`.
        let handle = unsafe { Endpoint::new(endpoint, port.handle.clone()) };
        let state = provider.open_endpoint(&port.state, &handle).inspect_err(|_| handle.close())?;
        Ok(OpenEndpoint::<E::Provider> { handle, state: Arc::new(state) })
    };
    // SAFETY: the daemon provides writable memory for the context.
    unsafe { open("open_endpoint", context, make) }
}

unsafe extern "C" fn close_endpoint<E: Exported>(context: *mut c_void) {
    // SAFETY: the context comes from `open_endpoint`, and the daemon does not use it again.
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
        // SAFETY: the daemon's address is valid until this function returns. ibacm may move it later.
        let (kind, info) = unsafe { (address.as_ref().kind, address.as_ref().info) };
        let address = decode(kind, &info.0)?;
        // SAFETY: the context comes from `open_endpoint`, and the endpoint stays open until this function returns.
        let endpoint = unsafe { &*endpoint.cast::<OpenEndpoint<E::Provider>>() };
        provider.add_address(&endpoint.state, &address)?;
        Ok(OpenAddress::<E::Provider> { endpoint: Arc::downgrade(&endpoint.state), address })
    };
    // SAFETY: the daemon provides writable memory for the context.
    unsafe { open("add_address", context, make) }
}

unsafe extern "C" fn remove_address<E: Exported>(context: *mut c_void) {
    let last = |opened: &OpenAddress<E::Provider>| {
        if let (Ok(provider), Some(endpoint)) = (loaded::<E>(), opened.endpoint.upgrade()) {
            provider.remove_address(&endpoint, &opened.address);
        }
    };
    // SAFETY: the context comes from `add_address`, and the daemon does not use it again.
    unsafe { close::<OpenAddress<E::Provider>>(context, "remove_address", last) };
}

unsafe extern "C" fn resolve<E: Exported>(context: *mut c_void, message: *mut abi::Message, id: u64) -> c_int {
    // SAFETY: the daemon guarantees for `resolve` what `ask` requires.
    unsafe { ask::<E>(context, message, id, Kind::Resolve) }
}

unsafe extern "C" fn query<E: Exported>(context: *mut c_void, message: *mut abi::Message, id: u64) -> c_int {
    // SAFETY: the daemon guarantees for `query` what `ask` requires.
    unsafe { ask::<E>(context, message, id, Kind::Query) }
}

/// Passes a request to the provider. Always returns zero: ibacm closes the client's connection for any other value.
///
/// # Safety
/// The context must come from [`add_address`] and must not be removed. The message must be valid. The daemon must wait
/// for one response to the id.
unsafe fn ask<E: Exported>(context: *mut c_void, message: *mut abi::Message, id: u64, kind: Kind) -> c_int {
    catch_panic("resolve", || {
        // SAFETY: the message is valid until this function returns, and is copied. The daemon waits for one response.
        let request = unsafe { Request::new(id, kind, &*message) };
        // SAFETY: the context comes from `add_address`, and the address stays until this function returns.
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
        catch_panic("reregister", || {
            // SAFETY: the context comes from `open_port`, and the port stays open until this function returns.
            let port = unsafe { &*context.cast::<OpenPort<E::Provider>>() };
            if let Ok(provider) = loaded::<E>() {
                provider.reregister(&port.state);
            }
        });
    }
    0
}

unsafe extern "C" fn query_perf<E: Exported>(context: *mut c_void, values: *mut u64, count: *mut u8) {
    /// Maximum number of counters: more than ibacm has (7), and less than its message has room for (72).
    const MOST: u8 = 16;
    let counters = catch_panic("counters", || {
        // SAFETY: the context comes from `open_endpoint`, and the endpoint stays open until this function returns.
        let endpoint = unsafe { &*context.cast::<OpenEndpoint<E::Provider>>() };
        loaded::<E>().map(|provider| provider.counters(&endpoint.state)).unwrap_or_default()
    });
    let mut written = 0;
    for (index, value) in (0..MOST).zip(counters.unwrap_or_default()) {
        // SAFETY: the daemon provides room for as many values as a message holds: 72.
        unsafe { values.add(index.into()).write_unaligned(value.to_be()) };
        written = index.saturating_add(1);
    }
    // SAFETY: the daemon provides writable memory for the count.
    unsafe { *count = written };
}

fn loaded<E: Exported>() -> Result<&'static E::Provider, Refused> {
    E::cell().get().ok_or_else(|| Refused::new("not loaded"))
}

fn not_null<T>(pointer: *const T) -> Result<NonNull<T>, Refused> {
    NonNull::new(pointer.cast_mut()).ok_or_else(|| Refused::new("the daemon gave a null pointer"))
}

fn decode(kind: u16, bytes: &[u8; ADDRESS_SIZE]) -> Result<Address, Refused> {
    let address = u8::try_from(kind).ok().and_then(|kind| Address::decode(AcmAddressType::new(kind), bytes));
    address.ok_or_else(|| Refused::new(format_args!("an address of type {kind}")))
}

/// Exports a [`Provider`] from a library: defines the function `provider_query`, and gives the provider its name in
/// `provider` lines of the options.
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
                fn cell() -> &'static OnceLock<$provider> {
                    static CELL: OnceLock<$provider> = OnceLock::new();
                    &CELL
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
                // SAFETY: the daemon provides writable memory for both.
                unsafe { TABLE.give::<This>(provider, version, NAME, function as *const c_void) }
            }
        };
    };
}
