//! What Linux's `/dev/infiniband/umadN` reads and writes: a header of 64 bytes and the datagram
//! (`struct ib_user_mad_hdr` in the kernel's `rdma/ib_user_mad.h`; the layout with a P_Key index).
use crate::{
    Gid, Lid, Qkey, wire,
    wire::{Be32, Host16, Host32, Reserved},
};

wire! {
    /// Header of a frame. Numbers between program and kernel are in the machine's order, the rest in network order.
    pub struct UmadHeader [64] {
        /// Agent that sends, or that received.
        pub id: Host32,
        /// Received: 0, or the errno of a send that failed (110: no answer came).
        pub status: Host32,
        /// Sent: time to wait for an answer, in ms; 0 = none is expected.
        pub timeout_ms: Host32,
        /// Sent: how often to repeat after a time-out.
        pub retries: Host32,
        /// Received: length of header and datagram, in bytes.
        pub length: Host32,
        /// Queue pair of the other side.
        pub qpn: Be32,
        /// Its queue key.
        pub qkey: Qkey,
        /// LID of the other side.
        pub lid: Lid,
        /// Service level.
        pub sl: u8,
        /// Path bits of our LID.
        pub path_bits: u8,
        /// Whether the fields of the global route header count (not 0).
        pub grh_present: u8,
        /// Which of our GIDs.
        pub gid_index: u8,
        /// Hop limit.
        pub hop_limit: u8,
        /// Traffic class.
        pub traffic_class: u8,
        /// GID of the other side.
        pub gid: Gid,
        /// Flow label.
        pub flow_label: Be32,
        /// Which of our P_Keys.
        pub pkey_index: Host16,
        /// Zero.
        pub reserved: Reserved<6>,
    }
}

wire! {
    /// Header of a frame without a P_Key index, the layout of programs that did not ask for another.
    pub struct UmadHeaderOld [56] {
        /// Agent that sends, or that received.
        pub id: Host32,
        /// Received: 0, or the errno of a send that failed (110: no answer came).
        pub status: Host32,
        /// Sent: time to wait for an answer, in ms; 0 = none is expected.
        pub timeout_ms: Host32,
        /// Sent: how often to repeat after a time-out.
        pub retries: Host32,
        /// Received: length of header and datagram, in bytes.
        pub length: Host32,
        /// Queue pair of the other side.
        pub qpn: Be32,
        /// Its queue key.
        pub qkey: Qkey,
        /// LID of the other side.
        pub lid: Lid,
        /// Service level.
        pub sl: u8,
        /// Path bits of our LID.
        pub path_bits: u8,
        /// Whether the fields of the global route header count (not 0).
        pub grh_present: u8,
        /// Which of our GIDs.
        pub gid_index: u8,
        /// Hop limit.
        pub hop_limit: u8,
        /// Traffic class.
        pub traffic_class: u8,
        /// GID of the other side.
        pub gid: Gid,
        /// Flow label.
        pub flow_label: Be32,
    }
}
