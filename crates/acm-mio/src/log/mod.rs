//! The log: lines as ibacm writes them, `2026-01-31T12:34:56.789: place: text`.
//!
//! `sink` is where lines go, `limit` how many of one kind, `events` what the core has to say.
mod events;
mod limit;
mod sink;

pub(crate) use events::{Kind, Lines};
pub(crate) use sink::Log;
