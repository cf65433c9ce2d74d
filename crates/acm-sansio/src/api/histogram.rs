//! Latency histograms with fixed buckets.
use core::time::Duration;

/// Upper bounds of the buckets in microseconds. One more bucket holds everything above.
pub const BOUNDS_US: [u64; 18] = [
    50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    5_000_000, 10_000_000, 60_000_000,
];
const BUCKETS: usize = BOUNDS_US.len() + 1;

/// A latency histogram of fixed size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Histogram {
    counts: [u64; BUCKETS],
    sum: Duration,
}

impl Histogram {
    /// Adds one measurement, rounded up to whole microseconds.
    pub(crate) fn count(&mut self, time: Duration) {
        let micros = u64::try_from(time.as_nanos().div_ceil(1000)).unwrap_or(u64::MAX);
        let index = BOUNDS_US.partition_point(|bound| *bound < micros);
        if let Some(count) = self.counts.get_mut(index) {
            *count += 1;
        }
        self.sum = self.sum.saturating_add(time);
    }

    /// Returns the number of measurements.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the sum of all measurements.
    #[must_use]
    pub const fn sum(&self) -> Duration {
        self.sum
    }

    /// Returns each bucket: its upper bound in microseconds (`None` for the last) and its own count.
    pub fn buckets(&self) -> impl Iterator<Item = (Option<u64>, u64)> {
        BOUNDS_US.iter().copied().map(Some).chain([None]).zip(self.counts)
    }

    /// Returns the upper bound, in microseconds, of the bucket with the percentile `hundredths` (0 to 100). Returns
    /// `None` without measurements, or if the percentile is above all bounds.
    #[must_use]
    pub fn percentile_us(&self, hundredths: u8) -> Option<u64> {
        let rank = (self.total() * u64::from(hundredths)).div_ceil(100).max(1);
        let mut seen = 0;
        self.buckets().find_map(|(end, count)| {
            seen += count;
            (seen >= rank).then_some(end)
        })?
    }
}

/// The latencies that the core measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A local user's request that could not be answered at once, until its response.
    UserRequest,
    /// A TCP peer's request that could not be answered at once, until its response.
    PeerRequest,
    /// A kernel request that could not be answered at once, until its response.
    KernelRequest,
    /// A query to the subnet administrator, from its creation until it is first sent.
    SaTurn,
    /// A query to the subnet administrator, from sending until its response.
    SaRoundTrip,
    /// A multicast request that was sent once, until its response.
    MulticastRoundTrip,
}

impl Phase {
    /// All phases.
    pub const ALL: [Self; 6] = [
        Self::UserRequest,
        Self::PeerRequest,
        Self::KernelRequest,
        Self::SaTurn,
        Self::SaRoundTrip,
        Self::MulticastRoundTrip,
    ];
}

/// One histogram per phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Latencies {
    user: Histogram,
    peer: Histogram,
    kernel: Histogram,
    sa_turn: Histogram,
    sa: Histogram,
    multicast: Histogram,
}

impl Latencies {
    /// Returns the histogram of one phase.
    #[must_use]
    pub const fn of(&self, phase: Phase) -> &Histogram {
        match phase {
            Phase::UserRequest => &self.user,
            Phase::PeerRequest => &self.peer,
            Phase::KernelRequest => &self.kernel,
            Phase::SaTurn => &self.sa_turn,
            Phase::SaRoundTrip => &self.sa,
            Phase::MulticastRoundTrip => &self.multicast,
        }
    }

    pub(crate) fn count(&mut self, phase: Phase, time: Duration) {
        match phase {
            Phase::UserRequest => &mut self.user,
            Phase::PeerRequest => &mut self.peer,
            Phase::KernelRequest => &mut self.kernel,
            Phase::SaTurn => &mut self.sa_turn,
            Phase::SaRoundTrip => &mut self.sa,
            Phase::MulticastRoundTrip => &mut self.multicast,
        }
        .count(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn measurement_is_counted_in_its_bucket() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.percentile_us(50), None);
        for micros in [0, 50, 51, 60_000_000, 60_000_001] {
            histogram.count(Duration::from_micros(micros));
        }
        histogram.count(Duration::from_nanos(50_001));
        let seen: Vec<_> = histogram.buckets().filter(|(_, count)| *count > 0).collect();
        assert_eq!(seen, [(Some(50), 2), (Some(100), 2), (Some(60_000_000), 1), (None, 1)]);
        assert_eq!((histogram.total(), histogram.percentile_us(50)), (6, Some(100)));
        assert_eq!((histogram.percentile_us(0), histogram.percentile_us(100)), (Some(50), None));
        assert_eq!(histogram.sum(), Duration::from_micros(120_000_102) + Duration::from_nanos(50_001));
    }

    #[test]
    fn each_phase_has_its_own_histogram() {
        let mut all = Latencies::default();
        for (times, phase) in (1..).zip(Phase::ALL) {
            (0..times).for_each(|_| all.count(phase, Duration::ZERO));
        }
        assert_eq!(Phase::ALL.map(|phase| all.of(phase).total()), [1, 2, 3, 4, 5, 6]);
    }
}
