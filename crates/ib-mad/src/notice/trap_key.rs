//! Traps about wrong keys.
use crate::{
    AttributeId, Bkey, CcKey, Gid, Lid, Method, MgmtClass, Mkey, Pkey, Qpn, ServiceLevel, bits, wire,
    wire::{Be16, Be32, InBytes, Octets, Reserved},
};
use core::fmt;

bits! {
    /// How the request with the wrong key came.
    pub struct DrNotice [1] in BadMkeyTrap.dr {
        /// By directed route.
        dr_notice / with_dr_notice: bool = 1,
        /// The return path is longer than the room for it.
        dr_path_truncated / with_dr_path_truncated: bool = 1,
        /// Bytes of the return path.
        dr_hop_count / with_dr_hop_count: u8 = 6,
    }
}

wire! {
    /// Details of trap 256 (IBTA 14.2.5.1): a request with a wrong M_Key, 54 bytes.
    pub struct BadMkeyTrap [54] {
        /// Zero.
        pub reserved: Reserved<2>,
        /// Address of the port that used the bad key.
        pub lid_addr: Lid,
        /// Source of its directed route.
        pub dr_slid: Lid,
        /// What it asked.
        pub method: Method,
        /// Zero.
        pub reserved2: Reserved<1>,
        /// About which attribute.
        pub attribute_id: AttributeId as show_smp_attribute,
        /// Which of them.
        pub attribute_modifier: Be32,
        /// The key that it had.
        pub mkey: Mkey,
        /// Zero.
        pub reserved3: Reserved<1>,
        /// How it came.
        pub dr: DrNotice,
        /// The way back.
        pub dr_notice_return_path: Octets<30>,
    }
}

bits! {
    /// Service level in its byte.
    pub struct KeySl [1] {
        /// Service level.
        sl / with_sl: ServiceLevel = 4,
        _: 4,
    }
}

wire! {
    /// Details of traps 257 and 258 (IBTA 14.2.5.1): a packet with a wrong P_Key or Q_Key, 54 bytes.
    pub struct BadKeyTrap [54] {
        /// Zero.
        pub reserved: Reserved<2>,
        /// Who sent it.
        pub lid_addr1: Lid,
        /// Who received it.
        pub lid_addr2: Lid,
        /// The key that it had; a P_Key is in the lower half.
        pub key: Be32,
        /// Its service level.
        pub sl: KeySl,
        /// Queue pair that sent it.
        pub qp1: InBytes<Qpn, 3>,
        /// Zero.
        pub reserved2: Reserved<1>,
        /// Queue pair that it was for.
        pub qp2: InBytes<Qpn, 3>,
        /// Who sent it.
        pub gid_addr1: Gid,
        /// Who received it.
        pub gid_addr2: Gid,
        /// Zero.
        pub reserved3: Reserved<4>,
    }
}

wire! {
    /// Details of trap 259 (IBTA 14.2.5.1): a packet with a wrong P_Key at a switch, 54 bytes.
    pub struct BadSwitchPkeyTrap [54] {
        /// Which of the fields count: from bit 15 on LID 1, LID 2, P_Key, service level, QP 1, QP 2, GID 1, GID 2.
        pub data_valid: Be16,
        /// Who sent it.
        pub lid_addr1: Lid,
        /// Whom it was for.
        pub lid_addr2: Lid,
        /// The key that it had.
        pub pkey: Pkey,
        /// Its service level.
        pub sl: KeySl,
        /// Queue pair that sent it.
        pub qp1: InBytes<Qpn, 3>,
        /// Zero.
        pub reserved: Reserved<1>,
        /// Queue pair that it was for.
        pub qp2: InBytes<Qpn, 3>,
        /// Who sent it.
        pub gid_addr1: Gid,
        /// Whom it was for.
        pub gid_addr2: Gid,
        /// LID of the switch that saw it.
        pub sw_lid_addr: Lid,
        /// Number of the switch port at which it came in.
        pub port_no: u8,
        /// Zero.
        pub reserved2: Reserved<3>,
    }
}

wire! {
    /// Details of baseboard management's trap 259 (IBTA 16.2.4): a request with a wrong B_Key, 54 bytes.
    pub struct BkeyTrap [54] {
        /// Address of the port that used the bad key.
        pub lid_addr: Lid,
        /// What it asked.
        pub method: Method,
        /// Zero.
        pub reserved: Reserved<1>,
        /// About which attribute.
        pub attribute_id: AttributeId as show_baseboard_attribute,
        /// Which of them.
        pub attribute_modifier: Be32,
        /// Zero.
        pub reserved2: Reserved<1>,
        /// Queue pair that asked.
        pub qp: InBytes<Qpn, 3>,
        /// The key that it had.
        pub bkey: Bkey,
        /// Address of the port that used the bad key.
        pub gid_addr: Gid,
        /// Zero.
        pub reserved3: Reserved<16>,
    }
}

wire! {
    /// Details of congestion control's trap 0 (IBTA A10.4.2): a request with a wrong CC_Key, 54 bytes.
    pub struct CcKeyTrap [54] {
        /// Address of the port that used the bad key.
        pub slid: Lid,
        /// What it asked.
        pub method: Method,
        /// Zero.
        pub reserved: Reserved<1>,
        /// About which attribute.
        pub attribute_id: AttributeId as show_congestion_attribute,
        /// Zero.
        pub reserved2: Reserved<2>,
        /// Which of them.
        pub attribute_modifier: Be32,
        /// Zero.
        pub reserved3: Reserved<1>,
        /// Queue pair that asked.
        pub qp: InBytes<Qpn, 3>,
        /// The key that it had.
        pub cc_key: CcKey,
        /// Address of the port that used the bad key.
        pub gid_addr: Gid,
        /// Zero.
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
