//! Errors of tasks.
use core::error::Error;
use std::{io, process::ExitStatus};

#[derive(Debug, thiserror::Error)]
pub(crate) enum TaskError {
    #[error("running {program}: {source}")]
    Spawn { program: String, source: io::Error },
    #[error("{command}: {status}")]
    Failed { command: String, status: ExitStatus },
    #[error("these Debian packages are missing: {}", .0.join(" "))]
    PackagesMissing(Vec<&'static str>),
    #[error("neither root nor sudo: as root, run `{0}`")]
    NotRoot(String),
    #[error("{what} is missing: run `{command}`")]
    Missing { what: &'static str, command: String },
    #[error("tests have failed")]
    Tests,
    #[error("{0}")]
    Install(Box<dyn Error>),
}
