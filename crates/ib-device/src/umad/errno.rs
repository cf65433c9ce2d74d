//! Error numbers of system calls.
use nix::errno::Errno;
use std::io;

/// The error number that an I/O error of a system call has.
pub(super) fn errno(error: &io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EIO, Errno::from_raw)
}
