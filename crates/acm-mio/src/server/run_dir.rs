//! The directory of the sockets, port files and lock file.
use std::{
    fs::DirBuilder,
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

/// Maximum length of a socket's path in bytes (unix(7)), without the terminating NUL.
const SOCKET_PATH: usize = 107;
/// Length of the longest name of a socket in the directory: `ibacm-unix.sock`.
const SOCKET_NAME: usize = 15;

/// Reason why there is no run directory.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunDirError {
    /// The directory cannot be created.
    #[error("run directory {0}: {1}; {2}")]
    Io(PathBuf, io::Error, &'static str),
    /// The path of a socket in the directory would be too long.
    #[error(
        "run directory {0}: its path has {len} bytes, and with that of a socket it may have {max}; give a shorter one, \
         --run-dir",
        len = .0.as_os_str().len(),
        max = SOCKET_PATH - SOCKET_NAME - 1
    )]
    TooLong(PathBuf),
}

/// Returns the absolute path of the directory, which need not exist.
///
/// # Errors
/// The path of a socket in the directory would be too long.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, RunDirError> {
    let whole = std::path::absolute(path)
        .map_err(|error| RunDirError::Io(path.to_owned(), error, "give an absolute path, --run-dir"))?;
    let is_short = whole.as_os_str().len() + 1 + SOCKET_NAME <= SOCKET_PATH;
    if is_short { Ok(whole) } else { Err(RunDirError::TooLong(whole)) }
}

/// Creates the directory if it is missing. A missing parent is an error, because the path is probably wrong. Returns
/// the absolute path, because a daemon changes its working directory.
pub(crate) fn make(path: &Path) -> Result<PathBuf, RunDirError> {
    let whole = absolute(path)?;
    let failed = |error: io::Error| {
        let advice = match error.kind() {
            io::ErrorKind::NotFound => "make the directory above it first",
            io::ErrorKind::AlreadyExists => "that is no directory; give another --run-dir",
            _ => "run as root, or give a --run-dir that you may write to",
        };
        RunDirError::Io(path.to_owned(), error, advice)
    };
    match DirBuilder::new().mode(0o755).create(&whole) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && whole.is_dir() => {}
        made => made.map_err(failed)?,
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::without_umask;
    use std::{fs, os::unix::fs::PermissionsExt};

    #[test]
    fn path_too_long_for_a_socket_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let long = |bytes: usize| dir.path().join("x".repeat(bytes - dir.path().as_os_str().len() - 1));
        let most = make(&long(91)).unwrap();
        drop(std::os::unix::net::UnixListener::bind(most.join("ibacm-unix.sock")).unwrap());
        let text = make(&long(92)).unwrap_err().to_string();
        assert!(
            text.contains(": its path has 92 bytes, and with that of a socket it may have 91; give a shorter"),
            "{text}"
        );
        assert!(!long(92).exists());
    }

    #[test]
    fn missing_directory_is_created_but_not_its_parents() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("acm");
        for _ in 0..2 {
            assert_eq!(without_umask(|| make(&own)).unwrap(), own);
        }
        // Other users connect to its sockets, and cannot replace them.
        assert_eq!(fs::metadata(&own).unwrap().permissions().mode() & 0o7777, 0o755);
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
