//! A connection over a unix socket or TCP.
use crate::peer::Peer;
use acm_sansio::Account;
use mio::{
    event::Source,
    net::{TcpStream, UnixStream},
};
use rustix::net::{RecvFlags, SendFlags, recv};
use std::{
    io::{self, Read, Write},
    os::fd::AsFd,
};

/// The user nobody (nobody(5)): all programs with an unknown user share its account.
const NOBODY: u32 = 65_534;

/// A stream of either type.
#[derive(Debug)]
pub(crate) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    /// Returns the account that is charged for requests, and the program at the other end.
    pub(crate) fn peer(&self) -> (Account, Peer) {
        let nobody = (Account::User(NOBODY), Peer::Unknown);
        match self {
            Self::Unix(stream) => {
                let peer = nix::sys::socket::getsockopt(stream, nix::sys::socket::sockopt::PeerCredentials);
                peer.map_or(nobody, |peer| (Account::User(peer.uid()), Peer::process(peer.pid())))
            }
            Self::Tcp(stream) => stream.peer_addr().map_or(nobody, |at| (Account::Peer(at.ip()), Peer::Address(at))),
        }
    }

    pub(crate) fn source(&mut self) -> &mut dyn Source {
        match self {
            Self::Unix(stream) => stream,
            Self::Tcp(stream) => stream,
        }
    }
}

// System calls without libc: libc's functions are cancellation points, which had 5 % of the daemon's samples (`perf
// record`,
// 16 connections).

fn receive(stream: &impl AsFd, buffer: &mut [u8]) -> io::Result<usize> {
    let (count, _) = recv(stream, buffer, RecvFlags::empty())?;
    Ok(count)
}

fn send(stream: &impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(stream, bytes, SendFlags::NOSIGNAL)?)
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => receive(stream, buffer),
            Self::Tcp(stream) => receive(stream, buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => send(stream, bytes),
            Self::Tcp(stream) => send(stream, bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
