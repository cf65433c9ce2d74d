//! Non-blocking outputs of the log: a file, a pipe, a terminal or a socket.
use nix::{
    errno::Errno,
    libc,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{
        socket::{MsgFlags, send},
        stat::{SFlag, fstat},
    },
    unistd,
};
use std::{
    fs::{File, OpenOptions},
    io,
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd},
        unix::fs::OpenOptionsExt,
    },
    path::Path,
};

/// An output that does not block, so that a slow reader does not stop the daemon.
#[derive(Debug)]
pub(super) enum Out {
    /// A file that the daemon has opened.
    Own(File),
    /// A standard stream that is used as it was passed: a regular file, a socket, or a file that cannot be opened
    /// again.
    Passed(Standard),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standard {
    Output,
    Error,
}

impl Out {
    /// Opens standard output or error. A pipe or a terminal is opened again to set O_NONBLOCK: the flag belongs to the
    /// open file, which other processes share.
    pub(super) fn standard(which: Standard) -> Self {
        let (status, path) = match which {
            Standard::Output => (fstat(io::stdout()), "/proc/self/fd/1"),
            Standard::Error => (fstat(io::stderr()), "/proc/self/fd/2"),
        };
        let kind = status.map(|status| SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT);
        if matches!(kind, Ok(SFlag::S_IFIFO | SFlag::S_IFCHR))
            && let Ok(file) = open(path)
        {
            return Self::Own(file);
        }
        Self::Passed(which)
    }

    /// Reports whether this is the journal. systemd names the journal's socket in the environment.
    pub(super) fn is_journal(&self) -> bool {
        let status = match self {
            Self::Own(_) => return false,
            Self::Passed(Standard::Output) => fstat(io::stdout()),
            Self::Passed(Standard::Error) => fstat(io::stderr()),
        };
        let stream = std::env::var("JOURNAL_STREAM").ok();
        status.is_ok_and(|status| stream == Some(format!("{}:{}", status.st_dev, status.st_ino)))
    }

    /// Writes without a buffer. Buffered lines could be written twice, or fail after the call.
    pub(super) fn write_all(&self, mut bytes: &[u8]) -> Result<(), Errno> {
        while !bytes.is_empty() {
            match self.write(bytes) {
                Ok(0) => return Err(Errno::ENOSPC),
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    fn write(&self, bytes: &[u8]) -> nix::Result<usize> {
        match self {
            Self::Own(file) => unistd::write(file, bytes),
            Self::Passed(Standard::Output) => write_passed(io::stdout().as_fd(), bytes),
            Self::Passed(Standard::Error) => write_passed(io::stderr().as_fd(), bytes),
        }
    }
}

/// Writes as much as is possible without blocking. For a socket, each call has the flag MSG_DONTWAIT. A pipe that is
/// ready accepts `PIPE_BUF` bytes without blocking.
fn write_passed(fd: BorrowedFd<'_>, bytes: &[u8]) -> nix::Result<usize> {
    match send(fd.as_raw_fd(), bytes, MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL) {
        Err(Errno::ENOTSOCK) => {}
        sent => return sent,
    }
    let mut ready = [PollFd::new(fd, PollFlags::POLLOUT)];
    if poll(&mut ready, PollTimeout::ZERO)? == 0 {
        return Err(Errno::EAGAIN);
    }
    unistd::write(fd, bytes.get(..libc::PIPE_BUF).unwrap_or(bytes))
}

/// Opens a file for appending. For a pipe or a terminal, opening and writing do not block. A new file is not readable
/// by all users, because the log contains names and users.
pub(super) fn open(path: impl AsRef<Path>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true).mode(0o640);
    options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::in_time;
    use std::os::unix::{fs::PermissionsExt, net::UnixStream};

    // docs/deviations.md: log-appended
    #[test]
    fn new_log_is_not_readable_by_all_users() {
        let dir = tempfile::tempdir().unwrap();
        let file = open(dir.path().join("log")).unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o137, 0);
    }

    #[test]
    fn passed_stream_is_written_without_blocking() {
        let (_reader, writer) = unistd::pipe().unwrap();
        in_time(move || {
            let mut taken = 0;
            while let Ok(count) = write_passed(writer.as_fd(), &[b'x'; 5000]) {
                assert_eq!(count, libc::PIPE_BUF);
                taken += count;
            }
            assert_eq!(write_passed(writer.as_fd(), b"x"), Err(Errno::EAGAIN));
            assert!(taken >= 16 * libc::PIPE_BUF);
        });
        let (ours, _theirs) = UnixStream::pair().unwrap();
        in_time(move || {
            while write_passed(ours.as_fd(), &[b'x'; 5000]).is_ok() {}
            assert_eq!(write_passed(ours.as_fd(), b"x"), Err(Errno::EAGAIN));
        });
    }
}
