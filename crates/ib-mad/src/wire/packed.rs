//! Values of other widths than the machine's numbers: 3-byte numbers, tables of 4-bit values.
use super::{Bits, Wire, field::list, load, store};
use core::{fmt, marker::PhantomData};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// A value in `N` whole bytes, most significant first: a 24-bit queue pair number, a code in a 16-bit field.
///
/// ```
/// use ib_mad::{Qpn, wire::InBytes};
/// let qpn = InBytes::<Qpn, 3>::new(Qpn::GSI);
/// assert_eq!((qpn.get(), ib_mad::as_bytes(&qpn)), (Qpn::GSI, &[0, 0, 1][..]));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(transparent)]
pub struct InBytes<T, const N: usize>([u8; N], PhantomData<T>);

impl<T: Bits, const N: usize> InBytes<T, N> {
    /// The value with every bit zero.
    pub const ZERO: Self = Self([0; N], PhantomData);

    /// Stores the value; bits that do not fit in the bytes are cut off.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self(store(value.into_raw()), PhantomData)
    }
    /// Returns the value.
    #[must_use]
    pub fn get(self) -> T {
        T::from_raw(load(&self.0))
    }
}

impl<T: Bits, const N: usize> From<T> for InBytes<T, N> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Bits, const N: usize> Default for InBytes<T, N> {
    fn default() -> Self {
        Self::ZERO
    }
}
impl<T: Bits, const N: usize> fmt::Debug for InBytes<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(f)
    }
}
crate::__arbitrary!([T: Bits, const N: usize] InBytes<T, N>);

impl<T: Bits, const N: usize> Wire for InBytes<T, N> {
    const NAME: &'static str = "InBytes";
    const ZERO: Self = Self::ZERO;
    const IS_NUMBER: bool = T::IS_NUMBER;
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::show_bits(load(&self.0), f)
    }
}

/// A table of values of `WIDTH` bits in `N` bytes, the first in the most significant bits of the first byte.
///
/// `WIDTH` is 1, 2, 4 or 8.
///
/// ```
/// use ib_mad::{VirtualLane, wire::Packed};
/// let table = Packed::<VirtualLane, 4, 8>::default().with(1, VirtualLane::of::<7>());
/// assert_eq!(table.get(1), Some(VirtualLane::of::<7>()));
/// assert_eq!((table.len(), ib_mad::as_bytes(&table)[0]), (16, 0x07));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(transparent)]
pub struct Packed<T, const WIDTH: usize, const N: usize>([u8; N], PhantomData<T>);

impl<T: Bits, const WIDTH: usize, const N: usize> Packed<T, WIDTH, N> {
    /// The table with every bit zero.
    pub const ZERO: Self = Self([0; N], PhantomData);

    const PER_BYTE: usize = {
        assert!(matches!(WIDTH, 1 | 2 | 4 | 8), "a value may not cross bytes");
        8 / WIDTH
    };

    /// Returns the number of values.
    #[must_use]
    pub const fn len(&self) -> usize {
        N * Self::PER_BYTE
    }
    /// True if the table has no values because `N` is 0.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        N == 0
    }
    /// Returns the bits of the value at `index`; works in constants.
    #[must_use]
    pub const fn raw(&self, index: usize) -> Option<u8> {
        if index >= self.len() {
            return None;
        }
        #[expect(clippy::indexing_slicing, reason = "the index is less than the length")]
        let byte = self.0[index / Self::PER_BYTE];
        Some(byte >> Self::shift(index) & Self::mask())
    }
    /// Returns the value at `index`.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<T> {
        self.raw(index).map(|raw| T::from_raw(raw.into()))
    }
    /// Returns the table with another value at `index`. Bits over the width are cut off; an index past the end changes
    /// nothing.
    #[must_use]
    pub fn with(mut self, index: usize, value: T) -> Self {
        let [.., raw] = value.into_raw().to_be_bytes();
        if let Some(byte) = self.0.get_mut(index / Self::PER_BYTE) {
            *byte = *byte & !(Self::mask() << Self::shift(index)) | (raw & Self::mask()) << Self::shift(index);
        }
        self
    }
    /// Returns an iterator over the values in order.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    const fn shift(index: usize) -> usize {
        8 - WIDTH - index % Self::PER_BYTE * WIDTH
    }
    const fn mask() -> u8 {
        u8::MAX >> (8 - WIDTH)
    }
}

impl<T: Bits, const WIDTH: usize, const N: usize> Default for Packed<T, WIDTH, N> {
    fn default() -> Self {
        Self::ZERO
    }
}
impl<T: Bits, const WIDTH: usize, const N: usize> fmt::Debug for Packed<T, WIDTH, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(f)
    }
}
crate::__arbitrary!([T: Bits, const WIDTH: usize, const N: usize] Packed<T, WIDTH, N>);

impl<T: Bits, const WIDTH: usize, const N: usize> Wire for Packed<T, WIDTH, N> {
    const NAME: &'static str = "Packed";
    const ZERO: Self = Self::ZERO;
    const IS_NUMBER: bool = T::IS_NUMBER;
    #[expect(clippy::cast_possible_truncation, reason = "a datagram has at most 2048 bits")]
    const COUNT: u32 = (N * Self::PER_BYTE) as u32;
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(self.len(), f, |index, f| self.show_element(index, f))
    }
    fn show_element(&self, index: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get(index).map_or(Ok(()), |value| T::show_bits(value.into_raw(), f))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn with_changes_only_the_value_at_index(bytes in any::<[u8; 4]>(), index in 0_usize..20, value in any::<u8>()) {
            let before = Packed::<u8, 2, 4>(bytes, PhantomData);
            let after = before.with(index, value);
            for other in 0..20 {
                let expected = if other == index && other < 16 { Some(value & 3) } else { before.get(other) };
                prop_assert_eq!(after.get(other), expected);
            }
        }
    }
}
