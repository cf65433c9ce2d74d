//! Numbers in hex, as the formatter's `{:x}` and `{:X}` ask for them.

/// `LowerHex` and `UpperHex` of a type with a getter of its number.
#[doc(hidden)]
#[macro_export]
macro_rules! __hex {
    ($name:ident $get:ident) => {
        impl core::fmt::LowerHex for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::LowerHex::fmt(&self.$get(), f)
            }
        }
        impl core::fmt::UpperHex for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::UpperHex::fmt(&self.$get(), f)
            }
        }
    };
}
