//! The end of a daemon under systemd, and the connections that the next daemon takes over.
use acm_tests::{Connection, Entry, Fabric, Node, NodeBuilder, Received, TcpPort, request, until};
use acm_wire::client::{ClientStatus, EntryFlags, path_request};
use core::{iter, mem::MaybeUninit};
use ib_mad::sa::PathRecord;
use nix::{
    sys::{
        resource::{Resource, getrlimit, setrlimit},
        signal::{Signal, kill},
    },
    unistd::Pid,
};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use socket2::{Domain, SockAddr, Socket, Type};
use std::{
    fs,
    io::{ErrorKind, IoSliceMut},
    os::{
        fd::OwnedFd,
        unix::{
            fs::symlink,
            net::{UnixDatagram, UnixListener},
        },
    },
    path::Path,
    process::{Child, Stdio},
};

/// In the place of systemd: the listening socket, and what the daemon lets it keep.
struct Systemd {
    folder: tempfile::TempDir,
    listening: UnixListener,
    notifications: UnixDatagram,
    lines: Vec<String>,
    kept: Vec<OwnedFd>,
}

/// A daemon that systemd started.
struct Service(Child);

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Service {
    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.0.id().cast_signed()), signal).unwrap();
    }
}

impl Systemd {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listening = UnixListener::bind(folder.path().join("clients")).unwrap();
        let notifications = UnixDatagram::bind(folder.path().join("notify")).unwrap();
        notifications.set_nonblocking(true).unwrap();
        Self { folder, listening, notifications, lines: Vec::new(), kept: Vec::new() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn client(&self) -> Connection {
        Connection::open(&self.path().join("clients"))
    }

    /// Returns a client that the daemon has accepted.
    fn served_client(&self) -> Connection {
        let mut client = self.client();
        client.send(&lookup(0, "node1"));
        assert_eq!(client.receive().status(0), ClientStatus::SUCCESS);
        client
    }

    /// Starts a daemon with the socket and at most one connection, which are its standard input and output until then.
    fn start(&mut self, node: NodeBuilder) -> Service {
        let (stdout, names) = match self.kept.pop() {
            Some(connection) => (Stdio::from(connection), "acm-mio.socket:client"),
            None => (Stdio::null(), "acm-mio.socket"),
        };
        let count = 1 + names.matches(':').count();
        let script = format!(
            "exec 3<&0 4<&1 </dev/null >&2; export LISTEN_PID=$$ LISTEN_FDS={count} LISTEN_FDNAMES={names} && true"
        );
        let mut command = node.argument("--systemd").after(&script).command(self.path());
        command.env("NOTIFY_SOCKET", self.path().join("notify"));
        command.stdin(OwnedFd::from(self.listening.try_clone().unwrap())).stdout(stdout).stderr(Stdio::null());
        Service(command.spawn().unwrap())
    }

    /// Waits for a notification.
    fn wait_for(&mut self, line: &str) {
        until(line, || {
            while self.receive() {}
            self.lines.iter().any(|other| other == line).then_some(())
        });
    }

    fn receive(&mut self) -> bool {
        let (mut bytes, mut space) = ([0; 4096], [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(253))]);
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut room = [IoSliceMut::new(&mut bytes)];
        let Ok(message) = recvmsg(&self.notifications, &mut room, &mut control, RecvFlags::CMSG_CLOEXEC) else {
            return false;
        };
        self.kept.extend(control.drain().flat_map(|message| match message {
            RecvAncillaryMessage::ScmRights(files) => files.collect(),
            _ => Vec::new(),
        }));
        self.lines.extend(String::from_utf8_lossy(&bytes[..message.bytes]).lines().map(str::to_owned));
        true
    }
}

fn lookup(tid: u64, dest: &str) -> Vec<u8> {
    request(tid, &[Entry::name(Entry::SOURCE, "node1"), Entry::name(Entry::DEST, dest)])
}

/// librdmacm prefers them to the socket.
#[test]
fn stale_port_files_beside_the_socket_are_removed() {
    let mut systemd = Systemd::new();
    let [file, link] = ["ibacm-tcp.port", "ibacm.port"].map(|name| systemd.path().join(name));
    // Nobody listens on a port that is reserved.
    let port = TcpPort::reserve();
    fs::write(&file, format!("{}\n", port.number())).unwrap();
    symlink("ibacm-tcp.port", &link).unwrap();
    let _daemon = systemd.start(Node::embedded());
    drop(systemd.served_client());
    assert!(!file.exists() && link.symlink_metadata().is_err());
}

// docs/deviations.md: handover
#[test]
fn connections_survive_a_restart_under_systemd() {
    let mut systemd = Systemd::new();
    // The lookup of an unknown name waits for hours.
    let mut daemon = systemd.start(Node::embedded().option("timeout 3600000"));
    let [mut idle, mut waiting, mut partial] = [1, 2, 3].map(|_| systemd.client());
    idle.send(&lookup(1, "node1"));
    assert_eq!(idle.receive().status(1), ClientStatus::SUCCESS);
    // Nobody has this name.
    waiting.send(&lookup(2, "nobody"));
    partial.send(&lookup(3, "node1")[..20]);
    // The daemon has read both.
    idle.send(&lookup(4, "node1"));
    assert_eq!(idle.receive().status(4), ClientStatus::SUCCESS);
    daemon.signal(Signal::SIGTERM);
    systemd.wait_for("FDNAME=client");
    assert_eq!([waiting.receive(), partial.receive()], [Received::Closed, Received::Closed]);
    assert!(daemon.0.wait().unwrap().success());
    while systemd.receive() {}
    assert_eq!(systemd.kept.len(), 1, "the idle connection: {:?}", systemd.lines);
    // A request between two daemons waits.
    idle.send(&lookup(5, "node1"));
    systemd.lines.clear();
    let daemon = systemd.start(Node::embedded());
    assert_eq!(idle.receive().status(5), ClientStatus::SUCCESS);
    // The connection ends with the daemon, not with systemd's copy.
    systemd.wait_for("FDSTOREREMOVE=1");
    drop(daemon);
    systemd.kept.clear();
    assert_eq!(idle.receive(), Received::Closed);
}

#[test]
fn queue_of_new_clients_at_the_socket_of_systemd_has_129() {
    let mut systemd = Systemd::new();
    let daemon = systemd.start(Node::embedded());
    drop(systemd.served_client());
    daemon.signal(Signal::SIGSTOP);
    let address = SockAddr::unix(systemd.path().join("clients")).unwrap();
    let connect = || {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
        socket.set_nonblocking(true).unwrap();
        socket.connect(&address).map(|()| socket)
    };
    let waiting: Vec<_> = iter::from_fn(|| connect().ok()).take(200).collect();
    assert_eq!((waiting.len(), connect().unwrap_err().kind()), (129, ErrorKind::WouldBlock));
}

// docs/deviations.md: handover
#[test]
fn open_requests_are_finished_before_a_restart() {
    let fabric = Fabric::start(&["--nodes", "2"]);
    let mut systemd = Systemd::new();
    let mut daemon = systemd.start(Node::at(&fabric, 1).option("sa_notices no"));
    let [mut client, mut other] = [1, 2].map(|_| systemd.client());
    other.send(&lookup(1, "node1"));
    assert_eq!(other.receive().status(1), ClientStatus::SUCCESS);
    let path = PathRecord { slid: fabric.port(1).lid, dlid: fabric.port(2).lid, ..PathRecord::default() };
    // The kernel passes 253 descriptors at once.
    let mut idle: Vec<Connection> = (0..300).map(|_| systemd.client()).collect();
    let last = idle.last_mut().unwrap();
    last.send(&lookup(3, "node1"));
    assert_eq!(last.receive().status(3), ClientStatus::SUCCESS);
    // The daemon waits for 250 ms at most. It is stopped, so that it finds the signal and the response at once.
    fabric.control("hold node1 mad");
    client.send(&path_request(&path, EntryFlags::empty(), 2_u64.to_be_bytes()));
    fabric.wait_for_held("1 mad 1");
    daemon.signal(Signal::SIGSTOP);
    fabric.control("release node1");
    until("the request", || (fabric.statistic("sa_path_queries") == 1).then_some(()));
    // The server responds before it executes the next command.
    fabric.control("held");
    daemon.signal(Signal::SIGTERM);
    daemon.signal(Signal::SIGCONT);
    assert_eq!(client.receive().status(2), ClientStatus::SUCCESS);
    systemd.wait_for("FDNAME=client");
    assert!(daemon.0.wait().unwrap().success());
    while systemd.receive() {}
    assert_eq!(systemd.kept.len(), 302, "{:?}", systemd.lines);
}

#[test]
fn connections_beyond_the_bound_are_closed_and_counted() {
    // The clients' ends, and what the daemon leaves.
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
    let mut systemd = Systemd::new();
    let mut daemon = systemd.start(Node::embedded().option("log_file DIR/log"));
    let mut clients: Vec<Connection> = (0..1003).map(|_| systemd.client()).collect();
    // The daemon has accepted all of them.
    let last = clients.last_mut().unwrap();
    last.send(&lookup(1, "node1"));
    assert_eq!(last.receive().status(1), ClientStatus::SUCCESS);
    daemon.signal(Signal::SIGTERM);
    systemd.wait_for("FDNAME=client");
    until("the end of the daemon", || {
        while systemd.receive() {}
        daemon.0.try_wait().unwrap()
    });
    while systemd.receive() {}
    assert_eq!(systemd.kept.len(), 1000);
    let log = fs::read_to_string(systemd.path().join("log")).unwrap();
    assert!(log.contains("stats: connections_not_left: 3"), "{log}");
}

#[test]
fn response_that_is_not_read_before_a_restart_is_read_after_it() {
    let mut systemd = Systemd::new();
    let mut daemon = systemd.start(Node::embedded());
    let [mut late, mut other] = [1, 2].map(|_| systemd.client());
    late.send(&lookup(1, "node1"));
    // A connection with a part of a message is not kept.
    other.send(&[lookup(2, "node1"), lookup(3, "node1")[..20].to_vec()].concat());
    assert_eq!(other.receive().status(2), ClientStatus::SUCCESS);
    daemon.signal(Signal::SIGTERM);
    assert!(daemon.0.wait().unwrap().success());
    while systemd.receive() {}
    assert_eq!(systemd.kept.len(), 1, "{:?}", systemd.lines);
    let _daemon = systemd.start(Node::embedded());
    assert_eq!(late.receive().status(1), ClientStatus::SUCCESS);
    late.send(&lookup(4, "node1"));
    assert_eq!(late.receive().status(4), ClientStatus::SUCCESS);
}

#[test]
fn sighup_while_the_daemon_stops_sends_nothing_to_systemd() {
    let mut systemd = Systemd::new();
    let mut daemon = systemd.start(Node::embedded());
    systemd.wait_for("READY=1");
    // Nobody has this name: the daemon waits for 250 ms.
    let mut waiting = systemd.client();
    waiting.send(&lookup(1, "nobody"));
    let mut other = systemd.client();
    other.send(&lookup(2, "node1"));
    assert_eq!(other.receive().status(2), ClientStatus::SUCCESS);
    daemon.signal(Signal::SIGTERM);
    systemd.wait_for("STOPPING=1");
    let _ = kill(Pid::from_raw(daemon.0.id().cast_signed()), Signal::SIGHUP);
    assert!(daemon.0.wait().unwrap().success());
    while systemd.receive() {}
    let after: Vec<_> = systemd.lines.iter().skip_while(|line| *line != "STOPPING=1").collect();
    let is_state = |line: &&&String| line.starts_with("RELOADING=") || line.starts_with("READY=");
    assert_eq!(after.iter().filter(is_state).count(), 0, "{after:?}");
}
