//! Bytes in the text of traces, for `serde(with = "crate::api::hex")`: two hexadecimal digits for each byte.
use alloc::{string::String, vec::Vec};
use core::fmt;
use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

struct Digits<'a>(&'a [u8]);

impl fmt::Display for Digits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&Digits(bytes))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut bytes = Vec::with_capacity(text.len() / 2);
    for pair in text.as_bytes().chunks(2) {
        let [high, low] = *pair else { return Err(D::Error::custom("half a byte")) };
        let byte = digit(high).zip(digit(low)).map(|(high, low)| high << 4 | low);
        bytes.push(byte.ok_or_else(|| D::Error::custom("not a hexadecimal digit"))?);
    }
    Ok(bytes)
}

/// The same for a path record, 64 bytes.
pub(crate) mod path {
    use ib_mad::{Wire as _, sa::PathRecord};
    use serde::{Deserializer, Serializer, de::Error as _};

    pub(crate) fn serialize<S: Serializer>(path: &PathRecord, serializer: S) -> Result<S::Ok, S::Error> {
        super::serialize(ib_mad::as_bytes(path), serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathRecord, D::Error> {
        let bytes = super::deserialize(deserializer)?;
        PathRecord::parse(&bytes).copied().map_err(D::Error::custom)
    }
}

/// The same for a datagram of subnet administration, 256 bytes.
pub(crate) mod mad {
    use alloc::boxed::Box;
    use ib_mad::{Wire, sa::SaMad};
    use serde::{Deserializer, Serializer, de::Error as _};

    pub(crate) fn serialize<S: Serializer>(mad: &SaMad, serializer: S) -> Result<S::Ok, S::Error> {
        super::serialize(ib_mad::as_bytes(mad), serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<SaMad>, D::Error> {
        let bytes = super::deserialize(deserializer)?;
        <SaMad as Wire>::parse(&bytes).map(|mad| Box::new(*mad)).map_err(D::Error::custom)
    }
}
