//! Structures that C sees. What <infiniband/sa.h> and <infiniband/acm.h> have is written out in `cbindgen.toml`.
use core::ffi::{c_char, c_int};
use nix::libc::sockaddr;

/// Kind of a request: a path by names. `src_name` may be NULL if the daemon chooses the source, `dest_name` may not.
pub const IB_ACM_RESOLVE_NAME: u32 = 1;
/// Kind of a request: a path by IP addresses, AF_INET or AF_INET6. `src_ip` may be NULL, `dest_ip` may not.
pub const IB_ACM_RESOLVE_IP: u32 = 2;
/// Kind of a request: the path that begins and ends as `path` says; what is zero in it is open. With
/// ACM_FLAGS_QUERY_SA in `flags` subnet administration itself is asked.
pub const IB_ACM_RESOLVE_PATH: u32 = 3;
/// Kind of a request: counters of the endpoint `index`, counted from 1, or of the one with the address `src_name` or
/// `src_ip`; without any, of the whole daemon.
pub const IB_ACM_QUERY_PERF: u32 = 4;
/// Kind of a request: the endpoint `index`, counted from 1, of those of `port`, or of all for port 0.
pub const IB_ACM_ENUM_EP: u32 = 5;

/// For `ib_acm_cancel`: all requests of the connection.
pub const IB_ACM_ALL: u64 = 0;

/// A connection that `ib_acm_open` opened. It is a number and points nowhere: one that was closed is noticed.
#[derive(Debug)]
pub struct Conn {
    _private: [u8; 0],
}

/// A request. What its kind has no use for must be zero, so begin with `{ 0 }` or name the members in braces.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SubmittedRequest {
    /// Yours: comes back in the completion.
    pub cookie: u64,
    /// Written by `ib_acm_submit`, for `ib_acm_cancel`; never 0.
    pub id: u64,
    /// IB_ACM_RESOLVE_NAME and so on.
    pub kind: u32,
    /// ACM_FLAGS_NODELAY of paths: what the daemon does not know already is ENODATA, and looked up for the next time.
    pub flags: u32,
    /// Milliseconds until there is a completion, whatever happens; 0 stands for 30000.
    pub timeout_ms: u32,
    /// Number of an endpoint.
    pub index: u8,
    /// Number of a port.
    pub port: u8,
    /// Must be zero.
    pub reserved: [u8; 2],
    /// Name of the source, at most 63 bytes and a 0.
    pub src_name: *const c_char,
    /// Name of the destination.
    pub dest_name: *const c_char,
    /// IP address of the source; its port is not looked at.
    pub src_ip: *const sockaddr,
    /// IP address of the destination, of the same family.
    pub dest_ip: *const sockaddr,
    /// What is known of the path.
    pub path: *const PathRecord,
    /// Must be zero.
    pub reserved2: [u64; 3],
}

/// What became of a request. What its kind does not have is zero.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// The request's.
    pub cookie: u64,
    /// The request's.
    pub id: u64,
    /// The request's.
    pub kind: u32,
    /// 0, or an error number; README.md of the library says which.
    pub error: c_int,
    /// What the daemon said, ACM_STATUS_ESRCADDR and so on; 0 also if it said nothing.
    pub status: u32,
    /// What `source` is, ACM_EP_INFO_ADDRESS_IP and so on; 0 if the daemon did not choose it.
    pub source_type: u32,
    /// The path of an IB_ACM_RESOLVE request.
    pub path: PathData,
    /// Where the path begins, if the daemon chose that.
    pub source: EpInfo,
    /// Counters of IB_ACM_QUERY_PERF, in the order of `ib_acm_cntr_name`.
    pub counters: [u64; 7],
    /// The endpoint of IB_ACM_ENUM_EP. It is yours: `ib_acm_free_ep_data`.
    pub endpoint: *mut EpConfigData,
}

/// `struct ibv_path_record` of <infiniband/sa.h>.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
pub struct PathRecord(pub [u8; 64]);

/// `struct ibv_path_data` of <infiniband/sa.h>.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PathData {
    /// IBV_PATH_FLAG_PRIMARY and so on.
    pub flags: u32,
    /// Zero.
    pub reserved: u32,
    /// The path.
    pub path: PathRecord,
}

/// `union acm_ep_info` of <infiniband/acm.h>.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
pub struct EpInfo(pub [u8; 64]);

/// `struct acm_ep_config_data` of <infiniband/acm.h>, in this machine's order; as many [`EpInfo`] follow as it says.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EpConfigData {
    /// GUID of the device.
    pub dev_guid: u64,
    /// Number of the port, from 1.
    pub port_num: u8,
    /// How many ports the device has.
    pub phys_port_cnt: u8,
    /// Zero.
    pub rsvd: [u8; 2],
    /// Partition.
    pub pkey: u16,
    /// How many addresses follow.
    pub addr_cnt: u16,
    /// The provider.
    pub prov_name: [u8; 64],
    /// The addresses, as text.
    pub addrs: [EpInfo; 0],
}

/// As the header has them; the test of the C programs compares these numbers with C's.
const _: () = assert!(
    size_of::<PathData>() == 72
        && size_of::<EpInfo>() == 64
        && size_of::<EpConfigData>() == 80
        && align_of::<EpConfigData>() == 8
        && size_of::<Completion>() == 32 + 72 + 64 + 56 + size_of::<usize>()
);
