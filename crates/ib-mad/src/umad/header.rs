//! Headers of the frames of Linux's `/dev/infiniband/umadN` (`struct ib_user_mad_hdr` in the kernel's
//! `rdma/ib_user_mad.h`).
use crate::{
    Gid, Lid, Qkey, wire,
    wire::{Be32, Host16, Host32, Reserved},
};

wire! {
    /// Header of a frame. Numbers for the kernel alone are in the machine's byte order, numbers of the packet in
    /// network order.
    pub struct UmadHeader [64] {
        /// Agent that sends or has received the frame.
        pub id: Host32,
        /// Received frame: 0, or the errno of a send that failed (110: no response).
        pub status: Host32,
        /// Sent frame: time to wait for a response, in ms; 0 if no response is expected.
        pub timeout_ms: Host32,
        /// Sent frame: number of retries after a time-out.
        pub retries: Host32,
        /// Received frame: length of header and datagram, in bytes.
        pub length: Host32,
        /// Queue pair of the remote port.
        pub qpn: Be32,
        /// Queue key of the remote queue pair.
        pub qkey: Qkey,
        /// LID of the remote port.
        pub lid: Lid,
        /// Service level of the packet.
        pub sl: u8,
        /// Path bits of the local LID.
        pub path_bits: u8,
        /// Not 0 if the fields of the global route header are valid.
        pub grh_present: u8,
        /// Index in the local GID table.
        pub gid_index: u8,
        /// Hop limit of the global route header.
        pub hop_limit: u8,
        /// Traffic class of the global route header.
        pub traffic_class: u8,
        /// GID of the remote port.
        pub gid: Gid,
        /// Flow label of the global route header.
        pub flow_label: Be32,
        /// Index in the local P_Key table.
        pub pkey_index: Host16,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<6>,
    }
    /// Header of a frame without a P_Key index. A program that has not selected the other layout receives this header.
    pub struct UmadHeaderOld [56] {
        /// Agent that sends or has received the frame.
        pub id: Host32,
        /// Received frame: 0, or the errno of a send that failed (110: no response).
        pub status: Host32,
        /// Sent frame: time to wait for a response, in ms; 0 if no response is expected.
        pub timeout_ms: Host32,
        /// Sent frame: number of retries after a time-out.
        pub retries: Host32,
        /// Received frame: length of header and datagram, in bytes.
        pub length: Host32,
        /// Queue pair of the remote port.
        pub qpn: Be32,
        /// Queue key of the remote queue pair.
        pub qkey: Qkey,
        /// LID of the remote port.
        pub lid: Lid,
        /// Service level of the packet.
        pub sl: u8,
        /// Path bits of the local LID.
        pub path_bits: u8,
        /// Not 0 if the fields of the global route header are valid.
        pub grh_present: u8,
        /// Index in the local GID table.
        pub gid_index: u8,
        /// Hop limit of the global route header.
        pub hop_limit: u8,
        /// Traffic class of the global route header.
        pub traffic_class: u8,
        /// GID of the remote port.
        pub gid: Gid,
        /// Flow label of the global route header.
        pub flow_label: Be32,
    }
}
