//! Waiting for conditions with a time limit.
use core::time::Duration;
use std::{thread, time::Instant};

/// Time limit of all waits. It is long enough for busy machines, and no test depends on it.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Pause between two checks of a condition.
const PAUSE: Duration = Duration::from_millis(5);

/// Calls `look` until it returns a value.
///
/// # Panics
/// With `what` in the message, if there is no value within [`LIMIT`].
pub fn until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    within(LIMIT, look).unwrap_or_else(|| panic!("nothing after {LIMIT:?}: {what}"))
}

/// Calls `look` until it returns a value, at most for `limit`.
#[expect(clippy::disallowed_methods, reason = "waits for real processes")]
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
        pause();
    }
}

/// Waits for the time between two checks.
pub(crate) fn pause() {
    thread::sleep(PAUSE);
}
