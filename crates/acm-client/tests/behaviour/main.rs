//! The client with a scripted server.
use acm_client::{
    Address, Client, ClientError, ClientStatus, Connection, Counters, Options, PerfTarget, Request, Response, Service,
    ib_mad::{Lid, Pkey, ServiceId, sa::PathRecord},
};
use acm_wire::client::{ClientRequest, EpHead, Operation, Reply, Resolve, Route, ep_reply, next_frame};
use core::{
    iter,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use nix::sys::{pthread::pthread_kill, signal::Signal};
use socket2::SockRef;
use std::{
    fs,
    io::{Read, Write},
    net::{Shutdown, TcpListener},
    os::unix::{
        net::{UnixListener, UnixStream},
        thread::JoinHandleExt,
    },
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread,
};
use tempfile::TempDir;

mod lost;
#[expect(unreachable_pub, reason = "a module of the end-to-end tests")]
mod poll;
#[cfg(feature = "tokio")]
mod tokio;
use poll::{LIMIT as LONG, until};

/// A time-out that passes.
const SHORT: Duration = Duration::from_secs(1);

fn path(lid: u16) -> PathRecord {
    PathRecord { dlid: Lid::new(lid), ..PathRecord::default() }
}

fn route(lid: u16) -> Request {
    Request::Route { path: path(lid), no_delay: false }
}

fn options(timeout: Duration) -> Options {
    Options::default().with_timeout(timeout)
}

/// The script of a server for one connection.
type Serve = Box<dyn FnMut(&mut Peer) + Send>;

/// The address of a server that can be restarted.
struct ServerAddress(TempDir);

impl ServerAddress {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    fn socket(&self) -> PathBuf {
        self.0.path().join("s")
    }
    fn service(&self) -> Service {
        Service::Unix(self.socket())
    }
    /// Serves one connection after another, with one script each. Connections that begin with the probe of a client
    /// have no script, and end with the script, as those of a daemon that ends.
    fn serve(&self, connections: Vec<Serve>) -> thread::JoinHandle<()> {
        self.serve_further(connections, |peer| while peer.next().is_some() {})
    }
    /// As `serve`. The connections after those with scripts are served at once by `further`: a client opens some of its
    /// own accord if responses are late.
    fn serve_further(&self, mut connections: Vec<Serve>, further: fn(&mut Peer)) -> thread::JoinHandle<()> {
        let _ = fs::remove_file(self.socket());
        let listener = Arc::new(UnixListener::bind(self.socket()).unwrap());
        let (accepting, (accepted, scripted)) = (Arc::clone(&listener), mpsc::channel());
        let (probe, probes) = mpsc::channel();
        let mut scripts = connections.len();
        thread::spawn(move || {
            while let Ok((stream, _)) = accepting.accept() {
                let mut peer = Peer { stream, received: Vec::new() };
                if peer.is_probe() {
                    let _ = probe.send(peer.stream.try_clone().unwrap());
                    thread::spawn(move || peer.respond_to_all());
                } else if let Some(left) = scripts.checked_sub(1) {
                    scripts = left;
                    if accepted.send(peer).is_err() {
                        return;
                    }
                } else {
                    thread::spawn(move || further(&mut peer));
                }
            }
        });
        thread::spawn(move || {
            for serve in &mut connections {
                let mut peer = scripted.recv().unwrap();
                serve(&mut peer);
                probes.try_iter().for_each(|probe: UnixStream| _ = probe.shutdown(Shutdown::Both));
            }
            SockRef::from(&*listener).shutdown(Shutdown::Both).unwrap();
        })
    }
}

/// The server's end of a connection.
struct Peer {
    stream: UnixStream,
    received: Vec<u8>,
}

impl Peer {
    /// Returns the transaction id of the next request; `None` at the end.
    fn next(&mut self) -> Option<[u8; 8]> {
        loop {
            if let Some(frame) = next_frame(&self.received).unwrap() {
                let (tid, length) = (frame.tid(), frame.length());
                self.received.drain(..length);
                return Some(tid);
            }
            let mut bytes = [0; 1000];
            let count = self.stream.read(&mut bytes).ok().filter(|count| *count > 0)?;
            self.received.extend_from_slice(&bytes[..count]);
        }
    }
    /// Reports whether the client has sent two requests at once at first, as it does to find out whether the daemon
    /// accepts that.
    fn is_probe(&mut self) -> bool {
        let mut bytes = [0; 1000];
        let count = self.stream.read(&mut bytes).unwrap_or(0);
        self.received.extend_from_slice(&bytes[..count]);
        let Ok(Some(first)) = next_frame(&self.received) else { return false };
        count > first.length() && first.operation == Operation::Perf
    }
    /// Responds with the requested LID.
    fn respond_to_all(&mut self) {
        loop {
            let reply =
                match next_frame(&self.received).unwrap().map(|frame| (frame.tid(), ClientRequest::parse(&frame))) {
                    Some((tid, ClientRequest::Resolve(Ok(Resolve::Route(Route { path, .. }))))) => {
                        Some(Reply::resolved(tid, path, None))
                    }
                    Some((tid, _)) => Some(Reply::counters(tid, &Counters::default())),
                    None => None,
                };
            match reply {
                Some(reply) => {
                    let length = next_frame(&self.received).unwrap().unwrap().length();
                    self.received.drain(..length);
                    let _ = self.stream.write_all(&reply);
                }
                None => {
                    let mut bytes = [0; 1000];
                    let Ok(count @ 1..) = self.stream.read(&mut bytes) else { return };
                    self.received.extend_from_slice(&bytes[..count]);
                }
            }
        }
    }
    fn respond(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }
    /// Responds to each request with this LID, until the client closes the connection.
    fn find(&mut self, lid: u16) {
        while let Some(tid) = self.next() {
            // A client that closes the connection does not read all responses.
            if self.stream.write_all(&Reply::resolved(tid, &path(lid), None)).is_err() {
                return;
            }
        }
    }
}

#[test]
fn responses_are_matched_in_any_order() {
    let address = ServerAddress::new();
    let server = address.serve(vec![Box::new(|peer| {
        let tids: Vec<_> = (0..3).map(|_| peer.next().unwrap()).collect();
        for (tid, lid) in tids.iter().zip([1, 2, 3]).rev() {
            // The response is sent byte by byte.
            Reply::resolved(*tid, &path(lid), None).iter().for_each(|byte| peer.respond(&[*byte]));
        }
        assert_eq!(peer.next(), None);
    })]);
    let mut connection = Connection::open(&address.service(), options(LONG)).unwrap();
    let ids = [1, 2, 3].map(|lid| connection.ask(&route(lid)).unwrap());
    // The third response arrives while the second is awaited, and is kept.
    let lid = |response: Result<Response, ClientError>| response.unwrap().into_path().unwrap().path.dlid.get();
    assert_eq!(lid(connection.response_to(ids[1])), 2);
    assert_eq!(connection.open_requests(), 2);
    let rest = [(); 2].map(|()| connection.next().unwrap());
    assert_eq!(rest.map(|(id, response)| (id, lid(response))), [(ids[2], 3), (ids[0], 1)]);
    assert!(connection.next().is_none(), "no request is open");
    drop(connection);
    server.join().unwrap();
}

#[test]
fn client_leaves_a_connection_on_which_nothing_is_answered() {
    let address = ServerAddress::new();
    let (left, is_left) = mpsc::channel();
    let silent: Serve = Box::new(move |peer| {
        assert!(peer.next().is_some());
        assert_eq!(peer.next(), None);
        left.send(()).unwrap();
    });
    // On a busy machine a response of the second connection may be late, too.
    address
        .serve(iter::once(silent).chain((0..100).map(|_| Box::new(|peer: &mut Peer| peer.find(2)) as Serve)).collect());
    let mut client = Client::with_options(address.service(), options(SHORT).with_depth(1)).unwrap();
    assert!(matches!(client.route(&path(1)), Err(ClientError::TimedOut { .. })));
    assert_eq!(until("a response", || client.route(&path(2)).ok()).dlid, Lid::new(2));
    is_left.recv().unwrap();
}

#[test]
fn depth_limits_requests_in_flight() {
    let address = ServerAddress::new();
    let server = address.serve(vec![Box::new(|peer| peer.find(1))]);
    let mut limited = options(LONG);
    limited.depth = 2;
    let mut connection = Connection::open(&address.service(), limited).unwrap();
    let first = connection.ask(&route(1)).unwrap();
    connection.ask(&route(1)).unwrap();
    assert!(matches!(connection.ask(&route(1)), Err(ClientError::Full { open: 2, .. })));
    connection.response_to(first).unwrap();
    connection.ask(&route(1)).unwrap();
    drop(connection);
    server.join().unwrap();
}

#[test]
fn late_response_is_dropped() {
    let address = ServerAddress::new();
    let (late, wait) = mpsc::channel();
    let first: Serve = Box::new(move |peer| {
        let tid = peer.next().unwrap();
        wait.recv().unwrap();
        // The client has left if this takes long, and asks again on another connection.
        let _ = peer.stream.write_all(&Reply::resolved(tid, &path(1), None));
        peer.find(2);
    });
    let server = address.serve_further(vec![first], |peer| peer.find(2));
    let mut client = Client::with_options(address.service(), options(SHORT)).unwrap();
    assert!(matches!(client.route(&path(1)), Err(ClientError::TimedOut { after: SHORT, .. })));
    late.send(()).unwrap();
    // Further responses may be late on a busy machine.
    let found = until("a response", || client.route(&path(2)).ok());
    assert_eq!((found.dlid, client.reconnects()), (Lid::new(2), 0));
    drop(client);
    server.join().unwrap();
}

/// Waits until a thread, a directory of /proc, waits for something.
fn until_asleep(thread: &Path) {
    until("the thread sleeps", || {
        let stat = fs::read_to_string(Path::new("/proc").join(thread).join("stat")).unwrap();
        stat.rsplit(") ").next().unwrap().starts_with('S').then_some(())
    });
}

#[test]
fn signal_does_not_end_the_wait_for_a_response() {
    let handled = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(Signal::SIGUSR1 as i32, Arc::clone(&handled)).unwrap();
    let address = ServerAddress::new();
    let (answer, may_answer) = mpsc::channel();
    let server = address.serve(vec![Box::new(move |peer| {
        may_answer.recv().unwrap();
        peer.find(1);
    })]);
    let mut client = Client::with_options(address.service(), options(LONG)).unwrap();
    let (started, thread) = mpsc::channel();
    let asks = thread::spawn(move || {
        started.send(fs::read_link("/proc/thread-self").unwrap()).unwrap();
        client.route(&path(1)).unwrap().dlid
    });
    let thread = thread.recv().unwrap();
    for _ in 0..50 {
        until_asleep(&thread);
        pthread_kill(asks.as_pthread_t(), Signal::SIGUSR1).unwrap();
        until("the signal is handled", || handled.swap(false, Ordering::SeqCst).then_some(()));
    }
    answer.send(()).unwrap();
    assert_eq!(asks.join().unwrap(), Lid::new(1));
    server.join().unwrap();
}

#[test]
fn connect_error_names_the_socket() {
    let address = ServerAddress::new();
    let error = Client::with_options(address.service(), options(LONG)).unwrap_err().to_string();
    let socket = address.socket();
    assert_eq!(
        error,
        format!("{}: No such file or directory (os error 2); is ibacm or acm-mio running?", socket.display())
    );
}

#[test]
fn refusals_and_answers_of_all_operations_are_returned() {
    let address = ServerAddress::new();
    let server = address.serve(vec![Box::new(|peer| {
        let tid = peer.next().unwrap();
        peer.respond(&Reply::unresolved(tid, ClientStatus::ENODATA));
        let tid = peer.next().unwrap();
        peer.respond(&Reply::counters(tid, &Counters([1, 2, 3, 4, 5, 6, 7])));
        for index in 1..=2 {
            let tid = peer.next().unwrap();
            let head = EpHead { port: index, port_count: 2, ..EpHead::default() };
            let addresses = [Address::from_text("node1"), Address::from_text("10.0.0.1")];
            ep_reply(tid, index, &head, addresses.iter(), |bytes| peer.respond(bytes));
        }
        let tid = peer.next().unwrap();
        peer.respond(&Reply::refused(acm_wire::client::Opcode::EP, tid, ClientStatus::EINVAL));
        let tid = peer.next().unwrap();
        peer.respond(&Reply::counters(tid, &Counters::default()));
    })]);
    let mut client = Client::with_options(address.service(), options(LONG)).unwrap();
    let source = Address::from_text("node1");
    let refused = client.resolve(Some(&source), &Address::from_text("node2")).unwrap_err();
    assert_eq!(refused.status(), Some(ClientStatus::ENODATA));
    assert_eq!(refused.to_string(), format!("{}: no data", address.socket().display()));
    assert_eq!(client.counters(PerfTarget::Total).unwrap(), Counters([1, 2, 3, 4, 5, 6, 7]));
    let endpoints = client.endpoints().unwrap();
    let seen: Vec<_> = endpoints.iter().map(|end| (end.port, end.ports, end.addresses.join(" "))).collect();
    assert_eq!(seen, [(1, 2, "node1 10.0.0.1".to_owned()), (2, 2, "node1 10.0.0.1".to_owned())]);
    let error = client.query_sa(&path(3)).unwrap_err().to_string();
    assert_eq!(error, format!("{}: requested Resolve, received Perf", address.socket().display()));
    drop(client);
    server.join().unwrap();
}

#[test]
fn lid_is_sent_in_a_path_record_over_tcp() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let service: Service = listener.local_addr().unwrap().to_string().parse().unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 88];
        stream.read_exact(&mut request).unwrap();
        let frame = next_frame(&request).unwrap().unwrap();
        let request = ClientRequest::parse(&frame);
        assert!(
            matches!(request, ClientRequest::Resolve(Ok(Resolve::Route(Route { path, .. }))) if path.dlid == Lid::new(9))
        );
        stream.write_all(&Reply::resolved(frame.tid(), &path(9), None)).unwrap();
    });
    let mut client = Client::with_options(service, options(LONG)).unwrap();
    assert_eq!(client.resolve(None, &Address::Lid(Lid::new(9))).unwrap().path.dlid, Lid::new(9));
    server.join().unwrap();
}

#[test]
fn partition_of_a_resolved_address_is_left_to_the_sa() {
    let address = ServerAddress::new();
    let ends = PathRecord {
        sgid: "fe80::1".parse().unwrap(),
        dgid: "fe80::2".parse().unwrap(),
        pkey: Pkey::DEFAULT_FULL,
        ..path(2)
    };
    let service_id = ServiceId::new(0x0106_03db);
    let server = address.serve(vec![Box::new(move |peer| {
        let tid = peer.next().unwrap();
        peer.respond(&Reply::resolved(tid, &ends, Some(&Address::from_text("10.0.0.1"))));
        let mut query = [0; 88];
        peer.stream.read_exact(&mut query).unwrap();
        let frame = next_frame(&query).unwrap().unwrap();
        let ClientRequest::Resolve(Ok(Resolve::QuerySa { path, entry })) = ClientRequest::parse(&frame) else {
            panic!()
        };
        let expected = PathRecord { sgid: ends.sgid, dgid: ends.dgid, service_id, ..PathRecord::default() };
        let reversible_paths = expected.reversible_paths.with_reversible(true).with_num_path(1);
        assert_eq!(*path, PathRecord { reversible_paths, ..expected });
        peer.respond(&Reply::queried(frame.tid(), entry, Ok(&PathRecord { pkey: Pkey::new(0x8001), ..ends })));
    })]);
    let mut client = Client::with_options(address.service(), options(LONG)).unwrap();
    let conditions = PathRecord { service_id, ..PathRecord::default() };
    let found = client.resolve_in_any_partition(None, &Address::from_text("10.0.0.2"), &conditions).unwrap();
    assert_eq!((found.path.pkey, found.source), (Pkey::new(0x8001), Some(Address::from_text("10.0.0.1"))));
    server.join().unwrap();
}
