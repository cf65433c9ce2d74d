//! How `ib-mad`'s identifiers and codes are written with `serde`, for `#[serde(with = "acm_wire::plain")]`.
//!
//! A GID, a GUID, a P_Key and a service id are text as people write them; every other identifier or code is its number.
//! Options, lists and pairs of them go the same way.
use crate::client::ClientStatus;
use alloc::{boxed::Box, vec::Vec};
use core::{
    fmt,
    marker::PhantomData,
    net::{Ipv4Addr, Ipv6Addr},
    ops::RangeInclusive,
    str::FromStr,
};
use ib_mad::{
    Gid, Guid, Lid, Method, MgmtClass, Mtu, Pkey, Qpn, Rate, ServiceId, ServiceLevel, Status, acm::AcmControl, id::Lmc,
    wire::Bits,
};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, Visitor},
};

/// What this module can write and read.
pub trait Plain: Sized {
    /// Writes it.
    ///
    /// # Errors
    /// Those of the serializer.
    fn put<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;
    /// Reads it.
    ///
    /// # Errors
    /// Those of the deserializer, and what is no such value.
    fn take<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

/// Writes a value.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<T: Plain, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    value.put(serializer)
}

/// Reads a value.
///
/// # Errors
/// Those of the deserializer, and what is no such value.
pub fn deserialize<'de, T: Plain, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::take(deserializer)
}

struct Put<'a, T>(&'a T);
impl<T: Plain> Serialize for Put<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.put(serializer)
    }
}

struct Take<T>(T);
impl<'de, T: Plain> Deserialize<'de> for Take<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::take(deserializer).map(Self)
    }
}

impl<T: Plain> Plain for Option<T> {
    fn put<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_ref().map(Put).serialize(serializer)
    }
    fn take<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::<Take<T>>::deserialize(deserializer)?.map(|taken| taken.0))
    }
}

impl<T: Plain> Plain for Vec<T> {
    fn put<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(Put))
    }
    fn take<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Take<T>>::deserialize(deserializer)?.into_iter().map(|taken| taken.0).collect())
    }
}

impl<T: Plain> Plain for Box<[T]> {
    fn put<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(Put))
    }
    fn take<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<T>::take(deserializer)?.into_boxed_slice())
    }
}

impl<A: Plain, B: Plain> Plain for (A, B) {
    fn put<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (Put(&self.0), Put(&self.1)).serialize(serializer)
    }
    fn take<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (first, second) = <(Take<A>, Take<B>)>::deserialize(deserializer)?;
        Ok((first.0, second.0))
    }
}

impl<T: Plain> Plain for RangeInclusive<T> {
    fn put<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (Put(self.start()), Put(self.end())).serialize(serializer)
    }
    fn take<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (start, end) = <(T, T)>::take(deserializer)?;
        Ok(start..=end)
    }
}

struct Parsed<T>(PhantomData<T>);
impl<T: FromStr> Visitor<'_> for Parsed<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the text of an identifier")
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(|_| E::custom(format_args!("not an identifier: {text}")))
    }
}

macro_rules! text {
    ($($name:ty),*) => {$(
        impl Plain for $name {
            fn put<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
            fn take<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(Parsed(PhantomData))
            }
        }
    )*};
}
text!(Gid, Guid, Pkey, ServiceId, Ipv4Addr, Ipv6Addr);

macro_rules! number {
    ($($name:ty: $int:ty),*) => {$(
        impl Plain for $name {
            fn put<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.get().serialize(serializer)
            }
            fn take<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <$int>::deserialize(deserializer).map(Self::new)
            }
        }
    )*};
}
number!(Lid: u16, Mtu: u8, Rate: u8, Status: u16, MgmtClass: u8, Method: u8, AcmControl: u16, ClientStatus: u8);

/// Numbers of a few bits: one that has more is refused.
macro_rules! small {
    ($($name:ty: $int:ty),*) => {$(
        impl Plain for $name {
            fn put<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.get().serialize(serializer)
            }
            fn take<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let number = <$int>::deserialize(deserializer)?;
                let value = <Self as Bits>::from_raw(number.into());
                let whole = value.get() == number;
                whole.then_some(value).ok_or_else(|| D::Error::custom(format_args!("{number} is too large")))
            }
        }
    )*};
}
small!(Qpn: u32, ServiceLevel: u8, Lmc: u8);

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{string::String, vec};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Everything(
        #[serde(with = "super")] Vec<Gid>,
        #[serde(with = "super")] Option<Pkey>,
        #[serde(with = "super")] (Guid, Lid),
        #[serde(with = "super")] RangeInclusive<ServiceId>,
        #[serde(with = "super")] Box<[Qpn]>,
        #[serde(with = "super")] Option<Mtu>,
    );

    #[test]
    fn identifiers_are_read_as_they_are_written() {
        let all = Everything(
            vec!["fe80::1".parse().unwrap()],
            Some(Pkey::new(0x8001)),
            (Guid::new(7), Lid::new(9)),
            ServiceId::new(1)..=ServiceId::new(2),
            [Qpn::from_raw(0xff_ffff)].into(),
            None,
        );
        let text = serde_json::to_string(&all).unwrap();
        let expected = r#"[["fe80::1"],"0x8001",["0x0000000000000007",9],["0x0000000000000001","0x0000000000000002"],[16777215],null]"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Everything>(&text).unwrap(), all);
        let fails = |from: &str, to: &str| {
            let changed: String = text.replace(from, to);
            assert_ne!(changed, text);
            serde_json::from_str::<Everything>(&changed).unwrap_err()
        };
        fails("fe80::1", "fe80:1");
        fails("16777215", "16777216");
        fails("9", "65536");
    }
}
