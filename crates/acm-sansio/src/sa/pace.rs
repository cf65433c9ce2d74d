//! The pace of a port's renewals: path queries that no account waits for, because the old path is served meanwhile.
//!
//! After a change that every node learns of, the first renewal starts at a random time, and the interval to the next
//! one is long at first. It shrinks with each response as long as the subnet administrator (SA) is as fast as in calm
//! times, and doubles when it is slower. The shortest interval grows with the fabric, so that the renewals of all nodes
//! take a tenth of an SA that answers in 20 us. One renewal of a port is in flight at a time.
use crate::{
    api::Time,
    retry::{self, JOIN_SPREAD, NOTICES_SPREAD, RENEW, RENEW_INTERVAL, RENEW_SPREAD},
};
use core::time::Duration;

/// The interval shrinks by one part in this many with each response.
const SHRINK: u32 = 4;
/// The same after the SA was slow, for as long as the storm lasts.
const SHRINK_CAREFULLY: u32 = 16;
/// A response is slow if it takes this many times the calm latency, and at least this long.
const SLOW_FACTOR: u32 = 2;
const SLOW: Duration = Duration::from_micros(100);
/// The interval doubles after this many slow responses in a row, because single ones are noise.
const SLOW_RESPONSES: u32 = 2;

/// The pace of the renewals of a port.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacer {
    /// The time before which no renewal starts.
    next: Time,
    /// The time between two renewals; zero stands for the shortest.
    interval: Duration,
    /// `true` if the SA was slow since the last storm began.
    careful: bool,
    /// Number of slow responses in a row.
    slow: u32,
    /// Number of failed renewals in a row.
    failures: u32,
    calm: CalmLatency,
}

impl Pacer {
    /// Returns the time before which no renewal starts.
    pub(crate) const fn next(&self) -> Time {
        self.next
    }

    /// Handles a change that every node learns of. The joins and subscriptions of all nodes go first.
    pub(crate) fn storm(&mut self, now: Time, ports: u32, random: u64) {
        let others = JOIN_SPREAD.below(ports) + NOTICES_SPREAD.below(ports);
        self.next = now + others + retry::spread(RENEW_SPREAD.below(ports), random);
        self.interval = RENEW_SPREAD.below(ports);
        (self.careful, self.slow, self.failures) = (false, 0, 0);
    }

    /// Records that a renewal starts, or has to wait for its turn.
    pub(crate) fn started(&mut self, now: Time, ports: u32, random: u64) {
        self.next = now + retry::jitter(self.interval.max(RENEW_INTERVAL.below(ports)), random);
    }

    /// Records the response to a path query, which may be a renewal.
    pub(crate) fn response(&mut self, latency: Duration, is_renewal: bool, ports: u32) {
        let is_slow = self.calm.get().is_some_and(|calm| latency > (calm * SLOW_FACTOR).max(SLOW));
        self.calm.count(latency);
        if !is_renewal {
            return;
        }
        self.failures = 0;
        self.slow = if is_slow { self.slow + 1 } else { 0 };
        if self.slow >= SLOW_RESPONSES {
            self.slow = 0;
            self.careful = true;
            let interval = self.interval.max(RENEW_INTERVAL.below(ports));
            self.interval = (interval * 2).min(RENEW_SPREAD.below(ports));
        } else if !is_slow {
            self.interval -= self.interval / if self.careful { SHRINK_CAREFULLY } else { SHRINK };
        }
    }

    /// Records that the SA was busy or did not respond to a renewal.
    pub(crate) fn failed(&mut self, now: Time, ports: u32, random: u64) {
        self.failures = self.failures.saturating_add(1);
        self.careful = true;
        self.interval = RENEW_SPREAD.below(ports);
        self.next = now + retry::jitter(RENEW.pause(self.failures), random);
    }
}

/// The number of responses of which the mean is taken.
const BATCH: u32 = 8;
/// The calm latency grows by one part in this many with each batch, so that an SA that is slower for good is calm, too.
const CREEP: u32 = 64;

/// The latency of the SA in calm times: the smallest mean of a batch of responses.
#[derive(Clone, Copy, Debug, Default)]
struct CalmLatency {
    smallest: Option<Duration>,
    sum: Duration,
    count: u32,
}

impl CalmLatency {
    const fn get(&self) -> Option<Duration> {
        self.smallest
    }

    fn count(&mut self, latency: Duration) {
        self.sum += latency;
        self.count += 1;
        if self.count == BATCH {
            let mean = self.sum / BATCH;
            self.smallest = Some(self.smallest.map_or(mean, |smallest| (smallest + smallest / CREEP).min(mean)));
            (self.sum, self.count) = (Duration::ZERO, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const CALM: Duration = Duration::from_micros(100);

    fn calm() -> Pacer {
        let mut pacer = Pacer::default();
        (0..BATCH).for_each(|_| pacer.response(CALM, false, 50));
        pacer
    }

    /// Returns the intervals in milliseconds after responses with these latencies.
    fn intervals(pacer: &mut Pacer, ports: u32, latencies: &[Duration]) -> Vec<u128> {
        let mut interval = |latency: &Duration| {
            pacer.response(*latency, true, ports);
            pacer.interval.max(RENEW_INTERVAL.below(ports)).as_millis()
        };
        latencies.iter().map(&mut interval).collect()
    }

    #[test]
    fn first_renewal_follows_joins_and_subscriptions_at_a_random_time() {
        for (ports, after, below) in [(50, 500, 1000), (10_000, 5000, 10_000)] {
            let next = |random| {
                let mut pacer = calm();
                pacer.storm(Time::ZERO, ports, random);
                pacer.next().since_start().as_millis()
            };
            let half = below * 1_000_000 / 2;
            assert_eq!([next(0), next(half)], [after, after + u128::from(below) / 2]);
        }
    }

    #[test]
    fn interval_shrinks_to_a_minimum_that_grows_with_the_fabric() {
        for (ports, expected, least) in [(50, [750, 562, 421], 10), (10_000, [7500, 5625, 4218], 2000)] {
            let mut pacer = calm();
            pacer.storm(Time::ZERO, ports, 0);
            assert_eq!(intervals(&mut pacer, ports, &[CALM; 3]), expected);
            assert_eq!(intervals(&mut pacer, ports, &[CALM; 40]).last(), Some(&least));
        }
    }

    #[test]
    fn interval_doubles_if_the_sa_is_slow_and_shrinks_carefully_then() {
        let slow = CALM * 3;
        let mut pacer = calm();
        pacer.storm(Time::ZERO, 20, 0);
        intervals(&mut pacer, 20, &[CALM; 40]);
        assert_eq!(intervals(&mut pacer, 20, &[slow, CALM, slow, CALM]), [5; 4], "single slow responses are noise");
        assert_eq!(intervals(&mut pacer, 20, &[slow, slow, slow, slow]), [5, 10, 10, 20]);
        assert_eq!(intervals(&mut pacer, 20, &[CALM; 4]), [18, 17, 16, 15]);
        assert_eq!(intervals(&mut pacer, 20, &[slow; 20]).last(), Some(&1000), "not longer than the first interval");
    }

    #[test]
    fn renewals_pause_after_failures() {
        let mut pacer = calm();
        let mut pause = || {
            pacer.failed(Time::ZERO, 50, 0);
            pacer.next().since_start().as_millis()
        };
        assert_eq!([(); 3].map(|()| pause()), [750, 1500, 3000]);
        assert_eq!(intervals(&mut pacer, 50, &[CALM]), [937]);
        pacer.failed(Time::ZERO, 50, 0);
        assert_eq!(pacer.next().since_start().as_millis(), 750, "a response ends the failures in a row");
    }

    #[test]
    fn calm_latency_is_the_smallest_mean_and_creeps_up() {
        let mut calm = CalmLatency::default();
        let mut after = |latencies: [u64; 8]| {
            latencies.iter().for_each(|latency| calm.count(Duration::from_micros(*latency)));
            calm.get().unwrap().as_micros()
        };
        assert_eq!([after([64; 8]), after([1, 127, 64, 64, 64, 64, 64, 64]), after([640; 8])], [64, 64, 65]);
        assert_eq!(after([32; 8]), 32);
    }
}
