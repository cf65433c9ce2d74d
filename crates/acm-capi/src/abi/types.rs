//! Structures of the C interface. `cbindgen.toml` has those of <infiniband/sa.h> and <infiniband/acm.h>.
use core::ffi::{c_char, c_int};
use nix::libc::sockaddr;

/// Request kind: the path between two names. If `src_name` is NULL, the daemon selects the source. `dest_name` is
/// required. `path` may have conditions on the path, such as a service id.
pub const IB_ACM_RESOLVE_NAME: u32 = 1;
/// Request kind: the path between two IP addresses, AF_INET or AF_INET6. `src_ip` may be NULL, `dest_ip` is required.
/// `path` may have conditions.
pub const IB_ACM_RESOLVE_IP: u32 = 2;
/// Request kind: the path that matches all fields of `path` that are not zero. With ACM_FLAGS_QUERY_SA in `flags`, the
/// daemon queries the subnet administrator (SA).
pub const IB_ACM_RESOLVE_PATH: u32 = 3;
/// Request kind: counters of the endpoint `index`, counted from 1, or of the endpoint with the address `src_name` or
/// `src_ip`. Without index and address, the counters of the whole daemon.
pub const IB_ACM_QUERY_PERF: u32 = 4;
/// Request kind: an endpoint. `index` counts from 1 among the endpoints of `port`; `port` 0 stands for all ports.
pub const IB_ACM_ENUM_EP: u32 = 5;

/// Argument of `ib_acm_cancel`: all requests of the connection.
pub const IB_ACM_ALL: u64 = 0;

/// A connection of `ib_acm_open`. The pointer is a number, which must not be dereferenced. Functions reject the number
/// of a closed connection.
#[derive(Debug)]
pub struct Conn {
    _private: [u8; 0],
}

/// A request. Members that the kind of request does not use must be zero: initialize requests with `{ 0 }` or with
/// named members.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SubmittedRequest {
    /// A value of the caller, which is copied to the completion.
    pub cookie: u64,
    /// The id for `ib_acm_cancel`, which `ib_acm_submit` sets; never 0.
    pub id: u64,
    /// The kind, for example IB_ACM_RESOLVE_NAME.
    pub kind: u32,
    /// Flags for paths. With ACM_FLAGS_NODELAY, the error for a path that is not cached is ENODATA, and the daemon
    /// starts to resolve the path.
    pub flags: u32,
    /// Time-out in milliseconds, within which the request completes; 0 stands for 30000.
    pub timeout_ms: u32,
    /// Number of an endpoint.
    pub index: u8,
    /// Number of a port.
    pub port: u8,
    /// Must be zero.
    pub reserved: [u8; 2],
    /// Name of the source: at most 63 bytes and a terminating 0.
    pub src_name: *const c_char,
    /// Name of the destination.
    pub dest_name: *const c_char,
    /// IP address of the source. Its TCP or UDP port is ignored.
    pub src_ip: *const sockaddr,
    /// IP address of the destination, of the same family.
    pub dest_ip: *const sockaddr,
    /// The known fields of the path. For a name or an IP address the path has the service id, P_Key, SL, class, MTU,
    /// rate and packet lifetime of this record that are not zero; its ends are ignored. If the daemon is C ibacm, the
    /// library queries the SA for it through the daemon.
    pub path: *const PathRecord,
    /// Must be zero.
    pub reserved2: [u64; 3],
}

/// The result of a request. Members that the kind of request does not use are zero.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// Copied from the request.
    pub cookie: u64,
    /// Copied from the request.
    pub id: u64,
    /// Copied from the request.
    pub kind: u32,
    /// 0, or an error number; see README.md of the library.
    pub error: c_int,
    /// Status of the daemon's response, for example ACM_STATUS_ESRCADDR; 0 for success and if there was no response.
    pub status: u32,
    /// Type of `source`, for example ACM_EP_INFO_ADDRESS_IP; 0 if the daemon did not select the source.
    pub source_type: u32,
    /// The path of an IB_ACM_RESOLVE request.
    pub path: PathData,
    /// Source of the path, if the daemon selected it.
    pub source: EpInfo,
    /// Counters of IB_ACM_QUERY_PERF, in the order of `ib_acm_cntr_name`.
    pub counters: [u64; 7],
    /// The endpoint of IB_ACM_ENUM_EP. The caller releases it with `ib_acm_free_ep_data`.
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
    /// Flags, for example IBV_PATH_FLAG_PRIMARY.
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

/// `struct acm_ep_config_data` of <infiniband/acm.h>, in host byte order. `addr_cnt` [`EpInfo`] follow.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EpConfigData {
    /// GUID of the device.
    pub dev_guid: u64,
    /// Number of the port, from 1.
    pub port_num: u8,
    /// Number of ports of the device.
    pub phys_port_cnt: u8,
    /// Zero.
    pub rsvd: [u8; 2],
    /// P_Key of the partition.
    pub pkey: u16,
    /// Number of addresses.
    pub addr_cnt: u16,
    /// Name of the provider.
    pub prov_name: [u8; 64],
    /// The addresses, as text.
    pub addrs: [EpInfo; 0],
}

/// `union ibv_gid` of <infiniband/verbs.h>.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
pub struct Gid(pub [u8; 16]);

/// `struct ibv_ah_attr` of <infiniband/verbs.h>.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AhAttr {
    /// `grh.dgid`.
    pub dgid: Gid,
    /// `grh.flow_label`.
    pub flow_label: u32,
    /// `grh.sgid_index`.
    pub sgid_index: u8,
    /// `grh.hop_limit`.
    pub hop_limit: u8,
    /// `grh.traffic_class`.
    pub traffic_class: u8,
    /// LID of the destination.
    pub dlid: u16,
    /// Service level.
    pub sl: u8,
    /// The low bits of the source's LID.
    pub src_path_bits: u8,
    /// Code of the rate.
    pub static_rate: u8,
    /// 1 if packets have a global route header.
    pub is_global: u8,
    /// Number of the local port.
    pub port_num: u8,
}

/// A request to join a multicast group. Initialize it with `{ 0 }` or with named members; 0 stands for the default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Join {
    /// Name of the local device. The default is the first device with an active port.
    pub device: *const c_char,
    /// The group: its MGID as text, an IPv4 multicast address, `ip:ADDRESS`, `rdmacm:ADDRESS`, `broadcast`, or `acm`.
    pub group: *const c_char,
    /// Q_Key of a new group. The default is that of the partition's broadcast group, or of the kind of group.
    pub qkey: u32,
    /// P_Key of the group. The default is 0xffff.
    pub pkey: u16,
    /// Number of the local port. The default is the first active port.
    pub port: u8,
    /// Membership: 1 is full (default), 2 is a non-member, 4 is send-only.
    pub join_state: u8,
    /// 1 to create the group if it does not exist.
    pub create: u8,
    /// Code of the MTU of a new group, for example 4 for 2048. The default is that of the partition's broadcast group,
    /// or the SA's choice.
    pub mtu: u8,
    /// Code of the rate of a new group, for example 3 for 10 Gb/s. The default is as for `mtu`.
    pub rate: u8,
    /// Service level of a new group. The default is that of the partition's broadcast group, or 0.
    pub sl: u8,
    /// GID of another port that becomes the member, if the SA allows it. The default is the local port.
    pub port_gid: Gid,
}

/// A multicast group. Numbers are in host byte order.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// GID of the group.
    pub mgid: Gid,
    /// Q_Key of its datagrams.
    pub qkey: u32,
    /// Flow label.
    pub flow_label: u32,
    /// LID of the group.
    pub mlid: u16,
    /// P_Key.
    pub pkey: u16,
    /// Service level.
    pub sl: u8,
    /// Code of the MTU.
    pub mtu: u8,
    /// Code of the rate.
    pub rate: u8,
    /// Packet lifetime n, which means 4.096 us x 2^n.
    pub packet_life_time: u8,
    /// Traffic class.
    pub traffic_class: u8,
    /// Hop limit.
    pub hop_limit: u8,
    /// Memberships of the local port, as in `struct ib_acm_join`; 0 for none.
    pub join_state: u8,
    /// Zero.
    pub reserved: u8,
}

/// A local port and the index of a P_Key in its table, for a queue pair.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LocalPort {
    /// Name of the device.
    pub device: [c_char; 64],
    /// Index of the P_Key.
    pub pkey_index: u16,
    /// Number of the port.
    pub port: u8,
    /// Zero.
    pub reserved: u8,
}

/// The sizes in the header. The test of the C programs compares these numbers with C's.
const _: () = assert!(
    size_of::<PathData>() == 72
        && size_of::<EpInfo>() == 64
        && size_of::<EpConfigData>() == 80
        && align_of::<EpConfigData>() == 8
        && size_of::<AhAttr>() == 32
        && size_of::<Group>() == 40
        && size_of::<LocalPort>() == 68
        && size_of::<Completion>() == 32 + 72 + 64 + 56 + size_of::<usize>()
);
