//! Waiting for something, but not for ever.
use core::time::Duration;
use std::{thread, time::Instant};

/// How long anything may take that should happen soon: much more than it needs, for machines that are busy.
pub const LIMIT: Duration = Duration::from_secs(30);

/// How often a condition is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// Looks until there is something, at most for [`LIMIT`]; `what` is for the message when there is nothing.
pub fn until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    within(LIMIT, look).unwrap_or_else(|| panic!("nothing after {LIMIT:?}: {what}"))
}

/// Looks until there is something, at most for `limit`.
#[expect(clippy::disallowed_methods, reason = "real processes are waited for in real time")]
pub(crate) fn within<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        let late = start.elapsed() > limit;
        if let Some(found) = look() {
            return Some(found);
        }
        if late {
            return None;
        }
        thread::sleep(LOOK);
    }
}
