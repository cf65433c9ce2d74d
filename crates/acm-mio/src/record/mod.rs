//! What the core is told and what it wants, written into files while the daemon runs: `--record`.
//!
//! `core` stands around the core and sees everything; `recording` turns it into packets and hands them over at the end
//! of a turn, into a `queue` with a bound; a thread (`writing`) writes them into `files`, which it rotates. The loop
//! waits for no file: what the queue has no room for is counted, and the trace says that it is missing.
mod choice;
mod core;
mod files;
mod queue;
mod recording;
mod writing;

pub(crate) use self::core::Core;
pub(crate) use choice::RecordChoice;
pub(crate) use recording::{RecordError, Recording};
