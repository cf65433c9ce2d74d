//! Messages between ibsim and its clients (facts: ibsim's `include/ibsim.h`).
//!
//! ibsim sends its C structures as they lie in memory; here they are those of a little-endian 64-bit machine.
use ib_mad::{
    Lid,
    sa::SaMad,
    wire,
    wire::{Be32, Be64, Host32, Octets, Reserved, Text},
};

/// First field of a control message.
pub(super) const MAGIC: u32 = 0xdead_beef;

/// Type of a control message.
pub(super) mod control {
    pub(in crate::uplink) const ERROR: u32 = 0;
    pub(in crate::uplink) const CONNECT: u32 = 1;
    pub(in crate::uplink) const DISCONNECT: u32 = 2;
    pub(in crate::uplink) const GET_NODE_INFO: u32 = 7;
    pub(in crate::uplink) const GET_PORT_INFO: u32 = 8;
    pub(in crate::uplink) const GET_PKEYS: u32 = 10;
}

wire! {
    /// A control message, both ways: the answer has the request's type, or [`control::ERROR`].
    pub struct ControlMessage [80] {
        /// [`MAGIC`].
        pub magic: Host32,
        /// The client's number, out of [`ClientInfo`].
        pub client: Host32,
        /// What the message is, as ibsim numbers it.
        pub kind: Host32,
        /// Bytes of data that count.
        pub length: Host32,
        /// What a message of this kind carries: its first `length` bytes count.
        pub data: Octets<64>,
    }
}

wire! {
    /// Data of [`control::CONNECT`].
    pub struct ClientInfo [44] {
        /// Asked: the number in the name of our data socket. Answered: the client's number, 0..10.
        pub id: Host32,
        /// The queue pair whose datagrams we want.
        pub qp: Host32,
        /// Whether we are a subnet manager.
        pub is_sm: Host32,
        /// The node to attach to.
        pub node: Text<32>,
    }
}

wire! {
    /// A management datagram, both ways.
    pub struct Packet [288] {
        /// LID of the destination.
        pub dlid: Lid,
        /// The rest of the C field.
        pub reserved: Reserved<2>,
        /// LID of the source; none: the port's own.
        pub slid: Lid,
        /// The rest of the C field.
        pub reserved2: Reserved<2>,
        /// Queue pair of the destination.
        pub dqp: Be32,
        /// Queue pair of the source.
        pub sqp: Be32,
        /// 0, or 110: it came back, nobody is there.
        pub status: Be32,
        /// Padding of the C structure.
        pub reserved3: Reserved<4>,
        /// Bytes of the datagram.
        pub length: Be64,
        /// The datagram, always 256 bytes.
        pub mad: SaMad,
    }
}
