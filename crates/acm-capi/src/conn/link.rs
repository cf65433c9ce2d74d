//! A non-blocking socket, connected or connecting.
use crate::errno::{self, Result};
use acm_client::Service;
use core::time::Duration;
use nix::{errno::Errno, libc::MSG_NOSIGNAL};
use socket2::{Domain, SockAddr, Socket, Type};
use std::{
    io::{self, Read},
    net::ToSocketAddrs,
    os::fd::{AsFd, BorrowedFd},
};

/// The address of a daemon, resolved once, so that later calls do not block.
#[derive(Clone, Debug)]
pub(crate) struct Peer(SockAddr);

/// A socket.
#[derive(Debug)]
pub(crate) struct Link {
    socket: Socket,
    is_up: bool,
}

impl Peer {
    /// Resolves the address of a daemon and connects. For a host, `timeout` applies to each of its addresses. Returns
    /// no link if the daemon's queue of connections is full; the caller may retry.
    pub(crate) fn find(service: &Service, timeout: Duration) -> Result<(Self, Option<Link>)> {
        match service {
            Service::Unix(path) => {
                let peer = Self(SockAddr::unix(path).map_err(|error| errno::of_io(&error))?);
                match Link::start(&peer) {
                    Ok(link) => Ok((peer, Some(link))),
                    Err(Errno::EAGAIN) => Ok((peer, None)),
                    Err(errno) => Err(errno),
                }
            }
            Service::Tcp { host, port } => {
                let mut last = Errno::ENOENT;
                // An error of the resolver has no error number. ENOENT is the nearest: there is no such host.
                for address in (host.as_str(), *port).to_socket_addrs().map_err(|_| Errno::ENOENT)? {
                    let peer = Self(address.into());
                    match Link::connect(&peer, timeout) {
                        Ok(link) => return Ok((peer, Some(link))),
                        Err(error) => last = errno::of_io(&error),
                    }
                }
                Err(last)
            }
        }
    }

    fn socket(&self) -> io::Result<Socket> {
        let socket = Socket::new(Domain::from(i32::from(self.0.family())), Type::STREAM, None)?;
        if !self.0.is_unix() {
            // Requests are small, and the caller waits for each response.
            socket.set_tcp_nodelay(true)?;
        }
        Ok(socket)
    }
}

impl Link {
    /// Starts to connect.
    pub(crate) fn start(peer: &Peer) -> Result<Self> {
        let connecting = peer.socket().and_then(|socket| {
            socket.set_nonblocking(true)?;
            match socket.connect(&peer.0) {
                Ok(()) => Ok(Self { socket, is_up: true }),
                Err(error) if error.raw_os_error() == Some(Errno::EINPROGRESS as i32) => {
                    Ok(Self { socket, is_up: false })
                }
                Err(error) => Err(error),
            }
        });
        connecting.map_err(|error| errno::of_io(&error))
    }

    fn connect(peer: &Peer, timeout: Duration) -> io::Result<Self> {
        let socket = peer.socket()?;
        socket.connect_timeout(&peer.0, timeout)?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket, is_up: true })
    }

    /// Reports whether the socket was still connecting at the last call of [`Self::is_up`].
    pub(crate) const fn is_connecting(&self) -> bool {
        !self.is_up
    }

    /// Checks whether the socket is connected. An error is returned once.
    pub(crate) fn is_up(&mut self) -> Result<bool> {
        if !self.is_up {
            if let Some(error) = self.socket.take_error().map_err(|error| errno::of_io(&error))? {
                return Err(errno::of_io(&error));
            }
            self.is_up = self.socket.peer_addr().is_ok();
        }
        Ok(self.is_up)
    }

    /// Reads available bytes. Returns `None` if there are none now, and 0 at the end.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<Option<usize>> {
        unless_blocked(self.socket.read(buffer))
    }

    /// Writes as many bytes as the socket accepts. Returns `None` if it accepts none now.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<Option<usize>> {
        unless_blocked(self.socket.send_with_flags(bytes, MSG_NOSIGNAL))
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn unless_blocked(result: io::Result<usize>) -> Result<Option<usize>> {
    match result {
        Ok(count) => Ok(Some(count)),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(None),
        Err(error) => Err(errno::of_io(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// Otherwise a request would wait for the acknowledgement of the previous one.
    #[test]
    fn requests_over_tcp_are_sent_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (host, port) = ("127.0.0.1".to_owned(), listener.local_addr().unwrap().port());
        let (peer, link) = Peer::find(&Service::Tcp { host, port }, Duration::from_secs(60)).unwrap();
        for link in [link.unwrap(), Link::start(&peer).unwrap()] {
            assert!(link.socket.tcp_nodelay().unwrap());
        }
    }
}
