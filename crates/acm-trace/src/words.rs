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

    /// A value with a form of its own.
    pub(crate) fn parsed<T>(&self, key: &'static str, parse: impl FnOnce(&str) -> Option<T>) -> Result<T, WordError> {
        self.text(key).and_then(parse).ok_or(WordError(key))
    }

    /// An id of two parts, `3.0`.
    pub(crate) fn id<T>(&self, key: &'static str, new: impl FnOnce(u32, u32) -> T) -> Result<T, WordError> {
        self.parsed(key, |text| {
            let (index, generation) = text.split_once('.')?;
            Some(new(index.parse().ok()?, generation.parse().ok()?))
        })
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
        let id = |key| read.id(key, |index, generation| (index, generation));
        assert_eq!((read.what, id("id"), read.get("retries")), ("sa_send", Ok((5, 1)), Ok(2_u32)));
        assert_eq!((read.optional::<u8>("rate"), read.get::<u8>("rate")), (Ok(None), Err(WordError("rate"))));
        assert_eq!((read.get::<u8>("id"), id("retries")), (Err(WordError("id")), Err(WordError("retries"))));
    }

    #[test]
    fn comments_of_others() {
        for other in ["", "acm", "acmsa_send id=5.1", "look here"] {
            assert!(Reading::new(other).is_none(), "{other}");
        }
        assert_eq!(Reading::new("acm end").unwrap().text("x"), None);
    }
}
