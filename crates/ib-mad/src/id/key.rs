//! Keys that protect management, keys and numbers of queue pairs, and vendor ids.
use crate::{
    id,
    wire::{from_str_number, small},
};

id! {
    /// Management key, 8 bytes: a subnet management request that changes a port must contain it (IBTA 14.2.4).
    pub struct Mkey(u64), "{:#018x}"
}
id! {
    /// Subnet manager key, 8 bytes: authenticates a subnet manager to other managers, and a trusted requester to subnet
    /// administration (IBTA 14.4.7).
    pub struct SmKey(u64), "{:#018x}"
}
id! {
    /// Baseboard management key, 8 bytes (IBTA 16.2.4).
    pub struct Bkey(u64), "{:#018x}"
}
id! {
    /// Congestion control key, 8 bytes (IBTA A10.2.1).
    pub struct CcKey(u64), "{:#018x}"
}
id! {
    /// Performance management key, 8 bytes: protects the counters of a port (IBTA 16.1.2).
    pub struct PmKey(u64), "{:#018x}"
}
from_str_number! {
    Mkey: u64, "M_Key (64 bits)";
    SmKey: u64, "SM_Key (64 bits)";
    Bkey: u64, "B_Key (64 bits)";
    CcKey: u64, "CC_Key (64 bits)";
    PmKey: u64, "PM_Key (64 bits)";
}

id! {
    /// Queue key, 4 bytes: a queue pair accepts a datagram only if both have the same key (IBTA 3.5.3).
    pub struct Qkey(u32), "{:#010x}"
}
from_str_number! { Qkey: u32, "Q_Key (32 bits)"; }

impl Qkey {
    /// Well-known key of general services, QP 1 (IBTA 13.5.3).
    pub const GSI: Self = Self::new(0x8001_0000);
}

small! {
    /// Queue pair number, 24 bits (IBTA 3.5.1).
    Qpn(u32) 24 "{:#x}";
    /// Packet sequence number, 24 bits (IBTA 9.2).
    Psn(u32) 24 "{}";
    /// Vendor id: an IEEE organization number (OUI), 24 bits.
    VendorId(u32) 24 "{:#08x}";
}

impl Qpn {
    /// QP 0, subnet management.
    pub const SMI: Self = Self::of::<0>();
    /// QP 1, general services.
    pub const GSI: Self = Self::of::<1>();
    /// Destination queue pair of every multicast packet.
    pub const MULTICAST: Self = Self::MAX;
}
