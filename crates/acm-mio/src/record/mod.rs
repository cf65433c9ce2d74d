//! Records the inputs and outputs of the core into files while the daemon runs: `--record` from the start,
//! `acmctl record` for a while.
//!
//! `core` wraps the core. `recording` converts inputs and outputs to packets, and passes the packets to a bounded
//! `queue` at the end of each iteration of the loop. A thread (`writer`) writes the packets into `files` and rotates
//! the files. The loop never waits for a file. If the queue has no room, packets are dropped, and the trace contains
//! the number of dropped packets.
mod core;
mod files;
mod queue;
mod recording;
mod writer;

pub(crate) use self::core::Core;
pub(crate) use queue::{Mark, Written};
pub(crate) use recording::{RecordError, Recording};
