//! The configuration of the running daemon: each option, and where its value comes from.
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Origin of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Origin {
    /// No line sets it.
    Default,
    /// A line of the option file.
    File,
    /// The option file at the start, which has changed since.
    FileAtStart,
    /// The mode of the service unit.
    Systemd,
}

/// An option in force. Values are written as in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InForce {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) origin: Origin,
    /// The line of the option file; `None` for another origin.
    pub(crate) line: Option<u32>,
    /// The value of the file, if it waits for a restart.
    pub(crate) after_restart: Option<String>,
    /// Why it does nothing; `None` if it does something.
    pub(crate) unused: Option<String>,
}

/// A remark on a file, and advice to the administrator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Remark {
    pub(crate) what: String,
    pub(crate) advice: String,
}

/// The options in force, and remarks on the files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Configuration {
    pub(crate) option_file: PathBuf,
    pub(crate) address_file: PathBuf,
    /// All options, and a further one for each line `provider`.
    pub(crate) options: Vec<InForce>,
    pub(crate) remarks: Vec<Remark>,
}
