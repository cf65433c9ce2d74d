//! The log: lines as ibacm writes them, `2026-01-31T12:34:56.789: place: text`.
//!
//! `sink` is the log that lines go to, `out` what it is written to, `limit` how many of one kind, `lines` which kinds
//! there are, `events` what the core has to say, `names` what ids are called in it.
mod events;
mod limit;
mod lines;
mod names;
mod out;
#[cfg(test)]
mod said;
mod sink;

pub(crate) use lines::{Kind, Lines, level_of, limited, subject};
pub(crate) use names::Known;
#[cfg(test)]
pub(crate) use said::said;
pub(crate) use sink::{Log, LogError, WithoutFile};
