//! One connection: its socket, and what waits to be sent over it.
use crate::{NodeId, PortId};
use alloc::{
    collections::{BTreeMap, VecDeque},
    vec::Vec,
};
use ib_mad::Qpn;
use socket2::Socket;
use std::{
    io::{self, Read},
    os::fd::{AsRawFd, RawFd},
};

/// Messages that wait for a program: beyond this many, datagrams are lost.
const DATAGRAMS: usize = 1024;
/// Beyond this many, the connection ends.
const MESSAGES: usize = 8192;
/// Bytes that the kernel may hold for a program, if it lets us say so.
const SEND_BUFFER: usize = 4 << 20;

/// What a connection is for.
#[derive(Debug)]
pub(super) enum Role {
    /// Not said yet.
    New,
    /// A program at a node.
    Program { node: NodeId, first_qpn: u32, qps: BTreeMap<Qpn, u8> },
    /// A umad device.
    Umad(PortId),
    /// Whoever runs the simulation.
    Control,
    /// A socket for the kernel's messages about devices.
    Uevents(NodeId),
    /// It ends when everything is sent.
    Ending,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    Ok,
    Full,
    Gone,
}

#[derive(Debug)]
pub(super) struct Connection {
    socket: Socket,
    waiting: VecDeque<Vec<u8>>,
    pub(super) role: Role,
}

impl Connection {
    pub(super) fn new(socket: Socket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        // The system's own limit may be lower, which only makes our queue begin earlier.
        let _ = socket.set_send_buffer_size(SEND_BUFFER);
        Ok(Self { socket, waiting: VecDeque::new(), role: Role::New })
    }

    pub(super) fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    pub(super) fn is_program_of(&self, wanted: NodeId) -> bool {
        matches!(self.role, Role::Program { node, .. } if node == wanted)
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.role, Role::Ending) && self.waiting.is_empty()
    }

    /// One message; `None`: none is there. The end of the connection is an error.
    pub(super) fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match (&self.socket).read(buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => return Ok(Some(length)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn send(&mut self, message: Vec<u8>) -> Sent {
        self.send_within(message, MESSAGES)
    }

    pub(super) fn send_datagram(&mut self, message: Vec<u8>) -> Sent {
        self.send_within(message, DATAGRAMS)
    }

    fn send_within(&mut self, message: Vec<u8>, bound: usize) -> Sent {
        if self.waiting.len() >= bound {
            return Sent::Full;
        }
        self.waiting.push_back(message);
        self.flush()
    }

    /// Sends what waits, until the socket is full.
    pub(super) fn flush(&mut self) -> Sent {
        const ENOBUFS: i32 = 105;
        while let Some(message) = self.waiting.front() {
            match self.socket.send(message) {
                Ok(_) => {
                    self.waiting.pop_front();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(ENOBUFS) => {
                    return Sent::Ok;
                }
                Err(_) => return Sent::Gone,
            }
        }
        Sent::Ok
    }
}
