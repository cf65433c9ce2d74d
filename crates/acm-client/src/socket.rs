//! A non-blocking stream socket, Unix or TCP.
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
    thread,
};

/// Pause before a Unix socket with a full backlog is tried again.
const BACKLOG_PAUSE: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(crate) struct Socket(Raw);

impl Socket {
    /// Connects before the deadline.
    pub(crate) fn connect(service: &Service, deadline: Deadline) -> io::Result<Self> {
        let socket = match service {
            Service::Unix(path) => unix(path, deadline)?,
            Service::Tcp { host, port } => tcp(host, *port, deadline)?,
        };
        socket.set_nonblocking(true)?;
        Ok(Self(socket))
    }

    /// Waits until the socket is readable, or writable if `writes`. Returns `false` at the deadline.
    pub(crate) fn wait(&self, writes: bool, deadline: Deadline) -> io::Result<bool> {
        let events = if writes { PollFlags::POLLIN | PollFlags::POLLOUT } else { PollFlags::POLLIN };
        loop {
            let Some(left) = deadline.left() else { return Ok(false) };
            // Rounded up, so that the last fraction of a millisecond is not a busy loop.
            let timeout = left.map_or(PollTimeout::NONE, |left| {
                let rounded = left.saturating_add(Duration::from_micros(999));
                PollTimeout::try_from(rounded).unwrap_or(PollTimeout::MAX)
            });
            match poll(&mut [PollFd::new(self.as_fd(), events)], timeout) {
                Ok(0) | Err(Errno::EINTR) => {}
                Ok(_) => return Ok(true),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Reads available bytes. Returns `None` if there are none, and 0 at the end of the stream.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        now(self.0.read(buffer))
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
        if now(recvmsg(&self.0, buffers, &mut control, RecvFlags::CMSG_CLOEXEC).map_err(io::Error::from))?.is_none() {
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
        now(self.0.send_with_flags(bytes, nix::libc::MSG_NOSIGNAL))
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
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

fn unix(path: &Path, deadline: Deadline) -> io::Result<Raw> {
    let address = SockAddr::unix(path)?;
    let socket = Raw::new(Domain::UNIX, Type::STREAM, None)?;
    // `connect` of a blocking socket would block without limit if the backlog is full.
    socket.set_nonblocking(true)?;
    loop {
        match socket.connect(&address) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            other => return other.map(|()| socket),
        }
        match deadline.left() {
            None => return Err(io::ErrorKind::TimedOut.into()),
            Some(left) => thread::sleep(left.map_or(BACKLOG_PAUSE, |left| left.min(BACKLOG_PAUSE))),
        }
    }
}

fn tcp(host: &str, port: u16, deadline: Deadline) -> io::Result<Raw> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in (host, port).to_socket_addrs()? {
        let socket = Raw::new(Domain::for_address(address), Type::STREAM, None)?;
        let connected = match deadline.left() {
            None => Err(io::ErrorKind::TimedOut.into()),
            Some(None) => socket.connect(&address.into()),
            Some(Some(left)) => socket.connect_timeout(&address.into(), left),
        };
        match connected {
            // Requests are small, and each may be awaited.
            Ok(()) => return socket.set_tcp_nodelay(true).map(|()| socket),
            Err(error) => last = error,
        }
    }
    Err(last)
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
        assert!(Socket::connect(&service, Deadline::after(Some(LONG))).unwrap().0.tcp_nodelay().unwrap());
    }
}
