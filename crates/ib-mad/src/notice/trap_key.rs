//! Details of traps about wrong keys.
use crate::{
    AttributeId, Bkey, CcKey, Gid, Lid, Method, MgmtClass, Mkey, Pkey, Qpn, ServiceLevel, bits, wire,
    wire::{Be16, Be32, InBytes, Octets, Reserved},
};
use core::fmt;

bits! {
    /// Directed route of the request with the wrong key.
    pub struct DrNotice [1] in BadMkeyTrap.dr {
        /// True if the request had a directed route.
        dr_notice / with_dr_notice: bool = 1,
        /// True if the return path is truncated to its field.
        dr_path_truncated / with_dr_path_truncated: bool = 1,
        /// Length of the return path, in bytes.
        dr_hop_count / with_dr_hop_count: u8 = 6,
    }
}

wire! {
    /// Details of trap 256 (IBTA 14.2.5.1): a request with a wrong M_Key, 54 bytes.
    pub struct BadMkeyTrap [54] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// LID of the port that used the wrong key.
        pub lid_addr: Lid,
        /// Source LID of the directed route.
        pub dr_slid: Lid,
        /// Method of the request.
        pub method: Method,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<1>,
        /// Attribute id of the request.
        pub attribute_id: AttributeId as show_smp_attribute,
        /// Attribute modifier of the request.
        pub attribute_modifier: Be32,
        /// M_Key of the request.
        pub mkey: Mkey,
        /// Reserved: zero when sent, ignored when received.
        pub reserved3: Reserved<1>,
        /// Directed route of the request.
        pub dr: DrNotice,
        /// Return path of the directed route.
        pub dr_notice_return_path: Octets<30>,
    }
}

bits! {
    /// A service level in one byte.
    pub struct KeySl [1] {
        /// Service level of the packet.
        sl / with_sl: ServiceLevel = 4,
        _: 4,
    }
}

wire! {
    /// Details of traps 257 and 258 (IBTA 14.2.5.1): a packet with a wrong P_Key or Q_Key, 54 bytes.
    pub struct BadKeyTrap [54] {
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// LID of the sender.
        pub lid_addr1: Lid,
        /// LID of the receiver.
        pub lid_addr2: Lid,
        /// Key of the packet; a P_Key is in the lower half.
        pub key: Be32,
        /// Service level of the packet.
        pub sl: KeySl,
        /// Queue pair of the sender.
        pub qp1: InBytes<Qpn, 3>,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<1>,
        /// Queue pair of the receiver.
        pub qp2: InBytes<Qpn, 3>,
        /// GID of the sender.
        pub gid_addr1: Gid,
        /// GID of the receiver.
        pub gid_addr2: Gid,
        /// Reserved: zero when sent, ignored when received.
        pub reserved3: Reserved<4>,
    }
    /// Details of trap 259 (IBTA 14.2.5.1): a packet with a wrong P_Key at a switch, 54 bytes.
    pub struct BadSwitchPkeyTrap [54] {
        /// Valid fields, from bit 15 on: LID 1, LID 2, P_Key, service level, QP 1, QP 2, GID 1, GID 2.
        pub data_valid: Be16,
        /// LID of the sender.
        pub lid_addr1: Lid,
        /// LID of the destination.
        pub lid_addr2: Lid,
        /// P_Key of the packet.
        pub pkey: Pkey,
        /// Service level of the packet.
        pub sl: KeySl,
        /// Queue pair of the sender.
        pub qp1: InBytes<Qpn, 3>,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Queue pair of the destination.
        pub qp2: InBytes<Qpn, 3>,
        /// GID of the sender.
        pub gid_addr1: Gid,
        /// GID of the destination.
        pub gid_addr2: Gid,
        /// LID of the switch that detected the packet.
        pub sw_lid_addr: Lid,
        /// Number of the switch port at which the packet arrived.
        pub port_no: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<3>,
    }
    /// Details of baseboard management's trap 259 (IBTA 16.2.4): a request with a wrong B_Key, 54 bytes.
    pub struct BkeyTrap [54] {
        /// LID of the port that used the wrong key.
        pub lid_addr: Lid,
        /// Method of the request.
        pub method: Method,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Attribute id of the request.
        pub attribute_id: AttributeId as show_baseboard_attribute,
        /// Attribute modifier of the request.
        pub attribute_modifier: Be32,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<1>,
        /// Queue pair of the requester.
        pub qp: InBytes<Qpn, 3>,
        /// B_Key of the request.
        pub bkey: Bkey,
        /// GID of the port that used the wrong key.
        pub gid_addr: Gid,
        /// Reserved: zero when sent, ignored when received.
        pub reserved3: Reserved<16>,
    }
    /// Details of congestion control's trap 0 (IBTA A10.4.2): a request with a wrong CC_Key, 54 bytes.
    pub struct CcKeyTrap [54] {
        /// LID of the port that used the wrong key.
        pub slid: Lid,
        /// Method of the request.
        pub method: Method,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Attribute id of the request.
        pub attribute_id: AttributeId as show_congestion_attribute,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<2>,
        /// Attribute modifier of the request.
        pub attribute_modifier: Be32,
        /// Reserved: zero when sent, ignored when received.
        pub reserved3: Reserved<1>,
        /// Queue pair of the requester.
        pub qp: InBytes<Qpn, 3>,
        /// CC_Key of the request.
        pub cc_key: CcKey,
        /// GID of the port that used the wrong key.
        pub gid_addr: Gid,
        /// Reserved: zero when sent, ignored when received.
        pub reserved4: Reserved<14>,
    }
}

fn show_smp_attribute(own: &BadMkeyTrap, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{}", own.attribute_id.of(MgmtClass::SUBN_LID_ROUTED))
}

fn show_baseboard_attribute(own: &BkeyTrap, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{}", own.attribute_id.of(MgmtClass::BASEBOARD))
}

fn show_congestion_attribute(own: &CcKeyTrap, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{}", own.attribute_id.of(MgmtClass::CONGESTION))
}
