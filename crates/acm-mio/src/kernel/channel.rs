//! The socket and the service as one thing that the daemon waits for.
use super::{
    KernelChoice,
    service::{AddressRequest, KernelDatagram, PathRequest, Service},
    socket::{Received, Socket, SocketError},
};
use acm_sansio::{Failure, KernelRequestId};
use core::{fmt, time::Duration};
use ib_mad::sa::PathRecord;
use listenfd::ListenFd;
use mio::{Interest, Registry, Token, unix::SourceFd};
use std::{io, os::fd::AsRawFd};

/// The way to the kernel.
pub(crate) struct Kernel {
    socket: Socket,
    service: Service,
    any_sender: bool,
    buffer: Box<[u8; LONGEST]>,
    /// Answers that could not be sent have been said once.
    said_unsent: bool,
    /// Times that requests were lost; the first is said.
    lost: u64,
}

/// What a datagram asks for.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// Requests for a path.
    pub(crate) paths: Vec<PathRequest>,
    /// GIDs of addresses.
    pub(crate) addresses: Vec<AddressRequest>,
    /// The kernel was told to wait for so long from now on.
    pub(crate) timeout: Option<Duration>,
}

/// Room for a datagram: the kernel's are under 200 bytes.
const LONGEST: usize = 8192;

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("socket", &self.socket).field("service", &self.service).finish_non_exhaustive()
    }
}

impl Kernel {
    /// Takes the socket that systemd passed, or opens one. Without one the daemon serves its clients all the same, and
    /// the kernel asks subnet administration itself: that is one warning.
    pub(crate) fn open(passed: &mut ListenFd, choice: KernelChoice) -> Option<Self> {
        let (socket, origin) = match Socket::from_systemd(passed) {
            Some(socket) => (Ok(socket), "passed by systemd"),
            None => (Socket::open(), "opened"),
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

    fn on(socket: Socket, choice: KernelChoice) -> Self {
        Self {
            socket,
            service: Service::new(std::process::id()),
            any_sender: choice == KernelChoice::Any,
            buffer: Box::new([0; LONGEST]),
            said_unsent: false,
            lost: 0,
        }
    }

    /// Whether a socket could be opened; closes it again.
    pub(crate) fn probe() -> Result<(), SocketError> {
        Socket::open().map(drop)
    }

    /// Asks for wake-ups under `token`.
    pub(crate) fn register(&self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut SourceFd(&self.socket.as_raw_fd()), token, Interest::READABLE)
    }

    /// What the next datagram asks for, perhaps nothing; `None` when there is no datagram now. What cannot be asked for
    /// is answered here.
    pub(crate) fn receive(&mut self) -> Option<Asked> {
        let (length, from_kernel) = match self.socket.receive(self.buffer.as_mut_slice()) {
            Received::Datagram { length, from_kernel } => (length, from_kernel),
            Received::Nothing => return None,
            Received::Lost => {
                if self.lost == 0 {
                    tracing::warn!(target: "kernel", "requests lost: they came faster than they were read");
                }
                self.lost += 1;
                return Some(Asked::default());
            }
        };
        let datagram = self.buffer.get(..length).unwrap_or_default();
        let timeout = Service::timeout(datagram);
        // Other daemons' answers come here, too.
        if !from_kernel && !self.any_sender {
            return Some(Asked { timeout, ..Asked::default() });
        }
        let KernelDatagram { requests: paths, addresses, refusals } = self.service.understand(datagram);
        for refusal in refusals {
            self.send(ib_mad::as_bytes(&refusal));
        }
        Some(Asked { paths, addresses, timeout })
    }

    /// How often requests were lost.
    pub(crate) const fn lost(&self) -> u64 {
        self.lost
    }

    /// Answers a request.
    pub(crate) fn answer(&mut self, id: KernelRequestId, path: Result<PathRecord, Failure>) {
        if let Some(answer) = self.service.answer(id, path) {
            self.send(answer.as_bytes());
        }
    }

    /// An answer that cannot be sent is one that the kernel does not wait for any longer than its 2 s.
    fn send(&mut self, message: &[u8]) {
        if let Err(error) = self.socket.send(message)
            && !core::mem::replace(&mut self.said_unsent, true)
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

    /// A socket between programs: what comes in over it has a port id, which the kernel's requests have not.
    fn between_programs() -> (OwnedFd, NetlinkAddr) {
        let (kind, flags) = (SockType::Raw, SockFlag::SOCK_CLOEXEC);
        let fd = socket(AddressFamily::Netlink, kind, flags, SockProtocol::NetlinkUserSock).unwrap();
        bind(fd.as_raw_fd(), &NetlinkAddr::new(0, 0)).unwrap();
        let address = getsockname(fd.as_raw_fd()).unwrap();
        (fd, address)
    }

    #[test]
    fn another_program_is_not_the_kernel() {
        let request = ResolveRequest {
            header: ResolveHeader { path_use: PathUse::ALL, ..ResolveHeader::default() },
            dgid: Some("fe80::2".parse().unwrap()),
            ..ResolveRequest::default()
        };
        let mut bytes = [0; MAX_REQUEST];
        let length = request.encode(1, &mut bytes).unwrap();
        for (choice, heard) in [(KernelChoice::On, 0), (KernelChoice::Any, 1)] {
            let (ours, address) = between_programs();
            let mut kernel = Kernel::on(Socket::with_room(ours), choice);
            assert!(kernel.receive().is_none());
            let (theirs, _) = between_programs();
            sendto(theirs.as_raw_fd(), &bytes[..length], &address, MsgFlags::empty()).unwrap();
            let asked = kernel.receive().expect("a datagram");
            assert_eq!((asked.paths.len(), asked.addresses.len()), (heard, 0), "{choice:?}");
        }
    }
}
