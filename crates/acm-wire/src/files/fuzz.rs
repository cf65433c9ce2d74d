//! Bodies of fuzz targets. For any bytes, the parsers terminate, read back their own output, and locate errors in the
//! text.
use super::{LineError, Location, addr, hosts, opts, path_dump};
use core::fmt::{self, Write};

/// Buffer for a printed line. Longer lines are not compared.
struct Line {
    bytes: [u8; 1024],
    used: usize,
}

impl Line {
    fn of(value: &impl fmt::Display) -> Option<Self> {
        let mut line = Self { bytes: [0; 1024], used: 0 };
        write!(line, "{value}").ok().map(|()| line)
    }
    fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.used).unwrap_or_default()
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.used + text.len();
        self.bytes.get_mut(self.used..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.used = end;
        Ok(())
    }
}

fn check_location(text: &[u8], at: Location) {
    let lines = text.split(|byte| *byte == b'\n').count();
    assert!(at.line >= 1 && usize::try_from(at.line).is_ok_and(|line| line <= lines), "{at}");
    assert!(at.column >= 1 && usize::try_from(at.column).is_ok_and(|column| column <= text.len() + 1), "{at}");
}

/// Checks that each line has at most one result, with a location in the text. Prints each value that is `comparable`
/// and checks that the parser reads the same value from it.
fn check<T: fmt::Display>(
    text: &[u8],
    entries: impl Iterator<Item = Result<(Location, T), LineError>>,
    comparable: impl Fn(&T) -> bool,
    reads_as: impl Fn(&[u8], &T) -> bool,
) {
    let mut last = 0;
    for entry in entries {
        let at = match &entry {
            Ok((at, _)) => *at,
            Err(error) => error.location(),
        };
        check_location(text, at);
        assert!(at.line > last, "two results for one line");
        last = at.line;
        if let Ok((_, value)) = entry
            && comparable(&value)
            && let Some(line) = Line::of(&value)
        {
            assert!(reads_as(line.as_bytes(), &value), "{value} reads as something else");
        }
    }
}

/// Reads the text as `ibacm_opts.cfg`.
pub(crate) fn opts(text: &[u8]) {
    check(
        text,
        opts::parse(text),
        |_| true,
        |line, option| matches!(opts::parse(line).next(), Some(Ok((_, again))) if again == *option),
    );
}

/// Reads the text as `ibacm_addr.cfg`.
pub(crate) fn addr(text: &[u8]) {
    check(
        text,
        addr::parse(text),
        |_| true,
        |line, address| matches!(addr::parse(line).next(), Some(Ok((_, again))) if again == *address),
    );
}

/// Reads the text as `ibacm_hosts.data`.
pub(crate) fn hosts(text: &[u8]) {
    check(
        text,
        hosts::parse(text),
        |_| true,
        |line, host| matches!(hosts::parse(line).next(), Some(Ok((_, again))) if again == *host),
    );
}

/// Reads the text as a path dump, first as a whole, then by sections.
pub(crate) fn path_dump(text: &[u8]) {
    let mut all = path_dump::parse(text);
    path_dump::Sections::default().read(text, |_| true, |found| assert_eq!(Some(found), all.next()));
    assert_eq!(all.next(), None);
    // Printing escapes the description, and reading does not remove the escapes.
    let plain = |entry: &path_dump::Entry<'_>| match entry {
        path_dump::Entry::Source(source) => source.description.escape_ascii().count() == source.description.len(),
        path_dump::Entry::Destination(_) => false,
    };
    check(
        text,
        path_dump::parse(text),
        plain,
        |line, entry| matches!(path_dump::parse(line).next(), Some(Ok((_, again))) if again == *entry),
    );
}
