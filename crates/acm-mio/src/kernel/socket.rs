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

/// The group as a bit of an address.
const GROUP: u32 = 1 << (LOCAL_SERVICE_GROUP - 1);
/// Room for thousands of requests at once: a job's start on many cores. The default holds some two hundred.
const RECEIVE_BUFFER: usize = 4 << 20;

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SocketError {
    /// The kernel has no such protocol.
    #[error("NETLINK_RDMA: {0}; load the module ib_core before this daemon starts")]
    NoProtocol(Errno),
    /// The kernel does not let this process join the group.
    #[error("NETLINK_RDMA, group of the local service: {0}; run as root, or with CAP_NET_ADMIN")]
    Bind(Errno),
}

/// The netlink socket.
#[derive(Debug)]
pub(super) struct Socket {
    fd: OwnedFd,
}

/// What reading gave.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Received {
    Datagram {
        /// Bytes of the datagram that were read.
        length: usize,
        /// Whether the kernel sent it.
        from_kernel: bool,
    },
    /// No datagram is there to be read now.
    Nothing,
    /// Some are lost; there may be more.
    Lost,
}

impl Socket {
    /// A socket that is in the group of the local service.
    pub(super) fn open() -> Result<Self, SocketError> {
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let fd = socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkRDMA)
            .map_err(SocketError::NoProtocol)?;
        bind(fd.as_raw_fd(), &NetlinkAddr::new(0, GROUP)).map_err(SocketError::Bind)?;
        Ok(Self::with_room(fd))
    }

    /// Who may bind may have any room; whoever was passed a socket, and may not, has what the system grants. Without it a
    /// burst may lose requests.
    pub(super) fn with_room(fd: OwnedFd) -> Self {
        if setsockopt(&fd, sockopt::RcvBufForce, &RECEIVE_BUFFER).is_err() {
            let _ = setsockopt(&fd, sockopt::RcvBuf, &RECEIVE_BUFFER);
        }
        Self { fd }
    }

    /// Takes the one that systemd passed, wherever it stands among the others: `ListenNetlink=rdma 4`.
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

    /// Reads one datagram, whatever the mode of the file.
    pub(super) fn receive(&self, buffer: &mut [u8]) -> Received {
        let mut room = [IoSliceMut::new(buffer)];
        loop {
            return match recvmsg::<NetlinkAddr>(self.fd.as_raw_fd(), &mut room, None, MsgFlags::MSG_DONTWAIT) {
                // Longer than any request is: as good as lost.
                Ok(message) if message.flags.contains(MsgFlags::MSG_TRUNC) => Received::Lost,
                Ok(message) => Received::Datagram {
                    length: message.bytes,
                    from_kernel: message.address.is_some_and(|sender| sender.pid() == 0),
                },
                Err(Errno::EINTR) => continue,
                Err(Errno::ENOBUFS) => Received::Lost,
                // Netlink knows no other failure of a reader than the two above and EAGAIN.
                Err(_) => Received::Nothing,
            };
        }
    }

    /// Sends an answer as ibacm does: to the kernel and to whoever listens in the group.
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

    /// Whose socket it was: systemd's has the system's room. NETLINK_ROUTE is there without an adapter, too.
    #[test]
    fn a_socket_that_was_passed_has_more_room_than_before() {
        let fd = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute);
        let fd = fd.unwrap();
        let before = getsockopt(&fd, sockopt::RcvBuf).unwrap();
        let after = getsockopt(&Socket::with_room(fd).fd, sockopt::RcvBuf).unwrap();
        assert!(after > before, "{before} {after}");
    }
}
