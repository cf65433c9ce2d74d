//! The first messages of a connection.
use super::error::ClientError;
use crate::proto::{Hello, Refusal, Welcome};
use core::time::Duration;
use ib_mad::{Wire, as_bytes};
use socket2::{Domain, SockAddr, Socket, Type};
use std::{
    io::{self, Read},
    path::Path,
};

/// Time-out of the response to a hello, and of sending a message that must not be lost while the socket is full.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Connects and sends a hello. The socket is blocking, with a time-out.
pub(super) fn hello(path: &Path, hello: &Hello) -> Result<(Socket, Welcome), ClientError> {
    let socket = Socket::new(Domain::UNIX, Type::SEQPACKET, None)?;
    let address = SockAddr::unix(path)?;
    uninterrupted(|| socket.connect(&address))?;
    socket.set_read_timeout(Some(TIMEOUT))?;
    socket.set_write_timeout(Some(TIMEOUT))?;
    uninterrupted(|| socket.send(as_bytes(hello)))?;
    let mut response = [0; size_of::<Welcome>()];
    let length = uninterrupted(|| (&socket).read(&mut response))?;
    if length == 0 {
        return Err(ClientError::Gone);
    }
    let welcome = *Welcome::parse(response.get(..length).unwrap_or_default())?;
    match welcome.refusal {
        Refusal::NONE => Ok((socket, welcome)),
        refusal => Err(ClientError::Refused(refusal)),
    }
}

/// Repeats a call that a signal interrupted.
pub(super) fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
