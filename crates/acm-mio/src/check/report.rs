//! The report: one line for each finding, with its result and advice.
use crate::output::Outcome;
use core::fmt::{self, Display};
use serde::Serialize;

/// Result of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    /// The prerequisite is met.
    Ok,
    /// The daemon would run, but a part of its service would be missing.
    Warn,
    /// The daemon would run, but would not apply a file at SIGHUP.
    Reload,
    /// The daemon would not run, or would serve no real device.
    Fail,
}

impl Verdict {
    /// Returns the outcome of a report whose worst result is this one.
    pub(super) const fn outcome(self) -> Outcome {
        match self {
            // The daemon would run.
            Self::Ok | Self::Warn => Outcome::Good,
            Self::Fail => Outcome::Bad,
            Self::Reload => Outcome::Degraded,
        }
    }
}

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) verdict: Verdict,
    pub(super) what: String,
    /// Advice to the administrator; empty if nothing is to be done.
    pub(super) advice: String,
}

impl Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            Verdict::Ok => "ok",
            Verdict::Warn => "warn",
            // Each line because of which the exit code is not 0.
            Verdict::Reload | Verdict::Fail => "FAIL",
        };
        write!(f, "{verdict} {}", self.what)?;
        if self.advice.is_empty() { Ok(()) } else { write!(f, ": {}", self.advice) }
    }
}

/// The findings so far.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) findings: Vec<Finding>,
}

impl Report {
    pub(super) fn ok(&mut self, what: impl Into<String>) {
        self.add(Verdict::Ok, what, "");
    }
    pub(super) fn warn(&mut self, what: impl Into<String>, advice: impl Into<String>) {
        self.add(Verdict::Warn, what, advice);
    }
    pub(super) fn reload(&mut self, what: impl Into<String>, advice: impl Into<String>) {
        self.add(Verdict::Reload, what, advice);
    }
    pub(super) fn fail(&mut self, what: impl Into<String>, advice: impl Into<String>) {
        self.add(Verdict::Fail, what, advice);
    }
    fn add(&mut self, verdict: Verdict, what: impl Into<String>, advice: impl Into<String>) {
        self.findings.push(Finding { verdict, what: what.into(), advice: advice.into() });
    }

    /// Returns the result of all checks in a line.
    pub(super) fn summary(&self) -> String {
        let count = |wanted| self.findings.iter().filter(|finding| finding.verdict == wanted).count();
        let (ok, warn, fail) =
            (count(Verdict::Ok), count(Verdict::Warn), count(Verdict::Reload) + count(Verdict::Fail));
        let result = match self.worst() {
            Verdict::Ok => "the daemon would serve",
            Verdict::Warn => "the daemon would serve, and something would be missing",
            Verdict::Reload => "the daemon would serve, and a reload would fail",
            Verdict::Fail => "the daemon would not serve",
        };
        format!("{result}: {ok} ok, {warn} warn, {fail} FAIL")
    }

    pub(super) fn worst(&self) -> Verdict {
        self.findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Ok)
    }
}

#[cfg(test)]
impl Report {
    /// Returns the findings of a check.
    pub(super) fn of(check: impl FnOnce(&mut Self)) -> Self {
        let mut report = Self::default();
        check(&mut report);
        report
    }

    pub(super) fn verdicts(&self) -> Vec<Verdict> {
        self.findings.iter().map(|finding| finding.verdict).collect()
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.findings.iter().map(Finding::to_string).collect()
    }

    /// Returns each finding without its advice, with paths in a directory as if it were the root.
    pub(super) fn findings_in(&self, dir: &std::path::Path) -> Vec<(Verdict, String)> {
        let text = |what: &str| what.replace(&dir.display().to_string(), "");
        self.findings.iter().map(|finding| (finding.verdict, text(&finding.what))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_has_verdict_finding_and_advice() {
        let mut report = Report::default();
        assert_eq!(report.worst(), Verdict::Ok);
        report.ok("a");
        report.fail("b", "do c");
        report.warn("d", "do e");
        report.reload("f", "do g");
        let lines = report.lines();
        let json = serde_json::to_string(&report.findings).unwrap();
        assert!(
            json.starts_with(r#"[{"verdict":"ok","what":"a","advice":""},{"verdict":"fail","what":"b","#),
            "{json}"
        );
        assert!(json.contains(r#""verdict":"warn""#) && json.contains(r#""verdict":"reload""#), "{json}");
        assert_eq!(lines, ["ok a", "FAIL b: do c", "warn d: do e", "FAIL f: do g"]);
        assert_eq!(report.worst(), Verdict::Fail);
        let verdicts = [Verdict::Ok, Verdict::Warn, Verdict::Reload, Verdict::Fail];
        assert!(verdicts.is_sorted());
        let outcomes = [Outcome::Good, Outcome::Good, Outcome::Degraded, Outcome::Bad];
        assert_eq!(verdicts.map(Verdict::outcome), outcomes);
        assert_eq!(report.summary(), "the daemon would not serve: 1 ok, 1 warn, 2 FAIL");
    }
}
