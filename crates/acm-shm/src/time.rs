//! The clock. No other file reads a clock.
use core::{ops::Add, time::Duration};
use nix::time::{ClockId, clock_gettime};

/// `CLOCK_MONOTONIC_COARSE` (linux/time.h).
pub(crate) const CLOCK: u64 = 6;

/// A time of `CLOCK_MONOTONIC_COARSE`, in nanoseconds. The clock advances in steps of up to 10 ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(u64);

impl Time {
    /// Returns the time of a number of nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns the number of nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Reads the clock, without a system call.
    #[must_use]
    #[inline]
    pub fn now() -> Self {
        let part = |number: i64| u64::try_from(number).unwrap_or(0);
        // The clock exists on every Linux. At time 0, no mapping is in use.
        let now = clock_gettime(ClockId::CLOCK_MONOTONIC_COARSE);
        now.map_or(Self(0), |now| {
            Self(part(now.tv_sec()).saturating_mul(1_000_000_000).saturating_add(part(now.tv_nsec())))
        })
    }
}

impl Add<Duration> for Time {
    type Output = Self;
    /// Returns the later time, or the last time there is.
    fn add(self, after: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(after.as_nanos()).unwrap_or(u64::MAX)))
    }
}
