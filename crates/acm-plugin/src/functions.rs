//! The functions of a provider, without null pointers.
use acm_provider::abi::{Address, Device, Endpoint, Message, Port, Provider};
use core::ffi::{c_int, c_uint, c_void};

/// A function that opens an object. It returns zero on success, and writes the provider's context.
pub(crate) type Open<T> = unsafe extern "C" fn(*const T, *mut c_void, *mut *mut c_void) -> c_int;
/// A function that closes an object. Its argument is the provider's context.
pub(crate) type Close = unsafe extern "C" fn(*mut c_void);

/// A function that handles a request of a client. Its first argument is the provider's context of an address.
pub(crate) type Handle = unsafe extern "C" fn(*mut c_void, *mut Message, u64) -> c_int;

/// The functions of [`Provider`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Functions {
    pub(crate) open_device: unsafe extern "C" fn(*const Device, *mut *mut c_void) -> c_int,
    pub(crate) close_device: Close,
    pub(crate) open_port: Open<Port>,
    pub(crate) close_port: Close,
    pub(crate) open_endpoint: Open<Endpoint>,
    pub(crate) close_endpoint: Close,
    pub(crate) add_address: Open<Address>,
    pub(crate) remove_address: Close,
    pub(crate) resolve: Handle,
    pub(crate) query: Handle,
    pub(crate) handle_event: unsafe extern "C" fn(*mut c_void, c_uint) -> c_int,
    pub(crate) query_perf: unsafe extern "C" fn(*mut c_void, *mut u64, *mut u8),
}

impl Functions {
    /// Returns the functions, or the name of a function that is a null pointer.
    pub(crate) fn of(provider: &Provider) -> Result<Self, &'static str> {
        macro_rules! function {
            ($name:ident) => {
                provider.$name.ok_or(stringify!($name))?
            };
        }
        Ok(Self {
            open_device: function!(open_device),
            close_device: function!(close_device),
            open_port: function!(open_port),
            close_port: function!(close_port),
            open_endpoint: function!(open_endpoint),
            close_endpoint: function!(close_endpoint),
            add_address: function!(add_address),
            remove_address: function!(remove_address),
            resolve: function!(resolve),
            query: function!(query),
            handle_event: function!(handle_event),
            query_perf: function!(query_perf),
        })
    }
}
