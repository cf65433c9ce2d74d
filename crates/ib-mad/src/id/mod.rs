//! Identifiers of InfiniBand: what names a port, a partition, a queue pair, a service.
mod gid;
mod group;
mod key;
mod lid;
mod pkey;
mod queue;
mod service;

pub use gid::{Gid, Guid};
pub use group::MulticastFlags;
pub use key::{BKey, CcKey, MKey, Psn, SmKey, VendorId};
pub use lid::{Lid, Lmc};
pub use pkey::Pkey;
pub use queue::{Qkey, Qpn};
pub use service::{FlowLabel, IpProtocol, ServiceId, ServiceLevel, TransactionId};

/// Text that is not the identifier that it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a {what}")]
pub struct ParseIdError {
    /// The identifier that was looked for.
    pub what: &'static str,
}

/// A number in decimal, or in hex behind `0x`.
fn parse_number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) if !hex.starts_with('+') => u64::from_str_radix(hex, 16).ok(),
        Some(_) => None,
        None if text.starts_with('+') => None,
        None => text.parse().ok(),
    }
}

/// `FromStr` of a numeric identifier: decimal, or hex behind `0x`.
macro_rules! from_str_number {
    ($($name:ident: $int:ty, $what:literal;)*) => {$(
        impl core::str::FromStr for $name {
            type Err = $crate::ParseIdError;
            /// Reads a decimal number, or a hex one behind `0x`.
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::id::parse_number(text)
                    .and_then(|value| <$int>::try_from(value).ok())
                    .map(Self::new)
                    .ok_or($crate::ParseIdError { what: $what })
            }
        }
    )*};
}
use from_str_number;

/// A number of few bits that stands only in bit-packed words.
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
        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, $fmt, self.0)
            }
        }
        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(self, f)
            }
        }
        impl $crate::wire::Bits for $name {
            #[allow(clippy::cast_possible_truncation, reason = "cut to the width on purpose")]
            fn from_raw(raw: u64) -> Self {
                Self::new(raw as $int)
            }
            fn into_raw(self) -> u64 {
                u64::from(self.0)
            }
            fn show_bits(raw: u64, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(&Self::from_raw(raw), f)
            }
        }
    )*};
}
pub(crate) use small;
