//! Descriptors that hostile users send.
use core::{
    mem::MaybeUninit,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};
use rustix::{
    event::epoll,
    fs::{FallocateFlags, MemfdFlags, fallocate, memfd_create},
    net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg},
    pipe::pipe,
};
use socket2::{Domain, SockAddr, Socket, Type};
use std::{
    io::{self, IoSlice, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
};

/// Time for which the last close of a TCP socket waits: longer than any limit of a test.
const LINGER: Duration = Duration::from_secs(120);
/// Size of a memory file in bytes.
const MEMORY: u64 = 64 << 20;

/// A TCP port of this machine where connections are never accepted.
#[derive(Debug)]
pub(super) struct DeafPort {
    /// Keeps the port open.
    _listener: Socket,
    address: SockAddr,
}

impl DeafPort {
    pub(super) fn open() -> Self {
        let listener = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        listener.set_recv_buffer_size(2048).unwrap();
        listener.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
        listener.listen(1024).unwrap();
        let address = listener.local_addr().unwrap();
        Self { _listener: listener, address }
    }

    /// Returns a connection with unsent data. Its last close waits for [`LINGER`] while the port exists.
    pub(super) fn connect(&self) -> io::Result<Socket> {
        let mut socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        socket.set_send_buffer_size(2048)?;
        socket.connect(&self.address)?;
        socket.set_nonblocking(true)?;
        while socket.write(&[0; 4096]).is_ok() {}
        socket.set_linger(Some(LINGER))?;
        Ok(socket)
    }
}

pub(super) fn socket() -> io::Result<OwnedFd> {
    UnixStream::pair().map(|(one, _)| one.into())
}

pub(super) fn end_of_pipe() -> io::Result<OwnedFd> {
    Ok(pipe()?.0)
}

pub(super) fn memory() -> io::Result<OwnedFd> {
    let file = memfd_create("hostile", MemfdFlags::CLOEXEC)?;
    fallocate(&file, FallocateFlags::empty(), 0, MEMORY)?;
    Ok(file)
}

pub(super) fn epoll_instance() -> io::Result<OwnedFd> {
    Ok(epoll::create(epoll::CreateFlags::CLOEXEC)?)
}

/// Sends bytes and a descriptor.
pub(super) fn send(socket: &Socket, bytes: &[u8], gift: &impl AsFd) -> io::Result<usize> {
    let files = [gift.as_fd()];
    send_message(socket, bytes, SendAncillaryMessage::ScmRights(&files))
}

/// Sends bytes and the credentials of this process.
pub(super) fn send_credentials(socket: &Socket, bytes: &[u8]) -> io::Result<usize> {
    let credentials = rustix::net::UCred {
        pid: rustix::process::getpid(),
        uid: rustix::process::geteuid(),
        gid: rustix::process::getegid(),
    };
    send_message(socket, bytes, SendAncillaryMessage::ScmCredentials(credentials))
}

fn send_message(socket: &Socket, bytes: &[u8], message: SendAncillaryMessage<'_, '_>) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1), ScmCredentials(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    assert!(control.push(message));
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    Ok(sendmsg(socket, &[IoSlice::new(bytes)], &mut control, flags)?)
}
