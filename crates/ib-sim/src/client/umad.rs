//! Device files of a node: umad, and the kernel's messages about its devices.
use super::{error::ClientError, hello::hello};
use crate::proto::{Hello, Kind, Role, UmadForget, UmadServe};
use ib_mad::{
    MgmtClass, as_bytes,
    wire::{Be32, Be64},
};
use socket2::SockRef;
use std::{
    io,
    os::fd::{BorrowedFd, OwnedFd},
    path::Path,
};

/// Opens a port's umad device: a blocking socket on which each packet is a frame of `/dev/infiniband/umadN`, and true if
/// the port sends no frame without a global route.
///
/// # Errors
/// [`ClientError::Io`] if no server uses the socket, [`ClientError::Refused`] if there is no such node or port.
pub fn open_umad(path: &Path, node: &str, port: u8) -> Result<(OwnedFd, bool), ClientError> {
    let (socket, welcome) = hello(path, &Hello::new(Role::UMAD, port, node))?;
    socket.set_read_timeout(None)?;
    socket.set_write_timeout(None)?;
    Ok((socket.into(), welcome.grh_required != 0))
}

/// Opens a socket for the kernel's messages about the devices of the node's host: a blocking socket with packets in the
/// format of [`Role::UEVENT`].
///
/// # Errors
/// [`ClientError::Io`] if no server uses the socket, [`ClientError::Refused`] if there is no such node.
pub fn open_uevents(path: &Path, node: &str) -> Result<OwnedFd, ClientError> {
    let (socket, _) = hello(path, &Hello::new(Role::UEVENT, 0, node))?;
    socket.set_read_timeout(None)?;
    Ok(socket.into())
}

/// Unregisters an agent of a umad device at the server.
///
/// # Errors
/// The system's error.
pub fn unregister_umad_agent(umad: BorrowedFd<'_>, agent: u32) -> io::Result<()> {
    let forget = UmadForget { kind: Kind::UMAD_FORGET, agent: Be32::new(agent), ..UmadForget::default() };
    SockRef::from(&umad).send(as_bytes(&forget)).map(|_| ())
}

/// Registers an agent of a umad device for requests of these methods, a mask in the kernel's format.
///
/// # Errors
/// The system's error.
pub fn register_umad_agent(
    umad: BorrowedFd<'_>,
    agent: u32,
    class: MgmtClass,
    class_version: u8,
    methods: [u64; 2],
) -> io::Result<()> {
    let methods = methods.map(Be64::new);
    let serve = UmadServe { kind: Kind::UMAD_SERVE, class, class_version, agent: Be32::new(agent), methods };
    SockRef::from(&umad).send(as_bytes(&serve)).map(|_| ())
}
