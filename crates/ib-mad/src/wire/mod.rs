//! How a wire structure is written in this house.
//!
//! | macro | makes | example |
//! |---|---|---|
//! | [`wire!`](crate::wire!) | a structure: typed fields in the specification's order, size checked at compile time | [`PathRecord`](crate::sa::PathRecord) |
//! | [`bits!`](crate::bits!) | a bit-packed word: parts from the most significant bit down, `_` for reserved bits | [`FlowHop`](crate::sa::FlowHop) |
//! | [`id!`](crate::id!) | an identifier, a number in network order | [`Lid`](crate::Lid) |
//! | [`code!`](crate::code!) | an open code space with names; unknown values are kept | [`Method`](crate::Method) |
//! | [`flags!`](crate::flags!) | a set of named bits; bits without a name are kept | [`PortCapability`](crate::smp::PortCapability) |
//!
//! Each of them also yields its table of [`Field`]s, so one dissector ([`dissect`]), one property test and one
//! comparison with other programs' tables serve every structure.
mod bits;
mod code;
mod field;
mod flags;
mod id;
mod packed;
mod plain;
mod structure;
mod traits;

pub use bits::{Bits, load, store};
pub use field::{Access, ByteOrder, Field, dissect, find, read_bits, write_bits};
pub use packed::{InBytes, Packed};
pub use plain::{Be16, Be32, Be64, Host16, Host32, Host64, Octets, Reserved, Text};

use crate::DecodeError;
use core::fmt;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

#[doc(hidden)]
#[cfg(feature = "arbitrary")]
pub use arbitrary as __arbitrary;
#[doc(hidden)]
#[cfg(feature = "serde")]
pub use serde as __serde;
#[doc(hidden)]
#[cfg(feature = "serde")]
pub use traits::Dissected as __Dissected;
#[doc(hidden)]
pub use zerocopy as __zerocopy;

/// A type that can stand in a wire structure: its memory is the wire's bytes, at any alignment.
pub trait Wire: FromBytes + IntoBytes + KnownLayout + Immutable + Unaligned + Copy {
    /// The type's name, for errors and dissections.
    const NAME: &'static str;
    /// Its fields in order; empty for a plain value. For an array, the fields of one element.
    const FIELDS: &'static [Field] = &[];
    /// How many elements: 1, or more for an array.
    const COUNT: u32 = 1;
    /// Reserved bytes are zero when sent, ignored when received, and not shown.
    const RESERVED: bool = false;
    /// The order of the bytes of a plain number.
    const ORDER: ByteOrder = ByteOrder::Network;

    /// Writes the value as a person would read it.
    ///
    /// # Errors
    /// Only what the formatter returns.
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Writes one element of an array; whatever the index, the whole of everything else.
    ///
    /// # Errors
    /// Only what the formatter returns.
    fn show_element(&self, _index: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(f)
    }

    /// The structure at the start of `bytes`, in place. What follows it is not looked at.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`] if `bytes` ends before the structure.
    fn parse(bytes: &[u8]) -> Result<&Self, DecodeError> {
        Self::parse_prefix(bytes).map(|(own, _)| own)
    }

    /// The structure at the start of `bytes`, and what follows it.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`] if `bytes` ends before the structure.
    fn parse_prefix(bytes: &[u8]) -> Result<(&Self, &[u8]), DecodeError> {
        Self::ref_from_prefix(bytes).map_err(|_| too_short::<Self>(bytes.len()))
    }

    /// The structure at the start of `bytes`, to be changed in place.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`] if `bytes` ends before the structure.
    fn parse_mut(bytes: &mut [u8]) -> Result<&mut Self, DecodeError> {
        let got = bytes.len();
        Self::mut_from_prefix(bytes).map(|(own, _)| own).map_err(|_| too_short::<Self>(got))
    }
}

/// Bits in so many bytes of a structure.
#[doc(hidden)]
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "structures are at most a datagram long")]
pub const fn bits_of(bytes: usize) -> u32 {
    bytes as u32 * 8
}

fn too_short<T: Wire>(got: usize) -> DecodeError {
    DecodeError::TooShort { what: T::NAME, need: size_of::<T>(), got }
}

impl<T: Wire, const N: usize> Wire for [T; N] {
    const NAME: &'static str = T::NAME;
    const FIELDS: &'static [Field] = T::FIELDS;
    #[expect(clippy::cast_possible_truncation, reason = "a datagram has at most 256 elements")]
    const COUNT: u32 = T::COUNT * N as u32;
    const RESERVED: bool = T::RESERVED;
    const ORDER: ByteOrder = T::ORDER;
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (index, element) in self.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            element.show(f)?;
        }
        f.write_str("]")
    }
    fn show_element(&self, index: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get(index).map_or(Ok(()), |element| element.show(f))
    }
}
