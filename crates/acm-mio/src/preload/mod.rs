//! Routes and hosts from files (`route_preload`, `addr_preload`): read in a thread of their own, handed over when they
//! are whole.
//!
//! Files are read in order through a window of one MiB and not mapped: a map of a file that somebody cuts short kills
//! the daemon with SIGBUS, and it would be unsafe code; the copy out of the page cache costs a tenth of what looking at
//! the bytes costs. `read` knows formats and no threads (the benchmark uses it, too), `file` knows when a file is
//! another one, `reading` reads one and says what came of it, `loader` has the thread.
mod chosen;
mod file;
mod loader;
mod read;
mod reading;

#[cfg(test)]
mod tests;

pub(crate) use chosen::{Files, nothing};
pub(crate) use loader::Loader;
pub(crate) use read::{Faults, ReadError, hosts, routes};
