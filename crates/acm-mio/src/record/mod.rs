//! Records the inputs and outputs of the core into files while the daemon runs: `--record`.
//!
//! `core` wraps the core. `recording` turns inputs and outputs into packets, and passes them to a bounded `queue` at
//! the end of each iteration of the loop; a thread (`writer`) writes them into `files`, which it rotates. The loop
//! waits for no file: packets for which the queue has no room are counted, and the trace contains their number.
mod core;
mod files;
mod queue;
mod recording;
mod writer;

pub(crate) use self::core::Core;
pub(crate) use recording::{RecordError, Recording};
