//! Notices of Omni-Path.
//!
//! Sources: `struct opa_mad_notice_attr` in Linux's `drivers/infiniband/hw/hfi1/mad.h`, and Wireshark's
//! `packet-opa-mad.c`.
use super::{OpaCapability3, OpaLid};
use crate::{
    AttributeId, Gid, Guid, Method, Mkey, Pkey, Qpn,
    attribute::Structure,
    bits,
    code::PortCapability,
    notice::{DrNotice, GenericType, NoticeToggleCount, Producer, TrapNumber},
    wire,
    wire::{Be16, Be32, InBytes, Octets, Reserved, Wire as _},
};
use core::fmt;

wire! {
    /// A notice, 96 bytes. Subnet administration forwards it unchanged.
    ///
    /// ```text
    ///  0  generic 1, type 7 | producer or vendor (3)
    ///  4  trap number or device id | toggle 1, count 15
    ///  8  issuer LID (4) | reserved (4)
    /// 16  issuer GID (16)
    /// 32  details (64)
    /// ```
    pub struct OpaNotice [96] {
        /// Generic bit and type.
        pub generic_type: GenericType,
        /// Producer of the notice: node type or vendor.
        pub producer: InBytes<Producer, 3>,
        /// Trap number; the vendor's device id if the notice is not generic.
        pub trap_number: TrapNumber,
        /// Toggle bit and count.
        pub toggle_count: NoticeToggleCount,
        /// LID of the issuer.
        pub issuer_lid: OpaLid,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<4>,
        /// GID of the issuer.
        pub issuer_gid: Gid,
        /// Details, whose layout the trap number determines; see [`OpaNotice::details`].
        pub data_details: Octets<64>,
    }
}

impl OpaNotice {
    /// Trap of a port whose link is narrower than before.
    pub const LINK_WIDTH_TRAP: TrapNumber = TrapNumber::new(2048);

    /// Casts the details by the trap number. A vendor's notice has [`OpaTrapDetails::Unknown`].
    #[must_use]
    pub fn details(&self) -> OpaTrapDetails<'_> {
        match self.generic_type.is_generic() {
            true => OpaTrapDetails::new(self.trap_number, &self.data_details.0),
            false => OpaTrapDetails::Unknown(&self.data_details.0),
        }
    }
}

wire! {
    /// Details of traps 64 to 67: a port or multicast group, 16 bytes.
    pub struct OpaGidTrap [16] {
        /// GID of the port or multicast group.
        pub gid: Gid,
    }
    /// Details of traps 128 and 2048: a node, 4 bytes.
    pub struct OpaNodeTrap [4] {
        /// LID of the node.
        pub lid: OpaLid,
    }
    /// Details of traps 129 to 131: a port, 5 bytes.
    pub struct OpaPortErrorTrap [5] {
        /// LID of the node that counted the errors.
        pub lid: OpaLid,
        /// Number of the port with the errors.
        pub port_num: u8,
    }
}

bits! {
    /// Other local changes of a port.
    pub struct OpaLocalChanges [2] in OpaCapabilityTrap.changes {
        _: 12,
        /// The enabled reductions of the link width changed.
        link_width_downgrade_enabled_change / with_link_width_downgrade_enabled_change: bool = 1,
        /// The enabled link speeds changed.
        link_speed_enabled_change / with_link_speed_enabled_change: bool = 1,
        /// The enabled link widths changed.
        link_width_enabled_change / with_link_width_enabled_change: bool = 1,
        /// The node description changed.
        node_description_change / with_node_description_change: bool = 1,
    }
}

wire! {
    /// Details of trap 144: changes of a port, 14 bytes.
    pub struct OpaCapabilityTrap [14] {
        /// LID of the changed port.
        pub lid: OpaLid,
        /// Capability mask after the change.
        pub capability_mask: PortCapability,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// Omni-Path capability mask after the change.
        pub capability_mask3: OpaCapability3,
        /// Other local changes.
        pub changes: OpaLocalChanges,
    }
    /// Details of trap 145: the new GUID of a system, 12 bytes.
    pub struct OpaSystemImageTrap [12] {
        /// New GUID of the system image.
        pub system_image_guid: Guid,
        /// LID of the changed node.
        pub lid: OpaLid,
    }
    /// Details of trap 256: a request with a wrong M_Key, 54 bytes.
    pub struct OpaBadMkeyTrap [54] {
        /// LID of the port that used the wrong key.
        pub lid: OpaLid,
        /// Source LID of the directed route.
        pub dr_slid: OpaLid,
        /// Method of the request.
        pub method: Method,
        /// Directed route of the request.
        pub dr: DrNotice,
        /// Attribute id of the request.
        pub attribute_id: AttributeId,
        /// Attribute modifier of the request.
        pub attribute_modifier: Be32,
        /// M_Key of the request.
        pub mkey: Mkey,
        /// Return path of the directed route.
        pub dr_return_path: Octets<30>,
    }
}

bits! {
    /// A service level in the upper bits of one byte.
    pub struct OpaTrapSl [1] {
        /// Service level of the packet, 0 to 31.
        sl / with_sl: u8 = 5,
        _: 3,
    }
}

wire! {
    /// Details of traps 257 and 258: a packet with a wrong P_Key or Q_Key, 56 bytes.
    pub struct OpaBadKeyTrap [56] {
        /// LID of the sender.
        pub lid1: OpaLid,
        /// LID of the receiver.
        pub lid2: OpaLid,
        /// Key of the packet; a P_Key is in the lower half.
        pub key: Be32,
        /// Service level of the packet.
        pub sl: OpaTrapSl,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<3>,
        /// GID of the sender.
        pub gid1: Gid,
        /// GID of the receiver.
        pub gid2: Gid,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<1>,
        /// Queue pair of the sender.
        pub qp1: InBytes<Qpn, 3>,
        /// Reserved: zero when sent, ignored when received.
        pub reserved3: Reserved<1>,
        /// Queue pair of the receiver.
        pub qp2: InBytes<Qpn, 3>,
    }
    /// Details of trap 259: a packet with a wrong P_Key at a switch, 56 bytes. Wireshark 4.0 reads its queue pairs one
    /// byte earlier than Linux, and those of traps 257 and 258 where Linux has them.
    pub struct OpaBadSwitchPkeyTrap [56] {
        /// Valid fields, from bit 15 on: LID 1, LID 2, P_Key, service level, QP 1, QP 2, GID 1, GID 2.
        pub data_valid: Be16,
        /// P_Key of the packet.
        pub pkey: Pkey,
        /// LID of the sender.
        pub lid1: OpaLid,
        /// LID of the destination.
        pub lid2: OpaLid,
        /// Service level of the packet.
        pub sl: OpaTrapSl,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<3>,
        /// GID of the sender.
        pub gid1: Gid,
        /// GID of the destination.
        pub gid2: Gid,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<1>,
        /// Queue pair of the sender.
        pub qp1: InBytes<Qpn, 3>,
        /// Reserved: zero when sent, ignored when received.
        pub reserved3: Reserved<1>,
        /// Queue pair of the destination.
        pub qp2: InBytes<Qpn, 3>,
    }
}

macro_rules! details {
    ($($(#[$m:meta])* $variant:ident($t:ident) = $trap:pat,)*) => {
        /// Details of a notice, by its trap number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum OpaTrapDetails<'a> {
            $($(#[$m])* $variant(&'a $t),)*
            /// Details of an unknown trap.
            Unknown(&'a [u8; 64]),
        }
        impl<'a> OpaTrapDetails<'a> {
            /// Structures of the details of each known trap.
            pub const TABLE: &'static [Structure] = &[$(Structure::of::<$t>(),)*];

            /// Casts the details of a generic trap.
            #[must_use]
            pub fn new(trap: TrapNumber, details: &'a [u8; 64]) -> Self {
                match trap.get() {
                    $($trap => $t::parse(details).map_or(Self::Unknown(details), Self::$variant),)*
                    _ => Self::Unknown(details),
                }
            }
        }
        impl fmt::Display for OpaTrapDetails<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$variant(details) => {
                        fmt::Display::fmt(&Structure::of::<$t>().display($crate::as_bytes(*details)), f)
                    })*
                    Self::Unknown(details) => details.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
                }
            }
        }
    };
}

details! {
    /// A port or multicast group appeared or disappeared.
    Gid(OpaGidTrap) = 64..=67,
    /// The state or the width of a link changed.
    Node(OpaNodeTrap) = 128 | 2048,
    /// A port had errors.
    PortError(OpaPortErrorTrap) = 129..=131,
    /// The properties of a port changed.
    Capability(OpaCapabilityTrap) = 144,
    /// The GUID of a system image changed.
    SystemImage(OpaSystemImageTrap) = 145,
    /// A request had a wrong M_Key.
    BadMkey(OpaBadMkeyTrap) = 256,
    /// A packet had a wrong P_Key or Q_Key.
    BadKey(OpaBadKeyTrap) = 257 | 258,
    /// A packet at a switch had a wrong P_Key.
    BadSwitchPkey(OpaBadSwitchPkeyTrap) = 259,
}
