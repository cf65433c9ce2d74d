//! Durations of the iterations of the event loop: no client can be served faster than the longest of them.
use acm_sansio::Time;
use core::time::Duration;

/// Number of buckets with an upper bound: 2^0 to 2^24 microseconds, which are 16.8 s.
const BOUNDS: usize = 25;

/// A histogram of durations, from the end of a wait for events to the start of the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoopTimes {
    /// Start of the current iteration.
    begun: Option<Time>,
    counts: [u64; BOUNDS],
    /// Number of iterations beyond all bounds.
    longer: u64,
    sum: Duration,
    longest: Duration,
}

impl LoopTimes {
    /// Counts an iteration that has ended, and begins the next.
    pub(crate) fn next(&mut self, ended: Time, begun: Time) {
        let Some(before) = self.begun.replace(begun) else { return };
        let time = ended.since(before);
        // The bucket of 2^n has the durations above 2^(n-1).
        let micros = time.as_nanos().div_ceil(1000).max(1);
        let index = usize::try_from(u128::BITS - (micros - 1).leading_zeros()).unwrap_or(BOUNDS);
        *self.counts.get_mut(index).unwrap_or(&mut self.longer) += 1;
        self.sum += time;
        self.longest = self.longest.max(time);
    }

    /// Returns each bucket: its upper bound, infinite for the last, and its own count.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (Duration, u64)> {
        let bounds = (0..BOUNDS).map(|exponent| Duration::from_micros(1 << exponent));
        bounds.chain([Duration::MAX]).zip(self.counts.into_iter().chain([self.longer]))
    }

    /// Returns the number of iterations.
    pub(crate) fn total(&self) -> u64 {
        self.counts.iter().sum::<u64>() + self.longer
    }

    /// Returns the sum of all durations.
    pub(crate) const fn sum(&self) -> Duration {
        self.sum
    }

    /// Returns the longest duration.
    pub(crate) const fn longest(&self) -> Duration {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_are_counted_in_powers_of_two() {
        let mut turns = LoopTimes::default();
        let mut now = Time::ZERO;
        turns.next(now, now);
        assert_eq!(turns.total(), 0, "the first has not ended");
        for nanos in [0, 1000, 1001, 2000, 2001, 16_777_216_000, 16_777_216_001] {
            let ended = now + Duration::from_nanos(nanos);
            now = ended + Duration::from_secs(9);
            turns.next(ended, now);
        }
        let counts: Vec<u64> = turns.buckets().map(|(_, count)| count).collect();
        assert_eq!((counts[..4].to_vec(), counts[24..].to_vec()), (vec![2, 2, 1, 0], vec![1, 1]));
        assert_eq!(turns.buckets().map(|(bound, _)| bound).nth(24), Some(Duration::from_micros(16_777_216)));
        let sum = Duration::from_nanos(1000 + 1001 + 2000 + 2001 + 16_777_216_000 + 16_777_216_001);
        assert_eq!((turns.total(), turns.sum(), turns.longest()), (7, sum, Duration::from_nanos(16_777_216_001)));
    }
}
