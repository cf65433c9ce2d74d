//! Deadlines. This is the only module that reads the clock.
use core::time::Duration;
use std::time::Instant;

/// Returns the current time.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// A deadline; `None` means no deadline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// Returns the deadline that is `time` from now.
    pub(crate) fn after(time: Option<Duration>) -> Self {
        Self(time.and_then(|time| now().checked_add(time)))
    }

    /// Returns this deadline, or `other` if that is earlier.
    pub(crate) fn or_earlier(self, other: Option<Instant>) -> Self {
        Self(self.0.into_iter().chain(other).min())
    }

    /// Returns the remaining time: `Some(None)` without a deadline, `None` if the deadline has passed.
    pub(crate) fn left(self) -> Option<Option<Duration>> {
        match self.0 {
            None => Some(None),
            Some(end) => end.checked_duration_since(now()).filter(|left| !left.is_zero()).map(Some),
        }
    }
}
