//! The directory of sockets, port files and the lock file.
use std::{
    fs::DirBuilder,
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

/// Bytes of a socket's path (unix(7)), without the NUL behind it.
const SOCKET_PATH: usize = 107;
/// The longest name of a socket in it: `ibacm-unix.sock`.
const SOCKET_NAME: usize = 15;

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunDirError {
    /// It cannot be made.
    #[error("run directory {0}: {1}; {2}")]
    Io(PathBuf, io::Error, &'static str),
    /// No socket in it would have a path.
    #[error(
        "run directory {0}: its path has {len} bytes, and with that of a socket it may have {max}; give a shorter one, \
         --run-dir",
        len = .0.as_os_str().len(),
        max = SOCKET_PATH - SOCKET_NAME - 1
    )]
    TooLong(PathBuf),
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
        RunDirError::Io(path.to_owned(), error, advice)
    };
    let whole = std::path::absolute(path).map_err(failed)?;
    if whole.as_os_str().len() + 1 + SOCKET_NAME > SOCKET_PATH {
        return Err(RunDirError::TooLong(whole));
    }
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
    fn a_socket_in_it_has_a_path() {
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
