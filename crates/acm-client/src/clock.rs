//! The one place where the clock is read: how long to wait yet.
use core::time::Duration;
use std::time::Instant;

/// An end of waiting; without one, for ever.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// In so long from now.
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    pub(crate) fn after(time: Option<Duration>) -> Self {
        Self(time.and_then(|time| Instant::now().checked_add(time)))
    }

    /// What is left: `Some(None)` for ever, `None` if it is over.
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    pub(crate) fn left(self) -> Option<Option<Duration>> {
        match self.0 {
            None => Some(None),
            Some(end) => end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()).map(Some),
        }
    }
}
