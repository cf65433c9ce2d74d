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
    use crate::wire::{Field, Wire, read_bits};
    use core::fmt::{self, Write as _};
    use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};

    /// Serializes a structure as a map of field names and values, nested like the structure. A value that is printed as
    /// a decimal number is a number; every other value is the text that the dissector prints.
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
                [] => {
                    let number = read_bits(self.0.as_bytes(), 0, crate::wire::bits_of(size_of::<T>()));
                    Value { number, text: Shown(|f: &mut fmt::Formatter<'_>| self.0.show(f)) }.serialize(serializer)
                }
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
                [] => Value {
                    number: read_bits(self.bytes, first, width),
                    text: Shown(|f: &mut fmt::Formatter<'_>| (field.show_element)(self.bytes, index, f)),
                }
                .serialize(serializer),
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

    struct Value<T> {
        number: Option<u64>,
        text: T,
    }
    impl<T: fmt::Display> Serialize for Value<T> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self.number {
                Some(number) if is_decimal(&self.text, number) => serializer.serialize_u64(number),
                _ => serializer.collect_str(&self.text),
            }
        }
    }

    /// True if the text is this number in decimal. Compares while the text is written, without a buffer.
    fn is_decimal(text: &dyn fmt::Display, number: u64) -> bool {
        struct Reader(Option<u64>);
        impl fmt::Write for Reader {
            fn write_str(&mut self, piece: &str) -> fmt::Result {
                for byte in piece.bytes() {
                    let digit = if byte.is_ascii_digit() { Some(u64::from(byte - b'0')) } else { None };
                    self.0 = self.0.zip(digit).and_then(|(all, digit)| all.checked_mul(10)?.checked_add(digit));
                }
                self.0.map(drop).ok_or(fmt::Error)
            }
        }
        let mut reader = Reader(Some(0));
        write!(reader, "{text}").is_ok() && reader.0 == Some(number)
    }
}
