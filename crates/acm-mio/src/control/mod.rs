//! Requests of administrators to a running daemon, over the status socket.
//!
//! | file | content |
//! |---|---|
//! | `parameters` | `key=value` words on the command line and in a request |
//! | `entry`, `filter`, `page` | facts about a cache entry, conditions on them, and one page of the cache |
//! | `cache`, `table` | `--cache`: requests all pages, prints them |
//! | `recording` | `--recording`: starts, ends and shows a recording |
//! | `reload` | `--reload`: requests a reading of the files, and waits for its result |
mod cache;
mod entry;
mod filter;
mod page;
mod parameters;
mod recording;
mod reload;
mod table;

pub(crate) use cache::run as run_cache;
pub(crate) use filter::Filter;
pub(crate) use page::{Flushed, Page};
pub(crate) use parameters::Parameters;
pub(crate) use recording::{RecordingState, run as run_recording};
pub(crate) use reload::{ReloadRequested, ReloadResult, run as run_reload};
