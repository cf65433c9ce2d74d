//! A connection over a unix socket or TCP.
mod unix;
pub(crate) use unix::{SentDescriptors, Unix};

use crate::peer::Peer;
use acm_sansio::Account;
use core::{
    mem::MaybeUninit,
    net::{IpAddr, Ipv4Addr},
};
use mio::{
    event::Source,
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
};
use nix::{getsockopt_impl, libc, sockopt_impl, sys::socket::GetSockOpt};
use rustix::net::{
    RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, Shutdown, listen, recv, sendmsg, shutdown, sockopt,
};
use std::{
    io::{self, IoSlice, Read, Write},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::net::UnixDatagram,
    },
    path::Path,
};

/// The user nobody, to whose account all programs with an unknown user belong.
const NOBODY: u32 = 65_534;

/// Requested size of the send buffer of a client, in bytes; the system doubles it. The kernel memory of unread
/// responses is charged to the daemon: at most the buffer and one message for each connection.
const SEND_BUFFER: usize = 2048;
/// Number of clients in the kernel's queue of a unix socket: one more than listen(2) names.
pub(crate) const QUEUE: u8 = 129;
/// Requested size of the receive buffer of a TCP client, in bytes; the system doubles it.
const RECEIVE_BUFFER: usize = 8192;

/// The numbers of `SO_MEMINFO` (linux/sock_diag.h).
type MemInfo = [u32; 9];
sockopt_impl!(
    /// Memory of a socket, in bytes.
    SocketMemInfo,
    GetOnly,
    libc::SOL_SOCKET,
    libc::SO_MEMINFO,
    MemInfo
);

/// Limits the kernel memory of a client's responses. If the system rejects the size, its default limit applies.
pub(crate) fn limit_send_buffer(socket: &impl AsFd) {
    let _ = sockopt::set_socket_send_buffer_size(socket, SEND_BUFFER);
}

/// Limits the kernel memory of a client's requests, which only TCP charges to the receiver.
pub(crate) fn limit_receive_buffer(socket: &impl AsFd) {
    let _ = sockopt::set_socket_recv_buffer_size(socket, RECEIVE_BUFFER);
}

/// Limits the number of clients that wait to be accepted. The kernel queues those of all users in order of arrival, so
/// that a new one waits for all of them. If the queue is full, a blocking `connect` waits for room, in turn with others,
/// and one that does not block fails with EAGAIN.
fn limit_backlog(listener: &UnixListener) {
    let _ = listen(listener, i32::from(QUEUE) - 1);
}

/// Lets as many TCP clients wait to be accepted as the system allows (net.core.somaxconn). If the queue is full, the
/// kernel drops a client's request, and the client repeats it after 1 s.
pub(crate) fn extend_backlog(listener: &TcpListener) {
    let _ = listen(listener, i32::MAX);
}

/// Returns the account of programs that connect by TCP from an address. All loopback addresses are one account, because
/// each program of this machine may use any of them.
fn account_of(address: IpAddr) -> Account {
    Account::Peer(if address.is_loopback() { Ipv4Addr::LOCALHOST.into() } else { address })
}

/// Reports whether a process has the socket at this path open. A connection of another type of socket is refused in a
/// different way by an open socket (EPROTOTYPE) than by the file of a closed one (ECONNREFUSED). So the process at the
/// other end, such as systemd, which would start a service, does not see the attempt, and a full backlog does not
/// matter.
pub(crate) fn is_open(path: &Path) -> bool {
    match UnixDatagram::unbound().and_then(|probe| probe.connect(path)) {
        Ok(()) => true,
        Err(error) => error.raw_os_error() == Some(libc::EPROTOTYPE),
    }
}

/// A listening socket of either type.
#[derive(Debug)]
pub(crate) enum ListeningSocket {
    Unix(UnixListener),
    Tcp(TcpListener),
}

impl From<UnixListener> for ListeningSocket {
    /// Limits the clients that wait, and refuses descriptors.
    fn from(socket: UnixListener) -> Self {
        unix::refuse_descriptors(&socket);
        limit_backlog(&socket);
        Self::Unix(socket)
    }
}

impl ListeningSocket {
    pub(crate) fn accept(&self) -> io::Result<Stream> {
        match self {
            Self::Unix(socket) => socket.accept().map(|(stream, _)| stream.into()),
            Self::Tcp(socket) => socket.accept().map(|(stream, _)| Stream::Tcp(stream)),
        }
    }

    pub(crate) fn source(&mut self) -> &mut dyn Source {
        match self {
            Self::Unix(socket) => socket,
            Self::Tcp(socket) => socket,
        }
    }
}

/// A stream of either type.
#[derive(Debug)]
pub(crate) enum Stream {
    Unix(Unix),
    Tcp(TcpStream),
}

impl From<UnixStream> for Stream {
    fn from(stream: UnixStream) -> Self {
        Self::Unix(Unix::new(stream))
    }
}

impl Stream {
    /// Returns the account that is charged for requests, and the program at the other end.
    pub(crate) fn peer(&self) -> (Account, Peer) {
        let nobody = (Account::User(NOBODY), Peer::Unknown);
        match self {
            Self::Unix(stream) => {
                let peer = nix::sys::socket::getsockopt(stream, nix::sys::socket::sockopt::PeerCredentials);
                peer.map_or(nobody, |peer| (Account::User(peer.uid()), Peer::process(peer.pid())))
            }
            Self::Tcp(stream) => stream.peer_addr().map_or(nobody, |at| (account_of(at.ip()), Peer::Address(at))),
        }
    }

    /// Returns the kernel memory, in bytes, of responses that the client has not read, as SIOCOUTQ does for a unix socket.
    pub(crate) fn unread(&self) -> u32 {
        // The value is in SK_MEMINFO_WMEM_ALLOC for a unix socket, and in SK_MEMINFO_WMEM_QUEUED for TCP.
        SocketMemInfo.get(self).map_or(0, |[_, _, allocated, _, _, queued, ..]| allocated.saturating_add(queued))
    }

    /// Prevents the client from sending more, and reports whether closing the connection may wait for files that the
    /// client has sent.
    pub(crate) fn ends_with_descriptors(&self) -> bool {
        match self {
            Self::Unix(stream) => stream.ends_with_descriptors(),
            Self::Tcp(_) => false,
        }
    }

    /// Ends both directions. The client can still read what was sent.
    pub(crate) fn shutdown(&self) {
        let _ = shutdown(self, Shutdown::Both);
    }

    /// Sends a short message with a descriptor. Nothing may be unsent.
    ///
    /// # Errors
    /// If this is a TCP connection, or the socket has no room.
    pub(crate) fn send_with_file(&self, bytes: &[u8], file: BorrowedFd<'_>) -> io::Result<()> {
        let Self::Unix(stream) = self else { return Err(io::ErrorKind::Unsupported.into()) };
        let files = [file];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&files));
        match sendmsg(stream, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL)? {
            sent if sent == bytes.len() => Ok(()),
            _ => Err(io::ErrorKind::WriteZero.into()),
        }
    }

    pub(crate) fn source(&mut self) -> &mut dyn Source {
        match self {
            Self::Unix(stream) => stream.source(),
            Self::Tcp(stream) => stream,
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        }
    }
}

// System calls without libc: libc's functions are cancellation points, which had 5 % of the daemon's samples
// (`perf record`, 16 connections).
impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buffer),
            Self::Tcp(stream) => {
                let (count, _) = recv(stream, buffer, RecvFlags::empty())?;
                Ok(count)
            }
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(&*self, bytes, SendFlags::NOSIGNAL)?)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn send_buffer_of_a_client_has_4608_bytes() {
        let (stream, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        limit_send_buffer(&stream);
        assert_eq!(sockopt::socket_send_buffer_size(&stream).unwrap(), 4608, "the smallest of Linux");
    }

    #[test]
    fn loopback_addresses_are_one_account() {
        let account = |text: &str| account_of(text.parse().unwrap());
        let local = account("127.0.0.1");
        assert_eq!(["127.0.0.2", "127.255.255.254"].map(account), [local; 2]);
        assert_eq!(local, Account::Peer(Ipv4Addr::LOCALHOST.into()));
        let remote = ["126.255.255.255", "128.0.0.0", "192.0.2.1"].map(account);
        assert!(remote.iter().all(|account| *account != local) && remote[0] != remote[1]);
    }
}
