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
        $crate::__number! { $(#[$m])* #[derive(PartialOrd, Ord)] $name($int) new get $crate::wire::is_decimal($fmt) }
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
        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, $fmt, self.get())
            }
        }
        $crate::__value!($name($int) get $crate::wire::is_decimal($fmt), |number| Some(Self::new(number)), |_| None);
    };
}
