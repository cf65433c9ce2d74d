//! A netlink socket, which never waits.
use nix::{
    errno::Errno,
    sys::socket::{
        AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recvmsg, sendto, setsockopt,
        socket, sockopt,
    },
};
use std::{
    io::IoSliceMut,
    os::fd::{AsRawFd, OwnedFd, RawFd},
};

/// A netlink socket.
#[derive(Debug)]
pub(crate) struct NetlinkSocket(OwnedFd);

/// Result of one read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Received {
    Datagram {
        /// Length in bytes.
        length: usize,
        /// True if the kernel sent it. Programs need CAP_NET_ADMIN to send to the socket of another program.
        from_kernel: bool,
    },
    /// No datagram is available now.
    Nothing,
    /// Datagrams were lost. Further datagrams may be available.
    Lost,
}

impl NetlinkSocket {
    /// Opens a socket that receives responses only.
    pub(crate) fn open(protocol: SockProtocol) -> Result<Self, Errno> {
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        socket(AddressFamily::Netlink, SockType::Raw, flags, protocol).map(Self)
    }

    /// Joins groups, each of which is a bit.
    pub(crate) fn join(&self, groups: u32) -> Result<(), Errno> {
        bind(self.as_raw_fd(), &NetlinkAddr::new(0, groups))
    }

    /// Returns a socket with a receive buffer of this size in bytes, or of the system's limit without the privilege to
    /// exceed it.
    pub(crate) fn with_room(fd: impl Into<OwnedFd>, size: usize) -> Self {
        let fd = fd.into();
        if setsockopt(&fd, sockopt::RcvBufForce, &size).is_err() {
            let _ = setsockopt(&fd, sockopt::RcvBuf, &size);
        }
        Self(fd)
    }

    /// Reads one datagram. Does not block, even if the file is in blocking mode.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> Received {
        let mut room = [IoSliceMut::new(buffer)];
        loop {
            return match recvmsg::<NetlinkAddr>(self.as_raw_fd(), &mut room, None, MsgFlags::MSG_DONTWAIT) {
                // Longer than any message that is expected.
                Ok(message) if message.flags.contains(MsgFlags::MSG_TRUNC) => Received::Lost,
                Ok(message) => Received::Datagram {
                    length: message.bytes,
                    from_kernel: message.address.is_some_and(|sender| sender.pid() == 0),
                },
                Err(Errno::EINTR) => continue,
                Err(Errno::ENOBUFS) => Received::Lost,
                // Apart from EAGAIN, netlink has no other error for readers.
                Err(_) => Received::Nothing,
            };
        }
    }

    /// Sends a message to the kernel, and to groups.
    pub(crate) fn send(&self, message: &[u8], groups: u32) -> Result<(), Errno> {
        sendto(self.as_raw_fd(), message, &NetlinkAddr::new(0, groups), MsgFlags::MSG_DONTWAIT).map(drop)
    }
}

impl From<NetlinkSocket> for OwnedFd {
    fn from(socket: NetlinkSocket) -> Self {
        socket.0
    }
}

impl AsRawFd for NetlinkSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}
