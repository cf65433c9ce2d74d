//! `infiniband/acm_prov.h` and what it takes of `acm.h`, `umad.h` and `verbs.h`, as a C compiler lays it out.
//!
//! A provider is a shared library with the one function [`PROVIDER_QUERY`]. The daemon that loads it calls the functions
//! of the [`Provider`] that this gives, and exports those of [`imports`] for the provider to call. Both sides are bound by
//! what ibacm does (rdma-core `ibacm/src/acm.c`), which no header says:
//!
//! - The functions of [`Provider`] are called one at a time. Handlers of [`SaMad`]s are called by another thread, and may
//!   run at the same time as those.
//! - A message is the caller's: it is valid until the function returns. A provider that answers later copies it.
//! - `acm_resolve_response` and `acm_query_response` may be called by any thread, also before `resolve` returns, once
//!   for each id.
//! - A [`Device`], [`Port`], [`Endpoint`] or [`Address`] is valid until the provider's function that closes it returned;
//!   but C ibacm moves an address when its endpoint gets another one, so that a provider copies it.
#![allow(unsafe_code, reason = "it says which functions there are on the other side")]
use core::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    fmt,
};

/// `ACM_PROV_VERSION`: the version of this interface.
pub const VERSION: u32 = 1;

/// Name of the function that a provider's library exports, of type [`ProviderQuery`].
pub const PROVIDER_QUERY: &CStr = c"provider_query";

/// `provider_query`: gives the provider and the version of the interface that it was built for; zero, or another number
/// if it cannot serve.
pub type ProviderQuery = unsafe extern "C" fn(provider: *mut *mut Provider, version: *mut u32) -> c_int;

/// `struct ibv_context`: an open device of libibverbs. Its inside is libibverbs'.
#[repr(C)]
#[derive(Debug)]
pub struct VerbsContext {
    _inside: [u8; 0],
}

/// `struct acm_device`: a device, as the provider is told of it.
#[repr(C)]
#[derive(Debug)]
pub struct Device {
    /// The daemon's own open device. A provider that needs queue pairs opens the device anew.
    pub verbs: *mut VerbsContext,
    /// Node GUID, as bytes of the wire.
    pub guid: [u8; 8],
}

/// `struct acm_port`: a port, as the provider is told of it.
#[repr(C)]
#[derive(Debug)]
pub struct Port {
    /// The device that has it.
    pub device: *mut Device,
    /// Its number, from 1.
    pub port_number: u8,
}

/// `struct acm_endpoint`: a port in a partition, as the provider is told of it.
#[repr(C)]
#[derive(Debug)]
pub struct Endpoint {
    /// The port that it is on.
    pub port: *mut Port,
    /// The partition, in the host's byte order, with its membership bit.
    pub pkey: u16,
}

/// `union acm_ep_info`: 64 bytes, of which an address's type says the meaning. A `struct ibv_path_record` in it aligns it.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpInfo(pub [u8; 64]);

/// `struct acm_address`: an address of an endpoint.
#[repr(C)]
#[derive(Debug)]
pub struct Address {
    /// Whose it is.
    pub endpoint: *mut Endpoint,
    /// The address: a name that ends with a zero byte unless it is 64 bytes long, 4 bytes of IPv4, 16 of IPv6.
    pub info: EpInfo,
    /// The same as text.
    pub id_string: *mut c_char,
    /// `ACM_EP_INFO_NAME` (1), `ACM_EP_INFO_ADDRESS_IP` (2), `ACM_EP_INFO_ADDRESS_IP6` (3).
    pub kind: u16,
}

/// `struct acm_hdr`, the first 16 bytes of a message. The length and transaction id of requests to resolve are in the
/// host's byte order.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// `ACM_VERSION` (1).
    pub version: u8,
    /// `ACM_OP_RESOLVE` (1); an answer has `ACM_OP_ACK` (0x80) beside it.
    pub opcode: u8,
    /// `ACM_STATUS_*`: zero if all is well.
    pub status: u8,
    /// `data`, of which `acm.h` names the parts `src_out`, `src_index`, `dst_index`.
    pub data: [u8; 3],
    /// Bytes of the whole message.
    pub length: u16,
    /// Its transaction id.
    pub tid: u64,
}

/// `struct acm_ep_addr_data`, 72 bytes: an address or a path record of a message.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpAddrData {
    /// `ACM_EP_FLAG_*`: what the entry is for; `ACM_FLAGS_*`: how to resolve.
    pub flags: u32,
    /// `ACM_EP_INFO_*`: what `info` holds.
    pub kind: u16,
    /// Not used.
    pub reserved: u16,
    /// The address, or the path record.
    pub info: EpInfo,
}

/// How many [`EpAddrData`] a message has room for (`ACM_MSG_DATA_LENGTH`).
pub const MESSAGE_ENTRIES: usize = 8;

/// `struct acm_msg`, 592 bytes. The room behind the header is there whatever the message's length says.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// What it is.
    pub header: Header,
    /// Its addresses and path records.
    pub entries: [EpAddrData; MESSAGE_ENTRIES],
}

/// `struct ib_user_mad` without its data, 64 bytes: what the kernel's umad has before each MAD. Numbers of the address are
/// in the byte order of the wire, the others in the host's.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of struct ib_user_mad, which says no more")]
pub struct UserMad {
    pub agent_id: u32,
    /// Zero, or an errno: `ETIMEDOUT` if no answer came.
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

/// `struct acm_sa_mad`: a request to subnet administration, and then its answer in the same place.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SaMad {
    /// The provider's own.
    pub context: *mut c_void,
    /// Where it goes is the daemon's business; the answer's `status` says whether there is one.
    pub umad: UserMad,
    /// The datagram, in the byte order of the wire.
    pub mad: [u8; 256],
}

/// What is called when the answer to a [`SaMad`] is there, or will not come. The provider frees the `SaMad`, then or later.
pub type SaHandler = unsafe extern "C" fn(mad: *mut SaMad);

/// `struct acm_provider`: what a provider can do. Functions that give an `int` give zero if all is well.
#[repr(C)]
#[allow(clippy::type_complexity, reason = "a field's type is its signature in C")]
pub struct Provider {
    /// Size of this structure.
    pub size: usize,
    /// Version of the interface that the provider was built for: [`VERSION`].
    pub version: u32,
    /// What `provider` lines of the options call it.
    pub name: *const c_char,
    /// A device with a port of the provider is there.
    pub open_device: Option<unsafe extern "C" fn(device: *const Device, dev_context: *mut *mut c_void) -> c_int>,
    /// It is gone; its ports are closed.
    pub close_device: Option<unsafe extern "C" fn(dev_context: *mut c_void)>,
    /// A port of the provider is active.
    pub open_port: Option<
        unsafe extern "C" fn(port: *const Port, dev_context: *mut c_void, port_context: *mut *mut c_void) -> c_int,
    >,
    /// It is not any more; its endpoints are closed.
    pub close_port: Option<unsafe extern "C" fn(port_context: *mut c_void)>,
    /// A partition of the port has an address.
    pub open_endpoint: Option<
        unsafe extern "C" fn(
            endpoint: *const Endpoint,
            port_context: *mut c_void,
            ep_context: *mut *mut c_void,
        ) -> c_int,
    >,
    /// It has none any more; they are removed.
    pub close_endpoint: Option<unsafe extern "C" fn(ep_context: *mut c_void)>,
    /// An endpoint has an address.
    pub add_address: Option<
        unsafe extern "C" fn(address: *const Address, ep_context: *mut c_void, addr_context: *mut *mut c_void) -> c_int,
    >,
    /// It has it no more.
    pub remove_address: Option<unsafe extern "C" fn(addr_context: *mut c_void)>,
    /// The path from an address to another, or to what a path record says. `acm_resolve_response` follows with `id`,
    /// whatever the number that is given back.
    pub resolve: Option<unsafe extern "C" fn(addr_context: *mut c_void, message: *mut Message, id: u64) -> c_int>,
    /// The path record that subnet administration has for one. `acm_query_response` follows with `id`.
    pub query: Option<unsafe extern "C" fn(addr_context: *mut c_void, message: *mut Message, id: u64) -> c_int>,
    /// An `enum ibv_event_type` of the port: ibacm passes only `IBV_EVENT_CLIENT_REREGISTER` (17).
    pub handle_event: Option<unsafe extern "C" fn(port_context: *mut c_void, event: c_uint) -> c_int>,
    /// The endpoint's counters, in the byte order of the wire, and how many there are.
    pub query_perf: Option<unsafe extern "C" fn(ep_context: *mut c_void, values: *mut u64, count: *mut u8)>,
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider").field("size", &self.size).field("version", &self.version).finish_non_exhaustive()
    }
}

/// The functions of the daemon that a provider calls. They are there only in a library that such a daemon loaded:
/// whatever else is linked with them lacks them.
pub mod imports {
    use super::{Endpoint, Message, Port, SaHandler, SaMad};
    use core::ffi::{c_char, c_int, c_void};

    unsafe extern "C" {
        /// A line of the daemon's log, at a level from 0 (always) to 2: `format` as for printf.
        pub fn acm_write(level: c_int, format: *const c_char, ...);
        /// Writes an address as text into `name_size` bytes at `name`, if the log takes this level.
        pub fn acm_format_name(
            level: c_int,
            name: *mut c_char,
            name_size: usize,
            addr_type: u8,
            addr: *const u8,
            addr_size: usize,
        );
        /// Not zero if the 16 bytes are all zero.
        pub fn ib_any_gid(gid: *mut [u8; 16]) -> c_int;
        /// Place of a GID in a port's table; the table's length if it is not there.
        pub fn acm_gid_index(port: *mut Port, gid: *mut [u8; 16]) -> u8;
        /// Writes the GID at a place of a port's table; not zero if there is none.
        pub fn acm_get_gid(port: *mut Port, index: c_int, gid: *mut [u8; 16]) -> c_int;
        /// The GID of the network interface with this name; not zero if it has none.
        pub fn acm_if_get_sgid(name: *mut c_char, gid: *mut [u8; 16]) -> c_int;
        /// Component mask, in the byte order of the wire, of the fields of a path record (64 bytes) that are not zero.
        pub fn acm_path_comp_mask(path: *mut [u8; 64]) -> u64;
        /// Answers a request of [`Provider::resolve`](super::Provider::resolve): `message` is the request's, with
        /// status and path records; it is copied.
        pub fn acm_resolve_response(id: u64, message: *mut Message) -> c_int;
        /// The same for [`Provider::query`](super::Provider::query).
        pub fn acm_query_response(id: u64, message: *mut Message) -> c_int;
        /// `enum ibv_rate` of a port's `active_width` and `active_speed`.
        pub fn acm_get_rate(width: u8, speed: u8) -> u32;
        /// `enum ibv_mtu` of a number of bytes.
        pub fn acm_convert_mtu(mtu: c_int) -> u32;
        /// `enum ibv_rate` of Gbit/s.
        pub fn acm_convert_rate(rate: c_int) -> u32;
        /// Room for a request to subnet administration from an endpoint's port, all zero but `context`; null if there is
        /// none.
        pub fn acm_alloc_sa_mad(
            endpoint: *const Endpoint,
            context: *mut c_void,
            handler: Option<SaHandler>,
        ) -> *mut SaMad;
        /// Gives the room back.
        pub fn acm_free_sa_mad(mad: *mut SaMad);
        /// Sends it; the handler is called once if zero is given back, and never if not.
        pub fn acm_send_sa_mad(mad: *mut SaMad) -> c_int;
        /// Path of the file of options (`ibacm_opts.cfg`).
        pub fn acm_get_opts_file() -> *const c_char;
        /// Adds one to one of the daemon's counters (`ACM_CNTR_*`).
        pub fn acm_increment_counter(counter: c_int);
    }
}
