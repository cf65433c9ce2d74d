//! Identifiers from text.

/// Text that is not the identifier that it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a {what}")]
#[non_exhaustive]
pub struct ParseIdError {
    /// The identifier that was looked for.
    pub what: &'static str,
}

/// `FromStr` of a numeric identifier: decimal, or hex behind `0x`.
macro_rules! from_str_number {
    ($($name:ident: $int:ty, $what:literal;)*) => {$(
        impl core::str::FromStr for $name {
            type Err = $crate::ParseIdError;
            /// Reads a decimal number, or a hex one behind `0x`.
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::wire::parse_number(text)
                    .and_then(|value| <$int>::try_from(value).ok())
                    .map(Self::new)
                    .ok_or($crate::ParseIdError { what: $what })
            }
        }
    )*};
}
pub(super) use from_str_number;
