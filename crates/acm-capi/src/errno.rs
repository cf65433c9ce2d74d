//! Error numbers as [`Errno`], with the values of [`acm_client::errno`].
use acm_client::ClientError;
use nix::errno::Errno;
use std::io;

/// A result with an error number.
pub(crate) type Result<T> = core::result::Result<T, Errno>;

/// Returns the error number of a system error; `EIO` if it has none.
pub(crate) fn of_io(error: &io::Error) -> Errno {
    Errno::from_raw(acm_client::errno::of_io(error))
}

/// Returns the error number for an error of the client.
pub(crate) fn of_client(error: &ClientError) -> Errno {
    Errno::from_raw(acm_client::errno::of_client(error))
}
