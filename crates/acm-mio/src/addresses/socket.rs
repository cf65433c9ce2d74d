//! Sockets of rtnetlink, which never wait.
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

/// RTNLGRP_LINK (1), RTNLGRP_IPV4_IFADDR (5), RTNLGRP_IPV6_IFADDR (9), as bits of an address.
const GROUPS: u32 = 1 | 1 << 4 | 1 << 8;
/// Size of the receive buffer in bytes: room for changes of some thousand interfaces. Without the privilege, the system
/// permits only a smaller buffer, which causes more dumps.
const RECEIVE_BUFFER: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct Socket {
    fd: OwnedFd,
}

/// Result of one read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// A datagram of the kernel, with its length in bytes.
    Datagram(usize),
    /// A datagram of another program.
    Foreign,
    /// No datagram is available now.
    Nothing,
    /// Datagrams were lost. Further datagrams may be available.
    Lost,
}

impl Socket {
    /// Opens a socket that receives responses only.
    pub(super) fn open() -> Result<Self, Errno> {
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let fd = socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkRoute)?;
        Ok(Self { fd })
    }

    /// Opens a socket that also receives changes of links and addresses.
    pub(super) fn subscribe() -> Result<Self, Errno> {
        let Self { fd } = Self::open()?;
        if setsockopt(&fd, sockopt::RcvBufForce, &RECEIVE_BUFFER).is_err() {
            let _ = setsockopt(&fd, sockopt::RcvBuf, &RECEIVE_BUFFER);
        }
        bind(fd.as_raw_fd(), &NetlinkAddr::new(0, GROUPS))?;
        Ok(Self { fd })
    }

    pub(super) fn receive(&self, buffer: &mut [u8]) -> Received {
        let mut room = [IoSliceMut::new(buffer)];
        loop {
            return match recvmsg::<NetlinkAddr>(self.fd.as_raw_fd(), &mut room, None, MsgFlags::MSG_DONTWAIT) {
                // Programs need CAP_NET_ADMIN to send to this socket. Messages of programs are ignored.
                Ok(message) if message.address.is_none_or(|sender| sender.pid() != 0) => Received::Foreign,
                Ok(message) if message.flags.contains(MsgFlags::MSG_TRUNC) => Received::Lost,
                Ok(message) => Received::Datagram(message.bytes),
                Err(Errno::EINTR) => continue,
                Err(Errno::ENOBUFS) => Received::Lost,
                Err(_) => Received::Nothing,
            };
        }
    }

    /// Sends a message to the kernel.
    pub(super) fn send(&self, message: &[u8]) -> Result<(), Errno> {
        sendto(self.fd.as_raw_fd(), message, &NetlinkAddr::new(0, 0), MsgFlags::MSG_DONTWAIT).map(drop)
    }
}

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}
