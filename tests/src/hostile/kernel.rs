//! The kernel's requests for paths, from a program: a daemon with `--kernel any` serves both.
use super::honest::Path64;
use crate::LIMIT;
use acm_wire::netlink::{
    KernelResponse, LOCAL_SERVICE_GROUP, MAX_REQUEST, PathUse, ResolveHeader, ResolveRequest, messages,
};
use ib_mad::{Wire as _, as_bytes, sa::PathRecord};
use nix::{
    errno::Errno,
    sys::socket::{
        AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, getsockname, recvfrom, sendto,
        socket,
    },
};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use std::{
    io,
    os::fd::{AsRawFd, OwnedFd},
};

/// Opens a socket in the group of the local service. The protocol is one between programs, because a machine without an
/// adapter has no `NETLINK_RDMA`.
pub(super) fn open() -> io::Result<OwnedFd> {
    let (kind, flags) = (SockType::Raw, SockFlag::SOCK_CLOEXEC);
    let fd = socket(AddressFamily::Netlink, kind, flags, SockProtocol::NetlinkUserSock)?;
    bind(fd.as_raw_fd(), &NetlinkAddr::new(0, 1 << (LOCAL_SERVICE_GROUP - 1)))?;
    Ok(fd)
}

/// Returns the port id of a socket.
pub(super) fn port_id(fd: &OwnedFd) -> u32 {
    getsockname::<NetlinkAddr>(fd.as_raw_fd()).unwrap().pid()
}

/// The kernel of a daemon.
pub(super) struct Kernel {
    socket: OwnedFd,
    /// Port id of the daemon's socket.
    daemon: u32,
}

impl Kernel {
    pub(super) fn of(daemon: u32) -> io::Result<Self> {
        let socket = open()?;
        set_socket_timeout(&socket, Timeout::Recv, Some(LIMIT))?;
        Ok(Self { socket, daemon })
    }

    /// Requests the path between the ports of `path`, and returns the daemon's.
    pub(super) fn resolve(&self, sequence: u32, path: &Path64) -> io::Result<Path64> {
        let path = PathRecord::parse(path).map_err(io::Error::other)?;
        let message = ResolveRequest {
            header: ResolveHeader { path_use: PathUse::ALL, ..ResolveHeader::default() },
            sgid: Some(path.sgid),
            dgid: Some(path.dgid),
            pkey: Some(path.pkey),
            ..ResolveRequest::default()
        };
        let (mut request, mut bytes) = ([0; MAX_REQUEST], [0; 8192]);
        let length = message.encode(sequence, &mut request).map_err(io::Error::other)?;
        let fd = self.socket.as_raw_fd();
        let send = || sendto(fd, &request[..length], &NetlinkAddr::new(self.daemon, 0), MsgFlags::empty());
        send()?;
        loop {
            let (length, sender) = match recvfrom::<NetlinkAddr>(fd, &mut bytes) {
                // The daemons of other tests respond to the same group, and have filled the queue.
                Err(Errno::ENOBUFS) => {
                    send()?;
                    continue;
                }
                received => received?,
            };
            if sender.map(|sender| sender.pid()) != Some(self.daemon) {
                continue;
            }
            for message in messages(&bytes[..length]) {
                let message = message.map_err(io::Error::other)?;
                if message.header.sequence.get() == sequence {
                    return match message.response() {
                        Ok(KernelResponse::Path { path, .. }) => Ok(as_bytes(path).try_into().unwrap()),
                        other => Err(io::Error::other(format!("{other:?}"))),
                    };
                }
            }
        }
    }
}
