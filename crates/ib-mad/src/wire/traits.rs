//! Implementations that the features `serde` and `arbitrary` add to every structure; those of values are in `value.rs`.
//!
//! Without the feature, the macros are empty. The features are those of this crate, not of the crate that calls
//! `wire!`.

#[doc(hidden)]
#[macro_export]
#[cfg(feature = "arbitrary")]
macro_rules! __arbitrary {
    ($name:ident) => {
        $crate::__arbitrary!([] $name);
    };
    ([$($generics:tt)*] $name:ty) => {
        impl<'a, $($generics)*> $crate::wire::__arbitrary::Arbitrary<'a> for $name {
            fn arbitrary(
                u: &mut $crate::wire::__arbitrary::Unstructured<'a>,
            ) -> $crate::wire::__arbitrary::Result<Self> {
                let mut own = <Self as $crate::wire::__zerocopy::FromZeros>::new_zeroed();
                u.fill_buffer($crate::wire::__zerocopy::IntoBytes::as_mut_bytes(&mut own))?;
                Ok(own)
            }
            fn size_hint(_depth: usize) -> (usize, Option<usize>) {
                (0, Some(size_of::<Self>()))
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "arbitrary"))]
macro_rules! __arbitrary {
    ($($any:tt)*) => {};
}

#[doc(hidden)]
#[macro_export]
#[cfg(feature = "serde")]
macro_rules! __serialize {
    ($name:ident) => {
        impl $crate::wire::__serde::Serialize for $name {
            fn serialize<S: $crate::wire::__serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::wire::__serde::Serialize::serialize(&$crate::wire::__Dissected::new(self), serializer)
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "serde"))]
macro_rules! __serialize {
    ($name:ident) => {};
}

#[cfg(feature = "serde")]
pub use dissected::Dissected;

#[cfg(feature = "serde")]
mod dissected {
    use crate::wire::{ByteOrder, Field, Wire, read_bits};
    use core::fmt;
    use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};

    /// Serializes a structure as a map of field names and values, nested like the structure. A value of a type that is
    /// printed in decimal is a number; every other value is the text that the dissector prints.
    #[doc(hidden)]
    #[derive(Clone, Copy, Debug)]
    pub struct Dissected<'a, T>(&'a T);

    impl<'a, T: Wire> Dissected<'a, T> {
        #[doc(hidden)]
        pub fn new(structure: &'a T) -> Self {
            Self(structure)
        }
    }
    impl<T: Wire> Serialize for Dissected<'_, T> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match T::FIELDS {
                [] => serializer.collect_str(&Shown(|f: &mut fmt::Formatter<'_>| self.0.show(f))),
                fields => Fields { fields, bytes: self.0.as_bytes() }.serialize(serializer),
            }
        }
    }

    struct Fields<'a> {
        fields: &'static [Field],
        bytes: &'a [u8],
    }
    impl Serialize for Fields<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            for field in self.fields.iter().filter(|field| !field.reserved) {
                match field.count {
                    1 => map.serialize_entry(field.name, &Element { field, bytes: self.bytes, index: 0 })?,
                    _ => map.serialize_entry(field.name, &Elements { field, bytes: self.bytes })?,
                }
            }
            map.end()
        }
    }

    struct Elements<'a> {
        field: &'static Field,
        bytes: &'a [u8],
    }
    impl Serialize for Elements<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut seq = serializer.serialize_seq(None)?;
            for index in 0..self.field.count {
                seq.serialize_element(&Element { field: self.field, bytes: self.bytes, index })?;
            }
            seq.end()
        }
    }

    struct Element<'a> {
        field: &'static Field,
        bytes: &'a [u8],
        index: u32,
    }
    impl Serialize for Element<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let field = self.field;
            let width = field.width();
            let first = field.bit_offset + self.index * width;
            let index = usize::try_from(self.index).unwrap_or(usize::MAX);
            match field.parts {
                [] => match read_bits(self.bytes, first, width) {
                    Some(number) if field.is_number => serializer.serialize_u64(match field.order {
                        ByteOrder::Host if cfg!(target_endian = "little") => {
                            number.swap_bytes() >> u64::BITS.saturating_sub(width)
                        }
                        _ => number,
                    }),
                    _ => serializer
                        .collect_str(&Shown(|f: &mut fmt::Formatter<'_>| (field.show_element)(self.bytes, index, f))),
                },
                fields => {
                    let start = usize::try_from(first / 8).unwrap_or(usize::MAX);
                    Fields { fields, bytes: self.bytes.get(start..).unwrap_or_default() }.serialize(serializer)
                }
            }
        }
    }

    struct Shown<F>(F);
    impl<F: Fn(&mut fmt::Formatter<'_>) -> fmt::Result> fmt::Display for Shown<F> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            (self.0)(f)
        }
    }
}
