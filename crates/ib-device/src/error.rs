//! What can go wrong with a device.
use nix::errno::Errno;
use std::{
    io,
    path::{Path, PathBuf},
};

/// A device that did not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or directory that cannot be read or opened.
    #[error("{}: {source}", path.display())]
    File {
        /// File that was opened or read.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file whose text is not what it should be.
    #[error("{}: {text:?} is not a {what}", path.display())]
    Text {
        /// File that was opened or read.
        path: PathBuf,
        /// What was looked for.
        what: &'static str,
        /// What there was.
        text: String,
    },
    /// A call to the kernel or to libibverbs that failed.
    #[error("{call}: {errno}")]
    Call {
        /// Name of the function, or what was being done.
        call: &'static str,
        /// Its error number.
        errno: Errno,
    },
    /// The device was taken away while it was open. Close everything that belongs to it.
    #[error("the device is gone")]
    Gone,
    /// No device has this name.
    #[error("no device {0}")]
    NoDevice(String),
    /// A message that does not fit.
    #[error("{what} of {got} bytes: {min} to {max} are possible")]
    Length {
        /// What kind of message.
        what: &'static str,
        /// Its length in bytes.
        got: usize,
        /// Shortest possible length in bytes.
        min: usize,
        /// Longest possible length in bytes.
        max: usize,
    },
    /// Every send buffer waits for its completion: poll, then try again.
    #[error("all {depth} sends of the queue pair are under way")]
    SendQueueFull {
        /// How many there are.
        depth: u32,
    },
}

impl Error {
    /// Puts a place to an [`io::Error`].
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::File { path: path.into(), source }
    }

    /// Puts a place to an [`Errno`]; those that say that the device is gone become [`Error::Gone`].
    pub(crate) fn call(call: &'static str) -> impl FnOnce(Errno) -> Self {
        move |errno| match errno {
            Errno::ENODEV | Errno::EIO => Self::Gone,
            errno => Self::Call { call, errno },
        }
    }

    /// The error number behind this, if there is one.
    #[must_use]
    pub fn errno(&self) -> Option<Errno> {
        match self {
            Self::Call { errno, .. } => Some(*errno),
            Self::File { source, .. } => source.raw_os_error().map(Errno::from_raw),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_gone_says_so_by_two_numbers() {
        for errno in [Errno::ENODEV, Errno::EIO] {
            assert!(matches!(Error::call("read")(errno), Error::Gone), "{errno}");
        }
        assert!(matches!(Error::call("read")(Errno::ENOBUFS), Error::Call { call: "read", errno: Errno::ENOBUFS }));
    }

    #[test]
    fn the_systems_number_is_behind_a_call_and_a_file() {
        let missing = std::fs::read("/proc/no such file").map_err(Error::file(Path::new("/proc/x")));
        assert_eq!(missing.unwrap_err().errno(), Some(Errno::ENOENT));
        assert_eq!(Error::call("read")(Errno::ENOBUFS).errno(), Some(Errno::ENOBUFS));
        assert_eq!(Error::Gone.errno(), None);
    }
}
