//! What goes over the unix socket between a served subnet and the programs that are attached to it.
//!
//! The socket is `SOCK_SEQPACKET`: one message per packet; an empty one is read as the end of the connection. Every message of this module starts with its [`Kind`];
//! numbers are in network order.
//!
//! | first | then, by the [`Role`] in [`Hello`] |
//! |---|---|
//! | `Hello` -> | |
//! | <- [`Welcome`] | with a refusal: end of the connection |
//! | [`Role::NODE`] | <- one [`PortInfo`] per port, then -> [`QpOpen`], [`QpClose`], [`QpGroup`], [`DatagramOut`], [`MadOut`] and <- [`DatagramIn`], [`MadIn`], [`ReportIn`], [`PortInfo`] at each change, [`Refused`] |
//! | [`Role::UMAD`] | frames of `/dev/infiniband/umadN`, both ways, as [`UmadHeader`](ib_mad::umad::UmadHeader) and 256 bytes (a table: more); -> [`UmadServe`], [`UmadForget`] |
//! | [`Role::UEVENT`] | <- messages about the node's device, each as the kernel sends it to a NETLINK_KOBJECT_UEVENT socket |
//! | [`Role::CONTROL`] | -> one command as text, <- its answer as text in any number of packets, then the end |
//!
//! Queue pair numbers are chosen by the program, out of the block in [`Welcome`], so that nobody waits for an answer.
//! A program that does not read loses datagrams, as a queue pair without receive buffers does.
use crate::{NodeId, Port, Source, port::possible_state};
use alloc::vec::Vec;
use ib_mad::{
    AddressVector, DecodeError, FlowLabel, Gid, GlobalRoute, Guid, Lid, MgmtClass, Mtu, Pkey, PortState, Qkey, Qpn,
    Rate, ServiceLevel, Wire, code,
    id::Lmc,
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

code! {
    /// What a message is.
    pub struct Kind(u16) {
        /// [`Hello`].
        HELLO = 1 "hello",
        /// [`Welcome`].
        WELCOME = 2 "welcome",
        /// [`PortInfo`].
        PORT_INFO = 3 "port info",
        /// [`QpOpen`].
        QP_OPEN = 4 "open queue pair",
        /// [`QpClose`].
        QP_CLOSE = 5 "close queue pair",
        /// [`QpGroup`].
        ATTACH = 6 "attach",
        /// [`QpGroup`].
        DETACH = 7 "detach",
        /// [`DatagramOut`].
        DATAGRAM_OUT = 8 "send datagram",
        /// [`DatagramIn`].
        DATAGRAM_IN = 9 "datagram",
        /// [`MadOut`].
        MAD_OUT = 10 "send management datagram",
        /// [`MadIn`].
        MAD_IN = 11 "management datagram",
        /// [`Refused`].
        REFUSED = 12 "refused",
        /// [`UmadForget`].
        UMAD_FORGET = 13 "forget an agent",
        /// [`ReportIn`].
        REPORT_IN = 14 "report",
        /// [`UmadServe`].
        UMAD_SERVE = 15 "requests for an agent",
    }
}

code! {
    /// What a connection is for.
    pub struct Role(u8) {
        /// Queue pairs, management datagrams and events of one node.
        NODE = 1 "node",
        /// One port's umad device.
        UMAD = 2 "umad",
        /// Commands of whoever runs the simulation.
        CONTROL = 3 "control",
        /// What the kernel says about the node's device.
        UEVENT = 4 "uevent",
    }
}

code! {
    /// Why something was refused.
    pub struct Refusal(u16) {
        /// It was not.
        NONE = 0 "not refused",
        /// The message is too short, or not one that belongs here.
        BAD_MESSAGE = 1 "bad message",
        /// The versions of both sides differ.
        BAD_VERSION = 2 "bad version",
        /// There is no such node, or none is free.
        NO_SUCH_NODE = 3 "no such node",
        /// There is no such port.
        NO_SUCH_PORT = 4 "no such port",
        /// The queue pair is not open in this connection.
        NO_SUCH_QP = 5 "no such queue pair",
        /// The queue pair number is taken or not in the block.
        BAD_QPN = 6 "bad queue pair number",
        /// The port's table has no such P_Key index.
        NO_SUCH_PKEY = 7 "no such P_Key index",
        /// The port's table has no such GID index, or the GID is not a group's where one must be.
        BAD_GID = 8 "bad GID",
        /// The datagram is longer than the MTU.
        TOO_LONG = 9 "datagram too long",
        /// There are too many connections or queue pairs already.
        NO_ROOM = 10 "no room",
        /// The node's device, or the port's MAD interface, was taken away.
        NO_DEVICE = 11 "no device",
    }
}

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
        /// Port number.
        pub port: u8,
        /// Number of what happened, as [`PortChange::code`](crate::PortChange::code); 0: nothing.
        pub change: u8,
        /// Logical state: down, init, armed or active.
        pub state: PortState,
        /// LID mask control.
        pub lmc: u8,
        /// Active MTU.
        pub mtu: Mtu,
        /// Active rate.
        pub rate: Rate,
        /// LID.
        pub lid: Lid,
        /// LID of the subnet manager.
        pub sm_lid: Lid,
        /// Service level to the subnet manager.
        pub sm_sl: u8,
        /// PortInfo.SubnetTimeOut.
        pub subnet_timeout: u8,
        /// GIDs that follow.
        pub gid_count: Be16,
        /// P_Keys that follow them.
        pub pkey_count: Be16,
        /// Zero.
        pub reserved: Reserved<6>,
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
        /// Queue key.
        pub qkey: Qkey,
        /// Service level.
        pub sl: u8,
        /// Path bits of the source LID.
        pub path_bits: u8,
        /// Whether there is a global route (not 0): the fields below.
        pub global: u8,
        /// Which GID is the source.
        pub sgid_index: u8,
        /// Flow label.
        pub flow_label: Be32,
        /// Hop limit.
        pub hop_limit: u8,
        /// Traffic class.
        pub traffic_class: u8,
        /// Zero.
        pub reserved: Reserved<2>,
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
        /// Service level.
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
        /// Service level.
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
        /// Management class.
        pub class: MgmtClass,
        /// Version of the class's format.
        pub class_version: u8,
        /// The agent.
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
        /// The agent.
        pub agent: Be32,
    }
}

/// The kind of a message.
///
/// # Errors
/// [`DecodeError::TooShort`] for less than two bytes.
pub fn kind(message: &[u8]) -> Result<Kind, DecodeError> {
    Kind::parse(message).copied()
}

impl Hello {
    /// A hello of this version.
    #[must_use]
    pub fn new(role: Role, port: u8, node: &str) -> Self {
        Self {
            kind: Kind::HELLO,
            version: Be16::new(VERSION),
            magic: Be32::new(MAGIC),
            role,
            port,
            node: Text::new(node.as_bytes()),
            ..Self::default()
        }
    }
}

/// A [`PortInfo`] message with its tables.
#[must_use]
pub fn port_info(number: u8, port: &Port, change: u8) -> Vec<u8> {
    // A table longer than the message could carry is cut: no device has 1024 entries.
    let gids = port.gids.get(..1024).unwrap_or(&port.gids);
    let pkeys = port.pkeys.get(..1024).unwrap_or(&port.pkeys);
    let info = PortInfo {
        kind: Kind::PORT_INFO,
        port: number,
        change,
        state: port.state,
        lmc: port.lmc.get(),
        mtu: port.mtu,
        rate: port.rate,
        lid: port.lid,
        sm_lid: port.sm_lid,
        sm_sl: port.sm_sl.get(),
        subnet_timeout: port.subnet_timeout,
        gid_count: Be16::new(u16::try_from(gids.len()).unwrap_or(u16::MAX)),
        pkey_count: Be16::new(u16::try_from(pkeys.len()).unwrap_or(u16::MAX)),
        reserved: Reserved::default(),
        guid: port.guid,
    };
    let mut message = ib_mad::as_bytes(&info).to_vec();
    message.extend(gids.iter().flat_map(|gid| gid.get()));
    message.extend(pkeys.iter().flat_map(|pkey| pkey.get().to_be_bytes()));
    message
}

/// The port in a [`PortInfo`] message: its number, its attributes, the number of what happened.
///
/// # Errors
/// [`DecodeError`] if a table is cut off or the state has no meaning.
pub fn read_port_info(message: &[u8]) -> Result<(u8, Port, u8), DecodeError> {
    let (info, mut rest) = PortInfo::parse_prefix(message)?;
    let mut gids = Vec::new();
    for _ in 0..info.gid_count.get() {
        let (gid, behind) = Gid::parse_prefix(rest)?;
        gids.push(*gid);
        rest = behind;
    }
    let mut pkeys = Vec::new();
    for _ in 0..info.pkey_count.get() {
        let (pkey, behind) = Pkey::parse_prefix(rest)?;
        pkeys.push(*pkey);
        rest = behind;
    }
    let state = possible_state(info.state)
        .ok_or(DecodeError::BadValue { what: "PortInfo state", value: info.state.get().into() })?;
    let port = Port {
        guid: info.guid,
        state,
        lid: info.lid,
        lmc: Lmc::new(info.lmc),
        gids,
        pkeys,
        mtu: info.mtu,
        rate: info.rate,
        sm_lid: info.sm_lid,
        sm_sl: ServiceLevel::new(info.sm_sl),
        subnet_timeout: info.subnet_timeout,
    };
    Ok((info.port, port, info.change))
}

impl DatagramOut {
    /// The header of a datagram's message.
    #[must_use]
    pub fn new(from: Qpn, datagram: &crate::Datagram<'_>) -> Self {
        let to = datagram.to;
        let route = to.grh.unwrap_or_default();
        Self {
            kind: Kind::DATAGRAM_OUT,
            dlid: to.dlid,
            from: Be32::new(from.get()),
            to: Be32::new(datagram.qpn.get()),
            qkey: datagram.qkey,
            sl: to.sl.get(),
            path_bits: to.path_bits,
            global: to.grh.is_some().into(),
            sgid_index: route.sgid_index,
            flow_label: Be32::new(route.flow_label.get()),
            hop_limit: route.hop_limit,
            traffic_class: route.traffic_class,
            reserved: Reserved::default(),
            dgid: route.dgid,
        }
    }

    /// The datagram with this header and these bytes.
    #[must_use]
    pub fn datagram<'a>(&self, payload: &'a [u8]) -> crate::Datagram<'a> {
        let to = AddressVector {
            dlid: self.dlid,
            sl: ServiceLevel::new(self.sl),
            path_bits: self.path_bits,
            static_rate: None,
            grh: (self.global != 0).then(|| GlobalRoute {
                dgid: self.dgid,
                sgid_index: self.sgid_index,
                hop_limit: self.hop_limit,
                traffic_class: self.traffic_class,
                flow_label: FlowLabel::new(self.flow_label.get()),
            }),
        };
        crate::Datagram { to, qpn: Qpn::new(self.to.get()), qkey: self.qkey, payload }
    }
}

impl DatagramIn {
    /// The header of a received datagram's message.
    #[must_use]
    pub fn new(to: Qpn, source: &Source, grh: Option<&Grh>) -> Self {
        Self {
            kind: Kind::DATAGRAM_IN,
            slid: source.slid,
            to: Be32::new(to.get()),
            from: Be32::new(source.qpn.get()),
            pkey_index: Be16::new(source.pkey_index),
            sl: source.sl.get(),
            path_bits: source.path_bits,
            global: grh.is_some().into(),
            reserved: Reserved::default(),
            grh: grh.copied().unwrap_or_default(),
        }
    }

    /// Where the datagram came from.
    #[must_use]
    pub fn source(&self) -> Source {
        Source {
            slid: self.slid,
            qpn: Qpn::new(self.from.get()),
            sl: ServiceLevel::new(self.sl),
            path_bits: self.path_bits,
            pkey_index: self.pkey_index.get(),
        }
    }

    /// The global route header, if there is one.
    #[must_use]
    pub fn grh(&self) -> Option<&Grh> {
        (self.global != 0).then_some(&self.grh)
    }
}

impl Welcome {
    /// The node's number.
    #[must_use]
    pub fn node_id(&self) -> NodeId {
        NodeId::new(self.node.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SubnetConfig;
    use proptest::prelude::*;

    #[test]
    fn a_port_comes_back_as_it_was() {
        let port =
            SubnetConfig { pkeys: alloc::vec![Pkey::DEFAULT_FULL, Pkey::new(0x8001)], ..SubnetConfig::default() }
                .node(3)
                .unwrap()
                .ports
                .remove(0);
        let message = port_info(1, &port, 11);
        assert_eq!(read_port_info(&message), Ok((1, port, 11)));
        assert!((0..message.len()).all(|end| read_port_info(&message[..end]).is_err()));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = kind(&bytes);
            if let Ok((number, port, change)) = read_port_info(&bytes) {
                let again = port_info(number, &port, change);
                prop_assert_eq!(read_port_info(&again), Ok((number, port, change)));
            }
        }

        #[test]
        fn a_datagram_comes_back_as_it_was(bytes in any::<[u8; 44]>(), payload in any::<[u8; 8]>()) {
            let header = DatagramOut::parse(&bytes).unwrap();
            let datagram = header.datagram(&payload);
            let again = DatagramOut::new(Qpn::new(header.from.get()), &datagram);
            prop_assert_eq!(again.datagram(&payload), datagram);
        }
    }
}
