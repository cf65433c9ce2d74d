//! The lock file, which excludes a second daemon and contains the process id.
use nix::{
    errno::Errno,
    fcntl::{FcntlArg, fcntl},
    libc::O_NONBLOCK,
};
use std::{
    fs::{self, File, OpenOptions},
    io::Write,
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

/// Reason why the lock cannot be taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockError {
    /// Another daemon holds the lock.
    #[error("{0} is locked: another ibacm or acm-mio is running{1}; stop it first, or give another lock_file")]
    Busy(PathBuf, Shown),
    /// The file cannot be created or written.
    #[error("lock file {0}: {1}; run as root, or give a --run-dir or a lock_file that you may write to")]
    Io(PathBuf, std::io::Error),
}

/// The process that holds a lock, if it can be found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown(Option<i32>);

impl core::fmt::Display for Shown {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.map_or(Ok(()), |pid| write!(f, ", process {pid}"))
    }
}

/// Holds the lock until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// Returns another process that holds the lock. Does not change the file.
pub(crate) fn holder(path: &Path) -> std::io::Result<Option<i32>> {
    let file = match OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        // ibacm's file is for root. Everybody can read the kernel's list.
        Err(error) => {
            let (file, locks) = (fs::metadata(path), fs::read_to_string("/proc/locks"));
            return file.and_then(|file| Ok(listed(&locks?, file.dev(), file.ino()))).map_err(|_| error);
        }
    };
    let mut found = whole();
    fcntl(&file, FcntlArg::F_GETLK(&mut found))?;
    let free = i16::try_from(nix::libc::F_UNLCK).unwrap_or_default();
    Ok((found.l_type != free).then_some(found.l_pid))
}

/// Returns the process that holds a lock of the file with these numbers, by the text of `/proc/locks` (proc(5)).
fn listed(locks: &str, device: u64, inode: u64) -> Option<i32> {
    let (major, minor) = (nix::libc::major(device), nix::libc::minor(device));
    let file = format!("{major:02x}:{minor:02x}:{inode}");
    locks.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace().skip(1);
        // A process that waits for a lock has an arrow in place of the class.
        (words.next() == Some("POSIX")).then_some(())?;
        let pid = words.nth(2)?;
        (words.next() == Some(&file)).then(|| pid.parse().ok()).flatten()
    })
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

/// Opens an existing lock file as [`take`] does, and closes it. Does not change the file. A POSIX lock of this process
/// would be lost.
pub(crate) fn can_open(path: &Path) -> std::io::Result<()> {
    OpenOptions::new().write(true).custom_flags(O_NONBLOCK).open(path).map(|_| ())
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
        Errno::EAGAIN | Errno::EACCES => LockError::Busy(path.to_owned(), Shown(holder(path).ok().flatten())),
        _ => io(errno.into()),
    })?;
    file.set_len(0).map_err(io)?;
    writeln!(file, "{}", std::process::id()).map_err(io)?;
    Ok(Lock { _file: file })
}

/// Takes a lock that ibacm of this machine would take, if this process may write the file. Fails if another process
/// holds it.
pub(crate) fn take_if_permitted(path: &Path) -> Result<Option<Lock>, LockError> {
    match take(path) {
        Ok(lock) => Ok(Some(lock)),
        Err(LockError::Io(..)) => match holder(path) {
            Ok(Some(pid)) => Err(LockError::Busy(path.to_owned(), Shown(Some(pid)))),
            _ => Ok(None),
        },
        Err(busy) => Err(busy),
    }
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

    #[test]
    fn lock_file_contains_nothing_but_the_process_id() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pid");
        fs::write(&path, "1234567890123\nmore\n").unwrap();
        let _lock = take(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{}\n", std::process::id()));
    }

    /// A user who can open the file for reading can hold a read lock on it, and so prevent the start of the daemon.
    #[test]
    fn lock_file_is_only_for_its_owner_and_group() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pid");
        let lock = without_umask(|| take(&path));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o640, "{lock:?}");
    }

    #[test]
    fn holder_is_found_in_the_list_of_the_kernel() {
        let text = "1: POSIX  ADVISORY  WRITE 4711 00:1a:5678 0 EOF\n1: -> POSIX  ADVISORY  WRITE 3 00:1a:5678 0 EOF\n\
                    2: FLOCK  ADVISORY  WRITE 12 00:1a:9 0 EOF\n3: POSIX  ADVISORY  READ 13 08:101:9 0 EOF\n";
        let device = nix::libc::makedev;
        assert_eq!(listed(text, device(0, 0x1a), 5678), Some(4711));
        assert_eq!(listed(text, device(8, 0x101), 9), Some(13));
        assert_eq!(listed(text, device(0, 0x1a), 9), None, "another kind of lock");
        assert_eq!(listed(text, device(0, 0x1b), 5678), None);
        // The lock of this process is in the list of this kernel. Run directories are on a tmpfs, too; other file systems
        // may show other numbers.
        let dir = tempfile::tempdir_in("/dev/shm").unwrap();
        let path = dir.path().join("pid");
        let _lock = take(&path).unwrap();
        let (file, locks) = (fs::metadata(&path).unwrap(), fs::read_to_string("/proc/locks").unwrap());
        assert_eq!(listed(&locks, file.dev(), file.ino()), i32::try_from(std::process::id()).ok(), "{locks}");
    }

    #[test]
    fn lock_of_a_file_that_cannot_be_written_is_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        assert!(take_if_permitted(&dir.path().join("none/pid")).unwrap().is_none());
        assert!(take_if_permitted(&dir.path().join("pid")).unwrap().is_some());
    }

    #[test]
    fn absent_lock_file_has_no_holder() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(holder(&dir.path().join("pid")).unwrap(), None);
        assert_eq!(holder(&dir.path().join("pid/pid")).unwrap(), None, "its directory is missing as well");
    }
}
