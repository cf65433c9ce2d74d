//! Responses to requests other than those for entries.
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The recording in progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordingState {
    /// The newest file.
    pub(crate) file: PathBuf,
    /// Number of files, with the older ones.
    pub(crate) files: u32,
    /// Size of all files together.
    pub(crate) bytes: u64,
    /// Seconds until it ends; `None` for the end of the daemon.
    pub(crate) ends_in: Option<u64>,
}

/// The log level in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LogLevelState {
    /// The level of the option file.
    pub(crate) option: u8,
    /// Another level for a time; `None` if the level of the option file is in force.
    pub(crate) temporary: Option<TemporaryLevel>,
}

/// A log level for a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TemporaryLevel {
    pub(crate) level: u8,
    /// Seconds until it ends.
    pub(crate) ends_in: u64,
    /// The destination whose lines have this level; `None` for all lines.
    pub(crate) dest: Option<String>,
}

/// The response to a request to read the files again.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ReloadRequested {
    /// The number of the reading.
    pub(crate) number: u64,
}

/// The result of a reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReloadResult {
    /// The option and the address file are not read yet.
    Waits,
    /// Both are applied, and the preload files are read.
    ReadsPreload,
    /// The files are applied, with these remarks.
    Complete(Vec<String>),
}
