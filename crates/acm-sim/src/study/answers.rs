//! The ranks of a job, and the responses that they get.
use super::{Report, lab::latencies};
use core::time::Duration;

/// Ranks of a node.
pub(super) const RANKS: u32 = 4;

/// The responses to all ranks.
#[derive(Debug, Default)]
pub(super) struct Answers {
    times: Vec<Duration>,
    failed: u64,
    last: Duration,
}

impl Answers {
    pub(super) fn add(&mut self, latency: Duration, since_start: Duration, is_ok: bool) {
        self.times.push(latency);
        self.failed += u64::from(!is_ok);
        self.last = since_start;
    }

    pub(super) fn report(self, report: &mut Report, event: &str) {
        report.count(format!("{event}: requests"), self.times.len() as u64);
        report.count(format!("{event}: failed requests"), self.failed);
        report.seconds(&format!("{event}: last answer after"), self.last);
        latencies(report, &format!("{event}: answer"), self.times);
    }
}
