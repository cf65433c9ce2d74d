//! `small!`: a number of a few bits.

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
