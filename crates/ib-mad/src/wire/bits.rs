//! `bits!`: a bit-packed word.
use core::fmt;

/// A part of a bit-packed word.
///
/// The type of a part in [`bits!`](crate::bits!) is `bool`, an unsigned number, or a type defined by `code!` or
/// `flags!`. Other types are impossible there: getters and setters work in constants, where trait methods cannot be
/// called.
pub trait Bits: Copy + Eq + core::hash::Hash {
    /// True if every value is shown as a decimal number.
    const IS_NUMBER: bool = false;

    /// Returns the value of the low bits of `raw`.
    fn from_raw(raw: u64) -> Self;
    /// Returns the value in the low bits. Bits above the width of the part are cut off.
    fn into_raw(self) -> u64;
    /// Writes the value in readable form.
    ///
    /// # Errors
    /// Errors of the formatter only.
    fn show_bits(raw: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl Bits for bool {
    const IS_NUMBER: Self = true;
    fn from_raw(raw: u64) -> Self {
        raw & 1 == 1
    }
    fn into_raw(self) -> u64 {
        u64::from(self)
    }
    fn show_bits(raw: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", raw & 1)
    }
}

macro_rules! bits_int { ($($t:ty)*) => {$(
    impl Bits for $t {
        const IS_NUMBER: bool = true;
        #[allow(clippy::cast_possible_truncation, reason = "the word hands over no more bits than the part has")]
        fn from_raw(raw: u64) -> Self {
            raw as Self
        }
        fn into_raw(self) -> u64 {
            u64::from(self)
        }
        fn show_bits(raw: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{raw}")
        }
    }
)*}; }
bits_int!(u8 u16 u32 u64);

/// Converts between a part's value and its bits, in constants too. Numbers are converted here, other types by their
/// functions `__from_bits` and `__to_bits`.
#[doc(hidden)]
#[macro_export]
macro_rules! __part {
    (from bool $raw:expr) => {
        $raw & 1 == 1
    };
    (from u8 $raw:expr) => {
        $crate::wire::low_u8($raw)
    };
    (from u16 $raw:expr) => {
        $crate::wire::low_u16($raw)
    };
    (from u32 $raw:expr) => {
        $crate::wire::low_u32($raw)
    };
    (from u64 $raw:expr) => {
        $raw
    };
    (from $t:ident $raw:expr) => {
        <$t>::__from_bits($raw)
    };
    (to bool $value:expr) => {
        $value as u64
    };
    (to u8 $value:expr) => {
        $value as u64
    };
    (to u16 $value:expr) => {
        $value as u64
    };
    (to u32 $value:expr) => {
        $value as u64
    };
    (to u64 $value:expr) => {
        $value
    };
    (to $t:ident $value:expr) => {
        <$t>::__to_bits($value)
    };
}

macro_rules! low {
    ($($name:ident $t:ty;)*) => {$(
        #[doc(hidden)]
        #[must_use]
        #[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
        pub const fn $name(raw: u64) -> $t {
            raw as $t
        }
    )*};
}
low! {
    low_u8 u8;
    low_u16 u16;
    low_u32 u32;
}

/// Returns the number in 1 to 8 big-endian bytes.
#[must_use]
pub const fn load<const N: usize>(bytes: &[u8; N]) -> u64 {
    const { assert!(N > 0 && N <= 8, "a word has 1 to 8 bytes") }
    let mut value = 0;
    let mut index = 0;
    while index < N {
        #[allow(clippy::indexing_slicing, reason = "index < N")]
        let byte = bytes[index];
        value = value << 8 | byte as u64;
        index += 1;
    }
    value
}

/// Returns the low bits of a number as 1 to 8 big-endian bytes.
#[must_use]
pub const fn store<const N: usize>(value: u64) -> [u8; N] {
    const { assert!(N > 0 && N <= 8, "a word has 1 to 8 bytes") }
    let all = value.to_be_bytes();
    let mut own = [0; N];
    let mut index = 0;
    while index < N {
        #[allow(clippy::indexing_slicing, reason = "8 - N + index < 8")]
        {
            own[index] = all[8 - N + index];
        }
        index += 1;
    }
    own
}

/// Defines a bit-packed word of `[N]` big-endian bytes: parts from the most significant bit down, `_` for reserved
/// bits.
///
/// Each part is `getter / with_setter : Type = width`. The compiler checks that the parts fill the word. With `in
/// Structure.field` after the size, the structure that has the word as its field gets the same getters. One block may
/// define several words.
///
/// ```
/// use ib_mad::bits;
/// bits! {
///     /// Two halves in one byte.
///     pub struct Halves [1] {
///         /// Upper half.
///         upper / with_upper: u8 = 4,
///         _: 1,
///         /// Lower half, without its top bit.
///         lower / with_lower: u8 = 3,
///     }
/// }
/// const BOTH: Halves = Halves::ZERO.with_upper(0xa).with_lower(5);
/// assert_eq!((BOTH.upper(), BOTH.lower()), (10, 5));
/// assert_eq!(ib_mad::as_bytes(&BOTH), [0xa5]);
/// ```
#[macro_export]
macro_rules! bits {
    ($(#[$m:meta])* pub struct $name:ident [$len:literal] $(in $($host:ident . $place:ident),+)? { $($body:tt)* }) => {
        $(#[$m])*
        #[derive(
            Clone, Copy, PartialEq, Eq, Hash, Default,
            $crate::wire::__zerocopy::FromBytes, $crate::wire::__zerocopy::IntoBytes,
            $crate::wire::__zerocopy::KnownLayout, $crate::wire::__zerocopy::Immutable,
            $crate::wire::__zerocopy::Unaligned,
        )]
        #[zerocopy(crate = "ib_mad::wire::__zerocopy")]
        #[repr(transparent)]
        pub struct $name([u8; $len]);
        impl $name {
            /// A word with every bit zero.
            pub const ZERO: Self = Self([0; $len]);
        }
        $crate::bits!(@walk $name ($len * 8) (0) [] [$($($host $place)+)?] $($body)*);
        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(stringify!($name))?;
                $crate::Wire::show(self, f)
            }
        }
    };
    (@host [] $($rest:tt)*) => {};
    (@host [$host:ident $place:ident $($more:tt)*] $(#[$fm:meta])* $part:ident $t:ident) => {
        impl $host {
            $(#[$fm])*
            #[must_use]
            #[inline]
            pub const fn $part(&self) -> $t {
                self.$place.$part()
            }
        }
        $crate::bits!(@host [$($more)*] $(#[$fm])* $part $t);
    };
    (@walk $name:ident $total:tt ($off:expr) [$($done:tt)*] $host:tt $(#[$fm:meta])* _ : $w:literal, $($rest:tt)*) => {
        $crate::bits!(@walk $name $total ($off + $w) [$($done)*] $host $($rest)*);
    };
    (@walk $name:ident $total:tt ($off:expr) [$($done:tt)*] $host:tt
        $(#[$fm:meta])* $part:ident / $with:ident : $t:ident = $w:literal, $($rest:tt)*) => {
        $crate::bits!(@host $host $(#[$fm])* $part $t);
        impl $name {
            $(#[$fm])*
            #[must_use]
            #[inline]
            pub const fn $part(&self) -> $t {
                $crate::__part!(
                    from $t ($crate::wire::load(&self.0) >> ($total - ($off) - $w) & (u64::MAX >> (64 - $w)))
                )
            }
            #[doc = concat!("Returns this word with `", stringify!($part), "` set; bits over its width are cut off.")]
            #[must_use]
            #[inline]
            pub const fn $with(self, value: $t) -> Self {
                let mask = (u64::MAX >> (64 - $w)) << ($total - ($off) - $w);
                let bits = $crate::__part!(to $t value) << ($total - ($off) - $w) & mask;
                Self($crate::wire::store($crate::wire::load(&self.0) & !mask | bits))
            }
        }
        $crate::bits!(@walk $name $total ($off + $w) [$($done)* $crate::wire::Field {
            name: stringify!($part),
            bit_offset: $off,
            bits: $w,
            count: 1,
            reserved: false,
            order: $crate::wire::ByteOrder::Network,
            is_number: <$t as $crate::wire::Bits>::IS_NUMBER,
            parts: &[],
            show_element: |bytes, _, f| match <$name as $crate::Wire>::parse(bytes) {
                Ok(own) => <$t as $crate::wire::Bits>::show_bits(
                    $crate::wire::load(&own.0) >> ($total - ($off) - $w) & (u64::MAX >> (64 - $w)),
                    f,
                ),
                Err(_) => f.write_str("?"),
            },
            access: Some($crate::wire::Access {
                get: |word| {
                    let own = <$name as $crate::Wire>::parse(word).ok()?;
                    Some(<$t as $crate::wire::Bits>::into_raw(own.$part()))
                },
                set: |word, value| {
                    if let Ok(own) = <$name as $crate::Wire>::parse_mut(word) {
                        *own = own.$with(<$t as $crate::wire::Bits>::from_raw(value & (u64::MAX >> (64 - $w))));
                    }
                },
            }),
        },] $host $($rest)*);
    };
    (@walk $name:ident $total:tt ($off:expr) [$($done:tt)*] $host:tt) => {
        const _: () = assert!(($off) == $total, "the parts must fill the word");
        impl $crate::Wire for $name {
            const NAME: &'static str = stringify!($name);
            const ZERO: Self = Self::ZERO;
            const FIELDS: &'static [$crate::wire::Field] = &[$($done)*];
            fn show(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("{")?;
                $crate::wire::dissect(Self::FIELDS, &self.0, f)?;
                f.write_str("}")
            }
        }
        $crate::__serialize!($name);
        $crate::__arbitrary!($name);
    };
    (
        $(#[$m:meta])* pub struct $name:ident [$len:literal] $(in $($host:ident . $place:ident),+)? { $($body:tt)* }
        $($rest:tt)+
    ) => {
        $crate::bits! { $(#[$m])* pub struct $name [$len] $(in $($host . $place),+)? { $($body)* } }
        $crate::bits! { $($rest)+ }
    };
}
