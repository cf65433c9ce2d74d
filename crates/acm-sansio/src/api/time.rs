//! The core's type for instants.
use core::{fmt, ops::Add, time::Duration};

/// An instant in nanoseconds since a start that the caller chose. Only differences are significant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

impl Time {
    /// The start.
    pub const ZERO: Self = Self(0);

    /// Creates the instant this many nanoseconds after the start.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns the nanoseconds since the start.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the time since the start.
    #[must_use]
    pub const fn since_start(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// Returns the time since an earlier instant, or zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Time {
    type Output = Self;
    /// Saturates at the end (584 years).
    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09}s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}
impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn time_is_displayed_in_seconds() {
        let time = Time::from_nanos(3_000_000_042);
        assert_eq!(format!("{time} {time:?}"), "3.000000042s 3.000000042s");
    }

    #[test]
    fn time_counts_from_the_start_and_saturates() {
        let (early, late) = (Time::from_nanos(3), Time::ZERO + Duration::from_nanos(10));
        assert_eq!((early.as_nanos(), late.as_nanos(), late.since_start()), (3, 10, Duration::from_nanos(10)));
        assert_eq!((late.since(early), early.since(late)), (Duration::from_nanos(7), Duration::ZERO));
        assert_eq!(late + Duration::MAX, Time::from_nanos(u64::MAX));
    }
}
