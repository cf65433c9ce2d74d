//! Services, service levels, flows, transactions.
use super::from_str_number;
use crate::{id, wire::Bits};
use core::fmt;

id! {
    /// Service id: what a connection asks for, 8 bytes (IBTA A3, A11 for the IP ones).
    pub struct ServiceId(u64), "{:#018x}"
}
id! {
    /// Transaction id: an answer carries its request's, 8 bytes. Linux keeps the upper half for itself.
    pub struct TransactionId(u64), "{:#018x}"
}
from_str_number! {
    ServiceId: u64, "service id (64 bits)";
    TransactionId: u64, "transaction id (64 bits)";
}

macro_rules! small {
    ($($(#[$m:meta])* $name:ident($int:ty) $bits:literal $fmt:literal;)*) => {$(
        $(#[$m])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        pub struct $name($int);
        impl $name {
            #[doc = concat!("From a number; only its low ", $bits, " bits count.")]
            #[must_use]
            pub const fn new(value: $int) -> Self {
                Self(value & ((1 << $bits) - 1))
            }
            /// The number.
            #[must_use]
            pub const fn get(self) -> $int {
                self.0
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, $fmt, self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
        impl Bits for $name {
            #[allow(clippy::cast_possible_truncation, reason = "cut to the width on purpose")]
            fn from_raw(raw: u64) -> Self {
                Self::new(raw as $int)
            }
            fn into_raw(self) -> u64 {
                u64::from(self.0)
            }
            fn show_bits(raw: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&Self::from_raw(raw), f)
            }
        }
    )*};
}

small! {
    /// Service level, 4 bits: which virtual lanes a packet takes (IBTA 7.6.5).
    ServiceLevel(u8) 4 "{}";
    /// Flow label of the global route header, 20 bits (IBTA 8.3).
    FlowLabel(u32) 20 "{:#x}";
}
