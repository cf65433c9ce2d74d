//! `id!`: an identifier.

/// Defines an identifier: a number in network order with its own type. Values are ordered by their numbers.
///
/// ```
/// ib_mad::id! {
///     /// Number of a rack.
///     pub struct Rack(u16), "rack {}"
/// }
/// assert_eq!(Rack::new(7).to_string(), "rack 7");
/// assert_eq!(u16::from(Rack::from(7)), 7);
/// assert_eq!(ib_mad::as_bytes(&Rack::new(7)), [0, 7]);
/// ```
#[macro_export]
macro_rules! id {
    ($(#[$m:meta])* pub struct $name:ident($int:ty), $fmt:literal) => {
        $(#[$m])*
        #[derive(
            Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default,
            $crate::wire::__zerocopy::FromBytes, $crate::wire::__zerocopy::IntoBytes,
            $crate::wire::__zerocopy::KnownLayout, $crate::wire::__zerocopy::Immutable,
            $crate::wire::__zerocopy::Unaligned,
        )]
        #[zerocopy(crate = "ib_mad::wire::__zerocopy")]
        #[repr(transparent)]
        pub struct $name([u8; size_of::<$int>()]);
        impl $name {
            /// The value with every bit zero; in most records it means "not given".
            pub const ZERO: Self = Self::new(0);
            /// Returns the identifier with this number.
            #[must_use]
            pub const fn new(value: $int) -> Self {
                Self(value.to_be_bytes())
            }
            /// Returns the number.
            #[must_use]
            pub const fn get(self) -> $int {
                <$int>::from_be_bytes(self.0)
            }
            /// True if every bit is zero, which means "not given" in most records.
            #[must_use]
            pub const fn is_zero(self) -> bool {
                self.get() == 0
            }
        }
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
        $crate::__hex!($name get);
        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, $fmt, self.get())
            }
        }
        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, $fmt, self.get())
            }
        }
        impl $crate::Wire for $name {
            const NAME: &'static str = stringify!($name);
            const ZERO: Self = Self::ZERO;
            const IS_NUMBER: bool = $crate::wire::is_decimal($fmt);
            fn show(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, $fmt, self.get())
            }
        }
        $crate::__value!($name($int) get $crate::wire::is_decimal($fmt), |number| Some(Self::new(number)), |_| None);
        $crate::__arbitrary!($name);
    };
}
