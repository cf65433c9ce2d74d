//! Structures and bytes put into a longer field.
use super::{Octets, Wire};

impl<const N: usize> Octets<N> {
    /// A structure at the start, and zeros behind it. One that is longer than the field does not compile.
    ///
    /// ```
    /// use ib_mad::{Lid, wire::Octets};
    /// assert_eq!(Octets::<4>::of(&Lid::new(17)), Octets([0, 17, 0, 0]));
    /// ```
    #[must_use]
    #[inline]
    pub fn of<T: Wire>(structure: &T) -> Self {
        const { assert!(size_of::<T>() <= N, "longer than the field") };
        Self::from_prefix(structure.as_bytes())
    }

    /// As many bytes as there are, and zeros behind them; what does not fit is cut off.
    #[must_use]
    #[inline]
    pub fn from_prefix(bytes: &[u8]) -> Self {
        let mut own = [0; N];
        own.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        Self(own)
    }
}
