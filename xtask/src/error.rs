//! Why a task failed.
use core::error::Error;
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
    #[error("{0}")]
    Install(#[source] Box<dyn Error>),
}
