//! Estimate of the round-trip time of multicast requests.
use core::time::Duration;

/// The granularity of RFC 6298: the least time beyond the smoothed round-trip time in which a response is likely.
const GRANULARITY: Duration = Duration::from_millis(1);
/// The estimate before the first sample.
const FIRST: Duration = Duration::from_millis(4);

/// The estimate of RFC 6298: the smoothed round-trip time plus four times its variation, at least 1 ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RoundTrip {
    /// Smoothed round-trip time and variation.
    estimate: Option<(Duration, Duration)>,
}

impl RoundTrip {
    /// Adds the round-trip time of a request that was sent once. After a retry the time would be ambiguous, because the
    /// response may belong to either request.
    pub(crate) fn sample(&mut self, time: Duration) {
        self.estimate = Some(match self.estimate {
            None => (time, time / 2),
            Some((smoothed, variation)) => {
                let off = smoothed.abs_diff(time);
                (smoothed * 7 / 8 + time / 8, variation * 3 / 4 + off / 4)
            }
        });
    }

    /// Reports whether there was a sample.
    pub(crate) const fn is_known(&self) -> bool {
        self.estimate.is_some()
    }

    /// Returns the time within which a response is likely, between `least` and `longest`.
    pub(crate) fn likely(&self, least: Duration, longest: Duration) -> Duration {
        let likely = self.estimate.map_or(FIRST, |(smoothed, variation)| smoothed + (variation * 4).max(GRANULARITY));
        likely.max(least).min(longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimate_follows_rfc_6298() {
        let ms = Duration::from_millis;
        let mut trip = RoundTrip::default();
        assert_eq!(trip.likely(ms(3), ms(2000)), ms(4));
        trip.sample(ms(80));
        assert_eq!(trip.likely(ms(3), ms(2000)), ms(80 + 4 * 40));
        trip.sample(ms(160));
        // Smoothed 90, variation 50.
        assert_eq!(trip.likely(ms(3), ms(2000)), ms(290));
        assert_eq!(trip.likely(ms(3), ms(100)), ms(100));
        (0..200).for_each(|_| trip.sample(Duration::from_micros(20)));
        assert_eq!(trip.likely(Duration::ZERO, ms(2000)).as_micros(), 1020);
        assert_eq!(trip.likely(ms(3), ms(2000)), ms(3));
    }
}
