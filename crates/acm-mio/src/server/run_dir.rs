//! The directory of sockets, port files and the lock file.
use std::{
    fs::DirBuilder,
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

/// Why there is none.
#[derive(Debug, thiserror::Error)]
#[error("run directory {path}: {error}; {advice}")]
pub(crate) struct RunDirError {
    path: PathBuf,
    error: io::Error,
    advice: &'static str,
}

/// Makes the directory if it is missing, but not those above it: those are somebody's mistake. Its path from `/`, for
/// a daemon that leaves where it was started.
pub(crate) fn make(path: &Path) -> Result<PathBuf, RunDirError> {
    let failed = |error: io::Error| {
        let advice = match error.kind() {
            io::ErrorKind::NotFound => "make the directory above it first",
            io::ErrorKind::AlreadyExists => "that is no directory; give another --run-dir",
            _ => "run as root, or give a --run-dir that you may write to",
        };
        RunDirError { path: path.to_owned(), error, advice }
    };
    let whole = std::path::absolute(path).map_err(failed)?;
    match DirBuilder::new().mode(0o755).create(&whole) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && whole.is_dir() => {}
        made => made.map_err(failed)?,
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::PermissionsExt};

    #[test]
    fn a_missing_one_is_made_and_those_above_it_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("acm");
        for _ in 0..2 {
            assert_eq!(make(&own).unwrap(), own);
        }
        // Whatever this test's umask is, nobody else may write.
        assert_eq!(fs::metadata(&own).unwrap().permissions().mode() & 0o7722, 0o700);
        let deep = dir.path().join("a/b");
        let text = make(&deep).unwrap_err().to_string();
        assert!(text.starts_with(&format!("run directory {}: ", deep.display())), "{text}");
        assert!(text.ends_with("; make the directory above it first"), "{text}");
        assert!(!dir.path().join("a").exists());
        fs::write(dir.path().join("file"), "").unwrap();
        let text = make(&dir.path().join("file")).unwrap_err().to_string();
        assert!(text.ends_with("; that is no directory; give another --run-dir"), "{text}");
    }
}
