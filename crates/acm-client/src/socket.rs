//! A non-blocking stream socket, Unix or TCP, connected or connecting.
use crate::{deadline::Deadline, service::Service};
use core::{mem::MaybeUninit, time::Duration};
use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use socket2::{Domain, SockAddr, Socket as Raw, Type};
use std::{
    io::{self, IoSliceMut, Read},
    net::ToSocketAddrs,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
};

/// The address of a daemon, resolved once, so that later attempts to connect do not block.
#[derive(Clone, Debug)]
pub(crate) struct Peer(SockAddr);

#[derive(Debug)]
pub(crate) struct Socket {
    raw: Raw,
    is_up: bool,
}

impl Peer {
    /// Resolves the address of a daemon and connects to the first address of a host that accepts before the deadline.
    /// Returns no socket if the daemon's queue of connections is full; the caller may retry.
    pub(crate) fn find(service: &Service, deadline: Deadline) -> io::Result<(Self, Option<Socket>)> {
        match service {
            Service::Unix(path) => {
                let peer = Self(SockAddr::unix(path)?);
                match Socket::start(&peer) {
                    Ok(socket) => Ok((peer, Some(socket))),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok((peer, None)),
                    Err(error) => Err(error),
                }
            }
            Service::Tcp { host, port } => {
                let mut last = io::Error::from_raw_os_error(Errno::ENOENT as i32);
                for address in (host.as_str(), *port).to_socket_addrs()? {
                    let peer = Self(address.into());
                    match Socket::connect(&peer, deadline) {
                        Ok(socket) => return Ok((peer, Some(socket))),
                        Err(error) => last = error,
                    }
                }
                Err(last)
            }
        }
    }
}

impl Socket {
    fn raw(peer: &Peer) -> io::Result<Raw> {
        let socket = Raw::new(Domain::from(i32::from(peer.0.family())), Type::STREAM, None)?;
        if !peer.0.is_unix() {
            // Requests are small, and each may be awaited.
            socket.set_tcp_nodelay(true)?;
        }
        Ok(socket)
    }

    /// Starts to connect.
    pub(crate) fn start(peer: &Peer) -> io::Result<Self> {
        let raw = Self::raw(peer)?;
        raw.set_nonblocking(true)?;
        match raw.connect(&peer.0) {
            Ok(()) => Ok(Self { raw, is_up: true }),
            Err(error) if error.raw_os_error() == Some(Errno::EINPROGRESS as i32) => Ok(Self { raw, is_up: false }),
            Err(error) => Err(error),
        }
    }

    /// Connects to a Unix socket.
    pub(crate) fn unix(path: &Path) -> io::Result<Self> {
        Self::start(&Peer(SockAddr::unix(path)?))
    }

    fn connect(peer: &Peer, deadline: Deadline) -> io::Result<Self> {
        let raw = Self::raw(peer)?;
        match deadline.left() {
            None => return Err(io::ErrorKind::TimedOut.into()),
            Some(None) => raw.connect(&peer.0)?,
            Some(Some(left)) => raw.connect_timeout(&peer.0, left)?,
        }
        raw.set_nonblocking(true)?;
        Ok(Self { raw, is_up: true })
    }

    /// Reports whether the socket was still connecting at the last call of [`Self::is_up`].
    pub(crate) const fn is_connecting(&self) -> bool {
        !self.is_up
    }

    /// Checks whether the socket is connected. An error is returned once.
    pub(crate) fn is_up(&mut self) -> io::Result<bool> {
        if !self.is_up {
            if let Some(error) = self.raw.take_error()? {
                return Err(error);
            }
            self.is_up = self.raw.peer_addr().is_ok();
        }
        Ok(self.is_up)
    }

    /// Reads available bytes. Returns `None` if there are none, and 0 at the end of the stream.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        now(self.raw.read(buffer))
    }

    /// Reads a short message with a descriptor. Returns `None` if there is no message.
    ///
    /// # Errors
    /// If the message has no descriptor, or the stream has ended.
    pub(crate) fn receive_file(&self) -> io::Result<Option<OwnedFd>> {
        let mut bytes = [0; 64];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let buffers = &mut [IoSliceMut::new(&mut bytes)];
        let received = recvmsg(&self.raw, buffers, &mut control, RecvFlags::CMSG_CLOEXEC);
        if now(received.map_err(io::Error::from))?.is_none() {
            return Ok(None);
        }
        let files = control.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(files) => Some(files),
            _ => None,
        });
        files.flatten().next().map(Some).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Writes as many bytes as the socket accepts. Returns `None` if it accepts none.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<Option<usize>> {
        now(self.raw.send_with_flags(bytes, nix::libc::MSG_NOSIGNAL))
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.raw.as_fd()
    }
}

/// Waits until one of the sockets is readable, or writable if its flag is set. Returns `false` at the deadline.
pub(crate) fn wait<'a>(sockets: impl Iterator<Item = (&'a Socket, bool)>, deadline: Deadline) -> io::Result<bool> {
    let both = PollFlags::POLLIN | PollFlags::POLLOUT;
    let mut fds: Vec<_> = sockets
        .map(|(socket, writes)| PollFd::new(socket.as_fd(), if writes { both } else { PollFlags::POLLIN }))
        .collect();
    loop {
        let Some(left) = deadline.left() else { return Ok(false) };
        // Rounded up, so that the last fraction of a millisecond is not a busy loop.
        let timeout = left.map_or(PollTimeout::NONE, |left| {
            let rounded = left.saturating_add(Duration::from_micros(999));
            PollTimeout::try_from(rounded).unwrap_or(PollTimeout::MAX)
        });
        match poll(&mut fds, timeout) {
            Ok(0) | Err(Errno::EINTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Returns `None` instead of an error if the operation would block.
pub(crate) fn now<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// A time limit that no passing test reaches.
    const LONG: Duration = Duration::from_secs(60);

    /// With Nagle's algorithm, a request would wait for the acknowledgement of the previous one.
    #[test]
    fn small_requests_over_tcp_are_sent_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let service = listener.local_addr().unwrap().to_string().parse().unwrap();
        let (peer, socket) = Peer::find(&service, Deadline::after(Some(LONG))).unwrap();
        for socket in [socket.unwrap(), Socket::start(&peer).unwrap()] {
            assert!(socket.raw.tcp_nodelay().unwrap());
        }
    }
}
