//! Why a task failed.
use core::{error::Error, fmt};
use std::{io, path::PathBuf, process::ExitStatus};

/// Why a task failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TaskError {
    #[error("running {program}: {source}")]
    Spawn { program: String, source: io::Error },
    #[error("{command}: {status}")]
    Failed { command: String, status: ExitStatus },
    #[error("reading {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is not Rust: {problem}", path.display())]
    Syntax { path: PathBuf, problem: String },
    #[error("these Debian packages are missing: {}", names.join(" "))]
    PackagesMissing { names: Vec<&'static str> },
    #[error("neither root nor sudo: as root, run `{0}`")]
    NotRoot(String),
    #[error("{0} is not part of this toolchain: run `rustup component add {0}`, or leave it out with `test --fast`")]
    ComponentMissing(&'static str),
    #[error("cargo-deny is missing: run `cargo install cargo-deny --locked`")]
    CargoDenyMissing,
    #[error("cargo-semver-checks is missing: run `cargo install cargo-semver-checks --locked`")]
    SemverChecksMissing,
    #[error("nothing has been released yet (no tag): say what to compare with, --since REVISION")]
    NoRelease,
    #[error("Rust {version}, the oldest that the manifests name, cannot be had: {why}")]
    NoToolchain { version: String, why: String },
    #[error("cargo metadata: {0}")]
    Metadata(#[from] cargo_metadata::Error),
    #[error("{} defects in the crates:{}", .0.len(), Lines(.0))]
    Defects(Vec<String>),
    #[error("{} rows whose tests do not prove them:{}", .0.len(), Lines(.0))]
    Deviations(Vec<String>),
    #[error("{} crates that may not be here:{}", .0.len(), Lines(.0))]
    Licences(Vec<String>),
    #[error("{0}")]
    Install(#[source] Box<dyn Error>),
}

struct Lines<'a>(&'a [String]);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|defect| write!(f, "\n  {defect}"))
    }
}
