//! `Wire`: the trait of every type that is part of a wire structure.
use super::{ByteOrder, Field, Leaves, field::list, leaves};
use crate::DecodeError;
use core::fmt;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Casts between a type and its bytes. Every type whose memory is its bytes has it: the macros derive what it takes.
pub trait Cast: Copy {
    #[doc(hidden)]
    fn as_bytes(&self) -> &[u8];
    #[doc(hidden)]
    fn as_mut_bytes(&mut self) -> &mut [u8];
    #[doc(hidden)]
    fn prefix_of(bytes: &[u8]) -> Option<(&Self, &[u8])>;
    #[doc(hidden)]
    fn prefix_of_mut(bytes: &mut [u8]) -> Option<&mut Self>;
}

/// The traits of zerocopy that make a [`Cast`].
pub trait Flat: FromBytes + IntoBytes + KnownLayout + Immutable + Unaligned + Copy {}
impl<T: FromBytes + IntoBytes + KnownLayout + Immutable + Unaligned + Copy> Flat for T {}

impl<T: Flat> Cast for T {
    #[inline]
    fn as_bytes(&self) -> &[u8] {
        IntoBytes::as_bytes(self)
    }
    #[inline]
    fn as_mut_bytes(&mut self) -> &mut [u8] {
        IntoBytes::as_mut_bytes(self)
    }
    #[inline]
    fn prefix_of(bytes: &[u8]) -> Option<(&Self, &[u8])> {
        Self::ref_from_prefix(bytes).ok()
    }
    #[inline]
    fn prefix_of_mut(bytes: &mut [u8]) -> Option<&mut Self> {
        Self::mut_from_prefix(bytes).map(|(own, _)| own).ok()
    }
}

/// A type that can be part of a wire structure: its memory is the bytes on the wire, at any alignment.
///
/// The macros of [`wire`](mod@crate::wire) implement it.
pub trait Wire: Cast {
    /// Name of the type, for errors and dissections.
    const NAME: &'static str;
    /// The value with every byte zero.
    const ZERO: Self;
    /// Fields in byte order; for an array the fields of one element; empty for a plain value.
    const FIELDS: &'static [Field] = &[];
    /// Number of elements: 1, or more for an array.
    const COUNT: u32 = 1;
    /// True for reserved bytes, which are zero when sent, ignored when received, and not shown.
    const RESERVED: bool = false;
    /// Byte order of a plain number.
    const ORDER: ByteOrder = ByteOrder::Network;
    /// True if every value is shown as a decimal number.
    const IS_NUMBER: bool = false;

    /// Writes the value in readable form.
    ///
    /// # Errors
    /// Errors of the formatter only.
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Writes one element of an array. For any other value, writes the whole value and ignores the index.
    ///
    /// # Errors
    /// Errors of the formatter only.
    fn show_element(&self, _index: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(f)
    }

    /// Casts the structure from the start of `bytes`, in place. Bytes after it are ignored.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`] if `bytes` ends before the structure.
    fn parse(bytes: &[u8]) -> Result<&Self, DecodeError> {
        Self::parse_prefix(bytes).map(|(own, _)| own)
    }

    /// Returns the values of the structure in byte order, including those of nested structures.
    fn leaves(&self) -> Leaves<'_> {
        leaves(Self::FIELDS, self.as_bytes())
    }

    /// Casts the structure from the start of `bytes`; also returns the bytes after it.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`] if `bytes` ends before the structure.
    fn parse_prefix(bytes: &[u8]) -> Result<(&Self, &[u8]), DecodeError> {
        Self::prefix_of(bytes).ok_or_else(|| too_short::<Self>(bytes.len()))
    }

    /// Casts the structure from the start of `bytes`, so that it can be changed in place.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`] if `bytes` ends before the structure.
    fn parse_mut(bytes: &mut [u8]) -> Result<&mut Self, DecodeError> {
        let got = bytes.len();
        Self::prefix_of_mut(bytes).ok_or_else(|| too_short::<Self>(got))
    }
}

/// Converts a size in bytes to bits.
#[doc(hidden)]
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "structures are at most a datagram long")]
pub const fn bits_of(bytes: usize) -> u32 {
    bytes as u32 * 8
}

/// True if a format prints a number in decimal.
#[doc(hidden)]
#[must_use]
pub const fn is_decimal(format: &str) -> bool {
    matches!(format.as_bytes(), b"{}")
}

fn too_short<T: Wire>(got: usize) -> DecodeError {
    DecodeError::TooShort { what: T::NAME, need: size_of::<T>(), got }
}

impl<T: Wire + Flat, const N: usize> Wire for [T; N] {
    const NAME: &'static str = T::NAME;
    const ZERO: Self = [T::ZERO; N];
    const FIELDS: &'static [Field] = T::FIELDS;
    #[expect(clippy::cast_possible_truncation, reason = "a datagram has at most 256 elements")]
    const COUNT: u32 = T::COUNT * N as u32;
    const RESERVED: bool = T::RESERVED;
    const ORDER: ByteOrder = T::ORDER;
    const IS_NUMBER: bool = T::IS_NUMBER;
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(N, f, |index, f| self.show_element(index, f))
    }
    fn show_element(&self, index: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get(index).map_or(Ok(()), |element| element.show(f))
    }
}

/// Returns the bytes of a structure as they are on the wire.
pub fn as_bytes<T: Wire>(structure: &T) -> &[u8] {
    Cast::as_bytes(structure)
}
