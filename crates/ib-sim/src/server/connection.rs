//! A connection: its socket and its queue of messages.
use crate::id::{NodeId, PortId};
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

/// Number of queued messages from which datagrams are dropped.
const DATAGRAMS: usize = 1024;
/// Maximum number of queued messages. One more message closes the connection.
const MESSAGES: usize = 8192;
/// Requested size in bytes of the kernel's send buffer.
const SEND_BUFFER: usize = 4 << 20;

/// The role of a connection.
#[derive(Debug)]
pub(super) enum Role {
    /// Before the hello.
    New,
    /// A program at a node.
    Program { node: NodeId, first_qpn: u32, qps: BTreeMap<Qpn, u8> },
    /// A umad device.
    Umad(PortId),
    /// Commands of the operator of the simulation.
    Control,
    /// The kernel's messages about devices.
    Uevents(NodeId),
    /// A connection that is closed as soon as all queued messages are sent.
    Ending,
}

/// The result of sending a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    Ok,
    Full,
    Gone,
}

#[derive(Debug)]
pub(super) struct Connection {
    socket: Socket,
    queue: VecDeque<Vec<u8>>,
    pub(super) role: Role,
}

impl Connection {
    pub(super) fn new(socket: Socket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        // If the system permits only a smaller buffer, messages are queued in the server earlier.
        let _ = socket.set_send_buffer_size(SEND_BUFFER);
        Ok(Self { socket, queue: VecDeque::new(), role: Role::New })
    }

    pub(super) fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    pub(super) fn is_program_of(&self, id: NodeId) -> bool {
        matches!(self.role, Role::Program { node, .. } if node == id)
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.role, Role::Ending) && self.queue.is_empty()
    }

    /// Reads one message; `None` if there is none. The end of the connection is an error.
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
        if self.queue.len() >= bound {
            return Sent::Full;
        }
        self.queue.push_back(message);
        self.flush()
    }

    /// Sends queued messages until the socket is full.
    pub(super) fn flush(&mut self) -> Sent {
        const ENOBUFS: i32 = 105;
        while let Some(message) = self.queue.front() {
            match self.socket.send(message) {
                Ok(_) => {
                    self.queue.pop_front();
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
