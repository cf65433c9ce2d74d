//! A program's attachment to a node: queue pairs, datagrams, requests to subnet administration.
use super::{
    error::ClientError,
    hello::{hello, uninterrupted},
    message::{Message, read_message},
};
use crate::{
    datagram::{Datagram, MadSend},
    id::NodeId,
    port::{Node, Port, PortChange},
    proto::{DatagramOut, Hello, Kind, MAX_MESSAGE, MadOut, QpClose, QpGroup, QpOpen, Role, kind, read_port_info},
};
use alloc::{
    collections::BTreeSet,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use ib_mad::{
    Gid, Lid, Qkey, Qpn, as_bytes,
    sa::SaMad,
    wire::{Be16, Be32, Be64, Reserved},
};
use socket2::Socket;
use std::{
    io::{self, Read},
    os::fd::{AsFd, BorrowedFd},
    path::Path,
};

/// A program's attachment to a node.
///
/// Only [`connect`](Self::connect) waits for the server. The file descriptor ([`AsFd`]) is non-blocking. When it is
/// readable, call [`receive`](Self::receive) until it returns `None`. The end of the connection closes the queue pairs.
#[derive(Debug)]
pub struct Client {
    socket: Socket,
    id: NodeId,
    node: Node,
    qpns: core::ops::Range<u32>,
    next_qpn: u32,
    open: BTreeSet<Qpn>,
    buffer: Vec<u8>,
    out: Vec<u8>,
}

impl Client {
    /// Attaches to the node with this name, or with `None` to the first node without another program.
    ///
    /// # Errors
    /// [`ClientError::Io`] if no server uses the socket, [`ClientError::Refused`] if there is no such node.
    pub fn connect(path: &Path, node: Option<&str>) -> Result<Self, ClientError> {
        let (socket, welcome) = hello(path, &Hello::new(Role::NODE, 0, node.unwrap_or_default()))?;
        let first = welcome.first_qpn.get();
        let mut client = Self {
            socket,
            id: welcome.node_id(),
            node: Node {
                name: String::from_utf8_lossy(welcome.name.as_text()).to_string(),
                guid: welcome.guid,
                ports: Vec::new(),
            },
            qpns: first..first.saturating_add(welcome.qpn_count.get()),
            next_qpn: first,
            open: BTreeSet::new(),
            buffer: vec![0; MAX_MESSAGE],
            out: Vec::new(),
        };
        for _ in 0..welcome.ports {
            let length = client.read()?.ok_or_else(|| io::Error::from(io::ErrorKind::TimedOut))?;
            let (_, port, _) = read_port_info(client.buffer.get(..length).unwrap_or_default())?;
            client.node.ports.push(port);
        }
        client.socket.set_nonblocking(true)?;
        Ok(client)
    }

    /// Returns the node's number in the subnet.
    #[must_use]
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// Returns the node with the changes that [`receive`](Self::receive) has reported.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Returns a port, by its number from 1, with the changes that [`receive`](Self::receive) has reported.
    #[must_use]
    pub fn port(&self, port: u8) -> Option<&Port> {
        self.node.ports.get(usize::from(port).checked_sub(1)?)
    }

    /// Opens a UD queue pair.
    ///
    /// # Errors
    /// [`ClientError::NoSuchPort`], [`ClientError::NoSuchPkey`], [`ClientError::QpnsUsedUp`], [`ClientError::Io`].
    pub fn open_qp(&mut self, port: u8, qkey: Qkey, pkey_index: u16) -> Result<Qpn, ClientError> {
        let qpn = self.reserve_qpn()?;
        let opened = self.open_reserved(qpn, port, qkey, pkey_index);
        if opened.is_err() {
            self.release_qpn(qpn);
        }
        opened.map(|()| qpn)
    }

    /// Reserves a queue pair number for [`open_reserved`](Self::open_reserved).
    ///
    /// # Errors
    /// [`ClientError::QpnsUsedUp`].
    pub fn reserve_qpn(&mut self) -> Result<Qpn, ClientError> {
        let numbers = (self.next_qpn..self.qpns.end).chain(self.qpns.start..self.next_qpn).map(Qpn::masked);
        let qpn = numbers.into_iter().find(|qpn| !self.open.contains(qpn)).ok_or(ClientError::QpnsUsedUp)?;
        self.next_qpn = qpn.get() + 1;
        self.open.insert(qpn);
        Ok(qpn)
    }

    /// Opens a UD queue pair with a number from [`reserve_qpn`](Self::reserve_qpn).
    ///
    /// # Errors
    /// [`ClientError::NoSuchPort`], [`ClientError::NoSuchPkey`], [`ClientError::Io`].
    pub fn open_reserved(&mut self, qpn: Qpn, port: u8, qkey: Qkey, pkey_index: u16) -> Result<(), ClientError> {
        let pkeys = &self.port(port).ok_or(ClientError::NoSuchPort(port))?.pkeys;
        if usize::from(pkey_index) >= pkeys.len() {
            return Err(ClientError::NoSuchPkey(pkey_index));
        }
        let open = QpOpen {
            kind: Kind::QP_OPEN,
            port,
            qpn: Be32::new(qpn.get()),
            qkey,
            pkey_index: Be16::new(pkey_index),
            ..QpOpen::default()
        };
        self.send_reliably(as_bytes(&open))
    }

    /// Closes a queue pair and keeps its number reserved.
    ///
    /// # Errors
    /// [`ClientError::Io`].
    pub fn suspend_qp(&mut self, qpn: Qpn) -> Result<(), ClientError> {
        let close = QpClose { kind: Kind::QP_CLOSE, qpn: Be32::new(qpn.get()), ..QpClose::default() };
        self.send_reliably(as_bytes(&close))
    }

    /// Releases a reserved number whose queue pair is not open.
    pub fn release_qpn(&mut self, qpn: Qpn) {
        self.open.remove(&qpn);
    }

    /// Closes a queue pair.
    ///
    /// # Errors
    /// [`ClientError::Io`].
    pub fn close_qp(&mut self, qpn: Qpn) -> Result<(), ClientError> {
        self.release_qpn(qpn);
        self.suspend_qp(qpn)
    }

    /// Attaches a queue pair to a group. [`Message::Attached`] or [`Message::Refused`] follows. To receive the group's
    /// datagrams, the port must also join the group at the administrator.
    ///
    /// # Errors
    /// [`ClientError::Io`].
    pub fn attach(&mut self, qpn: Qpn, mgid: Gid, mlid: Lid) -> Result<(), ClientError> {
        self.group(Kind::ATTACH, qpn, mgid, mlid)
    }

    /// Detaches a queue pair from a group.
    ///
    /// # Errors
    /// [`ClientError::Io`].
    pub fn detach(&mut self, qpn: Qpn, mgid: Gid) -> Result<(), ClientError> {
        self.group(Kind::DETACH, qpn, mgid, Lid::NONE)
    }

    fn group(&mut self, kind: Kind, qpn: Qpn, mgid: Gid, mlid: Lid) -> Result<(), ClientError> {
        let group = QpGroup { kind, mlid, qpn: Be32::new(qpn.get()), mgid };
        self.send_reliably(as_bytes(&group))
    }

    /// Sends a datagram from a queue pair.
    ///
    /// # Errors
    /// [`ClientError::Full`] if the server is too slow: the datagram is lost. [`ClientError::Io`].
    pub fn send_datagram(&mut self, from: Qpn, datagram: &Datagram<'_>) -> Result<(), ClientError> {
        self.out.clear();
        self.out.extend_from_slice(as_bytes(&DatagramOut::new(from, datagram)));
        self.out.extend_from_slice(datagram.payload);
        match uninterrupted(|| self.socket.send(&self.out)) {
            Ok(_) => Ok(()),
            Err(error) if is_full(&error) => Err(ClientError::Full),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends a management datagram, as Linux's umad does. If the time-out is not zero, the result is [`Message::Mad`]
    /// or [`Message::MadTimedOut`]. The time-out is rounded up to whole ms.
    ///
    /// # Errors
    /// [`ClientError::Io`].
    pub fn send_mad(&mut self, port: u8, send: &MadSend, mad: &SaMad) -> Result<(), ClientError> {
        let header = MadOut {
            kind: Kind::MAD_OUT,
            port,
            sl: send.sl.get(),
            dlid: send.dlid,
            pkey_index: Be16::new(send.pkey_index),
            agent: Be64::new(send.agent.0),
            qpn: Be32::new(send.qpn.get()),
            timeout_ms: Be32::new(u32::try_from(send.timeout.as_micros().div_ceil(1000)).unwrap_or(u32::MAX)),
            retries: Be32::new(send.retries),
            reserved: Reserved::default(),
        };
        let message = [as_bytes(&header), as_bytes(mad)].concat();
        self.send_reliably(&message)
    }

    /// Returns the next message; `None` if no message has arrived. Messages of unknown kinds are ignored.
    ///
    /// # Errors
    /// [`ClientError::Gone`] after the connection was closed, [`ClientError::BadMessage`], [`ClientError::Io`].
    pub fn receive(&mut self) -> Result<Option<Message<'_>>, ClientError> {
        let length = loop {
            let Some(length) = self.read()? else { return Ok(None) };
            let message = self.buffer.get(..length).unwrap_or_default();
            match kind(message)? {
                Kind::PORT_INFO => {
                    let (number, port, change) = read_port_info(message)?;
                    let index = usize::from(number).checked_sub(1);
                    if let Some(entry) = index.and_then(|index| self.node.ports.get_mut(index)) {
                        *entry = port;
                    }
                    if let Some(change) = PortChange::from_code(change) {
                        return Ok(Some(Message::Port { port: number, change }));
                    }
                }
                Kind::DATAGRAM_IN
                | Kind::MAD_IN
                | Kind::REPORT_IN
                | Kind::REFUSED
                | Kind::QP_FAULT
                | Kind::ATTACHED => break length,
                _ => {}
            }
        };
        read_message(self.buffer.get(..length).unwrap_or_default()).map(Some)
    }

    /// Reads one packet into the buffer; `None` if there is none.
    fn read(&mut self) -> Result<Option<usize>, ClientError> {
        loop {
            match (&self.socket).read(&mut self.buffer) {
                Ok(0) => return Err(ClientError::Gone),
                Ok(length) => return Ok(Some(length)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Err(ClientError::Gone),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Sends a message that must not be lost. If the socket is full, waits until the server has read from it.
    fn send_reliably(&self, message: &[u8]) -> Result<(), ClientError> {
        match uninterrupted(|| self.socket.send(message)) {
            Ok(_) => return Ok(()),
            Err(error) if is_full(&error) => {}
            Err(error) => return Err(error.into()),
        }
        self.socket.set_nonblocking(false)?;
        let sent = uninterrupted(|| self.socket.send(message));
        self.socket.set_nonblocking(true)?;
        sent.map(|_| ()).map_err(Into::into)
    }
}

impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn is_full(error: &io::Error) -> bool {
    // A SEQPACKET socket fails with EAGAIN if its buffer is full, and with ENOBUFS if its memory is used up.
    const ENOBUFS: i32 = 105;
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(ENOBUFS)
}
