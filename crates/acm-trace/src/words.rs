//! Comments of packets: `acm KIND key=value key=value`, what the packet itself has no room for.
use crate::Kind;
use core::{fmt::Write as _, str::FromStr};

/// The first word of each comment of ours. A comment of somebody else begins with something else.
const FIRST: &str = "acm";

/// A comment as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Words(String);

impl Words {
    pub(crate) fn new(what: &str) -> Self {
        Self(format!("{FIRST} {what}"))
    }

    pub(crate) fn of(kind: Kind) -> Self {
        Self::new(kind.name())
    }

    /// One more `key=value`.
    pub(crate) fn with(mut self, key: &str, value: impl core::fmt::Display) -> Self {
        // Writing to a string cannot fail.
        let _ = write!(self.0, " {key}={value}");
        self
    }

    /// The same if there is a value.
    pub(crate) fn with_some(self, key: &str, value: Option<impl core::fmt::Display>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// A comment as it is read. Keys that nobody asks for are of another version and do no harm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a> {
    pub(crate) what: &'a str,
    rest: &'a str,
}

impl<'a> Reading<'a> {
    /// `None` if the comment is none of ours.
    pub(crate) fn new(comment: &'a str) -> Option<Self> {
        let mut words = comment.strip_prefix(FIRST)?.strip_prefix(' ')?.splitn(2, ' ');
        Some(Self { what: words.next()?, rest: words.next().unwrap_or("") })
    }

    pub(crate) fn text(&self, key: &str) -> Option<&'a str> {
        self.rest
            .split(' ')
            .find_map(|word| word.split_once('=').filter(|(name, _)| *name == key))
            .map(|(_, value)| value)
    }

    /// A value that must be there.
    pub(crate) fn get<T: FromStr>(&self, key: &'static str) -> Result<T, WordError> {
        self.optional(key)?.ok_or(WordError(key))
    }

    /// A value that may be missing, but not wrong.
    pub(crate) fn optional<T: FromStr>(&self, key: &'static str) -> Result<Option<T>, WordError> {
        self.text(key).map(|text| text.parse().map_err(|_| WordError(key))).transpose()
    }

    /// An id of two parts, `3.0`, as one number.
    pub(crate) fn id(&self, key: &'static str) -> Result<u64, WordError> {
        let parts = self.text(key).and_then(|text| text.split_once('.'));
        let bits = parts.and_then(|(index, generation)| {
            let (index, generation): (u32, u32) = (index.parse().ok()?, generation.parse().ok()?);
            Some(u64::from(generation) << 32 | u64::from(index))
        });
        bits.ok_or(WordError(key))
    }
}

/// A comment without a value that it must have, or with a wrong one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the comment has no valid {0}=")]
pub struct WordError(&'static str);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_read_as_they_are_written() {
        let words = Words::of(Kind::SaSend).with("id", "5.1").with("retries", 2).with_some("rate", None::<u8>);
        assert_eq!(words.as_str(), "acm sa_send id=5.1 retries=2");
        let read = Reading::new(words.as_str()).unwrap();
        assert_eq!((read.what, read.id("id"), read.get("retries")), ("sa_send", Ok(1 << 32 | 5), Ok(2_u32)));
        assert_eq!((read.optional::<u8>("rate"), read.get::<u8>("rate")), (Ok(None), Err(WordError("rate"))));
        assert_eq!((read.get::<u8>("id"), read.id("retries")), (Err(WordError("id")), Err(WordError("retries"))));
    }

    #[test]
    fn comments_of_others() {
        for other in ["", "acm", "acmsa_send id=5.1", "look here"] {
            assert!(Reading::new(other).is_none(), "{other}");
        }
        assert_eq!(Reading::new("acm end").unwrap().text("x"), None);
    }
}
