//! TCP ports for daemons that listen on a given one.
use core::sync::atomic::{AtomicU32, Ordering};
use std::{
    net::TcpListener,
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener},
    },
};

/// The first port of those that [`TcpPort::reserve`] chooses. The kernel assigns higher ones to sockets without a given
/// port.
const FIRST: u32 = 20_000;
/// Number of these ports.
const COUNT: u32 = 10_000;

/// A TCP port that no other test uses while this value lives.
#[derive(Debug)]
pub struct TcpPort {
    number: u16,
    /// A socket with an abstract name, which exists once on a machine.
    _reservation: UnixListener,
}

impl TcpPort {
    /// Reserves a port on which no process listens.
    ///
    /// # Panics
    /// If no port is free.
    #[must_use]
    pub fn reserve() -> Self {
        static TRIES: AtomicU32 = AtomicU32::new(0);
        let reserved = (0..COUNT).find_map(|_| {
            let offset = (std::process::id() + TRIES.fetch_add(1, Ordering::Relaxed)) % COUNT;
            let number = u16::try_from(FIRST + offset).ok()?;
            let name = SocketAddr::from_abstract_name(format!("acm-tests-port-{number}")).ok()?;
            let reservation = UnixListener::bind_addr(&name).ok()?;
            TcpListener::bind(("127.0.0.1", number)).ok()?;
            Some(Self { number, _reservation: reservation })
        });
        reserved.expect("a free port")
    }

    /// Returns the number of the port.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.number
    }
}
