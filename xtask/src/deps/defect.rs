//! What can be wrong with a crate.
use std::path::PathBuf;

/// Something in a crate that the architecture does not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Defect {
    #[error("{0}: not in the table of xtask/src/deps/arrows.rs; add it there and in ARCHITECTURE.md")]
    UnknownCrate(String),
    #[error("{from} -> {to}: this arrow is not allowed (ARCHITECTURE.md)")]
    Arrow { from: String, to: String },
    #[error("{from} -> {to}: a crate below the line takes only libraries listed in xtask/src/deps/arrows.rs")]
    External { from: String, to: String },
    #[error("{from} -> {to}: below the line this library must be optional")]
    NotOptional { from: String, to: String },
    #[error("{}:{line}: unsafe code below the line", path.display())]
    Unsafe { path: PathBuf, line: usize },
    #[error("{}: a crate below the line says #![no_std]", path.display())]
    Std { path: PathBuf },
    #[error("{}: the root of a crate that ships denies clippy's lints against panics (CONTRIBUTING.md, rule 8)", path.display())]
    MayPanic { path: PathBuf },
    #[error("{}: the root has no `#![forbid(unsafe_code)]` (CONTRIBUTING.md, rule 5)", path.display())]
    AllowsUnsafe { path: PathBuf },
    #[error("{}:{line}: mod.rs and lib.rs hold no functions (CONTRIBUTING.md, rule 9)", path.display())]
    Function { path: PathBuf, line: usize },
    #[error("a circle of files: {}", names(.0))]
    Circle(Vec<PathBuf>),
}

/// The files of a circle, the first once more at its end.
fn names(circle: &[PathBuf]) -> String {
    let names: Vec<_> = circle.iter().chain(circle.first()).map(|file| file.display().to_string()).collect();
    names.join(" -> ")
}
