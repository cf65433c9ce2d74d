//! The netlink socket and the service combined, for the event loop.
use super::{
    service::{AddressRequest, KernelDatagram, PathRequest, Service},
    socket::{self, GROUP, SocketError},
};
use crate::{
    cli::KernelChoice,
    netlink::{NetlinkSocket, Received},
};
use acm_sansio::{Failure, KernelRequestId};
use core::{fmt, time::Duration};
use ib_mad::sa::PathRecord;
use listenfd::ListenFd;
use mio::{Interest, Registry, Token, unix::SourceFd};
use std::{io, os::fd::AsRawFd};

/// The connection to the kernel.
pub(crate) struct Kernel {
    socket: NetlinkSocket,
    service: Service,
    any_sender: bool,
    buffer: Box<[u8; LONGEST]>,
    /// True if a failure to send a response was logged, which is logged only once.
    send_failure_logged: bool,
    /// Number of losses of requests. Only the first loss is logged.
    lost: u64,
}

/// The requests in one datagram.
#[derive(Debug, Default)]
pub(crate) struct KernelRequests {
    /// Requests for a path.
    pub(crate) paths: Vec<PathRequest>,
    /// Requests for the GID of an address.
    pub(crate) addresses: Vec<AddressRequest>,
    /// The kernel's new time-out for requests, if a program has set one.
    pub(crate) timeout: Option<Duration>,
}

/// Bytes of the receive buffer; datagrams of the kernel have less than 200 bytes.
const LONGEST: usize = 8192;

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("socket", &self.socket).field("service", &self.service).finish_non_exhaustive()
    }
}

impl Kernel {
    /// Uses the socket that systemd passed, or opens a socket. If there is no socket, logs one warning: the daemon
    /// serves its clients, and the kernel queries subnet administration directly.
    pub(crate) fn open(passed: &mut ListenFd, choice: KernelChoice) -> Option<Self> {
        let (socket, origin) = match socket::from_systemd(passed) {
            Some(socket) => (Ok(socket), "passed by systemd"),
            None => (socket::open(), "opened"),
        };
        match socket {
            Ok(socket) => {
                tracing::info!(target: "kernel", "NETLINK_RDMA {origin}: serving the kernel's path requests");
                Some(Self::on(socket, choice))
            }
            Err(error) => {
                tracing::warn!(target: "kernel", "not serving the kernel's path requests: {error}");
                None
            }
        }
    }

    fn on(socket: NetlinkSocket, choice: KernelChoice) -> Self {
        Self {
            socket,
            service: Service::new(std::process::id()),
            any_sender: choice == KernelChoice::Any,
            buffer: Box::new([0; LONGEST]),
            send_failure_logged: false,
            lost: 0,
        }
    }

    /// Opens a socket and closes it again.
    pub(crate) fn probe() -> Result<(), SocketError> {
        socket::open().map(drop)
    }

    /// Registers the socket in the poll set.
    pub(crate) fn register(&self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut SourceFd(&self.socket.as_raw_fd()), token, Interest::READABLE)
    }

    /// Receives a datagram and returns its requests; `None` if no datagram is available. Requests that cannot be served
    /// get an error response.
    pub(crate) fn receive(&mut self) -> Option<KernelRequests> {
        let (length, from_kernel) = match self.socket.receive(self.buffer.as_mut_slice()) {
            Received::Datagram { length, from_kernel } => (length, from_kernel),
            Received::Nothing => return None,
            Received::Lost => {
                if self.lost == 0 {
                    tracing::warn!(target: "kernel", "requests lost: they came faster than they were read");
                }
                self.lost += 1;
                return Some(KernelRequests::default());
            }
        };
        let datagram = self.buffer.get(..length).unwrap_or_default();
        let timeout = Service::timeout(datagram);
        // The socket also receives the responses of other daemons, which are sent to the same group.
        if !from_kernel && !self.any_sender {
            return Some(KernelRequests { timeout, ..KernelRequests::default() });
        }
        let KernelDatagram { requests: paths, addresses, refusals } = self.service.parse(datagram);
        for refusal in refusals {
            self.send(ib_mad::as_bytes(&refusal));
        }
        Some(KernelRequests { paths, addresses, timeout })
    }

    /// Returns the number of losses of requests.
    pub(crate) const fn lost(&self) -> u64 {
        self.lost
    }

    /// Responds to a request.
    pub(crate) fn respond(&mut self, id: KernelRequestId, path: Result<PathRecord, Failure>) {
        if let Some(response) = self.service.respond(id, path) {
            self.send(response.as_bytes());
        }
    }

    /// Sends a response. If that fails, the kernel's request times out after 2 s.
    fn send(&mut self, message: &[u8]) {
        if let Err(error) = self.socket.send(message, GROUP)
            && !core::mem::replace(&mut self.send_failure_logged, true)
        {
            tracing::warn!(target: "kernel", "answer not sent: {error}; CAP_NET_ADMIN is needed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_wire::netlink::{MAX_REQUEST, PathUse, ResolveHeader, ResolveRequest};
    use nix::sys::socket::{
        AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, getsockname, sendto, socket,
    };
    use std::os::fd::OwnedFd;

    /// Opens a socket between programs. Messages of programs have a port id; messages of the kernel have port id 0.
    fn between_programs() -> (OwnedFd, NetlinkAddr) {
        let (kind, flags) = (SockType::Raw, SockFlag::SOCK_CLOEXEC);
        let fd = socket(AddressFamily::Netlink, kind, flags, SockProtocol::NetlinkUserSock).unwrap();
        bind(fd.as_raw_fd(), &NetlinkAddr::new(0, 0)).unwrap();
        let address = getsockname(fd.as_raw_fd()).unwrap();
        (fd, address)
    }

    // docs/deviations.md: kernel-sender
    #[test]
    fn requests_of_programs_are_ignored_unless_any_is_chosen() {
        let request = ResolveRequest {
            header: ResolveHeader { path_use: PathUse::ALL, ..ResolveHeader::default() },
            dgid: Some("fe80::2".parse().unwrap()),
            ..ResolveRequest::default()
        };
        let mut bytes = [0; MAX_REQUEST];
        let length = request.encode(1, &mut bytes).unwrap();
        for (choice, requests) in [(KernelChoice::On, 0), (KernelChoice::Any, 1)] {
            let (ours, address) = between_programs();
            let mut kernel = Kernel::on(NetlinkSocket::with_room(ours, 1 << 20), choice);
            assert!(kernel.receive().is_none());
            let (theirs, _) = between_programs();
            sendto(theirs.as_raw_fd(), &bytes[..length], &address, MsgFlags::empty()).unwrap();
            let received = kernel.receive().expect("a datagram");
            assert_eq!((received.paths.len(), received.addresses.len()), (requests, 0), "{choice:?}");
        }
    }
}
