//! One reading of a file: its table, or why there is none, and what it says about it.
use super::{
    file::Watched,
    read::{Faults, ReadError},
};
use crate::{
    clock::Clock,
    log::{Lines, limited},
};
use core::{fmt, time::Duration};
use std::io;

/// Kinds of tables, as the log calls them.
pub(super) const ROUTES: &str = "route";
pub(super) const HOSTS: &str = "addr";

/// What reading cost, and what is wrong.
pub(super) struct Cost {
    bytes: u64,
    time: Duration,
    faults: u64,
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes in {} ms, {} lines skipped", self.bytes, self.time.as_millis(), self.faults)
    }
}

/// Reads a file, and says what is wrong with it. A file that gives no table leaves the one before.
pub(super) fn read_file<T>(
    kind: &str,
    watched: &mut Watched,
    had_one: bool,
    lines: &Lines,
    read: impl Fn(io::Take<std::fs::File>, &mut Faults) -> Result<T, ReadError>,
) -> Option<(T, Cost)> {
    let (clock, mut faults, mut bytes) = (Clock::start(), Faults::default(), 0);
    let result = watched.open().and_then(|file| {
        bytes = file.metadata()?.len();
        Ok(file)
    });
    // What is added while it is read is for the next time; and nobody reads a device for ever.
    let result = result.map_err(ReadError::Io).and_then(|file| read(io::Read::take(file, bytes), &mut faults));
    say_faults(kind, watched, &faults, lines);
    let file = watched.path.display();
    let failure: &dyn fmt::Display = match &result {
        Ok(_) if watched.is_still() => {
            let time = clock.now().since_start();
            return result.ok().map(|table| (table, Cost { bytes, time, faults: faults.count + faults.too_long }));
        }
        Ok(_) => &"it changed while it was read; tried again when it has settled",
        Err(error) => error,
    };
    let state = if had_one { "the old one stays" } else { "none loaded" };
    limited!(lines, WARN, "preload", "{kind} preload: {state}: {file}: {failure}");
    None
}

fn say_faults(kind: &str, watched: &Watched, faults: &Faults, lines: &Lines) {
    let file = watched.path.display();
    // What is mended is another file, and all that is still wrong with it is said.
    let state = watched.to_string();
    for error in &faults.said {
        limited!(lines, WARN, "preload", of state, "{file}:{}:{}: {}; the line is skipped", error.line, error.column, error.kind);
    }
    let more = faults.count.saturating_sub(faults.said.len() as u64);
    if more > 0 || faults.too_long > 0 {
        let long = faults.too_long;
        limited!(lines, WARN, "preload", of state, "{kind} preload: {file}: {more} lines more are wrong, {long} are too long");
    }
}

#[cfg(test)]
mod tests {
    use super::{super::read, *};
    use crate::log::said;
    use std::fs;

    /// What reading a hosts file says.
    fn said_of(text: &[u8]) -> String {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("hosts"), text).unwrap();
        let mut watched = Watched::new(dir.path().join("hosts"));
        said(tracing::Level::INFO, || drop(read_file(HOSTS, &mut watched, false, &Lines::default(), read::hosts)))
    }

    #[test]
    fn faults_are_said_and_beyond_a_few_counted() {
        let good = b"node2 fe80::2\n";
        assert_eq!(said_of(good), "");
        let few = said_of(&[&good[..], &b"bad\n".repeat(read::SAID)].concat());
        assert_eq!((few.matches("the line is skipped").count(), few.matches(" more are wrong").count()), (10, 0));
        let many = said_of(&[&good[..], &b"bad\n".repeat(read::SAID + 2)].concat());
        assert_eq!(many.matches("the line is skipped").count(), read::SAID);
        assert!(many.contains("hosts: 2 lines more are wrong, 0 are too long"), "{many}");
        let long = said_of(&[&good[..], &vec![b'x'; read::WINDOW + 1], b"\n"].concat());
        assert!(long.contains("hosts: 0 lines more are wrong, 1 are too long"), "{long}");
        assert!(said_of(b"bad\n").contains("addr preload: none loaded: "));
    }
}
