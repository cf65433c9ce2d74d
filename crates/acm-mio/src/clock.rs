//! The one place where a clock is read.
use acm_sansio::Time;
use std::time::Instant;

/// Time since the daemon started, for the core.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
}

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "this is the place")]
    pub(crate) fn start() -> Self {
        Self { start: Instant::now() }
    }

    #[expect(clippy::disallowed_methods, reason = "this is the place")]
    pub(crate) fn now(self) -> Time {
        Time::ZERO + Instant::now().duration_since(self.start)
    }
}

/// The local date and time as ibacm's log has it: `2026-01-31T12:34:56.789`.
pub(crate) fn log_time() -> impl core::fmt::Display {
    jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S.%3f").to_string()
}
