//! The type, hex output and serde of identifiers, codes, sets of bits and numbers.
//!
//! In a readable format, each type is serialized either as a number or as text. The text is the printed one if parsing it
//! returns the same value, and otherwise the number in hex. In other formats, a value is serialized as its number.

/// Implements `LowerHex` and `UpperHex` for a type with a getter of its number.
#[doc(hidden)]
#[macro_export]
macro_rules! __hex {
    ($name:ident $get:ident) => {
        impl core::fmt::LowerHex for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::LowerHex::fmt(&self.$get(), f)
            }
        }
        impl core::fmt::UpperHex for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::UpperHex::fmt(&self.$get(), f)
            }
        }
    };
}

/// Defines the type of an identifier, a code or a set of bits: a big-endian number of whole bytes, its conversions to and
/// from the bits of a word, and what follows from `Display`.
#[doc(hidden)]
#[macro_export]
macro_rules! __number {
    ($(#[$m:meta])* $name:ident($int:ty) $new:ident $get:ident $is_number:expr) => {
        $(#[$m])*
        #[derive(
            Clone, Copy, PartialEq, Eq, Hash, Default,
            $crate::wire::__zerocopy::FromBytes, $crate::wire::__zerocopy::IntoBytes,
            $crate::wire::__zerocopy::KnownLayout, $crate::wire::__zerocopy::Immutable,
            $crate::wire::__zerocopy::Unaligned,
        )]
        #[zerocopy(crate = "ib_mad::wire::__zerocopy")]
        #[repr(transparent)]
        pub struct $name([u8; size_of::<$int>()]);
        impl $name {
            #[doc(hidden)]
            #[must_use]
            #[allow(clippy::cast_possible_truncation, reason = "the word hands over no more bits than the part has")]
            pub const fn __from_bits(raw: u64) -> Self {
                Self::$new(raw as $int)
            }
            #[doc(hidden)]
            #[must_use]
            pub const fn __to_bits(self) -> u64 {
                self.$get() as u64
            }
        }
        impl $crate::wire::Bits for $name {
            const IS_NUMBER: bool = $is_number;
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
        impl $crate::Wire for $name {
            const NAME: &'static str = stringify!($name);
            const ZERO: Self = Self::ZERO;
            const IS_NUMBER: bool = $is_number;
            fn show(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(self, f)
            }
        }
        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(self, f)
            }
        }
        $crate::__hex!($name $get);
        $crate::__arbitrary!($name);
    };
}

/// Reads a number in decimal, or in hex with the prefix `0x`.
#[doc(hidden)]
#[must_use]
pub fn parse_number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) if !hex.starts_with('+') => u64::from_str_radix(hex, 16).ok(),
        Some(_) => None,
        None if text.starts_with('+') => None,
        None => text.parse().ok(),
    }
}

/// Implements `Serialize` and `Deserialize` for a type that is a number and has a printed form.
#[doc(hidden)]
#[macro_export]
#[cfg(feature = "serde")]
macro_rules! __value {
    ($name:ident($int:ty) $get:ident $is_number:expr, $new:expr, $named:expr) => {
        impl $crate::wire::__Value for $name {
            const WHAT: &'static str = stringify!($name);
            const IS_NUMBER: bool = $is_number;
            fn number(&self) -> u64 {
                u64::from(self.$get())
            }
            fn from_number(number: u64) -> Option<Self> {
                <$int>::try_from(number).ok().and_then($new)
            }
            fn from_text(text: &str) -> Option<Self> {
                let named: fn(&str) -> Option<Self> = $named;
                named(text).or_else(|| Self::from_number($crate::wire::parse_number(text)?))
            }
        }
        impl $crate::wire::__serde::Serialize for $name {
            fn serialize<S: $crate::wire::__serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::wire::__write_value(self, serializer)
            }
        }
        impl<'de> $crate::wire::__serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::wire::__serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::wire::__read_value(deserializer)
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "serde"))]
macro_rules! __value {
    ($($any:tt)*) => {};
}

#[cfg(feature = "serde")]
pub use both_ways::{Value, read_value, write_value};

#[cfg(feature = "serde")]
mod both_ways {
    use core::{
        fmt::{self, Write as _},
        marker::PhantomData,
    };
    use serde::{
        de::{Deserializer, Error, Unexpected, Visitor},
        ser::Serializer,
    };

    /// A number with a printed form.
    #[doc(hidden)]
    pub trait Value: Sized + fmt::Display {
        /// Name of the type, for errors.
        const WHAT: &'static str;
        /// True if readable formats have a number, and no text.
        const IS_NUMBER: bool;
        /// Returns the number.
        fn number(&self) -> u64;
        /// Returns the value with this number; `None` if the number is too large.
        fn from_number(number: u64) -> Option<Self>;
        /// Reads the output of `Display`, or a number as text.
        fn from_text(text: &str) -> Option<Self>;
    }

    /// A buffer for up to `N` bytes of text; a write that does not fit is an error.
    struct Buffer<const N: usize> {
        bytes: [u8; N],
        used: usize,
    }
    impl<const N: usize> fmt::Write for Buffer<N> {
        fn write_str(&mut self, piece: &str) -> fmt::Result {
            let free =
                self.bytes.get_mut(self.used..).and_then(|free| free.get_mut(..piece.len())).ok_or(fmt::Error)?;
            free.copy_from_slice(piece.as_bytes());
            self.used += piece.len();
            Ok(())
        }
    }

    #[doc(hidden)]
    pub fn write_value<T: Value, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        let number = value.number();
        if T::IS_NUMBER || !serializer.is_human_readable() {
            return serializer.serialize_u64(number);
        }
        let mut buffer = Buffer { bytes: [0; 512], used: 0 };
        let is_whole = write!(buffer, "{value}").is_ok();
        let text = buffer.bytes.get(..buffer.used).and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or_default();
        match T::from_text(text) {
            Some(seen) if is_whole && seen.number() == number => serializer.serialize_str(text),
            _ => serializer.collect_str(&format_args!("{number:#x}")),
        }
    }

    #[doc(hidden)]
    pub fn read_value<'de, T: Value, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(Reader(PhantomData))
        } else {
            deserializer.deserialize_u64(Reader(PhantomData))
        }
    }

    struct Reader<T>(PhantomData<T>);
    impl<T: Value> Visitor<'_> for Reader<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a {}", T::WHAT)
        }
        fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
            T::from_number(number).ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self))
        }
        fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
            let own = u64::try_from(number).ok().and_then(T::from_number);
            own.ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            T::from_text(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
        }
    }
}

#[cfg(test)]
#[cfg(all(feature = "serde", feature = "arbitrary"))]
mod tests;
