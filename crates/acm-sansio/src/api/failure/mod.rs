//! Failures of requests: the client's status; for the administrator the phase, what was tried, and advice.
mod advice;
mod attempt;
mod kind;
mod reason;

pub use attempt::{Attempt, AttemptDetails, MulticastAttempt, SaAttempt};
pub(crate) use kind::FailureSummary;
pub use kind::{FailureCounts, FailureKind};
pub use reason::{Bound, Failure};
