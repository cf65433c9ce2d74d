//! The server and its loop.
use super::{
    clock::Clock,
    connection::{Connection, Role, Sent},
    hold::Held,
    trace::{Trace, Watcher},
    tree::Tree,
};
use crate::{
    id::{AgentId, NodeId, PortId, QpId},
    proto,
    subnet::Subnet,
    uplink::Uplink,
};
use alloc::{
    boxed::Box,
    collections::{BTreeMap, BTreeSet},
    string::String,
    sync::Arc,
    vec,
    vec::Vec,
};
use core::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use ib_mad::{MgmtClass, TransactionId, umad::UmadHeader};
use mio::{Events, Interest, Poll, Token, Waker, unix::SourceFd};
use socket2::{Domain, SockAddr, Socket, Type};
use std::{
    fs, io,
    os::{fd::AsRawFd, unix::fs::PermissionsExt},
    path::{Path, PathBuf},
};

const LISTENER: Token = Token(0);
const WAKER: Token = Token(1);
/// First token of the uplink's sockets; the last is before `FIRST_CONNECTION`.
const FIRST_UPLINK: usize = 2;
const FIRST_CONNECTION: usize = 1000;
/// Maximum number of connections.
const MAX_CONNECTIONS: usize = 4096;
/// Maximum number of messages that are read from a connection before other connections are read.
const TURN: usize = 64;
/// Time until `accept` is called again after it failed, for example without file descriptors.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// Counters of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerCounters {
    /// Datagrams lost because the program did not read in time.
    pub receiver_full: u64,
    /// Connections closed because the program did not read.
    pub closed_slow: u64,
    /// Refused messages.
    pub refused: u64,
}

/// Stops a running [`Server`] from another thread.
#[derive(Clone, Debug)]
pub struct Stopper {
    stop: Arc<AtomicBool>,
    waker: Arc<Waker>,
}

impl Stopper {
    /// Stops the server: [`Server::run`] returns.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        // An error means that the server was dropped.
        let _ = self.waker.wake();
    }
}

/// The sender of a management datagram that waits for its response.
#[derive(Clone, Copy, Debug)]
pub(super) enum Requester {
    /// A program, with the agent number that it chose.
    Node(Token, AgentId),
    /// A umad device, with the frame's header.
    Umad(Token, UmadHeader),
}

/// An agent of a umad device that receives requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServingAgent {
    pub(super) port: PortId,
    pub(super) class: MgmtClass,
    pub(super) class_version: u8,
    pub(super) methods: [u64; 2],
}

/// A served subnet.
#[derive(Debug)]
pub struct Server {
    pub(super) subnet: Subnet,
    pub(super) uplink: Option<Uplink>,
    pub(super) clock: Clock,
    pub(super) poll: Poll,
    pub(super) stopper: Stopper,
    pub(super) listener: Socket,
    pub(super) path: PathBuf,
    pub(super) accept_retry: bool,
    pub(super) connections: BTreeMap<Token, Connection>,
    pub(super) connections_made: usize,
    /// Connections that may have more to read.
    pub(super) readable: BTreeSet<Token>,
    pub(super) owners: BTreeMap<QpId, Token>,
    pub(super) requesters: BTreeMap<AgentId, (PortId, Requester)>,
    pub(super) requests: u64,
    /// Requests that were passed to other programs, by the sending port and the transaction id.
    pub(super) passed: BTreeMap<(PortId, TransactionId), AgentId>,
    /// Agents of umad devices that receive requests.
    pub(super) agents: BTreeMap<(Token, u32), ServingAgent>,
    /// Next block of queue pair numbers by node.
    pub(super) blocks: BTreeMap<NodeId, u32>,
    pub(super) counters: ServerCounters,
    pub(super) tree: Option<Tree>,
    /// Nodes whose device was removed.
    pub(super) unplugged: BTreeSet<NodeId>,
    /// Ports whose umad device was removed.
    pub(super) without_umad: BTreeSet<PortId>,
    /// Number of messages about devices so far.
    pub(super) uevents: u64,
    /// Hosts where the kernel's messages are lost.
    pub(super) without_uevents: BTreeSet<String>,
    pub(super) held: Held,
    pub(super) trace: Option<Trace>,
    pub(super) watcher: Option<Box<dyn Watcher>>,
    pub(super) buffer: Vec<u8>,
}

impl Server {
    /// Creates a server of `subnet` on a socket at `path`, to which any user may connect. Replaces the socket of a
    /// server that has ended.
    ///
    /// # Errors
    /// The system's error; `AddrInUse` if another server uses the path.
    pub fn bind(path: &Path, subnet: Subnet) -> io::Result<Self> {
        let address = SockAddr::unix(path)?;
        let listener = Socket::new(Domain::UNIX, Type::SEQPACKET, None)?;
        if let Err(error) = listener.bind(&address) {
            let served = Socket::new(Domain::UNIX, Type::SEQPACKET, None)?.connect(&address);
            if !served.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
                return Err(error);
            }
            fs::remove_file(path)?;
            listener.bind(&address)?;
        }
        fs::set_permissions(path, fs::Permissions::from_mode(0o666))?;
        listener.listen(512)?;
        listener.set_nonblocking(true)?;
        let poll = Poll::new()?;
        poll.registry().register(&mut SourceFd(&listener.as_raw_fd()), LISTENER, Interest::READABLE)?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        Ok(Self {
            subnet,
            uplink: None,
            clock: Clock::start(),
            poll,
            stopper: Stopper { stop: Arc::default(), waker },
            listener,
            path: path.to_path_buf(),
            accept_retry: false,
            connections: BTreeMap::new(),
            connections_made: 0,
            readable: BTreeSet::new(),
            owners: BTreeMap::new(),
            requesters: BTreeMap::new(),
            requests: 0,
            passed: BTreeMap::new(),
            agents: BTreeMap::new(),
            blocks: BTreeMap::new(),
            counters: ServerCounters::default(),
            tree: None,
            unplugged: BTreeSet::new(),
            without_umad: BTreeSet::new(),
            uevents: 0,
            without_uevents: BTreeSet::new(),
            held: Held::default(),
            trace: None,
            watcher: None,
            buffer: vec![0; proto::MAX_MESSAGE],
        })
    }

    /// Attaches a real subnet manager to the subnet, whose mode must be
    /// [`SaMode::External`](crate::port::SaMode).
    ///
    /// # Errors
    /// The system's error.
    pub fn set_uplink(&mut self, uplink: Uplink) -> io::Result<()> {
        for (index, fd) in uplink.fds().enumerate() {
            self.poll.registry().register(&mut SourceFd(&fd), Token(FIRST_UPLINK + index), Interest::READABLE)?;
        }
        self.uplink = Some(uplink);
        Ok(())
    }

    /// Writes the files of each host's devices to `dir/HOST`, in the form of Linux's sysfs.
    ///
    /// # Errors
    /// The system's error.
    pub fn set_tree(&mut self, dir: &Path) -> io::Result<()> {
        let tree = Tree { root: dir.to_path_buf() };
        for node in (1..=self.subnet.node_count()).filter_map(|id| self.subnet.node(NodeId::new(id))) {
            tree.write_node(node)?;
        }
        self.tree = Some(tree);
        Ok(())
    }

    /// Writes every sent datagram to a file, one per line: `MICROSECONDS NODE/PORT mad|datagram HEX HEADERS`.
    ///
    /// # Errors
    /// The system's error if the file cannot be created.
    pub fn set_trace(&mut self, path: &Path) -> io::Result<()> {
        self.trace = Some(Trace::create(path)?);
        Ok(())
    }

    /// Sets the watcher, and drops the previous watcher.
    pub fn set_watcher(&mut self, watcher: Box<dyn Watcher>) {
        self.subnet.watch();
        self.watcher = Some(watcher);
    }

    /// Returns a handle that stops [`run`](Self::run) from another thread.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Returns the served subnet, to configure it before `run`.
    pub fn subnet_mut(&mut self) -> &mut Subnet {
        &mut self.subnet
    }

    /// Serves until it is stopped.
    ///
    /// # Errors
    /// The system's error if waiting for events fails. An error of one connection closes only this connection.
    pub fn run(&mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(256);
        while !self.stopper.stop.load(Ordering::SeqCst) {
            self.wait(&mut events)?;
            let now = self.clock.now();
            self.subnet.handle_timeout(now);
            if let Some(uplink) = &mut self.uplink {
                uplink.tick(now, &self.subnet);
            }
            if self.accept_retry {
                self.accept();
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.accept(),
                    WAKER => {}
                    Token(number) if number < FIRST_CONNECTION => {
                        if let Some(uplink) = &mut self.uplink {
                            uplink.receive(now, number - FIRST_UPLINK, &mut self.subnet);
                        }
                    }
                    token => {
                        if event.is_readable() || event.is_read_closed() {
                            self.readable.insert(token);
                        }
                        if event.is_writable() {
                            self.flush(token);
                        }
                    }
                }
            }
            for token in core::mem::take(&mut self.readable) {
                self.read(now, token);
            }
            self.send_events();
        }
        Ok(())
    }

    fn wait(&mut self, events: &mut Events) -> io::Result<()> {
        let now = self.clock.now();
        let due = [
            self.subnet.poll_timeout(),
            self.uplink.as_ref().map(Uplink::due),
            self.accept_retry.then_some(now + ACCEPT_RETRY),
            (!self.readable.is_empty()).then_some(now),
        ];
        let timeout = due.into_iter().flatten().min().map(|due| due.saturating_sub(now));
        if let Some(watcher) = self.watcher.as_mut().filter(|_| timeout.is_none_or(|timeout| !timeout.is_zero())) {
            watcher.idle();
        }
        match self.poll.poll(events, timeout) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            other => other,
        }
    }

    fn accept(&mut self) {
        self.accept_retry = false;
        loop {
            match self.listener.accept() {
                Ok((socket, _)) => {
                    if self.connections.len() >= MAX_CONNECTIONS {
                        continue;
                    }
                    let token = Token(FIRST_CONNECTION + self.connections_made);
                    self.connections_made += 1;
                    let fd = socket.as_raw_fd();
                    let both = Interest::READABLE | Interest::WRITABLE;
                    let Ok(connection) = Connection::new(socket) else { continue };
                    if self.poll.registry().register(&mut SourceFd(&fd), token, both).is_ok() {
                        self.connections.insert(token, connection);
                        self.readable.insert(token);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => {
                    self.accept_retry = true;
                    return;
                }
            }
        }
    }

    /// Handles up to [`TURN`] messages of a connection.
    fn read(&mut self, now: Duration, token: Token) {
        let mut buffer = core::mem::take(&mut self.buffer);
        for left in (0..TURN).rev() {
            let Some(connection) = self.connections.get_mut(&token) else { break };
            match connection.read(&mut buffer) {
                Ok(Some(length)) => {
                    self.handle_message(now, token, buffer.get(..length).unwrap_or_default());
                    self.send_events();
                }
                Ok(None) => break,
                Err(_) => {
                    self.close(token);
                    break;
                }
            }
            if left == 0 {
                self.readable.insert(token);
            }
        }
        self.buffer = buffer;
    }

    pub(super) fn flush(&mut self, token: Token) {
        if let Some(connection) = self.connections.get_mut(&token) {
            match connection.flush() {
                Sent::Gone => self.close(token),
                Sent::Ok | Sent::Full => self.close_if_done(token),
            }
        }
    }

    pub(super) fn close_if_done(&mut self, token: Token) {
        if self.connections.get(&token).is_some_and(Connection::is_done) {
            self.close(token);
        }
    }

    pub(super) fn close(&mut self, token: Token) {
        let Some(connection) = self.connections.remove(&token) else { return };
        // Closing the descriptor does not deregister it while a forked child has a copy.
        let _ = self.poll.registry().deregister(&mut SourceFd(&connection.fd()));
        if let Role::Program { node, qps, .. } = connection.role {
            for (qpn, port) in qps {
                let qp = QpId { port: PortId { node, port }, qpn };
                self.owners.remove(&qp);
                // A queue pair is open as long as it is in the connection's list.
                let _ = self.subnet.destroy_qp(qp);
            }
        }
        self.agents.retain(|(of, _), _| *of != token);
        self.drop_requests(
            |requester| matches!(requester, Requester::Node(of, _) | Requester::Umad(of, _) if *of == token),
        );
    }

    /// Returns the name and the value of each counter of the subnet and of the server.
    pub(super) fn statistics(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        let ServerCounters { receiver_full, closed_slow, refused } = self.counters;
        let server = [("receiver_full", receiver_full), ("closed_slow", closed_slow), ("refused", refused)];
        self.subnet.counters().iter().chain(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error means that the file was removed before.
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns the node with this number or name.
pub(super) fn node_named(subnet: &Subnet, text: &str) -> Option<NodeId> {
    let by_number = text.parse().ok().map(NodeId::new).filter(|id| subnet.node(*id).is_some());
    by_number.or_else(|| subnet.node_by_name(text))
}
