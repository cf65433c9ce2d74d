//! Requests of `acmctl` to a running daemon, over the status socket, and their responses.
//!
//! | file | content |
//! |---|---|
//! | `parameters` | `key=value` parameters of a request |
//! | `entry`, `filter`, `page` | facts about a cache entry, conditions on them, and one page of the cache |
//! | `configuration` | the options in force |
//! | `state` | the recording in progress, the log level, and the result of a reading of the files |
mod configuration;
mod entry;
mod filter;
mod page;
mod parameters;
mod state;

pub(crate) use configuration::{Configuration, InForce, Origin, Remark};
pub(crate) use entry::{Contradicted, Entry, Path};
pub(crate) use filter::Filter;
pub(crate) use page::{Flushed, Page, Removal};
pub(crate) use parameters::Parameters;
pub(crate) use state::{LogLevelState, RecordingState, ReloadRequested, ReloadResult, TemporaryLevel};
