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
                $crate::wire::__serialize(self, serializer)
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
pub use dissected::serialize;

#[cfg(feature = "serde")]
mod dissected {
    use crate::wire::{Field, Leaf, Wire};
    use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};

    /// Serializes a structure as a map of field names and values, nested like the structure. A value of a type that is
    /// printed in decimal is a number; every other value is the text that the dissector prints.
    #[doc(hidden)]
    pub fn serialize<T: Wire, S: Serializer>(own: &T, serializer: S) -> Result<S::Ok, S::Error> {
        Fields { fields: T::FIELDS, bytes: own.as_bytes() }.serialize(serializer)
    }

    struct Fields<'a> {
        fields: &'static [Field],
        bytes: &'a [u8],
    }
    impl Serialize for Fields<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            for field in self.fields.iter().filter(|field| !field.reserved) {
                let value = Leaf { field, bytes: self.bytes, index: 0 };
                match field.count {
                    1 => map.serialize_entry(field.name, &Element(value))?,
                    _ => map.serialize_entry(field.name, &Elements(value))?,
                }
            }
            map.end()
        }
    }

    /// All elements of an array.
    struct Elements<'a>(Leaf<'a>);
    impl Serialize for Elements<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut seq = serializer.serialize_seq(None)?;
            for index in 0..self.0.field.count {
                seq.serialize_element(&Element(Leaf { index, ..self.0 }))?;
            }
            seq.end()
        }
    }

    /// A value, or a nested structure.
    struct Element<'a>(Leaf<'a>);
    impl Serialize for Element<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match (self.0.field.parts, self.0.number()) {
                ([], Some(number)) if self.0.field.is_number => serializer.serialize_u64(number),
                ([], _) => serializer.collect_str(&self.0),
                (fields, _) => Fields { fields, bytes: self.0.inner() }.serialize(serializer),
            }
        }
    }
}
