//! Where a file is, and whether somebody wants it to be there.
use std::path::{Path, PathBuf};

/// A file of the command line.
#[derive(Clone, Debug)]
pub(super) struct FilePlace {
    /// From `/`, wherever the daemon is.
    pub(super) path: PathBuf,
    /// Whether it was named. Those that ibacm has by default need not be there.
    pub(super) is_named: bool,
}

impl FilePlace {
    /// Paths are taken from the present directory, before the daemon leaves it.
    pub(super) fn new(path: &Path, default: &str) -> Self {
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self { path: whole, is_named: path.as_os_str() != default }
    }
}
