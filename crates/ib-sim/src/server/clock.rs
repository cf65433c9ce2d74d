//! The server's clock.
use core::time::Duration;
use std::time::Instant;

/// Time since the server's start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock(Instant);

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "the only place of this crate that reads the clock")]
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    pub(super) fn now(&self) -> Duration {
        self.0.elapsed()
    }
}
