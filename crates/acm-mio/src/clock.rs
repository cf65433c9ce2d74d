//! The clock. No other file reads a clock.
use acm_sansio::Time;
use core::time::Duration;
use std::time::{Instant, SystemTime};

/// Time since the start of the daemon, for the core.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
}

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    pub(crate) fn start() -> Self {
        Self { start: Instant::now() }
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    pub(crate) fn now(self) -> Time {
        Time::ZERO + Instant::now().duration_since(self.start)
    }

    /// Returns the time from 1970 to the zero of this clock, as the system's date and time is now.
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    pub(crate) fn epoch(self) -> Duration {
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        since_1970.saturating_sub(self.now().since(Time::ZERO))
    }
}

#[cfg(test)]
impl Clock {
    /// Returns the clock of a daemon that was started so much earlier.
    pub(crate) fn moved(self, time: Duration) -> Self {
        Self { start: self.start - time }
    }
}

/// Returns the local date and time with its zone: `2026-01-31T12:34:56.789+01:00`.
pub(crate) fn log_time() -> impl core::fmt::Display {
    jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S.%3f%:z").to_string()
}
