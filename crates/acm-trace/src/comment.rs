//! Comments of packets, `acm KIND key=value key=value`, for values without a field in the packet.
use crate::Kind;
use core::{fmt::Write as _, str::FromStr};

/// The first word of each comment of this format.
const FIRST: &str = "acm";

/// A comment to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Comment(String);

impl Comment {
    pub(crate) fn new(name: &str) -> Self {
        Self(format!("{FIRST} {name}"))
    }

    pub(crate) fn of(kind: Kind) -> Self {
        Self::new(kind.name())
    }

    /// Appends `key=value`.
    pub(crate) fn with(mut self, key: &str, value: impl core::fmt::Display) -> Self {
        // Writing to a string cannot fail.
        let _ = write!(self.0, " {key}={value}");
        self
    }

    /// Appends `key=value` if there is a value.
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

/// A parsed comment. Unknown keys, for example of a newer version, are ignored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParsedComment<'a> {
    /// The word behind `acm`.
    pub(crate) name: &'a str,
    rest: &'a str,
}

impl<'a> ParsedComment<'a> {
    /// Parses a comment. Returns `None` for a comment of another program.
    pub(crate) fn new(comment: &'a str) -> Option<Self> {
        let mut words = comment.strip_prefix(FIRST)?.strip_prefix(' ')?.splitn(2, ' ');
        Some(Self { name: words.next()?, rest: words.next().unwrap_or("") })
    }

    pub(crate) fn text(&self, key: &str) -> Option<&'a str> {
        self.rest
            .split(' ')
            .find_map(|word| word.split_once('=').filter(|(name, _)| *name == key))
            .map(|(_, value)| value)
    }

    /// Returns a required value.
    pub(crate) fn get<T: FromStr>(&self, key: &'static str) -> Result<T, CommentError> {
        self.optional(key)?.ok_or(CommentError(key))
    }

    /// Returns a value that may be missing. A malformed value is an error.
    pub(crate) fn optional<T: FromStr>(&self, key: &'static str) -> Result<Option<T>, CommentError> {
        self.text(key).map(|text| text.parse().map_err(|_| CommentError(key))).transpose()
    }

    /// Returns a required value, read by `parse`.
    pub(crate) fn parsed<T>(
        &self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, CommentError> {
        self.text(key).and_then(parse).ok_or(CommentError(key))
    }

    /// Returns an id: index and generation, as in `3.0`.
    pub(crate) fn id<T>(&self, key: &'static str, new: impl FnOnce(u32, u32) -> T) -> Result<T, CommentError> {
        self.parsed(key, |text| {
            let (index, generation) = text.split_once('.')?;
            Some(new(index.parse().ok()?, generation.parse().ok()?))
        })
    }
}

/// A comment without a required value, or with a malformed value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the comment has no valid {0}=")]
pub struct CommentError(&'static str);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comment_survives_a_round_trip() {
        let comment = Comment::of(Kind::SaSend).with("id", "5.1").with("retries", 2).with_some("rate", None::<u8>);
        assert_eq!(comment.as_str(), "acm sa_send id=5.1 retries=2");
        let read = ParsedComment::new(comment.as_str()).unwrap();
        let id = |key| read.id(key, |index, generation| (index, generation));
        assert_eq!((read.name, id("id"), read.get("retries")), ("sa_send", Ok((5, 1)), Ok(2_u32)));
        assert_eq!((read.optional::<u8>("rate"), read.get::<u8>("rate")), (Ok(None), Err(CommentError("rate"))));
        assert_eq!((read.get::<u8>("id"), id("retries")), (Err(CommentError("id")), Err(CommentError("retries"))));
    }

    #[test]
    fn comments_of_other_programs_are_ignored() {
        for other in ["", "acm", "acmsa_send id=5.1", "look here"] {
            assert!(ParsedComment::new(other).is_none(), "{other}");
        }
        assert_eq!(ParsedComment::new("acm end").unwrap().text("x"), None);
    }
}
