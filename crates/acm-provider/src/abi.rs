//! The C interface of `infiniband/acm_prov.h`, with the required parts of `acm.h`, `umad.h` and `verbs.h`. All
//! structures have the layout of a C compiler.
//!
//! A provider is a shared library that exports one function, [`PROVIDER_QUERY`]. The daemon calls this function to get
//! a [`Provider`], and then calls the functions of the [`Provider`]. The provider calls the functions of [`imports`],
//! which the daemon exports. The headers do not state the following rules, which result from ibacm's code (rdma-core
//! `ibacm/src/acm.c`):
//!
//! - The daemon calls the functions of [`Provider`] one at a time. Another thread calls the handlers of [`SaMad`]s,
//!   even while a function of [`Provider`] runs.
//! - The caller owns a message, which is valid until the function returns. A provider that responds later must copy the
//!   message.
//! - Any thread may call `acm_resolve_response` and `acm_query_response`, even before `resolve` returns. Each id gets
//!   exactly one response.
//! - A [`Device`], [`Port`], [`Endpoint`] or [`Address`] is valid until the provider's function that closes it returns.
//!   Exception: C ibacm moves an address when its endpoint gets another address. A provider must copy addresses.
#![allow(unsafe_code, reason = "it declares the functions of the other side")]
use core::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    fmt,
};

/// `ACM_PROV_VERSION`: the version of this interface.
pub const VERSION: u32 = 1;

/// Name of the function of type [`ProviderQuery`] that a provider's library exports.
pub const PROVIDER_QUERY: &CStr = c"provider_query";

/// `provider_query`: writes the provider, and the version of the interface that it was built for. Returns zero on
/// success.
pub type ProviderQuery = unsafe extern "C" fn(provider: *mut *mut Provider, version: *mut u32) -> c_int;

/// `struct ibv_context`: an open device of libibverbs. Its fields are private to libibverbs.
#[repr(C)]
#[derive(Debug)]
pub struct VerbsContext {
    _inside: [u8; 0],
}

/// `struct acm_device`: a device, as the daemon describes it to the provider.
#[repr(C)]
#[derive(Debug)]
pub struct Device {
    /// The daemon's open device. A provider that needs queue pairs must open the device again.
    pub verbs: *mut VerbsContext,
    /// Node GUID, in network byte order.
    pub guid: [u8; 8],
}

/// `struct acm_port`: a port, as the daemon describes it to the provider.
#[repr(C)]
#[derive(Debug)]
pub struct Port {
    /// The port's device.
    pub device: *mut Device,
    /// Number of the port at its device, from 1.
    pub port_number: u8,
}

/// `struct acm_endpoint`: a port in a partition, as the daemon describes it to the provider.
#[repr(C)]
#[derive(Debug)]
pub struct Endpoint {
    /// The endpoint's port.
    pub port: *mut Port,
    /// P_Key with its membership bit, in host byte order.
    pub pkey: u16,
}

/// `union acm_ep_info`: 64 bytes, whose meaning depends on the type of the address. The alignment is that of `struct
/// ibv_path_record`.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpInfo(pub [u8; 64]);

/// `struct acm_address`: an address of an endpoint.
#[repr(C)]
#[derive(Debug)]
pub struct Address {
    /// The endpoint that has the address.
    pub endpoint: *mut Endpoint,
    /// The address: a name (zero-terminated if shorter than 64 bytes), 4 bytes of IPv4, or 16 bytes of IPv6.
    pub info: EpInfo,
    /// The address as text.
    pub id_string: *mut c_char,
    /// `ACM_EP_INFO_NAME` (1), `ACM_EP_INFO_ADDRESS_IP` (2), `ACM_EP_INFO_ADDRESS_IP6` (3).
    pub kind: u16,
}

/// `struct acm_hdr`: the first 16 bytes of a message. The length and transaction id of resolve requests are in host
/// byte order.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// `ACM_VERSION` (1).
    pub version: u8,
    /// `ACM_OP_RESOLVE` (1). A response also has the bit `ACM_OP_ACK` (0x80).
    pub opcode: u8,
    /// `ACM_STATUS_*`: zero for success.
    pub status: u8,
    /// `data`. `acm.h` names the bytes `src_out`, `src_index` and `dst_index`.
    pub data: [u8; 3],
    /// Length of the whole message, in bytes.
    pub length: u16,
    /// Transaction id.
    pub tid: u64,
}

/// `struct acm_ep_addr_data`, 72 bytes: an address or a path record of a message.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpAddrData {
    /// `ACM_EP_FLAG_*` (purpose of the entry) and `ACM_FLAGS_*` (how to resolve).
    pub flags: u32,
    /// `ACM_EP_INFO_*`: content of `info`.
    pub kind: u16,
    /// Unused.
    pub reserved: u16,
    /// The address, or the path record.
    pub info: EpInfo,
}

/// Number of [`EpAddrData`] in a message (`ACM_MSG_DATA_LENGTH`).
pub const MESSAGE_ENTRIES: usize = 8;

/// `struct acm_msg`, 592 bytes. All entries are allocated, regardless of the message's length.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The header.
    pub header: Header,
    /// Addresses and path records.
    pub entries: [EpAddrData; MESSAGE_ENTRIES],
}

/// `struct ib_user_mad` without its data, 64 bytes: the header of a MAD in the kernel's umad interface. The fields of
/// the address are in network byte order, the other fields in host byte order.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of struct ib_user_mad")]
pub struct UserMad {
    pub agent_id: u32,
    /// Zero or an errno; `ETIMEDOUT` if no response was received.
    pub status: u32,
    pub timeout_ms: u32,
    pub retries: u32,
    pub length: u32,
    pub qpn: [u8; 4],
    pub qkey: [u8; 4],
    pub lid: [u8; 2],
    pub sl: u8,
    pub path_bits: u8,
    pub grh_present: u8,
    pub gid_index: u8,
    pub hop_limit: u8,
    pub traffic_class: u8,
    pub gid: [u8; 16],
    pub flow_label: [u8; 4],
    pub pkey_index: u16,
    pub reserved: [u8; 6],
}

/// `struct acm_sa_mad`: a request to the subnet administrator (SA). The response overwrites it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SaMad {
    /// Pointer for use by the provider.
    pub context: *mut c_void,
    /// Header that the daemon fills in. In a response, `status` is zero or an errno.
    pub umad: UserMad,
    /// The datagram, in network byte order.
    pub mad: [u8; 256],
}

/// A function that the daemon calls when a request was answered or has failed. The provider must free the [`SaMad`], in
/// this function or later.
pub type SaHandler = unsafe extern "C" fn(mad: *mut SaMad);

/// `struct acm_provider`: the functions of a provider. Functions that return an `int` return zero for success.
#[repr(C)]
#[allow(clippy::type_complexity, reason = "a field's type is its signature in C")]
pub struct Provider {
    /// Size of this structure, in bytes.
    pub size: usize,
    /// Version of the interface that the provider was built for: [`VERSION`].
    pub version: u32,
    /// Name of the provider in `provider` lines of the options.
    pub name: *const c_char,
    /// Opens a device: a device with a port of the provider was added.
    pub open_device: Option<unsafe extern "C" fn(device: *const Device, dev_context: *mut *mut c_void) -> c_int>,
    /// Closes a device that was removed, after its ports were closed.
    pub close_device: Option<unsafe extern "C" fn(dev_context: *mut c_void)>,
    /// Opens a port of the provider that became active.
    pub open_port: Option<
        unsafe extern "C" fn(port: *const Port, dev_context: *mut c_void, port_context: *mut *mut c_void) -> c_int,
    >,
    /// Closes a port that is no longer active, after its endpoints were closed.
    pub close_port: Option<unsafe extern "C" fn(port_context: *mut c_void)>,
    /// Opens an endpoint: a partition of the port got its first address.
    pub open_endpoint: Option<
        unsafe extern "C" fn(
            endpoint: *const Endpoint,
            port_context: *mut c_void,
            ep_context: *mut *mut c_void,
        ) -> c_int,
    >,
    /// Closes an endpoint: the partition lost its last address.
    pub close_endpoint: Option<unsafe extern "C" fn(ep_context: *mut c_void)>,
    /// Adds an address to an endpoint.
    pub add_address: Option<
        unsafe extern "C" fn(address: *const Address, ep_context: *mut c_void, addr_context: *mut *mut c_void) -> c_int,
    >,
    /// Removes an address from an endpoint.
    pub remove_address: Option<unsafe extern "C" fn(addr_context: *mut c_void)>,
    /// Resolves the path from an address to another address, or to the destination of a path record. The provider must
    /// call `acm_resolve_response` with `id`, regardless of the return value.
    pub resolve: Option<unsafe extern "C" fn(addr_context: *mut c_void, message: *mut Message, id: u64) -> c_int>,
    /// Queries the SA for a path record. The provider must call `acm_query_response` with `id`.
    pub query: Option<unsafe extern "C" fn(addr_context: *mut c_void, message: *mut Message, id: u64) -> c_int>,
    /// Handles an event of the port (`enum ibv_event_type`). ibacm passes only `IBV_EVENT_CLIENT_REREGISTER` (17),
    /// acm-mio also `IBV_EVENT_SM_CHANGE` (13).
    pub handle_event: Option<unsafe extern "C" fn(port_context: *mut c_void, event: c_uint) -> c_int>,
    /// Writes the endpoint's counters, in network byte order, and their number.
    pub query_perf: Option<unsafe extern "C" fn(ep_context: *mut c_void, values: *mut u64, count: *mut u8)>,
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider").field("size", &self.size).field("version", &self.version).finish_non_exhaustive()
    }
}

/// The functions of the daemon that a provider calls. Only a library that the daemon has loaded can call these
/// functions; in any other program they are undefined symbols.
pub mod imports {
    use super::{Endpoint, Message, Port, SaHandler, SaMad};
    use core::ffi::{c_char, c_int, c_void};

    unsafe extern "C" {
        /// Writes a line to the daemon's log, at a level from 0 (always) to 2. `format` is a printf format.
        pub fn acm_write(level: c_int, format: *const c_char, ...);
        /// Writes an address as text into `name_size` bytes at `name`, if the log is written at this level.
        pub fn acm_format_name(
            level: c_int,
            name: *mut c_char,
            name_size: usize,
            addr_type: u8,
            addr: *const u8,
            addr_size: usize,
        );
        /// Returns non-zero if the 16 bytes are all zero.
        pub fn ib_any_gid(gid: *mut [u8; 16]) -> c_int;
        /// Returns the index of a GID in a port's table, or the length of the table if it does not contain the GID.
        pub fn acm_gid_index(port: *mut Port, gid: *mut [u8; 16]) -> u8;
        /// Writes the GID at an index of a port's table. Returns non-zero if the table has no such index.
        pub fn acm_get_gid(port: *mut Port, index: c_int, gid: *mut [u8; 16]) -> c_int;
        /// Writes the GID of the network interface with this name. Returns non-zero if the interface has no GID.
        pub fn acm_if_get_sgid(name: *mut c_char, gid: *mut [u8; 16]) -> c_int;
        /// Returns the component mask of the non-zero fields of a path record (64 bytes), in network byte order.
        pub fn acm_path_comp_mask(path: *mut [u8; 64]) -> u64;
        /// Responds to a request of [`Provider::resolve`](super::Provider::resolve). `message` is the message of the
        /// request with a status and path records. The daemon copies the message.
        pub fn acm_resolve_response(id: u64, message: *mut Message) -> c_int;
        /// Responds to a request of [`Provider::query`](super::Provider::query), like `acm_resolve_response`.
        pub fn acm_query_response(id: u64, message: *mut Message) -> c_int;
        /// Returns the `enum ibv_rate` for a port's `active_width` and `active_speed`.
        pub fn acm_get_rate(width: u8, speed: u8) -> u32;
        /// Returns the `enum ibv_mtu` for an MTU in bytes.
        pub fn acm_convert_mtu(mtu: c_int) -> u32;
        /// Returns the `enum ibv_rate` for a rate in Gbit/s.
        pub fn acm_convert_rate(rate: c_int) -> u32;
        /// Allocates a request to the SA from an endpoint's port. All fields except `context` are zero. Returns null on
        /// failure.
        pub fn acm_alloc_sa_mad(
            endpoint: *const Endpoint,
            context: *mut c_void,
            handler: Option<SaHandler>,
        ) -> *mut SaMad;
        /// Frees a request to the SA.
        pub fn acm_free_sa_mad(mad: *mut SaMad);
        /// Sends a request to the SA. Returns zero on success. Only after success, the daemon calls the handler,
        /// exactly once.
        pub fn acm_send_sa_mad(mad: *mut SaMad) -> c_int;
        /// Returns the path of the option file (`ibacm_opts.cfg`).
        pub fn acm_get_opts_file() -> *const c_char;
        /// Increments a counter of the daemon (`ACM_CNTR_*`).
        pub fn acm_increment_counter(counter: c_int);
    }
}
