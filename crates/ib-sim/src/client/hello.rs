//! How each connection begins.
use super::error::ClientError;
use crate::proto::{Hello, Refusal, Welcome};
use core::time::Duration;
use ib_mad::{Wire, as_bytes};
use socket2::{Domain, SockAddr, Socket, Type};
use std::{
    io::{self, Read},
    path::Path,
};

/// How long the server may take to answer a hello, and to make room for a message that must not be lost.
const PATIENCE: Duration = Duration::from_secs(5);

/// Connects and says hello. The socket is blocking, with a time limit.
pub(super) fn hello(path: &Path, hello: &Hello) -> Result<(Socket, Welcome), ClientError> {
    let socket = Socket::new(Domain::UNIX, Type::SEQPACKET, None)?;
    let address = SockAddr::unix(path)?;
    uninterrupted(|| socket.connect(&address))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    uninterrupted(|| socket.send(as_bytes(hello)))?;
    let mut answer = [0; size_of::<Welcome>()];
    let length = uninterrupted(|| (&socket).read(&mut answer))?;
    if length == 0 {
        return Err(ClientError::Gone);
    }
    let welcome = *Welcome::parse(answer.get(..length).unwrap_or_default())?;
    match welcome.refusal {
        Refusal::NONE => Ok((socket, welcome)),
        refusal => Err(ClientError::Refused(refusal)),
    }
}

/// Does it again if a signal came in between.
pub(super) fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
