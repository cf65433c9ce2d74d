//! The lock file, which excludes a second daemon and contains the process id.
use nix::{
    errno::Errno,
    fcntl::{FcntlArg, fcntl},
    libc::O_NONBLOCK,
};
use std::{
    fs::{File, OpenOptions},
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// Reason why the lock cannot be taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockError {
    /// Another daemon holds the lock.
    #[error("{0} is locked: another ibacm or acm-mio is running; stop it first, or give another lock_file")]
    Busy(PathBuf),
    /// The file cannot be created or written.
    #[error("lock file {0}: {1}; run as root, or give a --run-dir or a lock_file that you may write to")]
    Io(PathBuf, std::io::Error),
}

/// Holds the lock until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// Returns the process that holds the lock. Does not change the file.
pub(crate) fn holder(path: &Path) -> std::io::Result<Option<i32>> {
    let file = match OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut found = whole();
    fcntl(&file, FcntlArg::F_GETLK(&mut found))?;
    let free = i16::try_from(nix::libc::F_UNLCK).unwrap_or_default();
    Ok((found.l_type != free).then_some(found.l_pid))
}

/// Returns a write lock of the whole file.
fn whole() -> nix::libc::flock {
    nix::libc::flock {
        l_type: i16::try_from(nix::libc::F_WRLCK).unwrap_or_default(),
        l_whence: i16::try_from(nix::libc::SEEK_SET).unwrap_or_default(),
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}

/// Takes the lock and writes the process id. The lock is a POSIX lock like ibacm's, so that both daemons exclude each
/// other. A POSIX lock belongs to this process and is not inherited by a fork.
pub(crate) fn take(path: &Path) -> Result<Lock, LockError> {
    let io = |error| LockError::Io(path.to_owned(), error);
    let mut options = OpenOptions::new();
    // Without O_NONBLOCK, opening a pipe would block until it has a reader.
    options.write(true).create(true).truncate(false).mode(0o640).custom_flags(O_NONBLOCK);
    let mut file = options.open(path).map_err(io)?;
    fcntl(&file, FcntlArg::F_SETLK(&whole())).map_err(|errno| match errno {
        Errno::EAGAIN | Errno::EACCES => LockError::Busy(path.to_owned()),
        _ => io(errno.into()),
    })?;
    file.set_len(0).map_err(io)?;
    writeln!(file, "{}", std::process::id()).map_err(io)?;
    Ok(Lock { _file: file })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{in_time, without_umask};
    use nix::{sys::stat::Mode, unistd::mkfifo};
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn pipe_as_lock_file_fails_without_blocking() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pid");
        mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
        let text = in_time({
            let path = path.clone();
            move || take(&path).unwrap_err().to_string()
        });
        assert!(text.starts_with(&format!("lock file {}: ", path.display())), "{text}");
        in_time(move || holder(&path).map(|_| ()).unwrap_or_default());
    }

    // docs/deviations.md: lock-file
    #[test]
    fn lock_file_contains_nothing_but_the_process_id() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pid");
        std::fs::write(&path, "1234567890123\nmore\n").unwrap();
        let _lock = take(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{}\n", std::process::id()));
    }

    /// A user who can open the file for reading can hold a read lock on it, and so prevent the start of the daemon.
    #[test]
    fn lock_file_is_only_for_its_owner_and_group() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pid");
        let lock = without_umask(|| take(&path));
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o640, "{lock:?}");
    }

    #[test]
    fn absent_lock_file_has_no_holder() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(holder(&dir.path().join("pid")).unwrap(), None);
        assert_eq!(holder(&dir.path().join("pid/pid")).unwrap(), None, "its directory is missing as well");
    }
}
