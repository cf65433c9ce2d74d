//! `flags!`: a set of named bits.

/// Defines a set of named bits in a big-endian number. Bits without a name are kept, compared and shown as a number.
///
/// In a structure, the type is a number of whole bytes. In a bit-packed word, the type is a part of any width. The type
/// implements [`Flags`](crate::wire::Flags) of the crate bitflags, as component masks do. Its methods also work in
/// constants. A second block, `special`, names numbers that stand for something else than the set of their bits.
///
/// ```
/// ib_mad::flags! {
///     /// Equipment of a door.
///     pub struct Door(u16) {
///         /// The door has a lock.
///         LOCK = 0x1 "lock",
///         /// The door has a bell.
///         BELL = 0x100 "bell",
///     }
///     special {
///         /// The door has all equipment of its building.
///         ALL = 0xffff "all",
///     }
/// }
/// assert_eq!(Door::ALL.to_string(), "all");
/// let door = Door::LOCK | Door::BELL;
/// assert!(door.contains(Door::BELL) && !Door::LOCK.contains(door));
/// assert_eq!((door.to_string(), Door::from_bits_retain(6).to_string()), ("lock|bell".into(), "0x6".into()));
/// assert_eq!(ib_mad::as_bytes(&door), [1, 1]);
/// assert!((door - Door::LOCK) == Door::BELL && (door & Door::LOCK) == Door::LOCK && !(!door).intersects(door));
/// let names: Vec<&str> = ib_mad::wire::Flags::iter_names(&door).map(|(name, _)| name).collect();
/// assert_eq!(names, ["LOCK", "BELL"]);
/// ```
#[macro_export]
macro_rules! flags {
    (
        $(#[$m:meta])* pub struct $name:ident($int:ty) {
            $($(#[$cm:meta])* $konst:ident = $value:literal $text:literal,)*
        }
        $(special { $($(#[$sm:meta])* $special:ident = $special_value:literal $special_text:literal,)* })?
    ) => {
        $crate::__number! { $(#[$m])* $name($int) from_bits_retain bits false }
        impl $name {
            $($(#[$cm])* pub const $konst: Self = Self::from_bits_retain($value);)*
            /// Every named bit with its name.
            pub const KNOWN: &'static [(Self, &'static str)] = &[$((Self::$konst, $text),)*];
            $($($(#[$sm])* pub const $special: Self = Self::from_bits_retain($special_value);)*)?
            /// Every number that stands for something else than the set of its bits, with its name.
            pub const SPECIAL: &'static [(Self, &'static str)] = &[$($((Self::$special, $special_text),)*)?];
            /// The empty set.
            pub const ZERO: Self = Self::from_bits_retain(0);
            /// Returns the set with these bits, including bits without a name.
            #[must_use]
            pub const fn from_bits_retain(bits: $int) -> Self {
                Self(bits.to_be_bytes())
            }
            /// Returns the set as a number.
            #[must_use]
            pub const fn bits(self) -> $int {
                <$int>::from_be_bytes(self.0)
            }
            /// Returns the empty set.
            #[must_use]
            pub const fn empty() -> Self {
                Self::ZERO
            }
            /// True if no bit is set.
            #[must_use]
            pub const fn is_empty(self) -> bool {
                self.bits() == 0
            }
            /// True if every bit of `other` is set.
            #[must_use]
            pub const fn contains(self, other: Self) -> bool {
                self.bits() & other.bits() == other.bits()
            }
            /// True if at least one bit of `other` is set.
            #[must_use]
            pub const fn intersects(self, other: Self) -> bool {
                self.bits() & other.bits() != 0
            }
            /// Returns the bits that are in either set.
            #[must_use]
            pub const fn union(self, other: Self) -> Self {
                Self::from_bits_retain(self.bits() | other.bits())
            }
            /// Returns the bits that are in both sets.
            #[must_use]
            pub const fn intersection(self, other: Self) -> Self {
                Self::from_bits_retain(self.bits() & other.bits())
            }
            /// Returns the bits of this set that are not in `other`.
            #[must_use]
            pub const fn difference(self, other: Self) -> Self {
                Self::from_bits_retain(self.bits() & !other.bits())
            }
            /// Sets the bits of `other`.
            pub const fn insert(&mut self, other: Self) {
                *self = self.union(other);
            }
            /// Clears the bits of `other`.
            pub const fn remove(&mut self, other: Self) {
                *self = self.difference(other);
            }
        }
        impl $crate::wire::Flags for $name {
            const FLAGS: &'static [$crate::wire::Flag<Self>] = &[
                $($crate::wire::Flag::new(stringify!($konst), Self::$konst),)*
                // Keeps bits that have no name.
                $crate::wire::Flag::new("", Self::from_bits_retain(!0)),
            ];
            type Bits = $int;
            fn bits(&self) -> $int {
                Self::bits(*self)
            }
            fn from_bits_retain(bits: $int) -> Self {
                Self::from_bits_retain(bits)
            }
        }
        impl core::ops::BitOr for $name {
            type Output = Self;
            fn bitor(self, other: Self) -> Self {
                self.union(other)
            }
        }
        impl core::ops::BitOrAssign for $name {
            fn bitor_assign(&mut self, other: Self) {
                *self = self.union(other);
            }
        }
        impl core::ops::BitAnd for $name {
            type Output = Self;
            fn bitand(self, other: Self) -> Self {
                self.intersection(other)
            }
        }
        impl core::ops::Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                self.difference(other)
            }
        }
        impl core::ops::Not for $name {
            type Output = Self;
            fn not(self) -> Self {
                Self::from_bits_retain(!self.bits())
            }
        }
        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                if let Some((_, name)) = Self::SPECIAL.iter().find(|(special, _)| special == self) {
                    return f.write_str(name);
                }
                let mut rest = self.bits();
                let mut separator = "";
                for (flag, name) in Self::KNOWN {
                    if self.contains(*flag) {
                        write!(f, "{separator}{name}")?;
                        separator = "|";
                        rest &= !flag.bits();
                    }
                }
                match rest {
                    0 if separator.is_empty() => f.write_str("0"),
                    0 => Ok(()),
                    _ => write!(f, "{separator}{rest:#x}"),
                }
            }
        }
        $crate::__value!($name($int) bits false, |bits| Some(Self::from_bits_retain(bits)), |text| {
            if let Some((special, _)) = Self::SPECIAL.iter().find(|(_, name)| *name == text) {
                return Some(*special);
            }
            text.split('|').try_fold(Self::ZERO, |all, part| {
                let named = Self::KNOWN.iter().find(|(_, name)| *name == part).map(|(flag, _)| *flag);
                let other = || <$int>::try_from($crate::wire::parse_number(part)?).ok().map(Self::from_bits_retain);
                Some(all | named.or_else(other)?)
            })
        });
    };
}
