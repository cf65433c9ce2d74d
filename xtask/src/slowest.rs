//! Which test took longest, from what the stable test runner says and when it says it.
//!
//! A test program says how long all of it took, and when each test ends. It begins with as many tests as it has threads,
//! in the order of their names, and begins the next when one ends: so it is known when each began. A program whose tests
//! write between those lines may hide an end, and then its tests seem longer than they are; its own time is right.
use crate::stopwatch::Stopwatch;
use core::{cmp::Reverse, fmt, time::Duration};

/// How many programs and tests are named.
const SHOWN: usize = 8;

/// What has been said until now, line by line.
#[derive(Debug)]
pub(crate) struct Slowest {
    /// How many tests of a program run at a time.
    threads: usize,
    program: String,
    began: Duration,
    /// Tests of `program` and when they ended, in that order.
    ended: Vec<(String, Duration)>,
    programs: Vec<(String, Duration)>,
    tests: Vec<(String, Duration)>,
}

impl Slowest {
    pub(crate) const fn new(threads: usize) -> Self {
        Self {
            threads,
            program: String::new(),
            began: Duration::ZERO,
            ended: Vec::new(),
            programs: Vec::new(),
            tests: Vec::new(),
        }
    }

    /// Takes note of a line that came now.
    pub(crate) fn handle_line(&mut self, line: &str, watch: Stopwatch) {
        self.line_at(line, watch.elapsed());
    }

    fn line_at(&mut self, line: &str, now: Duration) {
        if let Some(program) = begins(line) {
            self.program = program;
        } else if line.starts_with("running ") {
            self.began = now;
            self.ended.clear();
        } else if let Some(test) = ends(line) {
            self.ended.push((test.to_owned(), now));
        } else if line.starts_with("test result: ") {
            let took = finished_in(line).unwrap_or_else(|| now.saturating_sub(self.began));
            self.programs.push((self.program.clone(), took));
            let each = each(self.began, &self.ended, self.threads);
            self.tests.extend(each.into_iter().map(|(test, took)| (format!("{} {test}", self.program), took)));
            self.ended.clear();
        }
    }
}

/// Whether the line is the first of another test program's, or cargo's own, so that nothing more comes of the one before.
pub(crate) fn begins(line: &str) -> Option<String> {
    let line = line.trim_start();
    if let Some(package) = line.strip_prefix("Doc-tests ") {
        return Some(format!("{package} documentation"));
    }
    // `Running tests/loss.rs (target/debug/deps/loss-0123456789abcdef)`: two packages may have a file of that name.
    let (source, program) = line.strip_prefix("Running ")?.split_once(" (")?;
    let program = program.trim_end_matches(')').rsplit('/').next()?;
    let name = program.rsplit_once('-').map_or(program, |(name, _)| name);
    Some(format!("{name} {}", source.trim_start_matches("unittests ")))
}

/// The test whose end the line is.
fn ends(line: &str) -> Option<&str> {
    let (test, outcome) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let over = ["ok", "FAILED", "ignored"].iter().any(|word| outcome.starts_with(word));
    over.then(|| test.trim_end_matches(" - should panic"))
}

fn finished_in(line: &str) -> Option<Duration> {
    let seconds = line.rsplit_once("finished in ")?.1.trim_end().strip_suffix('s')?;
    Duration::try_from_secs_f64(seconds.parse().ok()?).ok()
}

/// How long each test took, if `threads` of them run at a time, begun in the order of their names.
fn each(began: Duration, ended: &[(String, Duration)], threads: usize) -> Vec<(String, Duration)> {
    let mut by_name: Vec<_> = ended.iter().collect();
    by_name.sort();
    let begin = |place: usize| {
        let before = place.checked_sub(threads).and_then(|before| ended.get(before));
        before.map_or(began, |(_, when)| *when)
    };
    let took = by_name.iter().enumerate().map(|(place, (name, end))| (name.clone(), end.saturating_sub(begin(place))));
    took.collect()
}

impl fmt::Display for Slowest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Duration = self.programs.iter().map(|(_, took)| took).sum();
        writeln!(f, "  {:7.1} s  all {} test programs", all.as_secs_f64(), self.programs.len())?;
        for (what, list) in [("program", &self.programs), ("test", &self.tests)] {
            let mut list: Vec<_> = list.iter().collect();
            list.sort_by_key(|(_, took)| Reverse(*took));
            for (name, took) in list.iter().take(SHOWN) {
                writeln!(f, "  {:7.1} s  {what} {name}", took.as_secs_f64())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &[(&str, u64)] = &[
        ("     Running tests/loss.rs (target/debug/deps/loss-0123456789abcdef)", 0),
        ("", 0),
        ("running 4 tests", 0),
        ("test b ... ok", 1),
        ("test c - should panic ... ok", 2),
        ("test d ... ignored, takes long", 2),
        ("test a ... FAILED", 6),
        ("", 6),
        ("test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 6.02s", 6),
        ("   Doc-tests ib_mad", 9),
        ("running 1 test", 9),
        ("test crates/x.rs - x (line 3) ... ok", 9),
        ("test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.50s", 10),
    ];

    fn said(threads: usize) -> Slowest {
        let mut slowest = Slowest::new(threads);
        SAID.iter().for_each(|(line, at)| slowest.line_at(line, Duration::from_secs(*at)));
        slowest
    }

    #[test]
    fn programs_have_their_own_time() {
        let list = said(2).programs;
        let seconds = |ms| Duration::from_millis(ms);
        assert_eq!(list, [("loss tests/loss.rs".into(), seconds(6020)), ("ib_mad documentation".into(), seconds(500))]);
    }

    #[test]
    fn a_test_begins_when_another_has_ended() {
        let took = |threads| {
            let tests = said(threads).tests;
            tests.iter().take(4).map(|(_, took)| took.as_secs()).collect::<Vec<_>>()
        };
        // a and b begin at once; c when b has ended, d when c has.
        assert_eq!(took(2), [6, 1, 1, 0]);
        assert_eq!(took(4), [6, 1, 2, 2]);
    }

    #[test]
    fn the_longest_are_first() {
        let shown = said(2).to_string();
        let lines: Vec<_> = shown.lines().map(str::trim).collect();
        assert_eq!(lines[0], "6.5 s  all 2 test programs");
        assert_eq!(lines[1], "6.0 s  program loss tests/loss.rs");
        assert_eq!(lines[3], "6.0 s  test loss tests/loss.rs a");
    }

    #[test]
    fn other_lines_are_no_tests() {
        assert_eq!(ends("test a has been running for over 60 seconds"), None);
        assert_eq!(begins("     Running `target/debug/xtask test`"), None);
        assert_eq!(
            begins("     Running unittests src/lib.rs (target/debug/deps/ib_mad-00)").unwrap(),
            "ib_mad src/lib.rs"
        );
    }
}
