//! Macros of numbers: `small!` for numbers of a few bits, `from_str_number!` to read text.

/// Implements `FromStr` of a numeric identifier: decimal, or hex with the prefix `0x`.
macro_rules! from_str_number {
    ($($name:ident: $int:ty, $what:literal;)*) => {$(
        impl core::str::FromStr for $name {
            type Err = $crate::ParseIdError;
            /// Reads a number in decimal, or in hex with the prefix `0x`.
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::wire::parse_number(text)
                    .and_then(|value| <$int>::try_from(value).ok())
                    .map(Self::new)
                    .ok_or($crate::ParseIdError { what: $what })
            }
        }
    )*};
}
pub(crate) use from_str_number;

/// Defines a number of a few bits, for bit-packed words. Without a format the type implements `Display` itself.
macro_rules! small {
    ($($(#[$m:meta])* $name:ident($int:ty) $bits:literal $($fmt:literal)?;)*) => {$(
        $(#[$m])*
        ///
        /// [`checked`](Self::checked) and `TryFrom` reject wider numbers; [`of`](Self::of) does not compile with a wider
        /// number.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        pub struct $name($int);
        impl $name {
            /// The number 0.
            pub const ZERO: Self = Self(0);
            /// The largest value.
            pub const MAX: Self = Self((1 << $bits) - 1);

            #[doc = concat!("Returns the value of a number; `None` if it is over ", $bits, " bits.")]
            #[must_use]
            pub const fn checked(value: $int) -> Option<Self> {
                if value <= Self::MAX.0 { Some(Self(value)) } else { None }
            }
            #[doc = concat!("Returns a constant. A number over ", $bits, " bits does not compile.")]
            #[must_use]
            pub const fn of<const VALUE: $int>() -> Self {
                const { assert!(VALUE <= Self::MAX.0, "a value over the type's width") }
                Self(VALUE)
            }
            #[doc = concat!("Returns the value of the low ", $bits, " bits of a wire word and ignores its other bits.")]
            #[must_use]
            pub const fn masked(word: $int) -> Self {
                Self(word & Self::MAX.0)
            }
            /// Returns the number.
            #[must_use]
            pub const fn get(self) -> $int {
                self.0
            }
            #[doc(hidden)]
            #[must_use]
            #[allow(clippy::cast_possible_truncation, reason = "cut to the width on purpose")]
            pub const fn __from_bits(raw: u64) -> Self {
                Self::masked(raw as $int)
            }
            #[doc(hidden)]
            #[must_use]
            pub const fn __to_bits(self) -> u64 {
                self.0 as u64
            }
        }
        impl TryFrom<$int> for $name {
            type Error = $crate::OutOfRange;
            fn try_from(value: $int) -> Result<Self, Self::Error> {
                let (own, max) = (u64::from(value), Self::MAX.__to_bits());
                Self::checked(value).ok_or($crate::OutOfRange { what: stringify!($name), value: own, max })
            }
        }
        impl From<$name> for $int {
            fn from(value: $name) -> Self {
                value.0
            }
        }
        $crate::__hex!($name get);
        $(
            impl core::fmt::Display for $name {
                fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    write!(f, $fmt, self.0)
                }
            }
            impl core::str::FromStr for $name {
                type Err = $crate::ParseIdError;
                /// Reads a number in decimal, or in hex with the prefix `0x`.
                fn from_str(text: &str) -> Result<Self, Self::Err> {
                    $crate::wire::parse_number(text)
                        .and_then(|value| Self::checked(value.try_into().ok()?))
                        .ok_or($crate::ParseIdError { what: concat!(stringify!($name), " (", $bits, " bits)") })
                }
            }
        )?
        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(self, f)
            }
        }
        impl $crate::wire::Bits for $name {
            const IS_NUMBER: bool = $crate::wire::is_decimal(concat!("" $(, $fmt)?));
            fn from_raw(raw: u64) -> Self {
                Self::__from_bits(raw)
            }
            fn into_raw(self) -> u64 {
                self.__to_bits()
            }
            fn show_bits(raw: u64, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(&Self::__from_bits(raw), f)
            }
        }
        // The text of a number without a format is not read.
        $crate::__value!($name($int) get !matches!(concat!("" $(, $fmt)?).as_bytes(), [_, b':', ..]), Self::checked, |_| None);
        #[cfg(feature = "arbitrary")]
        impl<'a> arbitrary::Arbitrary<'a> for $name {
            fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
                <$int>::arbitrary(u).map(Self::masked)
            }
            fn size_hint(_depth: usize) -> (usize, Option<usize>) {
                (size_of::<$int>(), Some(size_of::<$int>()))
            }
        }
    )*};
}
pub(crate) use small;

#[cfg(test)]
mod tests {
    extern crate std;
    use crate::notice::Producer;
    use crate::{FlowLabel, Lmc, OutOfRange, Psn, Qpn, ServiceLevel, TimeCode, VendorId, VirtualLane};
    use std::{format, string::ToString};

    #[test]
    fn numbers_over_the_width_are_rejected() {
        assert_eq!(Qpn::checked(0xff_ffff), Some(Qpn::MULTICAST));
        assert_eq!(Qpn::checked(0x100_0000), None);
        let refused = Qpn::try_from(0x100_0000).unwrap_err();
        assert_eq!(refused, OutOfRange { what: "Qpn", value: 0x100_0000, max: 0xff_ffff });
        assert_eq!(refused.to_string(), "Qpn: 0x1000000 is over 0xffffff");
        assert_eq!((FlowLabel::checked(1 << 20), FlowLabel::MAX.get()), (None, 0xf_ffff));
        assert_eq!((ServiceLevel::checked(16), VirtualLane::checked(16), Lmc::checked(8)), (None, None, None));
        assert_eq!((TimeCode::checked(32), Psn::checked(1 << 24), VendorId::checked(1 << 24)), (None, None, None));
        assert_eq!(Producer::checked(1 << 24), None);
        assert_eq!(ServiceLevel::try_from(15).map(u8::from), Ok(15));
    }

    #[test]
    fn masked_ignores_bits_of_other_fields() {
        assert_eq!(Qpn::masked(0xab_000007), Qpn::of::<7>());
        assert_eq!(ServiceLevel::masked(0xf3), ServiceLevel::of::<3>());
    }

    #[test]
    fn small_number_is_parsed_from_decimal_and_hex() {
        assert_eq!(("0x48".parse(), "72".parse()), (Ok(Qpn::of::<0x48>()), Ok(Qpn::of::<0x48>())));
        assert_eq!("15".parse(), Ok(ServiceLevel::MAX));
        for bad in ["16", "0x10", "-1", "+1", "", "256"] {
            assert!(bad.parse::<ServiceLevel>().is_err(), "{bad}");
        }
        assert!("0x1000000".parse::<Qpn>().is_err());
        let qpn = Qpn::of::<0x1c>();
        assert_eq!((qpn.to_string().parse(), format!("{qpn:06x} {qpn:#X}")), (Ok(qpn), "00001c 0x1C".into()));
    }
}
