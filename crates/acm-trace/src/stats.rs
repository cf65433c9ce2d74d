//! Counts and durations of a trace.
use crate::{
    Kind, Phase, Spans, encode,
    fact::{Entry, Fact},
};
use core::{fmt, time::Duration};
use std::collections::BTreeMap;

/// Counts of facts by kind, and durations by phase.
#[derive(Debug, Default)]
pub struct Stats {
    counts: BTreeMap<Kind, u64>,
    took: BTreeMap<Phase, Vec<Duration>>,
    spans: Spans,
}

impl Stats {
    /// Adds an entry.
    pub fn add(&mut self, entry: &Entry) {
        let (kind, count) = match entry {
            Entry::Start(_) => (Kind::Start, 1),
            Entry::Note(_) => return,
            Entry::Fact(dated) => match &dated.fact {
                Fact::Input(input) => (input.kind(), 1),
                Fact::Timeout(_) => (Kind::Timeout, 1),
                Fact::Output(output) => (encode::kind_of_output(output), 1),
                Fact::Lost(count) => (Kind::Lost, *count),
                Fact::Crossing(crossing) => (crossing.kind(), 1),
                Fact::End => (Kind::End, 1),
            },
        };
        *self.counts.entry(kind).or_default() += count;
        if let Some(span) = self.spans.add(entry) {
            self.took.entry(span.phase).or_default().push(span.took());
        }
    }

    /// Returns the number of facts of each kind.
    pub fn counts(&self) -> impl Iterator<Item = (Kind, u64)> {
        self.counts.iter().map(|(kind, count)| (*kind, *count))
    }

    /// Returns the number of spans of a phase.
    #[must_use]
    pub fn measured(&self, phase: Phase) -> usize {
        self.took.get(&phase).map_or(0, Vec::len)
    }

    /// Returns the duration that `percent` percent of the spans do not exceed; `None` without spans.
    #[must_use]
    pub fn percentile(&self, phase: Phase, percent: u8) -> Option<Duration> {
        let mut all = self.took.get(&phase)?.clone();
        all.sort_unstable();
        let index = (all.len() * usize::from(percent.min(100))).div_ceil(100).saturating_sub(1);
        all.get(index).copied()
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:26} {:>8}", "what", "count")?;
        for (kind, count) in self.counts() {
            writeln!(f, "{kind:26} {count:>8}")?;
        }
        writeln!(f, "\n{:26} {:>8} {:>12} {:>12} {:>12} {:>12}", "phase", "count", "50 %", "90 %", "99 %", "longest")?;
        for (phase, all) in &self.took {
            write!(f, "{phase:26} {:>8}", all.len())?;
            for percent in [50, 90, 99, 100] {
                let time = self.percentile(*phase, percent).unwrap_or_default();
                write!(f, " {:>12}", format!("{time:?}"))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentile_is_the_smallest_duration_that_so_many_do_not_exceed() {
        let percentiles = |count: u64| {
            let mut stats = Stats::default();
            stats.took.insert(Phase::Sa, (1..=count).rev().map(Duration::from_millis).collect());
            [0, 50, 90, 99, 100, 200].map(|percent| stats.percentile(Phase::Sa, percent).unwrap().as_millis())
        };
        assert_eq!(percentiles(1), [1; 6]);
        assert_eq!(percentiles(3), [1, 2, 3, 3, 3, 3]);
        assert_eq!(percentiles(100), [1, 50, 90, 99, 100, 100]);
        assert_eq!(Stats::default().percentile(Phase::Sa, 50), None);
    }
}
