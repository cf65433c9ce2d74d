//! The one place where a clock is read.
use acm_sansio::Time;
use std::time::Instant;

/// Time since the engine started, for the core.
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
}
