//! Bodies of fuzz targets: whatever the bytes, the parsers end, agree with what they wrote, and place their faults.
use super::{LineError, Location, addr, hosts, opts, path_dump};
use core::fmt::{self, Write};

/// Room for the line that a value writes; lines that are longer are not compared.
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

fn check_place(text: &[u8], place: Location) {
    let lines = text.split(|byte| *byte == b'\n').count();
    assert!(place.line >= 1 && usize::try_from(place.line).is_ok_and(|line| line <= lines), "{place}");
    assert!(place.column >= 1 && usize::try_from(place.column).is_ok_and(|column| column <= text.len() + 1), "{place}");
}

/// Every line has one result, each with a place in the text; what is `comparable` reads the same from what it writes.
fn check<T: fmt::Display>(
    text: &[u8],
    entries: impl Iterator<Item = Result<(Location, T), LineError>>,
    comparable: impl Fn(&T) -> bool,
    reads_as: impl Fn(&[u8], &T) -> bool,
) {
    let mut last = 0;
    for entry in entries {
        let place = match &entry {
            Ok((place, _)) => *place,
            Err(error) => error.location(),
        };
        check_place(text, place);
        assert!(place.line > last, "two results for one line");
        last = place.line;
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

/// Reads the text as a path dump: at once, and by sections.
pub(crate) fn path_dump(text: &[u8]) {
    let mut all = path_dump::parse(text);
    path_dump::Sections::default().read(text, |_| true, |found| assert_eq!(Some(found), all.next()));
    assert_eq!(all.next(), None);
    // What is escaped in a description stays so.
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
