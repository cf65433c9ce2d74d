//! A connection, by whichever socket it came.
use acm_sansio::Account;
use mio::{
    event::Source,
    net::{TcpStream, UnixStream},
};
use std::io::{self, Read, Write};

/// Whose program is not known is nobody's (nobody(5)): all such programs share one account.
const NOBODY: u32 = 65_534;

/// A stream of either kind.
#[derive(Debug)]
pub(crate) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    /// Who pays for what comes from here.
    pub(crate) fn account(&self) -> Account {
        match self {
            Self::Unix(stream) => {
                let peer = nix::sys::socket::getsockopt(stream, nix::sys::socket::sockopt::PeerCredentials);
                Account::User(peer.map_or(NOBODY, |peer| peer.uid()))
            }
            Self::Tcp(stream) => stream.peer_addr().map_or(Account::User(NOBODY), |peer| Account::Peer(peer.ip())),
        }
    }

    pub(crate) fn source(&mut self) -> &mut dyn Source {
        match self {
            Self::Unix(stream) => stream,
            Self::Tcp(stream) => stream,
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buffer),
            Self::Tcp(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
