//! `flags!`: a set of named bits.

/// A set of named bits in a big-endian number. Bits without a name are kept, compared and shown as a number.
///
/// The type stands in a structure as a whole number, and in a bit-packed word as a part of any width.
///
/// ```
/// ib_mad::flags! {
///     /// What a door has.
///     pub struct Door(u16) {
///         /// A lock.
///         LOCK = 0x1 "lock",
///         /// A bell.
///         BELL = 0x100 "bell",
///     }
/// }
/// let door = Door::LOCK | Door::BELL;
/// assert!(door.contains(Door::BELL) && !Door::LOCK.contains(door));
/// assert_eq!((door.to_string(), Door::new(6).to_string()), ("lock|bell".into(), "0x6".into()));
/// assert_eq!(ib_mad::as_bytes(&door), [1, 1]);
/// ```
#[macro_export]
macro_rules! flags {
    ($(#[$m:meta])* pub struct $name:ident($int:ty) { $($(#[$cm:meta])* $konst:ident = $value:literal $text:literal,)* }) => {
        $(#[$m])*
        #[derive(
            Clone, Copy, PartialEq, Eq, Hash, Default,
            $crate::wire::__zerocopy::FromBytes, $crate::wire::__zerocopy::IntoBytes,
            $crate::wire::__zerocopy::KnownLayout, $crate::wire::__zerocopy::Immutable,
            $crate::wire::__zerocopy::Unaligned,
        )]
        #[repr(transparent)]
        pub struct $name([u8; size_of::<$int>()]);
        impl $name {
            $($(#[$cm])* pub const $konst: Self = Self::new($value);)*
            /// Every bit that has a name.
            pub const KNOWN: &'static [(Self, &'static str)] = &[$((Self::$konst, $text),)*];
            /// From the machine's number.
            #[must_use]
            pub const fn new(bits: $int) -> Self {
                Self(bits.to_be_bytes())
            }
            /// The machine's number.
            #[must_use]
            pub const fn get(self) -> $int {
                <$int>::from_be_bytes(self.0)
            }
            /// Whether every bit of `other` is set.
            #[must_use]
            pub const fn contains(self, other: Self) -> bool {
                self.get() & other.get() == other.get()
            }
            /// The bits of both.
            #[must_use]
            pub const fn union(self, other: Self) -> Self {
                Self::new(self.get() | other.get())
            }
            /// The bits of this that are not in `other`.
            #[must_use]
            pub const fn without(self, other: Self) -> Self {
                Self::new(self.get() & !other.get())
            }
        }
        impl core::ops::BitOr for $name {
            type Output = Self;
            fn bitor(self, other: Self) -> Self {
                self.union(other)
            }
        }
        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let mut rest = self.get();
                let mut separator = "";
                for (flag, name) in Self::KNOWN {
                    if self.contains(*flag) {
                        write!(f, "{separator}{name}")?;
                        separator = "|";
                        rest &= !flag.get();
                    }
                }
                match rest {
                    0 if separator.is_empty() => f.write_str("0"),
                    0 => Ok(()),
                    _ => write!(f, "{separator}{rest:#x}"),
                }
            }
        }
        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(self, f)
            }
        }
        impl $crate::Wire for $name {
            const NAME: &'static str = stringify!($name);
            fn show(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(self, f)
            }
        }
        impl $crate::wire::Bits for $name {
            #[allow(clippy::cast_possible_truncation, reason = "the word hands over no more bits than the part has")]
            fn from_raw(raw: u64) -> Self {
                Self::new(raw as $int)
            }
            fn into_raw(self) -> u64 {
                u64::from(self.get())
            }
            fn show_bits(raw: u64, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(&<Self as $crate::wire::Bits>::from_raw(raw), f)
            }
        }
        $crate::__serialize!($name);
        $crate::__arbitrary!($name);
    };
}
