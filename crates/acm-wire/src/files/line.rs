//! Common parts of all text files: lines, words, and the locations of errors.
use core::fmt;
use nom::{
    Err, IResult, Parser,
    bytes::complete::{take_while, take_while1},
    combinator::map_res,
    error::{ErrorKind, FromExternalError, ParseError},
};

/// A location in a text: line and column, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// Number of the line in the text.
    pub line: u32,
    /// Column, in bytes.
    pub column: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Error of an invalid line, with its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {kind}")]
pub struct LineError {
    /// Line number, from 1.
    pub line: u32,
    /// Column in bytes, from 1: the start of the invalid word, or the end of the line if a word is missing.
    pub column: u32,
    /// Kind of the error.
    pub kind: LineErrorKind,
}

/// Kind of the error in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineErrorKind {
    /// No option has this name.
    #[error("no such option")]
    UnknownOption,
    /// The line ends too early.
    #[error("expected {expected}, but the line ends")]
    Missing {
        /// Description of the missing word.
        expected: &'static str,
    },
    /// The word is invalid or out of range.
    #[error("expected {expected}")]
    Bad {
        /// Description of the expected word.
        expected: &'static str,
    },
    /// The word is not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// A destination is before the first source port.
    #[error("a destination without a source port")]
    NoSource,
}

impl LineError {
    /// Returns the location of the error.
    #[must_use]
    pub const fn location(self) -> Location {
        Location { line: self.line, column: self.column }
    }

    /// Returns the invalid word from the parsed text; empty at the end of a line.
    ///
    /// The word is untrusted input: escape it before it goes to a log.
    #[must_use]
    pub fn word(self, text: &[u8]) -> &[u8] {
        let line = usize::try_from(self.line).ok().and_then(|line| text.split(|byte| *byte == b'\n').nth(line - 1));
        let rest = usize::try_from(self.column).ok().and_then(|column| line.unwrap_or_default().get(column - 1..));
        rest.unwrap_or_default().split(|byte| is_blank(*byte)).next().unwrap_or_default()
    }
}

/// The lines of a text that are neither blank nor a comment.
#[derive(Clone, Debug)]
pub(super) struct Lines<'a> {
    rest: Option<&'a [u8]>,
    number: u32,
}

impl<'a> Lines<'a> {
    pub(super) const fn new(text: &'a [u8]) -> Self {
        Self { rest: Some(text), number: 0 }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        loop {
            let rest = self.rest?;
            let end = rest.iter().position(|byte| *byte == b'\n');
            let (text, rest) = end.and_then(|end| rest.split_at_checked(end)).unwrap_or((rest, &[]));
            self.rest = rest.split_first().map(|(_line_feed, rest)| rest);
            self.number = self.number.saturating_add(1);
            let line = Line { text, number: self.number };
            if !matches!(line.words().first(), None | Some(b'#')) {
                return Some(line);
            }
        }
    }
}

/// A line without its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    text: &'a [u8],
    number: u32,
}

impl<'a> Line<'a> {
    /// Returns the line with this number; `text` lacks the end of the line.
    pub(super) const fn new(text: &'a [u8], number: u32) -> Self {
        Self { text, number }
    }

    /// Returns the line from its first word on.
    pub(super) fn words(self) -> &'a [u8] {
        let blanks = self.text.iter().take_while(|byte| is_blank(**byte)).count();
        self.text.get(blanks..).unwrap_or_default()
    }

    /// Returns the location of `rest`, which is a tail of this line.
    pub(super) fn location(self, rest: &[u8]) -> Location {
        let before = self.text.len().saturating_sub(rest.len());
        Location { line: self.number, column: u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1) }
    }

    pub(super) fn error(self, rest: &[u8], kind: LineErrorKind) -> LineError {
        let Location { line, column } = self.location(rest);
        LineError { line, column, kind }
    }

    /// Parses the line with a grammar. Returns the value and the location of the first word.
    pub(super) fn read<T>(self, grammar: impl Fn(&'a [u8]) -> Parsed<'a, T>) -> Result<(Location, T), LineError> {
        match grammar(self.words()) {
            Ok((_ignored, value)) => Ok((self.location(self.words()), value)),
            Err(Err::Error(fault) | Err::Failure(fault)) => Err(self.error(fault.rest, fault.kind)),
            // Parsers of whole lines never need more input.
            Err(Err::Incomplete(_)) => Err(self.error(&[], LineErrorKind::Missing { expected: "more" })),
        }
    }
}

/// Iterator over a file with one grammar for all lines: values with the location of their first word, or errors.
pub struct Entries<'a, T> {
    lines: Lines<'a>,
    grammar: fn(&'a [u8]) -> Parsed<'a, T>,
}

impl<'a, T> Entries<'a, T> {
    pub(super) fn new(text: &'a [u8], grammar: fn(&'a [u8]) -> Parsed<'a, T>) -> Self {
        Self { lines: Lines::new(text), grammar }
    }
}

impl<T> Iterator for Entries<'_, T> {
    type Item = Result<(Location, T), LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.lines.next().map(|line| line.read(self.grammar))
    }
}

impl<T> core::iter::FusedIterator for Entries<'_, T> {}
impl<T> Clone for Entries<'_, T> {
    fn clone(&self) -> Self {
        Self { lines: self.lines.clone(), grammar: self.grammar }
    }
}
impl<T> fmt::Debug for Entries<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entries").field("lines_read", &self.lines.number).finish_non_exhaustive()
    }
}

/// Result of a grammar.
pub(super) type Parsed<'a, T> = IResult<&'a [u8], T, Fault<'a>>;

/// Error of a grammar, with the rest of the line at the error.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault<'a> {
    rest: &'a [u8],
    kind: LineErrorKind,
}

impl<'a> Fault<'a> {
    /// Returns the error for an unexpected word at the start of `rest`.
    pub(super) fn expected(rest: &'a [u8], expected: &'static str) -> Err<Self> {
        let kind = match rest {
            [] => LineErrorKind::Missing { expected },
            _ => LineErrorKind::Bad { expected },
        };
        Err::Error(Self { rest, kind })
    }
}

impl<'a> ParseError<&'a [u8]> for Fault<'a> {
    fn from_error_kind(rest: &'a [u8], _: ErrorKind) -> Self {
        Self { rest, kind: LineErrorKind::Bad { expected: "something else" } }
    }
    fn append(_: &'a [u8], _: ErrorKind, other: Self) -> Self {
        other
    }
}
impl<'a> FromExternalError<&'a [u8], LineErrorKind> for Fault<'a> {
    fn from_external_error(rest: &'a [u8], _: ErrorKind, kind: LineErrorKind) -> Self {
        Self { rest, kind }
    }
}

pub(super) const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

/// Skips spaces, tabs, carriage returns, vertical tabs and form feeds.
pub(super) fn blanks(input: &[u8]) -> Parsed<'_, ()> {
    let (rest, _) = take_while(is_blank)(input)?;
    Ok((rest, ()))
}

/// Skips blanks, and reads the next word with `read`.
pub(super) fn word<'a, T>(
    expected: &'static str,
    read: impl Fn(&'a str) -> Option<T>,
) -> impl Parser<&'a [u8], Output = T, Error = Fault<'a>> {
    token(expected, |byte| !is_blank(byte), move |text| read(text).ok_or(LineErrorKind::Bad { expected }))
}

/// Skips blanks and reads the next bytes that `belongs` accepts with `read`.
pub(super) fn token<'a, T>(
    expected: &'static str,
    belongs: impl Fn(u8) -> bool,
    read: impl Fn(&'a str) -> Result<T, LineErrorKind>,
) -> impl Parser<&'a [u8], Output = T, Error = Fault<'a>> {
    let mut value = map_res(
        move |input: &'a [u8]| {
            take_while1(&belongs)(input).map_err(|_: Err<Fault<'a>>| Fault::expected(input, expected))
        },
        move |bytes: &'a [u8]| read(str::from_utf8(bytes).map_err(|_| LineErrorKind::NotUtf8)?),
    );
    move |input| {
        let (rest, ()) = blanks(input)?;
        value.parse(rest)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::{format, string::ToString, vec::Vec};

    fn pair(input: &[u8]) -> Parsed<'_, (&str, u8)> {
        (word("a name", Some), word("a number to 255", |text| text.parse().ok())).parse(input)
    }

    // docs/deviations.md: preload-lines
    #[test]
    fn blank_lines_and_comments_are_skipped() {
        let text = b"\r\n# c\r\n\t# d\na 1\r\n\n \tb\x0b\t2 more # words\n#\nc 3";
        let seen: Vec<_> = Entries::new(text, pair).map(Result::unwrap).collect();
        let at = |line, column| Location { line, column };
        assert_eq!(seen, [(at(4, 1), ("a", 1)), (at(6, 3), ("b", 2)), (at(8, 1), ("c", 3))]);
        assert_eq!(Entries::new(b"", pair).count() + Entries::new(b"\n\n", pair).count(), 0);
    }

    #[test]
    fn errors_have_a_location_and_a_word() {
        let text = b"a 256\n  bb\n\xff 1\r\nc\t \xfe\nd 4";
        let seen: Vec<_> = Entries::new(text, pair).collect();
        let expected = "a number to 255";
        let fault = |line, column, kind| Err(LineError { line, column, kind });
        assert_eq!(seen[0], fault(1, 3, LineErrorKind::Bad { expected }));
        assert_eq!(seen[1], fault(2, 5, LineErrorKind::Missing { expected }));
        assert_eq!(seen[2], fault(3, 1, LineErrorKind::NotUtf8));
        assert_eq!(seen[3], fault(4, 4, LineErrorKind::NotUtf8));
        assert_eq!(seen[4], Ok((Location { line: 5, column: 1 }, ("d", 4))));
        assert_eq!(seen[0].unwrap_err().word(text), b"256");
        assert_eq!(seen[1].unwrap_err().word(text), b"");
        assert_eq!(seen[2].unwrap_err().word(text), b"\xff");
        assert_eq!(seen[0].unwrap_err().to_string(), "line 1, column 3: expected a number to 255");
        assert_eq!(seen[1].unwrap_err().to_string(), "line 2, column 5: expected a number to 255, but the line ends");
    }

    // docs/deviations.md: preload-lines
    #[test]
    fn long_line_is_read() {
        let long = format!("{} 7", "n".repeat(1 << 20));
        assert_eq!(Entries::new(long.as_bytes(), pair).map(|entry| entry.unwrap().1.1).collect::<Vec<_>>(), [7]);
    }

    proptest! {
        #[test]
        fn bad_line_does_not_affect_other_lines(bad in "[^\n]{0,30}", number in any::<u8>()) {
            let text = format!("x {number}\n{bad}\ny {number}");
            let seen: Vec<_> = Entries::new(text.as_bytes(), pair).collect();
            prop_assert_eq!(seen.first().unwrap().unwrap().1, ("x", number));
            prop_assert_eq!(seen.last().unwrap().unwrap(), (Location { line: 3, column: 1 }, ("y", number)));
            prop_assert!(seen.len() <= 3);
        }
    }
}
