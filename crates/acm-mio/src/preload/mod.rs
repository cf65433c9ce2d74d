//! Routes and hosts from files (`route_preload`, `addr_preload`): a thread reads them, and passes complete tables to
//! the event loop.
//!
//! Files are read in order through a window of one MiB. They are not mapped: if a mapped file is truncated, the daemon
//! gets SIGBUS, and a map needs unsafe code; the copy from the page cache costs a tenth of the time of parsing.
//!
//! `files` has the paths of the options, `parse` the formats, without threads (the benchmark uses it as well),
//! `watched` detects a replaced file, `read_file` reads one file and logs the result, `loader` has the thread.
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
