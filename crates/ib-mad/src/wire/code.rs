//! `code!`: an open code space.

/// Defines an open code space: a number with named values. Unknown values are kept, compared and shown as numbers.
///
/// In a structure, the type is a big-endian number of whole bytes. In a bit-packed word, the type is a part of any
/// width. One block may define several code spaces.
///
/// ```
/// ib_mad::code! {
///     /// State of a lamp.
///     pub struct Lamp(u8) {
///         /// The lamp is dark.
///         OFF = 0 "off",
///         /// The lamp is lit.
///         ON = 1 "on",
///     }
/// }
/// assert_eq!(Lamp::new(1), Lamp::ON);
/// assert_eq!((Lamp::ON.to_string(), Lamp::new(9).to_string()), ("on".into(), "9".into()));
/// ```
#[macro_export]
macro_rules! code {
    ($(#[$m:meta])* pub struct $name:ident($int:ty) { $($(#[$cm:meta])* $konst:ident = $value:literal $text:literal,)* }) => {
        $crate::__number! { $(#[$m])* #[derive(PartialOrd, Ord)] $name($int) new get false }
        impl $name {
            $($(#[$cm])* pub const $konst: Self = Self::new($value);)*
            /// Every named value with its name.
            pub const KNOWN: &'static [(Self, &'static str)] = &[$((Self::$konst, $text),)*];
            /// The code 0, which may have no name.
            pub const ZERO: Self = Self::new(0);
            /// Returns the code with this number.
            #[must_use]
            pub const fn new(value: $int) -> Self {
                Self(value.to_be_bytes())
            }
            /// Returns the number.
            #[must_use]
            pub const fn get(self) -> $int {
                <$int>::from_be_bytes(self.0)
            }
            /// Returns the name of the value, if it has one.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.get() {
                    $($value => Some($text),)*
                    _ => None,
                }
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
                match self.name() {
                    Some(name) => f.write_str(name),
                    None if size_of::<$int>() == 1 => write!(f, "{}", self.get()),
                    None => write!(f, "{:#06x}", self.get()),
                }
            }
        }
        $crate::__value!($name($int) get false, |number| Some(Self::new(number)), |text| {
            Self::KNOWN.iter().find(|(_, name)| *name == text).map(|(own, _)| *own)
        });
    };
    ($(#[$m:meta])* pub struct $name:ident($int:ty) { $($body:tt)* } $($rest:tt)+) => {
        $crate::code! { $(#[$m])* pub struct $name($int) { $($body)* } }
        $crate::code! { $($rest)+ }
    };
}
