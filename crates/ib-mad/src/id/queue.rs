//! What names a queue pair and admits a datagram to it.
use super::from_str_number;
use crate::{id, wire::Bits};
use core::fmt;

id! {
    /// Queue key: a datagram is taken only if its key is the receiving queue pair's, 4 bytes (IBTA 3.5.3).
    pub struct Qkey(u32), "{:#010x}"
}
from_str_number! { Qkey: u32, "Q_Key (32 bits)"; }

impl Qkey {
    /// The well-known key of general services, QP 1 (IBTA 13.5.3).
    pub const GSI: Self = Self::new(0x8001_0000);
}

/// Queue pair number, 24 bits (IBTA 3.5.1). A value over 24 bits is cut off.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Qpn(u32);

impl Qpn {
    /// QP 0, subnet management.
    pub const SMI: Self = Self(0);
    /// QP 1, general services.
    pub const GSI: Self = Self(1);
    /// The destination of every multicast packet.
    pub const MULTICAST: Self = Self(0xff_ffff);

    /// From a number; only its low 24 bits count.
    #[must_use]
    pub const fn new(value: u32) -> Self {
        Self(value & 0xff_ffff)
    }
    /// The number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Qpn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}
impl fmt::Debug for Qpn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl Bits for Qpn {
    #[expect(clippy::cast_possible_truncation, reason = "24 bits")]
    fn from_raw(raw: u64) -> Self {
        Self::new(raw as u32)
    }
    fn into_raw(self) -> u64 {
        u64::from(self.0)
    }
    fn show_bits(raw: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{raw:#x}")
    }
}
