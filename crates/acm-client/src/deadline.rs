//! Deadlines. This is the only module that reads the clock.
use core::time::Duration;
use std::time::Instant;

/// A deadline; `None` means no deadline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// Returns the deadline that is `time` from now.
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    pub(crate) fn after(time: Option<Duration>) -> Self {
        Self(time.and_then(|time| Instant::now().checked_add(time)))
    }

    /// Returns the remaining time: `Some(None)` without a deadline, `None` if the deadline has passed.
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    pub(crate) fn left(self) -> Option<Option<Duration>> {
        match self.0 {
            None => Some(None),
            Some(end) => end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()).map(Some),
        }
    }
}
