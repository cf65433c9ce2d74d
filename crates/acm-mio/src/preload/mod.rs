//! Routes and hosts from files (`route_preload`, `addr_preload`): a thread reads them, and passes complete tables to
//! the event loop.
//!
//! Files are read sequentially through a window of one MiB. They are not mapped, because the truncation of a mapped
//! file raises SIGBUS, and because a map needs unsafe code. The copy from the page cache costs a tenth of the time of
//! parsing.
//!
//! `files` has the paths of the options, `parse` the formats (without threads; also for the benchmark), `watched`
//! detects a replaced file, `read_file` reads one file and logs the result, `loader` has the thread.
mod files;
mod loader;
mod parse;
mod read_file;
mod watched;

#[cfg(test)]
mod tests;

pub(crate) use files::{Files, empty_tables};
pub(crate) use loader::Loader;
pub(crate) use parse::{Faults, ReadError, hosts, routes};
