//! Errors of `install` and `uninstall`.
use crate::error::TaskError;
use std::{
    io,
    path::{Path, PathBuf},
};

/// An error of `install` or `uninstall`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InstallError {
    #[error("{what} {}: {source}", path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    #[error("{}: this is no list of installed files", .0.display())]
    Record(PathBuf),
    #[error("nothing is installed with this prefix: there is no {}", .0.display())]
    NotInstalled(PathBuf),
    #[error(
        "it is enabled ({}): run `systemctl disable --now acm-mio.socket acm-mio.service` first",
        shown(.0)
    )]
    Enabled(Vec<PathBuf>),
    #[error("neither root nor sudo: as root, run `{0}`")]
    NotRoot(String),
    #[error("building {0} failed")]
    NotBuilt(&'static str),
    #[error("{0}")]
    Step(#[source] Box<TaskError>),
}

fn shown(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

impl InstallError {
    /// Adds an action and a path to an [`io::Error`].
    pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}

impl From<TaskError> for InstallError {
    fn from(error: TaskError) -> Self {
        Self::Step(Box::new(error))
    }
}
