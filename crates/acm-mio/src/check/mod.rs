//! `--check`: whether this machine has what the daemon needs, and what to do where it has not.
mod devices;
mod host;

use crate::{cli::Args, settings::Settings};
use core::fmt::{self, Display};
use ib_device::sysfs::Sysfs;
use std::path::PathBuf;

/// How a prerequisite stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// As it should be.
    Ok,
    /// The daemon runs, with something missing.
    Warn,
    /// The daemon does not run, or serves no real device.
    Fail,
}

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) verdict: Verdict,
    pub(crate) what: String,
    /// What to do; empty where there is nothing to do.
    pub(crate) advice: String,
}

impl Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            Verdict::Ok => "ok",
            Verdict::Warn => "warn",
            Verdict::Fail => "FAIL",
        };
        write!(f, "{verdict} {}", self.what)?;
        if self.advice.is_empty() { Ok(()) } else { write!(f, ": {}", self.advice) }
    }
}

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) findings: Vec<Finding>,
}

impl Report {
    fn ok(&mut self, what: impl Into<String>) {
        self.add(Verdict::Ok, what, "");
    }
    fn warn(&mut self, what: impl Into<String>, advice: impl Into<String>) {
        self.add(Verdict::Warn, what, advice);
    }
    fn fail(&mut self, what: impl Into<String>, advice: impl Into<String>) {
        self.add(Verdict::Fail, what, advice);
    }
    fn add(&mut self, verdict: Verdict, what: impl Into<String>, advice: impl Into<String>) {
        self.findings.push(Finding { verdict, what: what.into(), advice: advice.into() });
    }
    fn worst(&self) -> Verdict {
        self.findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Ok)
    }
}

/// Where to look.
#[derive(Debug)]
struct Places {
    /// `/sys/class`.
    class: PathBuf,
    /// `/dev/infiniband`.
    dev: PathBuf,
    /// `/proc/self/status`.
    status: PathBuf,
}

impl Default for Places {
    fn default() -> Self {
        Self { class: "/sys/class".into(), dev: "/dev/infiniband".into(), status: "/proc/self/status".into() }
    }
}

impl Places {
    fn sysfs(&self) -> Sysfs {
        Sysfs::new(&self.class, &self.dev)
    }
}

/// Checks everything and prints a line each; whether the daemon would run and serve real devices.
pub(crate) fn run(args: &Args) -> bool {
    let (places, settings) = (Places::default(), Settings::read(args));
    let mut report = Report::default();
    devices::modules(&places, &mut report);
    devices::devices(&places, &mut report);
    host::privileges(&places, &mut report);
    host::kernel(&mut report);
    host::run_dir(&args.run_dir, &mut report);
    host::files(&settings, &mut report);
    host::other_daemon(&settings.lock_file(&args.run_dir), &mut report);
    for finding in &report.findings {
        println!("{finding}");
    }
    report.worst() < Verdict::Fail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_to_do_if_there_is_something_to_do() {
        let mut report = Report::default();
        assert_eq!(report.worst(), Verdict::Ok);
        report.ok("a");
        report.fail("b", "do c");
        report.warn("d", "do e");
        let lines: Vec<String> = report.findings.iter().map(Finding::to_string).collect();
        assert_eq!(lines, ["ok a", "FAIL b: do c", "warn d: do e"]);
        assert_eq!(report.worst(), Verdict::Fail);
    }
}
