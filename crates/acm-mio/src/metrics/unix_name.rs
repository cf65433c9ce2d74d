//! The name of a unix socket that the daemon creates: what stands there may be replaced, or not.
use crate::{regular::can_create, stream::is_open};
use std::{
    fs,
    io::{self, ErrorKind},
    os::unix::{fs::FileTypeExt, net::SocketAddr},
    path::Path,
};

/// Reports whether a socket is at this path that no process serves, and that can be replaced.
///
/// # Errors
/// A process serves the socket, or the path is that of another type of file.
pub(super) fn is_stale(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
        Ok(found) if !found.file_type().is_socket() => {
            Err(io::Error::new(ErrorKind::AlreadyExists, format!("{} is not a socket", path.display())))
        }
        Ok(_) if is_open(path) => {
            Err(io::Error::new(ErrorKind::AddrInUse, format!("{}: a process serves it", path.display())))
        }
        Ok(_) => Ok(true),
    }
}

/// Reports why a socket could not be created at this path. Changes nothing.
///
/// # Errors
/// Those of [`is_stale`]; the path is too long for a socket, or its directory cannot be written.
pub(crate) fn check(path: &Path) -> io::Result<()> {
    SocketAddr::from_pathname(path)?;
    is_stale(path)?;
    can_create(path)
}
