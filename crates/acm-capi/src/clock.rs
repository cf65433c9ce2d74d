//! The one place where the clock is read.
use std::time::Instant;

/// What time it is.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
