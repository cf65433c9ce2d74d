//! Attach to a subnet that another process serves (`ib-sim serve`).
use crate::{
    AgentId, Datagram, MadSend, Node, NodeId, Port, PortChange, Source,
    proto::{
        DatagramIn, DatagramOut, Hello, Kind, MAX_MESSAGE, MadIn, MadOut, QpClose, QpGroup, QpOpen, Refusal, Refused,
        ReportIn, Role, TIMED_OUT, UmadForget, UmadServe, Welcome, kind, read_port_info,
    },
};
use alloc::{
    collections::BTreeSet,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use core::time::Duration;
use ib_mad::{
    DecodeError, Gid, Lid, MgmtClass, Qkey, Qpn, Wire, as_bytes,
    packet::Grh,
    sa::SaMad,
    wire::{Be16, Be32, Be64, Reserved},
};
use socket2::{Domain, SockAddr, SockRef, Socket, Type};
use std::{
    io::{self, Read},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
};

/// How long the server may take to answer a hello, and to make room for a message that must not be lost.
const PATIENCE: Duration = Duration::from_secs(5);

/// What can go wrong between a program and the server.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The socket failed.
    #[error("the simulated subnet's socket: {0}")]
    Io(#[from] io::Error),
    /// The server refused the connection.
    #[error("the simulated subnet refused: {0}")]
    Refused(Refusal),
    /// The server sent what is no message of this version.
    #[error("the simulated subnet sent a bad message: {0}")]
    BadMessage(#[from] DecodeError),
    /// The server ended the connection.
    #[error("the simulated subnet is gone")]
    Gone,
    /// The server does not keep up: the datagram is not sent.
    #[error("no room to send")]
    Full,
    /// The node has no such port.
    #[error("the node has no port {0}")]
    NoSuchPort(u8),
    /// The port has no such P_Key index.
    #[error("the port has no P_Key index {0}")]
    NoSuchPkey(u16),
    /// Every queue pair number of the connection is in use.
    #[error("no queue pair number is left")]
    QpnsUsedUp,
}

/// What the server told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// A datagram came.
    Datagram {
        /// Who received it.
        qpn: Qpn,
        /// Who sent it.
        source: Source,
        /// The global route header, if the sender used one; of a multicast always.
        grh: Option<&'a Grh>,
        /// The bytes behind the headers.
        payload: &'a [u8],
    },
    /// An answer to [`Client::send_mad`].
    Mad {
        /// Number of the port that sent the request.
        port: u8,
        /// The request's agent.
        agent: AgentId,
        /// The answer, with the request's transaction id.
        mad: &'a SaMad,
    },
    /// No answer came to any transmission of a request.
    MadTimedOut {
        /// Number of the port that sent the request.
        port: u8,
        /// The request's agent.
        agent: AgentId,
        /// The request.
        mad: &'a SaMad,
    },
    /// A report of the administrator, to be answered with [`Client::send_mad`] without a time-out.
    Report {
        /// Number of the port that received it.
        port: u8,
        /// LID of the sender.
        slid: Lid,
        /// Queue pair of the sender.
        qpn: Qpn,
        /// The report.
        mad: &'a SaMad,
    },
    /// A port changed; [`Client::port`] has its attributes now.
    Port {
        /// Number of the port that changed.
        port: u8,
        /// What changed at it.
        change: PortChange,
    },
    /// A request was not done.
    Refused {
        /// Kind of the request.
        request: Kind,
        /// Why the server refused.
        refusal: Refusal,
        /// The queue pair, if it was about one; else 0.
        qpn: Qpn,
    },
}

/// A program's attachment to a node.
///
/// After [`connect`](Self::connect) nothing waits for the server. The file descriptor ([`AsFd`]) is non-blocking and
/// becomes readable when [`receive`](Self::receive) has something: call that until it gives `None`. The end of the
/// connection closes its queue pairs.
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
    /// Attaches to the node with this name; `None`: the first one that no other program is attached to.
    ///
    /// # Errors
    /// [`ClientError::Io`] if nobody serves there, [`ClientError::Refused`] if there is no such node.
    pub fn connect(path: &Path, node: Option<&str>) -> Result<Self, ClientError> {
        let (socket, welcome) = hello(path, &Hello::new(Role::NODE, 0, node.unwrap_or_default()))?;
        let first = welcome.first_qpn.get();
        let mut own = Self {
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
            let length = own.read()?.ok_or_else(|| io::Error::from(io::ErrorKind::TimedOut))?;
            let (_, port, _) = read_port_info(own.buffer.get(..length).unwrap_or_default())?;
            own.node.ports.push(port);
        }
        own.socket.set_nonblocking(true)?;
        Ok(own)
    }

    /// The node's number in the subnet.
    #[must_use]
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// The node, as it is now.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// A port (numbers start at 1), as it is now: what [`receive`](Self::receive) has told is in it.
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

    /// Takes a queue pair number, for [`open_reserved`](Self::open_reserved).
    ///
    /// # Errors
    /// [`ClientError::QpnsUsedUp`].
    pub fn reserve_qpn(&mut self) -> Result<Qpn, ClientError> {
        let numbers = (self.next_qpn..self.qpns.end).chain(self.qpns.start..self.next_qpn).map(Qpn::new);
        let qpn = numbers.into_iter().find(|qpn| !self.open.contains(qpn)).ok_or(ClientError::QpnsUsedUp)?;
        self.next_qpn = qpn.get() + 1;
        self.open.insert(qpn);
        Ok(qpn)
    }

    /// Opens a UD queue pair with a number of [`reserve_qpn`](Self::reserve_qpn).
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
        self.send_surely(as_bytes(&open))
    }

    /// Closes a queue pair and keeps its number, to open it again.
    ///
    /// # Errors
    /// [`ClientError::Io`].
    pub fn suspend_qp(&mut self, qpn: Qpn) -> Result<(), ClientError> {
        let close = QpClose { kind: Kind::QP_CLOSE, qpn: Be32::new(qpn.get()), ..QpClose::default() };
        self.send_surely(as_bytes(&close))
    }

    /// Gives back a number whose queue pair is not open.
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

    /// Attaches a queue pair to a group. To receive, its port must also have joined the group at the administrator.
    ///
    /// # Errors
    /// [`ClientError::Io`].
    pub fn attach(&mut self, qpn: Qpn, mgid: Gid) -> Result<(), ClientError> {
        self.group(Kind::ATTACH, qpn, mgid)
    }

    /// Detaches a queue pair from a group.
    ///
    /// # Errors
    /// [`ClientError::Io`].
    pub fn detach(&mut self, qpn: Qpn, mgid: Gid) -> Result<(), ClientError> {
        self.group(Kind::DETACH, qpn, mgid)
    }

    fn group(&mut self, kind: Kind, qpn: Qpn, mgid: Gid) -> Result<(), ClientError> {
        let group = QpGroup { kind, reserved: Reserved::default(), qpn: Be32::new(qpn.get()), mgid };
        self.send_surely(as_bytes(&group))
    }

    /// Sends a datagram from a queue pair.
    ///
    /// # Errors
    /// [`ClientError::Full`] if the server does not keep up: the datagram is lost. [`ClientError::Io`].
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

    /// Sends a management datagram, as Linux's umad does: [`Message::Mad`] or [`Message::MadTimedOut`] will come, if a
    /// time-out is given. The time-out is rounded up to whole ms.
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
        self.send_surely(&message)
    }

    /// The next message; `None`: none is there now. Messages of kinds that this version does not know are passed over.
    ///
    /// # Errors
    /// [`ClientError::Gone`] at the end of the connection, [`ClientError::BadMessage`], [`ClientError::Io`].
    pub fn receive(&mut self) -> Result<Option<Message<'_>>, ClientError> {
        let length = loop {
            let Some(length) = self.read()? else { return Ok(None) };
            let message = self.buffer.get(..length).unwrap_or_default();
            match kind(message)? {
                Kind::PORT_INFO => {
                    let (number, port, change) = read_port_info(message)?;
                    let index = usize::from(number).checked_sub(1);
                    if let Some(place) = index.and_then(|index| self.node.ports.get_mut(index)) {
                        *place = port;
                    }
                    if let Some(change) = PortChange::from_code(change) {
                        return Ok(Some(Message::Port { port: number, change }));
                    }
                }
                Kind::DATAGRAM_IN | Kind::MAD_IN | Kind::REPORT_IN | Kind::REFUSED => break length,
                _ => {}
            }
        };
        read_message(self.buffer.get(..length).unwrap_or_default()).map(Some)
    }

    /// One packet into the buffer; `None`: none is there.
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

    /// Sends what must not be lost. The server reads all the time, so that there is room again at once.
    fn send_surely(&self, message: &[u8]) -> Result<(), ClientError> {
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
    // A SEQPACKET socket whose buffer is full says EAGAIN, one whose memory is used up ENOBUFS.
    const ENOBUFS: i32 = 105;
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(ENOBUFS)
}

fn read_message(message: &[u8]) -> Result<Message<'_>, ClientError> {
    Ok(match kind(message)? {
        Kind::DATAGRAM_IN => {
            let (header, payload) = DatagramIn::parse_prefix(message)?;
            let qpn = Qpn::new(header.to.get());
            Message::Datagram { qpn, source: header.source(), grh: header.grh(), payload }
        }
        Kind::MAD_IN => {
            let (header, rest) = MadIn::parse_prefix(message)?;
            let (mad, agent) = (SaMad::parse(rest)?, AgentId(header.agent.get()));
            match header.status.get() {
                TIMED_OUT => Message::MadTimedOut { port: header.port, agent, mad },
                _ => Message::Mad { port: header.port, agent, mad },
            }
        }
        Kind::REPORT_IN => {
            let (header, rest) = ReportIn::parse_prefix(message)?;
            let (qpn, mad) = (Qpn::new(header.qpn.get()), SaMad::parse(rest)?);
            Message::Report { port: header.port, slid: header.slid, qpn, mad }
        }
        _ => {
            let refused = Refused::parse(message)?;
            Message::Refused { request: refused.request, refusal: refused.refusal, qpn: Qpn::new(refused.qpn.get()) }
        }
    })
}

/// Connects and says hello. The socket is blocking, with a time limit.
fn hello(path: &Path, hello: &Hello) -> Result<(Socket, Welcome), ClientError> {
    let socket = Socket::new(Domain::UNIX, Type::SEQPACKET, None)?;
    let address = SockAddr::unix(path)?;
    uninterrupted(|| socket.connect(&address))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    uninterrupted(|| socket.send(as_bytes(hello)))?;
    let mut answer = [0; size_of::<Welcome>()];
    let length = uninterrupted(|| (&socket).read(&mut answer))?;
    if length == 0 {
        return Err(ClientError::Gone);
    }
    let welcome = *Welcome::parse(answer.get(..length).unwrap_or_default())?;
    match welcome.refusal {
        Refusal::NONE => Ok((socket, welcome)),
        refusal => Err(ClientError::Refused(refusal)),
    }
}

/// Does it again if a signal came in between.
fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Opens a port's umad device: a blocking socket on which each packet is a frame of `/dev/infiniband/umadN`.
///
/// # Errors
/// [`ClientError::Io`] if nobody serves there, [`ClientError::Refused`] if there is no such node or port.
pub fn open_umad(path: &Path, node: &str, port: u8) -> Result<OwnedFd, ClientError> {
    let (socket, _) = hello(path, &Hello::new(Role::UMAD, port, node))?;
    socket.set_read_timeout(None)?;
    socket.set_write_timeout(None)?;
    Ok(socket.into())
}

/// Opens a socket for what the kernel would say about the node's device: a blocking socket on which each packet is a
/// message of a NETLINK_KOBJECT_UEVENT socket.
///
/// # Errors
/// [`ClientError::Io`] if nobody serves there, [`ClientError::Refused`] if there is no such node.
pub fn open_uevents(path: &Path, node: &str) -> Result<OwnedFd, ClientError> {
    let (socket, _) = hello(path, &Hello::new(Role::UEVENT, 0, node))?;
    socket.set_read_timeout(None)?;
    Ok(socket.into())
}

/// Tells the server that an agent of a umad device is gone.
///
/// # Errors
/// What the system says.
pub fn forget_umad_agent(umad: BorrowedFd<'_>, agent: u32) -> io::Result<()> {
    let forget = UmadForget { kind: Kind::UMAD_FORGET, agent: Be32::new(agent), ..UmadForget::default() };
    SockRef::from(&umad).send(as_bytes(&forget)).map(|_| ())
}

/// Tells the server which requests an agent of a umad device takes in: methods as the kernel's mask has them.
///
/// # Errors
/// What the system says.
pub fn serve_umad_agent(
    umad: BorrowedFd<'_>,
    agent: u32,
    class: MgmtClass,
    class_version: u8,
    methods: [u64; 2],
) -> io::Result<()> {
    let methods = methods.map(Be64::new);
    let serve = UmadServe { kind: Kind::UMAD_SERVE, class, class_version, agent: Be32::new(agent), methods };
    SockRef::from(&umad).send(as_bytes(&serve)).map(|_| ())
}

/// Gives the server a command and returns its answer, as `ib-sim ctl` does.
///
/// # Errors
/// [`ClientError::Io`] if nobody serves there.
pub fn control(path: &Path, command: &str) -> Result<String, ClientError> {
    let (socket, _) = hello(path, &Hello::new(Role::CONTROL, 0, ""))?;
    socket.send(command.as_bytes())?;
    let mut answer = Vec::new();
    let mut buffer = vec![0; MAX_MESSAGE];
    loop {
        match (&socket).read(&mut buffer)? {
            0 => return Ok(String::from_utf8_lossy(&answer).to_string()),
            length => answer.extend_from_slice(buffer.get(..length).unwrap_or_default()),
        }
    }
}
