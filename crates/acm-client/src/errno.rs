//! Error numbers of the C library, as rdma-core's client library reports them.
use crate::error::ClientError;
#[cfg(feature = "fabric")]
use crate::fabric::FabricError;
use acm_wire::client::ClientStatus;
#[cfg(feature = "fabric")]
use ib_mad::Status;
#[cfg(feature = "fabric")]
use nix::libc::{EACCES, ENOBUFS, ENODEV, ENOENT};
use nix::libc::{
    EADDRNOTAVAIL, EAGAIN, ECANCELED, ECONNRESET, EINVAL, EIO, ENODATA, ENOMEM, ENOTCONN, EPROTO, ETIMEDOUT,
};
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

/// Returns the error number for an error of a query to the fabric.
#[cfg(feature = "fabric")]
#[must_use]
pub fn of_fabric(error: &FabricError) -> i32 {
    match error {
        FabricError::NoDevice
        | FabricError::NoActivePort(_)
        | FabricError::NoSuchPort { .. }
        | FabricError::NoUmad(_) => ENODEV,
        FabricError::Device { source, .. } => source.errno().map_or(EIO, |errno| errno as i32),
        FabricError::NoAnswer { .. } => ETIMEDOUT,
        FabricError::Refused { status, .. } => match *status {
            Status::SA_NO_RECORDS => ENODATA,
            // A join without the parameters of a new group.
            Status::SA_INSUFFICIENT_COMPONENTS => ENOENT,
            Status::SA_REQUEST_DENIED => EACCES,
            Status::SA_NO_RESOURCES => ENOMEM,
            Status::BUSY => EAGAIN,
            _ => EINVAL,
        },
        FabricError::Cut { .. } => ENOBUFS,
        FabricError::Answer(_) => EPROTO,
    }
}

/// Returns the error number for an error of the client.
#[must_use]
pub fn of_client(error: &ClientError) -> i32 {
    match error {
        ClientError::Connect { source, .. } => of_io(source),
        ClientError::Closed { .. } => ECONNRESET,
        ClientError::TimedOut { .. } | ClientError::Queued { .. } => ETIMEDOUT,
        ClientError::Full { .. } => EAGAIN,
        ClientError::Cancelled => ECANCELED,
        ClientError::Refused { status, .. } => of_status(*status),
        ClientError::Service(_) => EINVAL,
        ClientError::Protocol { .. } => EPROTO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_of_the_daemon_have_these_errors() {
        let expected = [
            (1, ENOMEM),
            (2, EINVAL),
            (3, ENODATA),
            (5, ENOTCONN),
            (6, ETIMEDOUT),
            (7, EADDRNOTAVAIL),
            (8, EINVAL),
            (9, EADDRNOTAVAIL),
            (10, EINVAL),
        ];
        let found = expected.map(|(status, _)| (status, of_status(ClientStatus::new(status))));
        assert_eq!(found, expected);
    }

    #[cfg(feature = "fabric")]
    #[test]
    fn statuses_of_the_subnet_administrator_have_these_errors() {
        let expected = [
            (0x0001, EAGAIN),
            (0x000c, EINVAL),
            (0x0100, ENOMEM),
            (0x0200, EINVAL),
            (0x0300, ENODATA),
            (0x0400, EINVAL),
            (0x0500, EINVAL),
            (0x0600, ENOENT),
            (0x0700, EACCES),
            (0x0800, EINVAL),
        ];
        let refused = |status| FabricError::Refused { what: String::new(), status: Status::new(status) };
        let found = expected.map(|(status, _)| (status, of_fabric(&refused(status))));
        assert_eq!(found, expected);
    }
}
