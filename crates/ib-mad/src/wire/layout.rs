//! `Wire`: what every type of a wire structure is.
use super::{ByteOrder, Field, Leaves, leaves};
use crate::DecodeError;
use core::fmt;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// A type that can stand in a wire structure: its memory is the wire's bytes, at any alignment.
pub trait Wire: FromBytes + IntoBytes + KnownLayout + Immutable + Unaligned + Copy {
    /// The type's name, for errors and dissections.
    const NAME: &'static str;
    /// Every byte zero.
    const ZERO: Self;
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

    /// Its values in the order of its bytes, nested ones too.
    fn leaves(&self) -> Leaves<'_> {
        leaves(Self::FIELDS, self.as_bytes())
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
    const ZERO: Self = [T::ZERO; N];
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

/// The bytes of a structure, as they go over the wire.
pub fn as_bytes<T: Wire>(structure: &T) -> &[u8] {
    structure.as_bytes()
}
