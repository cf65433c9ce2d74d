//! How much is told.

/// How important an event is: ibacm's `log_level` 0, 1, 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Level {
    /// Problems and what changes the service.
    Always,
    /// What happened on the way; every failure.
    Verbose,
    /// Every step of every request.
    Debug,
}
