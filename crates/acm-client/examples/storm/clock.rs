//! The clock, which measures.
use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "it measures")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
