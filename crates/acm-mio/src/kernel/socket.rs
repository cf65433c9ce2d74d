//! The netlink socket in the group of the local service.
use crate::netlink::NetlinkSocket;
use acm_wire::netlink::LOCAL_SERVICE_GROUP;
use listenfd::ListenFd;
use nix::{
    errno::Errno,
    libc,
    sys::socket::{NetlinkAddr, SockProtocol, getsockname},
};
use std::os::fd::{AsRawFd, OwnedFd};

/// The group, as a bit of an address. Responses are sent to it as well, as ibacm does.
pub(super) const GROUP: u32 = 1 << (LOCAL_SERVICE_GROUP - 1);
/// Size of the receive buffer in bytes: room for thousands of requests, which occur at the start of a job on many
/// cores. The system's default size holds about two hundred requests. The privilege to join the group permits any size.
/// A process without this privilege, which uses a socket from systemd, may lose requests of bursts.
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

/// Opens a socket in the group of the local service.
pub(super) fn open() -> Result<NetlinkSocket, SocketError> {
    let socket = NetlinkSocket::open(SockProtocol::NetlinkRDMA).map_err(SocketError::NoProtocol)?;
    socket.join(GROUP).map_err(SocketError::Bind)?;
    Ok(NetlinkSocket::with_room(socket, RECEIVE_BUFFER))
}

/// Finds the socket that systemd passed (`ListenNetlink=rdma 4`), at any position among the passed sockets.
pub(super) fn from_systemd(passed: &mut ListenFd) -> Option<NetlinkSocket> {
    for index in 0..passed.len() {
        let taken = passed.take_custom::<OwnedFd>(index, libc::AF_NETLINK, libc::SOCK_RAW, "netlink socket");
        if let Ok(Some(fd)) = taken {
            let groups = getsockname::<NetlinkAddr>(fd.as_raw_fd()).map_or(0, |bound| bound.groups());
            if groups & GROUP != 0 {
                return Some(NetlinkSocket::with_room(fd, RECEIVE_BUFFER));
            }
            tracing::warn!(target: "kernel", "systemd's netlink socket is in groups {groups:#x}: not `rdma 4`");
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::socket::{getsockopt, sockopt::RcvBuf};

    /// A socket passed by systemd has the system's buffer size. NETLINK_ROUTE exists without an adapter as well.
    // docs/deadlines.md: kernel-requests
    #[test]
    fn passed_socket_gets_a_larger_receive_buffer() {
        let fd = OwnedFd::from(NetlinkSocket::open(SockProtocol::NetlinkRoute).unwrap());
        let before = getsockopt(&fd, RcvBuf).unwrap();
        let after = getsockopt(&OwnedFd::from(NetlinkSocket::with_room(fd, RECEIVE_BUFFER)), RcvBuf).unwrap();
        assert!(after > before, "{before} {after}");
    }
}
