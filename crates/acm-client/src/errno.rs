//! Error numbers of the C library, as rdma-core's client library reports them.
use crate::error::ClientError;
use acm_wire::client::ClientStatus;
use nix::libc::{EADDRNOTAVAIL, ECONNRESET, EINVAL, EIO, ENODATA, ENOMEM, ENOTCONN, EPROTO, ETIMEDOUT};
use std::io;

/// Returns the error number for a status of the daemon. Several statuses have the same number.
#[must_use]
pub const fn of_status(status: ClientStatus) -> i32 {
    match status {
        ClientStatus::ENOMEM => ENOMEM,
        ClientStatus::ENODATA => ENODATA,
        ClientStatus::ENOTCONN => ENOTCONN,
        ClientStatus::ETIMEDOUT => ETIMEDOUT,
        ClientStatus::ESRCADDR | ClientStatus::EDESTADDR => EADDRNOTAVAIL,
        _ => EINVAL,
    }
}

/// Returns the error number of a system error; `EIO` if it has none.
#[must_use]
pub fn of_io(error: &io::Error) -> i32 {
    match error.raw_os_error() {
        Some(number) => number,
        None if error.kind() == io::ErrorKind::TimedOut => ETIMEDOUT,
        None => EIO,
    }
}

/// Returns the error number for an error of the client.
#[must_use]
pub fn of_client(error: &ClientError) -> i32 {
    match error {
        ClientError::Connect { source, .. } | ClientError::Io { source, .. } => of_io(source),
        ClientError::Closed { .. } => ECONNRESET,
        ClientError::TimedOut { .. } => ETIMEDOUT,
        ClientError::Refused { status, .. } => of_status(*status),
        ClientError::Service(_) => EINVAL,
        ClientError::Protocol { .. } => EPROTO,
    }
}
