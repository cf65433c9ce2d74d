//! Messages between ibsim and its clients (facts: ibsim's `include/ibsim.h`).
//!
//! ibsim sends its C structures as they lie in memory; here they are those of a little-endian 64-bit machine.
use ib_mad::{
    Gid, Guid, Lid, Mtu, Pkey, ServiceLevel, bits,
    id::Lmc,
    sa::SaMad,
    wire,
    wire::{Be16, Be32, Be64, Host32, Octets, Reserved, Text},
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
        /// Type.
        pub kind: Host32,
        /// Bytes of data that count.
        pub length: Host32,
        /// Data.
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
        pub dlid: Be16,
        /// The rest of the C field.
        pub reserved: Reserved<2>,
        /// LID of the source; 0: the port's own.
        pub slid: Be16,
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
        /// The datagram.
        pub mad: SaMad,
    }
}

wire! {
    /// The parts of NodeInfo that are used here (IBTA 14.2.5.3).
    pub struct NodeInfo [64] {
        /// Versions, type, number of ports, GUID of the system.
        pub reserved: Reserved<12>,
        /// GUID of the node.
        pub node_guid: Guid,
        /// The others.
        pub reserved2: Reserved<44>,
    }
}

bits! {
    /// Speeds and state of a port.
    pub struct SpeedState [1] {
        _: 4,
        /// State.
        state / with_state: u8 = 4,
    }
}
bits! {
    /// Protection and LMC.
    pub struct ProtectionLmc [1] {
        _: 5,
        /// LID mask control.
        lmc / with_lmc: Lmc = 3,
    }
}
bits! {
    /// Active and enabled speed.
    pub struct Speeds [1] {
        /// Active: 1 = 2.5, 2 = 5, 4 = 10 Gb/s.
        active / with_active: u8 = 4,
        _: 4,
    }
}
bits! {
    /// MTU and service level.
    pub struct MtuSl [1] {
        /// MTU of the link.
        mtu / with_mtu: Mtu = 4,
        /// Service level to the subnet manager.
        sm_sl / with_sm_sl: ServiceLevel = 4,
    }
}
bits! {
    /// Client reregister and subnet timeout.
    pub struct RegisterTimeout [1] {
        _: 3,
        /// Subnet timeout.
        subnet_timeout / with_subnet_timeout: u8 = 5,
    }
}

wire! {
    /// The parts of PortInfo that are used here (IBTA 14.2.5.6).
    pub struct PortInfo [64] {
        /// M_Key.
        pub reserved: Reserved<8>,
        /// Upper half of the port's GID.
        pub gid_prefix: Be64,
        /// LID.
        pub lid: Lid,
        /// LID of the subnet manager.
        pub sm_lid: Lid,
        /// Capabilities, M_Key lease, port number, widths.
        pub reserved2: Reserved<11>,
        /// Active width: 1 = 1x, 2 = 4x, 4 = 8x, 8 = 12x.
        pub width: u8,
        /// State.
        pub speed_state: SpeedState,
        /// Physical state.
        pub reserved3: Reserved<1>,
        /// LMC.
        pub protection_lmc: ProtectionLmc,
        /// Speed.
        pub speeds: Speeds,
        /// MTU and service level.
        pub mtu_sl: MtuSl,
        /// Virtual lanes, counters.
        pub reserved4: Reserved<14>,
        /// Subnet timeout.
        pub register_timeout: RegisterTimeout,
        /// The others.
        pub reserved5: Reserved<12>,
    }
}

wire! {
    /// Data of [`control::GET_PKEYS`].
    pub struct Pkeys [64] {
        /// The first block of the port's table.
        pub keys: [Pkey; 32],
    }
}

impl PortInfo {
    /// The GID that the subnet manager gave to a port.
    pub(super) fn gid(&self, guid: Guid) -> Gid {
        Gid::from_parts(self.gid_prefix.get(), guid)
    }
}
