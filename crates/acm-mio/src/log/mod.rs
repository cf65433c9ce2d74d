//! The log: lines as ibacm writes them, `2026-01-31T12:34:56.789+01:00: target: text`.
//!
//! `sink` is the log, `out` is the file or stream of the log, `limit` limits lines that other programs or hosts can
//! cause, `events` writes events of the core, `names` converts ids to names.
mod events;
mod limit;
mod names;
mod out;
mod sink;

pub(crate) use limit::{Kind, Lines, hash, level_of, limited};
pub(crate) use names::LogNames;
pub(crate) use sink::{Log, LogError, WithoutFile};
