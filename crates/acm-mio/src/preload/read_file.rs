//! Reads one file, and logs its faults.
use super::{
    parse::{Faults, ReadError},
    watched::Watched,
};
use crate::{
    clock::Clock,
    log::{Lines, limited},
};
use core::{fmt, time::Duration};
use std::io;

/// Kinds of files, as the log names them.
pub(super) const ROUTES: &str = "route";
pub(super) const HOSTS: &str = "addr";

/// Size and duration of a reading, and number of faults.
pub(super) struct Cost {
    bytes: u64,
    time: Duration,
    faults: u64,
}

impl Cost {
    /// Returns the problem of a file whose lines were skipped; `None` if none was.
    pub(super) fn skipped(&self, kind: &str, file: &Watched) -> Option<String> {
        let problem =
            || format!("{kind} preload: {}: {} lines are wrong and skipped", file.path.display(), self.faults);
        (self.faults > 0).then(problem)
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes in {} ms, {} lines skipped", self.bytes, self.time.as_millis(), self.faults)
    }
}

/// Reads a file, and logs its faults. The caller keeps the previous table if the file does not result in one.
///
/// # Errors
/// The reason why the file does not result in a table.
pub(super) fn read_file<T>(
    kind: &str,
    watched: &mut Watched,
    had_one: bool,
    lines: &Lines,
    read: impl Fn(io::Take<std::fs::File>, &mut Faults) -> Result<T, ReadError>,
) -> Result<(T, Cost), String> {
    let (clock, mut faults, mut bytes) = (Clock::start(), Faults::default(), 0);
    let result = watched.open().and_then(|file| {
        bytes = file.metadata()?.len();
        Ok(file)
    });
    // Only the current length is read. Bytes that are appended meanwhile belong to the next reading, and a device has
    // no end.
    let result = result.map_err(ReadError::Io).and_then(|file| read(io::Read::take(file, bytes), &mut faults));
    log_faults(kind, watched, &faults, lines);
    let file = watched.path.display();
    let failure = match result {
        Ok(table) if watched.is_still() => {
            let time = clock.now().since_start();
            return Ok((table, Cost { bytes, time, faults: faults.count + faults.too_long }));
        }
        Ok(_) => "it changed while it was read; tried again when it has settled".to_owned(),
        Err(error) => error.to_string(),
    };
    let state = if had_one { "the old one stays" } else { "none loaded" };
    let reason = format!("{kind} preload: {state}: {file}: {failure}");
    limited!(lines, WARN, "preload", "{reason}");
    Err(reason)
}

fn log_faults(kind: &str, watched: &Watched, faults: &Faults, lines: &Lines) {
    let file = watched.path.display();
    // A corrected file has another state, so that its remaining faults are logged again.
    let state = watched.to_string();
    for error in &faults.first {
        limited!(lines, WARN, "preload", of state, "{file}:{}:{}: {}; the line is skipped", error.line, error.column, error.kind);
    }
    if let Some(problem) = faults.repeated_hosts() {
        limited!(lines, WARN, "preload", of state, "{kind} preload: {file}: {problem}");
    }
    let more = faults.count.saturating_sub(faults.first.len() as u64);
    if more > 0 || faults.too_long > 0 {
        let long = faults.too_long;
        limited!(lines, WARN, "preload", of state, "{kind} preload: {file}: {more} lines more are wrong, {long} are too long");
    }
}

#[cfg(test)]
mod tests {
    use super::{super::parse, *};
    use crate::testing::captured_log;
    use std::{fs, io::Write as _};

    /// Returns the log of reading a hosts file.
    fn log_of(text: &[u8]) -> String {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("hosts"), text).unwrap();
        let mut watched = Watched::new(dir.path().join("hosts"));
        captured_log(tracing::Level::INFO, || {
            drop(read_file(HOSTS, &mut watched, false, &Lines::default(), parse::hosts));
        })
    }

    #[test]
    fn file_that_changes_while_it_is_read_gives_no_table() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hosts");
        fs::write(&path, "node2 fe80::2\n").unwrap();
        let mut watched = Watched::new(path.clone());
        for (had_one, state) in [(false, "none loaded"), (true, "the old one stays")] {
            let log = captured_log(tracing::Level::INFO, || {
                let appended = |file, faults: &mut Faults| {
                    let hosts = parse::hosts(file, faults);
                    fs::OpenOptions::new().append(true).open(&path)?.write_all(b"node3 fe80::3\n")?;
                    hosts
                };
                assert!(read_file(HOSTS, &mut watched, had_one, &Lines::default(), appended).is_err());
            });
            assert!(log.contains(&format!("addr preload: {state}: {}: it changed", path.display())), "{log}");
        }
        let Ok((hosts, _)) = read_file(HOSTS, &mut watched, true, &Lines::default(), parse::hosts) else { panic!() };
        assert_eq!(hosts.len(), 2);
    }

    #[test]
    fn first_faults_are_logged_and_further_ones_counted() {
        let good = b"node2 fe80::2\n";
        assert_eq!(log_of(good), "");
        let few = log_of(&[&good[..], &b"bad\n".repeat(parse::KEPT_FAULTS)].concat());
        assert_eq!((few.matches("the line is skipped").count(), few.matches(" more are wrong").count()), (10, 0));
        let many = log_of(&[&good[..], &b"bad\n".repeat(parse::KEPT_FAULTS + 2)].concat());
        assert_eq!(many.matches("the line is skipped").count(), parse::KEPT_FAULTS);
        assert!(many.contains("hosts: 2 lines more are wrong, 0 are too long"), "{many}");
        let twice = log_of(b"node2 fe80::2\nNODE2 fe80::3\nnode4 fe80::4\nnode4 fe80::4\n");
        assert!(twice.contains("hosts: 1 addresses are there again with another GID; the last line counts"), "{twice}");
        let long = log_of(&[&good[..], &vec![b'x'; parse::WINDOW + 1], b"\n"].concat());
        assert!(long.contains("hosts: 0 lines more are wrong, 1 are too long"), "{long}");
        assert!(log_of(b"bad\n").contains("addr preload: none loaded: "));
    }
}
