//! Errors of devices, and conversion of the results of system calls and of libibverbs.
#[cfg(feature = "verbs")]
use core::ptr::NonNull;
use nix::errno::Errno;
use std::{
    io,
    path::{Path, PathBuf},
};

/// A failed operation on a device.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or directory that cannot be read or opened.
    #[error("{}: {source}", path.display())]
    File {
        /// Path of the file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file with invalid text.
    #[error("{}: {text:?} is not a {what}", path.display())]
    Text {
        /// Path of the file.
        path: PathBuf,
        /// The expected contents.
        what: &'static str,
        /// The text of the file.
        text: String,
    },
    /// A failed call to the kernel or to libibverbs.
    #[error("{call}: {errno}")]
    Call {
        /// Name of the function, or a description of the operation.
        call: &'static str,
        /// Error number of the call.
        errno: Errno,
    },
    /// The device was removed while it was open. Close everything that belongs to the device.
    #[error("the device is gone")]
    Gone,
    /// No device has this name.
    #[error("no device {0}")]
    NoDevice(String),
    /// A message of an invalid length.
    #[error("{what} of {got} bytes: {min} to {max} are possible")]
    Length {
        /// Kind of the message.
        what: &'static str,
        /// Length of the message in bytes.
        got: usize,
        /// Minimum length in bytes.
        min: usize,
        /// Maximum length in bytes.
        max: usize,
    },
    /// The device cannot scatter a datagram over the required number of segments.
    #[error("the device takes {max_sge} segments for each receive: {needed} are needed")]
    Segments {
        /// The device's limit (`max_sge`).
        max_sge: i32,
        /// The required number.
        needed: u8,
    },
    /// All send buffers are in use. Poll for completions, then retry.
    #[error("all {depth} sends of the queue pair are under way")]
    SendQueueFull {
        /// Number of send buffers.
        depth: u32,
    },
}

impl Error {
    /// Adds the path of a file to an [`io::Error`].
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::File { path: path.into(), source }
    }

    /// Adds the name of a call to an [`Errno`]. ENODEV and EIO mean that the device was removed: [`Error::Gone`].
    pub(crate) fn call(call: &'static str) -> impl FnOnce(Errno) -> Self {
        move |errno| match errno {
            Errno::ENODEV | Errno::EIO => Self::Gone,
            errno => Self::Call { call, errno },
        }
    }

    /// Returns the error number of the system, if there is one.
    #[must_use]
    pub fn errno(&self) -> Option<Errno> {
        match self {
            Self::Call { errno, .. } => Some(*errno),
            Self::File { source, .. } => source.raw_os_error().map(Errno::from_raw),
            _ => None,
        }
    }
}

/// Returns the error number of a failed system call; EIO if it has none.
pub(crate) fn errno(error: &io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EIO, Errno::from_raw)
}

/// Converts the result of a call of libibverbs: 0, an error number, or -1 with the number in `errno`.
#[cfg(feature = "verbs")]
pub(crate) fn check(call: &'static str, result: i32) -> Result<(), Error> {
    match result {
        0 => Ok(()),
        -1 => Err(Error::call(call)(Errno::last())),
        errno => Err(Error::call(call)(Errno::from_raw(errno.saturating_abs()))),
    }
}

/// Converts the result of a call of libibverbs: an object, or null with the error number in `errno`.
#[cfg(feature = "verbs")]
pub(crate) fn non_null<T>(call: &'static str, pointer: *mut T) -> Result<NonNull<T>, Error> {
    NonNull::new(pointer).ok_or_else(|| Error::call(call)(Errno::last()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enodev_and_eio_mean_that_the_device_is_gone() {
        for errno in [Errno::ENODEV, Errno::EIO] {
            assert!(matches!(Error::call("read")(errno), Error::Gone), "{errno}");
        }
        assert!(matches!(Error::call("read")(Errno::ENOBUFS), Error::Call { call: "read", errno: Errno::ENOBUFS }));
    }

    #[test]
    fn error_number_is_kept_for_calls_and_files() {
        let missing = std::fs::read("/proc/no such file").map_err(Error::file(Path::new("/proc/x")));
        assert_eq!(missing.unwrap_err().errno(), Some(Errno::ENOENT));
        assert_eq!(Error::call("read")(Errno::ENOBUFS).errno(), Some(Errno::ENOBUFS));
        assert_eq!(Error::Gone.errno(), None);
    }
}
