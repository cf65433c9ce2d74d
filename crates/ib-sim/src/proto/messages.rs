//! The messages: a structure is its own layout.
use super::codes::{Fault, Kind, Refusal, Role};
use ib_mad::{
    Gid, Guid, Lid, MgmtClass, Mtu, PortState, Qkey, Rate,
    packet::Grh,
    wire,
    wire::{Be16, Be32, Be64, Reserved, Text},
};

/// The version of these messages.
pub const VERSION: u16 = 1;
/// What a connection starts with: `IBSM`.
pub const MAGIC: u32 = 0x4942_534d;
/// The longest message, in bytes.
pub const MAX_MESSAGE: usize = 65_536;
/// How many queue pair numbers a program gets.
pub const QPN_BLOCK: u32 = 256;
/// Status in [`MadIn`] of a request that nobody answered: Linux's `ETIMEDOUT`.
pub const TIMED_OUT: u32 = 110;

/// Sender of a uevent message without text: messages were lost, which Linux says by `ENOBUFS`.
pub const UEVENTS_LOST: u32 = u32::MAX;

wire! {
    /// The first message of a connection.
    pub struct Hello [76] {
        /// [`Kind::HELLO`].
        pub kind: Kind,
        /// [`VERSION`].
        pub version: Be16,
        /// [`MAGIC`].
        pub magic: Be32,
        /// What the connection is for.
        pub role: Role,
        /// Port, for [`Role::UMAD`].
        pub port: u8,
        /// Zero.
        pub reserved: Reserved<2>,
        /// Name of the node; empty: the first one that no other connection has.
        pub node: Text<64>,
    }
}

wire! {
    /// The answer to [`Hello`].
    pub struct Welcome [96] {
        /// [`Kind::WELCOME`].
        pub kind: Kind,
        /// Why not; [`Refusal::NONE`] if all is well.
        pub refusal: Refusal,
        /// Number of the node.
        pub node: Be32,
        /// GUID of the node.
        pub guid: Guid,
        /// Ports that it has.
        pub ports: u8,
        /// Zero.
        pub reserved: Reserved<7>,
        /// First of the connection's queue pair numbers.
        pub first_qpn: Be32,
        /// How many numbers they are.
        pub qpn_count: Be32,
        /// Name of the node.
        pub name: Text<64>,
    }
}

wire! {
    /// A port as it is now. GIDs (16 bytes each) and P_Keys (2 bytes each) follow.
    pub struct PortInfo [32] {
        /// [`Kind::PORT_INFO`].
        pub kind: Kind,
        /// Number of the port at the node, from 1.
        pub port: u8,
        /// Number of what happened, as [`PortChange::code`](crate::PortChange::code); 0: nothing.
        pub change: u8,
        /// Logical state: down, init, armed or active.
        pub state: PortState,
        /// LID mask control.
        pub lmc: u8,
        /// Active MTU: the largest payload of a packet.
        pub mtu: Mtu,
        /// Active width times active speed.
        pub rate: Rate,
        /// Base LID, without path bits; 0 before the subnet manager came.
        pub lid: Lid,
        /// LID of the subnet manager.
        pub sm_lid: Lid,
        /// Service level to the subnet manager.
        pub sm_sl: u8,
        /// PortInfo.SubnetTimeOut: a packet crosses the subnet in 4.096 us x 2^n, n = 0..=31.
        pub subnet_timeout: u8,
        /// GIDs that follow.
        pub gid_count: Be16,
        /// P_Keys that follow them.
        pub pkey_count: Be16,
        /// Whether it is a port of an Ethernet network (not 0).
        pub ethernet: u8,
        /// Zero.
        pub reserved: Reserved<5>,
        /// GUID of the port.
        pub guid: Guid,
    }
}

wire! {
    /// Opens a queue pair.
    pub struct QpOpen [16] {
        /// [`Kind::QP_OPEN`].
        pub kind: Kind,
        /// Number of the port at the node, from 1.
        pub port: u8,
        /// Zero.
        pub reserved: Reserved<1>,
        /// Its number, out of the connection's block.
        pub qpn: Be32,
        /// Its queue key.
        pub qkey: Qkey,
        /// Which of the port's P_Keys.
        pub pkey_index: Be16,
        /// Zero.
        pub reserved2: Reserved<2>,
    }
}

wire! {
    /// Closes a queue pair.
    pub struct QpClose [8] {
        /// [`Kind::QP_CLOSE`].
        pub kind: Kind,
        /// Zero.
        pub reserved: Reserved<2>,
        /// Number of the queue pair, 24 bits.
        pub qpn: Be32,
    }
}

wire! {
    /// Attaches a queue pair to a group, or detaches it.
    pub struct QpGroup [24] {
        /// [`Kind::ATTACH`] or [`Kind::DETACH`].
        pub kind: Kind,
        /// Zero.
        pub reserved: Reserved<2>,
        /// The queue pair.
        pub qpn: Be32,
        /// GID of the multicast group.
        pub mgid: Gid,
    }
}

wire! {
    /// A datagram to send. Its bytes follow.
    pub struct DatagramOut [44] {
        /// [`Kind::DATAGRAM_OUT`].
        pub kind: Kind,
        /// LID of the destination.
        pub dlid: Lid,
        /// The sending queue pair.
        pub from: Be32,
        /// The destination's queue pair.
        pub to: Be32,
        /// Queue key; if its highest bit is set, the packet has the sending queue pair's key instead.
        pub qkey: Qkey,
        /// Service level of the packet, 0..=15.
        pub sl: u8,
        /// Path bits of the source LID.
        pub path_bits: u8,
        /// Whether there is a global route (not 0): the fields below.
        pub global: u8,
        /// Which GID is the source.
        pub sgid_index: u8,
        /// Flow label, 20 bits.
        pub flow_label: Be32,
        /// Hop limit; with 0 or 1 no router forwards the packet.
        pub hop_limit: u8,
        /// TClass of the global route header, 8 bits.
        pub traffic_class: u8,
        /// Static rate; 0: the port's own.
        pub static_rate: Rate,
        /// Zero.
        pub reserved: Reserved<1>,
        /// GID of the destination.
        pub dgid: Gid,
    }
}

wire! {
    /// A datagram that came. Its bytes follow.
    pub struct DatagramIn [60] {
        /// [`Kind::DATAGRAM_IN`].
        pub kind: Kind,
        /// LID of the sender.
        pub slid: Lid,
        /// The receiving queue pair.
        pub to: Be32,
        /// The sender's queue pair.
        pub from: Be32,
        /// Which P_Key admitted it.
        pub pkey_index: Be16,
        /// Service level of the packet, 0..=15.
        pub sl: u8,
        /// Path bits of the LID that it was sent to.
        pub path_bits: u8,
        /// Whether there is a global route header (not 0); else it is zero.
        pub global: u8,
        /// Zero.
        pub reserved: Reserved<3>,
        /// Global route header.
        pub grh: Grh,
    }
}

wire! {
    /// A management datagram to send. Its 256 bytes follow.
    pub struct MadOut [32] {
        /// [`Kind::MAD_OUT`].
        pub kind: Kind,
        /// Number of the port at the node, from 1.
        pub port: u8,
        /// Service level of the packet, 0..=15.
        pub sl: u8,
        /// LID of the destination.
        pub dlid: Lid,
        /// Which of the port's P_Keys.
        pub pkey_index: Be16,
        /// Number of the sender's choice, for the answer.
        pub agent: Be64,
        /// Queue pair of the destination.
        pub qpn: Be32,
        /// Time to wait for an answer to each transmission, in ms; 0: none is expected.
        pub timeout_ms: Be32,
        /// How often to send again.
        pub retries: Be32,
        /// Zero.
        pub reserved: Reserved<4>,
    }
}

wire! {
    /// An answer to a management datagram, or the request when none came. Its 256 bytes follow.
    pub struct MadIn [16] {
        /// [`Kind::MAD_IN`].
        pub kind: Kind,
        /// Number of the port at the node, from 1.
        pub port: u8,
        /// Zero.
        pub reserved: Reserved<1>,
        /// 0, or [`TIMED_OUT`].
        pub status: Be32,
        /// The request's number.
        pub agent: Be64,
    }
}

wire! {
    /// A report of the administrator, to be answered. Its 256 bytes follow.
    pub struct ReportIn [12] {
        /// [`Kind::REPORT_IN`].
        pub kind: Kind,
        /// Number of the port at the node, from 1.
        pub port: u8,
        /// Zero.
        pub reserved: Reserved<1>,
        /// LID of the sender.
        pub slid: Lid,
        /// Zero.
        pub reserved2: Reserved<2>,
        /// Queue pair of the sender.
        pub qpn: Be32,
    }
}

wire! {
    /// An agent of a umad device takes in requests of these methods. Shorter than any frame.
    pub struct UmadServe [24] {
        /// [`Kind::UMAD_SERVE`].
        pub kind: Kind,
        /// Management class of the requests.
        pub class: MgmtClass,
        /// Version of the class's format.
        pub class_version: u8,
        /// Number of the agent at its umad device.
        pub agent: Be32,
        /// Method n is bit n % 64 of word n / 64, as in the kernel's mask.
        pub methods: [Be64; 2],
    }
}

wire! {
    /// A request that was not done.
    pub struct Refused [12] {
        /// [`Kind::REFUSED`].
        pub kind: Kind,
        /// Kind of the request.
        pub request: Kind,
        /// Why the request was refused.
        pub refusal: Refusal,
        /// Zero.
        pub reserved: Reserved<2>,
        /// The queue pair, if it was about one.
        pub qpn: Be32,
    }
}

wire! {
    /// An agent of a umad device is gone: its requests end without a word. Shorter than any frame.
    pub struct UmadForget [8] {
        /// [`Kind::UMAD_FORGET`].
        pub kind: Kind,
        /// Zero.
        pub reserved: Reserved<2>,
        /// Number of the agent at its umad device.
        pub agent: Be32,
    }
}

wire! {
    /// Something of a queue pair broke.
    pub struct QpFault [8] {
        /// [`Kind::QP_FAULT`].
        pub kind: Kind,
        /// Which part of the queue pair broke.
        pub fault: Fault,
        /// Zero.
        pub reserved: Reserved<1>,
        /// The queue pair.
        pub qpn: Be32,
    }
}
