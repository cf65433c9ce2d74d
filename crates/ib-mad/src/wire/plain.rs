//! Plain values: numbers without a meaning, byte strings, text, reserved bytes.
use super::{ByteOrder, Wire};
use core::fmt;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

impl Wire for u8 {
    const NAME: &'static str = "u8";
    const ZERO: Self = 0;
    const IS_NUMBER: bool = true;
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

macro_rules! number {
    ($($(#[$m:meta])* $name:ident($int:ty) $order:ident $to:ident $from:ident $fmt:literal;)*) => {$(
        $(#[$m])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
        #[repr(transparent)]
        pub struct $name([u8; size_of::<$int>()]);
        impl $name {
            /// The number 0.
            pub const ZERO: Self = Self::new(0);
            /// Stores the number.
            #[must_use]
            pub const fn new(value: $int) -> Self {
                Self(value.$to())
            }
            /// Returns the number.
            #[must_use]
            pub const fn get(self) -> $int {
                <$int>::$from(self.0)
            }
        }
        $crate::__hex!($name get);
        impl From<$int> for $name {
            fn from(value: $int) -> Self {
                Self::new(value)
            }
        }
        impl From<$name> for $int {
            fn from(value: $name) -> Self {
                value.get()
            }
        }
        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }
        impl Ord for $name {
            fn cmp(&self, other: &Self) -> core::cmp::Ordering {
                self.get().cmp(&other.get())
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.show(f)
            }
        }
        impl Wire for $name {
            const NAME: &'static str = stringify!($name);
            const ZERO: Self = Self::ZERO;
            const ORDER: ByteOrder = ByteOrder::$order;
            const IS_NUMBER: bool = $crate::wire::is_decimal($fmt);
            fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, $fmt, self.get())
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.get(), f)
            }
        }
        $crate::__value!($name($int) get true, |number| Some(Self::new(number)), |_| None);
        $crate::__arbitrary!($name);
    )*};
}

number! {
    /// A 16-bit number in network order.
    Be16(u16) Network to_be_bytes from_be_bytes "{}";
    /// A 32-bit number in network order.
    Be32(u32) Network to_be_bytes from_be_bytes "{:#x}";
    /// A 64-bit number in network order.
    Be64(u64) Network to_be_bytes from_be_bytes "{:#x}";
    /// A 32-bit counter in network order, shown in decimal.
    Counter32(u32) Network to_be_bytes from_be_bytes "{}";
    /// A 64-bit counter in network order, shown in decimal.
    Counter64(u64) Network to_be_bytes from_be_bytes "{}";
    /// A 16-bit number in the machine's byte order, between a program and the kernel.
    Host16(u16) Host to_ne_bytes from_ne_bytes "{}";
    /// A 32-bit number in the machine's byte order, between a program and the kernel.
    Host32(u32) Host to_ne_bytes from_ne_bytes "{:#x}";
    /// A 64-bit number in the machine's byte order, between a program and the kernel.
    Host64(u64) Host to_ne_bytes from_ne_bytes "{:#x}";
}

macro_rules! bytes {
    ($($(#[$m:meta])* $name:ident $reserved:literal;)*) => {$(
        $(#[$m])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
        #[repr(transparent)]
        pub struct $name<const N: usize>(pub [u8; N]);
        impl<const N: usize> Default for $name<N> {
            fn default() -> Self {
                Self::ZERO
            }
        }
        impl<const N: usize> $name<N> {
            /// The value with every byte zero.
            pub const ZERO: Self = Self([0; N]);
        }
        impl<const N: usize> fmt::Debug for $name<N> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.show(f)
            }
        }
        impl<const N: usize> Wire for $name<N> {
            const NAME: &'static str = stringify!($name);
            const ZERO: Self = Self::ZERO;
            const RESERVED: bool = $reserved;
            fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.write(f)
            }
        }
        $crate::__arbitrary!([const N: usize] $name<N>);
    )*};
}

bytes! {
    /// Bytes without a known structure, shown in hex.
    Octets false;
    /// Reserved bytes: zero when sent, ignored when received, not shown. Received values are kept.
    Reserved true;
    /// NUL-padded text, shown up to the first NUL. Every byte that is not printable ASCII is escaped.
    Text false;
}

impl<const N: usize> Octets<N> {
    /// Returns a structure followed by zeros. A structure that is longer than the field does not compile.
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

    /// Returns the bytes followed by zeros; bytes that do not fit are cut off.
    #[must_use]
    #[inline]
    pub fn from_prefix(bytes: &[u8]) -> Self {
        let mut own = [0; N];
        own.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        Self(own)
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl<const N: usize> Reserved<N> {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl<const N: usize> Text<N> {
    /// Stores text; bytes after the first `N` are cut off.
    #[must_use]
    pub fn new(text: &[u8]) -> Self {
        Self(Octets::from_prefix(text).0)
    }

    /// Returns the bytes before the first NUL, or all bytes.
    #[must_use]
    pub fn as_text(&self) -> &[u8] {
        self.0.split(|byte| *byte == 0).next().unwrap_or_default()
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.as_text().escape_ascii())
    }
}
