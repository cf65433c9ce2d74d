//! Keys that guard management.
use super::{from_str_number, small};
use crate::id;

id! {
    /// Management key: who may change a port by subnet management, 8 bytes (IBTA 14.2.4).
    pub struct Mkey(u64), "{:#018x}"
}
id! {
    /// Subnet manager's key: who may be master, and who is trusted by subnet administration, 8 bytes (IBTA 14.4.7).
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
from_str_number! {
    Mkey: u64, "M_Key (64 bits)";
    SmKey: u64, "SM_Key (64 bits)";
    Bkey: u64, "B_Key (64 bits)";
    CcKey: u64, "CC_Key (64 bits)";
}

small! {
    /// A maker of devices or of management classes: an IEEE organization number, 24 bits.
    VendorId(u32) 24 "{:#08x}";
    /// Packet sequence number, 24 bits (IBTA 9.2).
    Psn(u32) 24 "{}";
}
