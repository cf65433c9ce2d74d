//! What names a queue pair and admits a datagram to it.
use super::{from_str_number, small};
use crate::id;

id! {
    /// Queue key: a datagram is taken only if its key is the receiving queue pair's, 4 bytes (IBTA 3.5.3).
    pub struct Qkey(u32), "{:#010x}"
}
from_str_number! { Qkey: u32, "Q_Key (32 bits)"; }

impl Qkey {
    /// The well-known key of general services, QP 1 (IBTA 13.5.3).
    pub const GSI: Self = Self::new(0x8001_0000);
}

small! {
    /// Queue pair number, 24 bits (IBTA 3.5.1).
    Qpn(u32) 24 "{:#x}";
}

impl Qpn {
    /// QP 0, subnet management.
    pub const SMI: Self = Self::of::<0>();
    /// QP 1, general services.
    pub const GSI: Self = Self::of::<1>();
    /// The destination of every multicast packet.
    pub const MULTICAST: Self = Self::MAX;
}
