//! Identifiers from text.

/// Text that is not the identifier that it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a {what}")]
#[non_exhaustive]
pub struct ParseIdError {
    /// The identifier that was looked for.
    pub what: &'static str,
}

/// A number in decimal, or in hex behind `0x`.
pub(crate) fn parse_number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) if !hex.starts_with('+') => u64::from_str_radix(hex, 16).ok(),
        Some(_) => None,
        None if text.starts_with('+') => None,
        None => text.parse().ok(),
    }
}

/// `FromStr` of a numeric identifier: decimal, or hex behind `0x`.
macro_rules! from_str_number {
    ($($name:ident: $int:ty, $what:literal;)*) => {$(
        impl core::str::FromStr for $name {
            type Err = $crate::ParseIdError;
            /// Reads a decimal number, or a hex one behind `0x`.
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::id::parse_number(text)
                    .and_then(|value| <$int>::try_from(value).ok())
                    .map(Self::new)
                    .ok_or($crate::ParseIdError { what: $what })
            }
        }
    )*};
}
pub(super) use from_str_number;
