//! Error numbers, those of rdma-core's library where it has one.
use acm_client::{ClientError, ClientStatus};
use nix::errno::Errno;
use std::io;

/// What goes wrong, as C hears it.
pub(crate) type Result<T> = core::result::Result<T, Errno>;

/// The number that a daemon's status stands for. Several have the same.
pub(crate) const fn of_status(status: ClientStatus) -> Errno {
    match status {
        ClientStatus::ENOMEM => Errno::ENOMEM,
        ClientStatus::ENODATA => Errno::ENODATA,
        ClientStatus::ENOTCONN => Errno::ENOTCONN,
        ClientStatus::ETIMEDOUT => Errno::ETIMEDOUT,
        ClientStatus::ESRCADDR | ClientStatus::EDESTADDR => Errno::EADDRNOTAVAIL,
        _ => Errno::EINVAL,
    }
}

/// What the system says; EIO if that was no number.
pub(crate) fn of_io(error: &io::Error) -> Errno {
    match error.raw_os_error() {
        Some(number) => Errno::from_raw(number),
        None if error.kind() == io::ErrorKind::TimedOut => Errno::ETIMEDOUT,
        None => Errno::EIO,
    }
}

/// Why there is no answer.
pub(crate) fn of_client(error: &ClientError) -> Errno {
    match error {
        ClientError::Connect { source, .. } | ClientError::Io { source, .. } => of_io(source),
        ClientError::Closed { .. } => Errno::ECONNRESET,
        ClientError::TimedOut { .. } => Errno::ETIMEDOUT,
        ClientError::Refused { status, .. } => of_status(*status),
        ClientError::Service(_) => Errno::EINVAL,
        _ => Errno::EPROTO,
    }
}
