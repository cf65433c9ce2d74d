//! Why a request fails: the status that a client is told; the phase, what was tried and what to do, for an administrator.
mod advice;
mod attempt;
mod kind;
mod why;

pub use attempt::{Attempt, GroupAsked, SaAsked, Tried};
pub use kind::{FailureCounts, FailureKind};
pub use why::{Bound, Failure};
