//! Messages between ibsim and its clients (source: ibsim's `include/ibsim.h`).
//!
//! ibsim sends C structures as they are in memory. The layouts in this module are those of a little-endian 64-bit
//! machine.
use ib_mad::{
    Lid,
    sa::SaMad,
    wire,
    wire::{Be32, Be64, Host32, Octets, Reserved, Text},
};

/// Magic number of a control message.
pub(super) const MAGIC: u32 = 0xdead_beef;

/// Types of control messages.
pub(super) mod control {
    pub(in crate::uplink) const ERROR: u32 = 0;
    pub(in crate::uplink) const CONNECT: u32 = 1;
    pub(in crate::uplink) const DISCONNECT: u32 = 2;
    pub(in crate::uplink) const GET_NODE_INFO: u32 = 7;
    pub(in crate::uplink) const GET_PORT_INFO: u32 = 8;
    pub(in crate::uplink) const GET_PKEYS: u32 = 10;
}

wire! {
    /// A control message in both directions. A response has the request's type, or [`control::ERROR`].
    pub struct ControlMessage [80] {
        /// [`MAGIC`].
        pub magic: Host32,
        /// Number of the client, from [`ClientInfo`].
        pub client: Host32,
        /// Type of the message, one of [`control`].
        pub kind: Host32,
        /// Number of valid bytes of `data`.
        pub length: Host32,
        /// Data of the message. The first `length` bytes are valid.
        pub data: Octets<64>,
    }
}

wire! {
    /// Data of [`control::CONNECT`].
    pub struct ClientInfo [44] {
        /// In the request: the number in the name of the client's data socket. In the response: the client's number,
        /// 0..10.
        pub id: Host32,
        /// The queue pair whose datagrams the client receives.
        pub qp: Host32,
        /// Not 0 for a subnet manager.
        pub is_sm: Host32,
        /// The node to attach to.
        pub node: Text<32>,
    }
}

wire! {
    /// A management datagram in both directions.
    pub struct Packet [288] {
        /// LID of the destination.
        pub dlid: Lid,
        /// The rest of the C field.
        pub reserved: Reserved<2>,
        /// LID of the source; 0: the LID of the port.
        pub slid: Lid,
        /// The rest of the C field.
        pub reserved2: Reserved<2>,
        /// Queue pair of the destination.
        pub dqp: Be32,
        /// Queue pair of the source.
        pub sqp: Be32,
        /// 0, or 110 if ibsim returned the datagram as undeliverable.
        pub status: Be32,
        /// Padding of the C structure.
        pub reserved3: Reserved<4>,
        /// Number of valid bytes of the datagram.
        pub length: Be64,
        /// The datagram, always 256 bytes.
        pub mad: SaMad,
    }
}
