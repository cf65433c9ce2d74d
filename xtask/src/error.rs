//! Errors of tasks.
use std::{
    io,
    path::{Path, PathBuf},
    process::ExitStatus,
};

#[derive(Debug, thiserror::Error)]
pub(crate) enum TaskError {
    #[error("running {program}: {source}")]
    Spawn { program: String, source: io::Error },
    #[error("{command}: {status}")]
    Failed { command: String, status: ExitStatus },
    #[error("{what} {}: {source}", path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    #[error("there is no manual page {0}")]
    NoPage(&'static str),
    #[error("{}: no section {heading}", path.display())]
    NoSection { path: PathBuf, heading: &'static str },
    #[error("these Debian packages are missing: {}", .0.join(" "))]
    PackagesMissing(Vec<&'static str>),
    #[error("neither root nor sudo: as root, run `{0}`")]
    NotRoot(String),
    #[error("{what} is missing: run `{command}`")]
    Missing { what: &'static str, command: String },
    #[error("tests have failed")]
    Tests,
}

impl TaskError {
    /// Adds an action and a path to an [`io::Error`].
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}
