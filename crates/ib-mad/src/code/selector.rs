//! Comparison of values in queries.
use super::{Mtu, PacketLifeTime, Rate};
use crate::wire::{Access, Bits, Field, Wire};
use core::{fmt, marker::PhantomData};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Comparison of a record's value with the requested value, 2 bits (IBTA 15.2.5.16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Selector {
    /// The record's value is greater.
    #[default]
    #[cfg_attr(feature = "serde", serde(rename = ">"))]
    GreaterThan,
    /// The record's value is less.
    #[cfg_attr(feature = "serde", serde(rename = "<"))]
    LessThan,
    /// The record's value is the same.
    #[cfg_attr(feature = "serde", serde(rename = "="))]
    Exactly,
    /// The largest value available; for a lifetime, the smallest.
    #[cfg_attr(feature = "serde", serde(rename = "best"))]
    Best,
}

impl Selector {
    /// Returns the selector in the low 2 bits.
    const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::GreaterThan,
            1 => Self::LessThan,
            2 => Self::Exactly,
            _ => Self::Best,
        }
    }
}

impl Bits for Selector {
    fn from_raw(raw: u64) -> Self {
        Self::from_bits(crate::wire::low_u8(raw))
    }
    fn into_raw(self) -> u64 {
        self as u64
    }
    fn show_bits(raw: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match Self::from_raw(raw) {
            Self::GreaterThan => ">",
            Self::LessThan => "<",
            Self::Exactly => "=",
            Self::Best => "best",
        })
    }
}

/// A selector (2 bits) and a value (6 bits) in one byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(transparent)]
pub struct Selected<T>(u8, PhantomData<T>);

impl<T: Bits> Selected<T> {
    /// Packs a selector and a value.
    #[must_use]
    pub fn new(selector: Selector, value: T) -> Self {
        let [.., byte] = (selector.into_raw() << 6 | value.into_raw() & 0x3f).to_be_bytes();
        Self(byte, PhantomData)
    }
    /// Packs a value with [`Selector::Exactly`], the selector of responses.
    #[must_use]
    pub fn exactly(value: T) -> Self {
        Self::new(Selector::Exactly, value)
    }
    /// Returns selector and value. In constants use [`value`](Selected::<crate::Mtu>::value), which exists for `Mtu`,
    /// `Rate` and `PacketLifeTime`.
    #[must_use]
    pub fn parts(self) -> (Selector, T) {
        (self.selector(), T::from_raw(u64::from(self.low())))
    }
}

impl<T> Selected<T> {
    /// Selector and value with every bit zero.
    pub const ZERO: Self = Self(0, PhantomData);

    /// Returns the selector.
    #[must_use]
    pub const fn selector(self) -> Selector {
        Selector::from_bits(self.0 >> 6)
    }

    const fn low(self) -> u8 {
        self.0 & 0x3f
    }
}

macro_rules! values {
    ($($t:ident)*) => {$(
        impl Selected<$t> {
            /// Returns the value.
            #[must_use]
            pub const fn value(self) -> $t {
                crate::__part!(from $t (self.low() as u64))
            }
        }
    )*};
}
values! { Mtu Rate PacketLifeTime }

impl<T: Bits> fmt::Debug for Selected<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(f)
    }
}
impl<T: Bits> Wire for Selected<T> {
    const NAME: &'static str = "Selected";
    const ZERO: Self = Self::ZERO;
    const FIELDS: &'static [Field] = &[
        Field {
            name: "selector",
            bit_offset: 0,
            bits: 2,
            count: 1,
            reserved: false,
            order: crate::wire::ByteOrder::Network,
            is_number: false,
            parts: &[],
            show_element: |bytes, _, f| {
                Selector::show_bits(u64::from(bytes.first().copied().unwrap_or_default() >> 6), f)
            },
            access: Some(Access {
                get: |bytes| Some(Self::parse(bytes).ok()?.selector().into_raw()),
                set: |bytes, value| {
                    if let Ok(own) = Self::parse_mut(bytes) {
                        *own = Self::new(Selector::from_raw(value), own.parts().1);
                    }
                },
            }),
        },
        Field {
            name: "value",
            bit_offset: 2,
            bits: 6,
            count: 1,
            reserved: false,
            order: crate::wire::ByteOrder::Network,
            is_number: T::IS_NUMBER,
            parts: &[],
            show_element: |bytes, _, f| T::show_bits(u64::from(bytes.first().copied().unwrap_or_default() & 0x3f), f),
            access: Some(Access {
                get: |bytes| Some(Self::parse(bytes).ok()?.low().into()),
                set: |bytes, value| {
                    if let Ok(own) = Self::parse_mut(bytes) {
                        *own = Self::new(own.selector(), T::from_raw(value & 0x3f));
                    }
                },
            }),
        },
    ];
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Selector::show_bits(u64::from(self.0 >> 6), f)?;
        T::show_bits(u64::from(self.0 & 0x3f), f)
    }
}

crate::__arbitrary!([T: Bits] Selected<T>);

#[cfg(feature = "serde")]
mod both_ways {
    use super::{Bits, Selected, Selector};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    /// Serialized form: a map of selector and value, as in a serialized structure.
    #[derive(Serialize, Deserialize)]
    #[serde(rename = "Selected")]
    struct Parts<T> {
        selector: Selector,
        value: T,
    }

    impl<T: Bits + Serialize> Serialize for Selected<T> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let (selector, value) = self.parts();
            Parts { selector, value }.serialize(serializer)
        }
    }
    impl<'de, T: Bits + Deserialize<'de>> Deserialize<'de> for Selected<T> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let Parts { selector, value } = Parts::<T>::deserialize(deserializer)?;
            let raw = value.into_raw();
            if raw > 0x3f {
                return Err(D::Error::custom("a value over 6 bits"));
            }
            Ok(Self::new(selector, T::from_raw(raw)))
        }
    }
}
