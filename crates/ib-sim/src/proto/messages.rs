//! Layouts of the messages.
use super::codes::{Fault, Kind, Refusal, Role};
use ib_mad::{
    Gid, Guid, Lid, MgmtClass, Mtu, PortState, Qkey, Rate,
    packet::Grh,
    wire,
    wire::{Be16, Be32, Be64, Reserved, Text},
};

/// The version of these messages.
pub const VERSION: u16 = 1;
/// Magic number of a connection: `IBSM`.
pub const MAGIC: u32 = 0x4942_534d;
/// Maximum length of a message in bytes.
pub const MAX_MESSAGE: usize = 65_536;
/// Number of queue pair numbers of a program.
pub const QPN_BLOCK: u32 = 256;
/// Status in [`MadIn`] of a request without a response: Linux's `ETIMEDOUT`.
pub const TIMED_OUT: u32 = 110;

/// Sender of a uevent message without text, which reports that messages were lost. Linux reports the loss by `ENOBUFS`.
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
        /// Role of the connection.
        pub role: Role,
        /// Port, for [`Role::UMAD`].
        pub port: u8,
        /// Zero.
        pub reserved: Reserved<2>,
        /// Name of the node; if empty, the first node without another program.
        pub node: Text<64>,
    }
}

wire! {
    /// The response to [`Hello`].
    pub struct Welcome [96] {
        /// [`Kind::WELCOME`].
        pub kind: Kind,
        /// The reason of a refusal, or [`Refusal::NONE`].
        pub refusal: Refusal,
        /// Number of the node.
        pub node: Be32,
        /// GUID of the node.
        pub guid: Guid,
        /// Number of the node's ports.
        pub ports: u8,
        /// For [`Role::UMAD`]: not 0 if the port sends nothing without a global route.
        pub grh_required: u8,
        /// Zero.
        pub reserved: Reserved<6>,
        /// First of the connection's queue pair numbers.
        pub first_qpn: Be32,
        /// Number of the connection's queue pair numbers.
        pub qpn_count: Be32,
        /// Name of the node.
        pub name: Text<64>,
    }
}

wire! {
    /// The state of a port. GIDs (16 bytes each) and P_Keys (2 bytes each) follow.
    pub struct PortInfo [32] {
        /// [`Kind::PORT_INFO`].
        pub kind: Kind,
        /// Number of the port at the node, from 1.
        pub port: u8,
        /// Number of the change, as [`PortChange::code`](crate::port::PortChange::code); 0 for no change.
        pub change: u8,
        /// Logical state: down, init, armed or active.
        pub state: PortState,
        /// LID mask control.
        pub lmc: u8,
        /// Active MTU: the largest payload of a packet.
        pub mtu: Mtu,
        /// Active width times active speed.
        pub rate: Rate,
        /// Base LID, without path bits; 0 until the subnet manager assigned one.
        pub lid: Lid,
        /// LID of the subnet manager.
        pub sm_lid: Lid,
        /// Service level to the subnet manager.
        pub sm_sl: u8,
        /// PortInfo.SubnetTimeOut n, 0..=31: a packet crosses the subnet within 4.096 us x 2^n.
        pub subnet_timeout: u8,
        /// Number of GIDs that follow.
        pub gid_count: Be16,
        /// Number of P_Keys that follow the GIDs.
        pub pkey_count: Be16,
        /// Not 0 for a port of an Ethernet network.
        pub ethernet: u8,
        /// Not 0 for a port that sends nothing without a global route.
        pub grh_required: u8,
        /// Zero.
        pub reserved: Reserved<4>,
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
        /// Number of the queue pair, from the connection's block.
        pub qpn: Be32,
        /// Queue key of the queue pair.
        pub qkey: Qkey,
        /// Index of the P_Key in the port's table.
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
    /// Attaches a queue pair to a group, detaches it, or reports that it is attached.
    pub struct QpGroup [24] {
        /// [`Kind::ATTACH`], [`Kind::DETACH`] or [`Kind::ATTACHED`].
        pub kind: Kind,
        /// LID of the multicast group, which the server only returns: it finds the group by its GID.
        pub mlid: Lid,
        /// The queue pair.
        pub qpn: Be32,
        /// GID of the multicast group.
        pub mgid: Gid,
    }
}

wire! {
    /// A datagram to send. Its payload follows.
    pub struct DatagramOut [44] {
        /// [`Kind::DATAGRAM_OUT`].
        pub kind: Kind,
        /// LID of the destination.
        pub dlid: Lid,
        /// The sending queue pair.
        pub from: Be32,
        /// The destination's queue pair.
        pub to: Be32,
        /// Queue key. If its top bit is set, the packet gets the queue key of the sending queue pair instead.
        pub qkey: Qkey,
        /// Service level of the packet, 0..=15.
        pub sl: u8,
        /// Path bits of the source LID.
        pub path_bits: u8,
        /// Not 0 if the packet has a global route, which the fields below describe.
        pub global: u8,
        /// Index of the source GID in the port's table.
        pub sgid_index: u8,
        /// Flow label, 20 bits.
        pub flow_label: Be32,
        /// Hop limit; with 0 or 1 no router forwards the packet.
        pub hop_limit: u8,
        /// TClass of the global route header, 8 bits.
        pub traffic_class: u8,
        /// Static rate; 0 for the rate of the port.
        pub static_rate: Rate,
        /// Zero.
        pub reserved: Reserved<1>,
        /// GID of the destination.
        pub dgid: Gid,
    }
}

wire! {
    /// A received datagram. Its payload follows.
    pub struct DatagramIn [60] {
        /// [`Kind::DATAGRAM_IN`].
        pub kind: Kind,
        /// LID of the sender.
        pub slid: Lid,
        /// The receiving queue pair.
        pub to: Be32,
        /// The sender's queue pair.
        pub from: Be32,
        /// Index of the P_Key that matched.
        pub pkey_index: Be16,
        /// Service level of the packet, 0..=15.
        pub sl: u8,
        /// Path bits of the destination LID.
        pub path_bits: u8,
        /// Not 0 if the packet has a global route header; otherwise `grh` is zero.
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
        /// Index of the P_Key in the port's table.
        pub pkey_index: Be16,
        /// Number that the sender chose. The response has the same number.
        pub agent: Be64,
        /// Queue pair of the destination.
        pub qpn: Be32,
        /// Time in ms to wait for a response to each transmission; 0 if no response is expected.
        pub timeout_ms: Be32,
        /// Number of retransmissions.
        pub retries: Be32,
        /// Zero.
        pub reserved: Reserved<4>,
    }
}

wire! {
    /// A response to a management datagram, or a request that timed out. Its 256 bytes follow.
    pub struct MadIn [16] {
        /// [`Kind::MAD_IN`].
        pub kind: Kind,
        /// Number of the port at the node, from 1.
        pub port: u8,
        /// Zero.
        pub reserved: Reserved<1>,
        /// 0 for a response, [`TIMED_OUT`] for a request that timed out.
        pub status: Be32,
        /// Number of the request's sender.
        pub agent: Be64,
    }
}

wire! {
    /// A report of the administrator, which requires a response. Its 256 bytes follow.
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
    /// Registers an agent of a umad device for requests with these methods. The message is shorter than any frame.
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
    /// A refused request.
    pub struct Refused [12] {
        /// [`Kind::REFUSED`].
        pub kind: Kind,
        /// Kind of the request.
        pub request: Kind,
        /// The reason.
        pub refusal: Refusal,
        /// Zero.
        pub reserved: Reserved<2>,
        /// The queue pair of the request, or 0.
        pub qpn: Be32,
    }
}

wire! {
    /// Unregisters an agent of a umad device. Requests of the agent end without a response. The message is shorter than
    /// any frame.
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
    /// A part of a queue pair failed.
    pub struct QpFault [8] {
        /// [`Kind::QP_FAULT`].
        pub kind: Kind,
        /// The failed part.
        pub fault: Fault,
        /// Zero.
        pub reserved: Reserved<1>,
        /// The queue pair.
        pub qpn: Be32,
    }
}
