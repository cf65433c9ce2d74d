//! The history of a cached path, for administrators. No decision depends on it.
use crate::api::{PathOrigin, PathUse, Time, account::Account};

/// The source of a path, and its last confirmation and use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct History {
    pub(crate) origin: PathOrigin,
    pub(crate) found: Time,
    pub(crate) confirmed: Time,
    /// Number of requests that got the path.
    pub(crate) uses: u32,
    pub(crate) last_use: Option<PathUse>,
}

impl History {
    /// Creates the history of a path that is found now.
    pub(crate) const fn new(origin: PathOrigin, now: Time) -> Self {
        Self { origin, found: now, confirmed: now, uses: 0, last_use: None }
    }

    /// Records that a request of an account got the path.
    pub(crate) const fn used(&mut self, at: Time, account: Account) {
        self.uses = self.uses.saturating_add(1);
        self.last_use = Some(PathUse { at, account });
    }

    /// Records that the path was confirmed, or replaced by a new one from the same or another source.
    pub(crate) const fn confirmed(&mut self, origin: PathOrigin, now: Time) {
        self.origin = origin;
        self.confirmed = now;
    }
}
