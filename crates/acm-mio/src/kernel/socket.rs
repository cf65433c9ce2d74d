//! The netlink socket: non-blocking, in the group of the local service.
use acm_wire::netlink::LOCAL_SERVICE_GROUP;
use listenfd::ListenFd;
use nix::{
    errno::Errno,
    libc,
    sys::socket::{
        AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, getsockname, recvmsg, sendto,
        setsockopt, socket, sockopt,
    },
};
use std::{
    io::IoSliceMut,
    os::fd::{AsRawFd, OwnedFd, RawFd},
};

/// The group, as a bit of an address.
const GROUP: u32 = 1 << (LOCAL_SERVICE_GROUP - 1);
/// Size of the receive buffer in bytes: room for thousands of requests, which occur at the start of a job on many
/// cores. The system's default size holds about two hundred requests.
const RECEIVE_BUFFER: usize = 4 << 20;

/// Reason why there is no socket.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SocketError {
    /// The kernel does not have the protocol.
    #[error("NETLINK_RDMA: {0}; load the module ib_core before this daemon starts")]
    NoProtocol(Errno),
    /// This process may not join the group.
    #[error("NETLINK_RDMA, group of the local service: {0}; run as root, or with CAP_NET_ADMIN")]
    Bind(Errno),
}

/// The netlink socket.
#[derive(Debug)]
pub(super) struct Socket {
    fd: OwnedFd,
}

/// Result of one read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Received {
    Datagram {
        /// Length in bytes.
        length: usize,
        /// True if the kernel sent it.
        from_kernel: bool,
    },
    /// No datagram is available now.
    Nothing,
    /// Datagrams were lost. Further datagrams may be available.
    Lost,
}

impl Socket {
    /// Opens a socket in the group of the local service.
    pub(super) fn open() -> Result<Self, SocketError> {
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let fd = socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkRDMA)
            .map_err(SocketError::NoProtocol)?;
        bind(fd.as_raw_fd(), &NetlinkAddr::new(0, GROUP)).map_err(SocketError::Bind)?;
        Ok(Self::with_room(fd))
    }

    /// Sets the size of the receive buffer. The privilege to bind permits any size. A process without this privilege,
    /// which uses a socket from systemd, gets at most the system's limit, and may lose requests of bursts.
    pub(super) fn with_room(fd: OwnedFd) -> Self {
        if setsockopt(&fd, sockopt::RcvBufForce, &RECEIVE_BUFFER).is_err() {
            let _ = setsockopt(&fd, sockopt::RcvBuf, &RECEIVE_BUFFER);
        }
        Self { fd }
    }

    /// Finds the socket that systemd passed (`ListenNetlink=rdma 4`), at any position among the passed sockets.
    pub(super) fn from_systemd(passed: &mut ListenFd) -> Option<Self> {
        for index in 0..passed.len() {
            let taken = passed.take_custom::<OwnedFd>(index, libc::AF_NETLINK, libc::SOCK_RAW, "netlink socket");
            if let Ok(Some(fd)) = taken {
                let groups = getsockname::<NetlinkAddr>(fd.as_raw_fd()).map_or(0, |bound| bound.groups());
                if groups & GROUP != 0 {
                    return Some(Self::with_room(fd));
                }
                tracing::warn!(target: "kernel", "systemd's netlink socket is in groups {groups:#x}: not `rdma 4`");
            }
        }
        None
    }

    /// Reads one datagram. Does not block, even if the file is in blocking mode.
    pub(super) fn receive(&self, buffer: &mut [u8]) -> Received {
        let mut room = [IoSliceMut::new(buffer)];
        loop {
            return match recvmsg::<NetlinkAddr>(self.fd.as_raw_fd(), &mut room, None, MsgFlags::MSG_DONTWAIT) {
                // Longer than any request.
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

    /// Sends a response as ibacm does: to the kernel and to the group.
    pub(super) fn send(&self, message: &[u8]) -> Result<(), Errno> {
        sendto(self.fd.as_raw_fd(), message, &NetlinkAddr::new(0, GROUP), MsgFlags::MSG_DONTWAIT).map(drop)
    }
}

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::socket::getsockopt;

    /// A socket passed by systemd has the system's buffer size. NETLINK_ROUTE exists without an adapter as well.
    // docs/deadlines.md: kernel-requests
    #[test]
    fn passed_socket_gets_a_larger_receive_buffer() {
        let fd = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute);
        let fd = fd.unwrap();
        let before = getsockopt(&fd, sockopt::RcvBuf).unwrap();
        let after = getsockopt(&Socket::with_room(fd).fd, sockopt::RcvBuf).unwrap();
        assert!(after > before, "{before} {after}");
    }
}
