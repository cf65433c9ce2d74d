//! Tests of a connection, with a simulated daemon for each test.
use super::*;
use acm_client::{Request, Response};
use acm_wire::client::{ClientRequest, Reply, Resolve, Route, next_frame};
use core::sync::atomic::{AtomicUsize, Ordering};
use ib_mad::{Lid, sa::PathRecord};
use socket2::{Domain, SockAddr, Type};
use std::{
    io::{Read, Write},
    net::TcpListener,
    os::unix::net::UnixListener,
    path::PathBuf,
    sync::Arc,
    thread,
};

/// A time-out that no test reaches.
const LONG: Duration = Duration::from_secs(60);

fn route(lid: u16) -> Submission {
    let path = PathRecord { dlid: Lid::new(lid), ..PathRecord::default() };
    Submission { request: Request::Route { path, no_delay: false }, cookie: lid.into(), kind: 3 }
}

impl Engine {
    fn send_route(&mut self, lid: u16) -> u64 {
        let now = now();
        let id = self.submit(route(lid), now + LONG).unwrap();
        self.flush(now).unwrap();
        id
    }

    /// Returns cookie and outcome of the next completion. Drives the connection only if the descriptor is readable.
    fn next(&mut self) -> (u64, Result<Response>) {
        loop {
            self.wake.wait();
            let now = now();
            self.drive(now);
            let completed = self.next_completed();
            self.update_wake(now).unwrap();
            if let Some(request) = completed {
                return (request.cookie, request.outcome);
            }
        }
    }
}

/// Returns a daemon's responses to the bytes of one read, or `None` to close the connection.
type Serve = fn(&[u8]) -> Option<Vec<u8>>;

/// Returns the requested LIDs with their responses.
fn responses(mut bytes: &[u8]) -> Vec<(u16, Reply)> {
    let mut responses = Vec::new();
    while let Some(frame) = next_frame(bytes).unwrap() {
        let ClientRequest::Resolve(Ok(Resolve::Route(Route { path, .. }))) = ClientRequest::parse(&frame) else {
            panic!("unexpected request");
        };
        responses.push((path.dlid.get(), Reply::resolved(frame.tid(), path, None)));
        bytes = &bytes[frame.length()..];
    }
    responses
}

fn respond_to_all(bytes: &[u8]) -> Option<Vec<u8>> {
    Some(responses(bytes).iter().flat_map(|(_, reply)| reply.to_vec()).collect())
}

fn serve_stream(mut stream: impl Read + Write, serve: Serve) {
    let mut bytes = [0; 1 << 16];
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        let Some(bytes) = serve(&bytes[..count]) else { return };
        // The client may have closed the connection.
        if stream.write_all(&bytes).is_err() {
            return;
        }
    }
}

/// Starts a daemon at a socket. Returns its directory, its address and the counter of connections.
fn daemon(serve: Serve) -> (tempfile::TempDir, Service, Arc<AtomicUsize>) {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("s");
    let (listener, connections) = (UnixListener::bind(&path).unwrap(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&connections);
    thread::spawn(move || {
        for stream in listener.incoming() {
            count.fetch_add(1, Ordering::SeqCst);
            thread::spawn(move || serve_stream(stream.unwrap(), serve));
        }
    });
    (folder, Service::Unix(path), connections)
}

fn lid(outcome: Result<Response>) -> Result<u16> {
    outcome.map(|response| match response {
        Response::Path(found) => found.path.dlid.get(),
        other => panic!("{other:?}"),
    })
}

/// C ibacm closes a connection with two requests at once.
#[test]
fn daemon_that_accepts_one_request_at_a_time_gets_requests_one_by_one() {
    let serve = |bytes: &[u8]| if responses(bytes).len() == 1 { respond_to_all(bytes) } else { None };
    let (_folder, service, connections) = daemon(serve);
    let mut engine = Engine::open(&service, 64, LONG).unwrap();
    for _ in 0..2 {
        let now = now();
        for lid in 1..=20 {
            engine.submit(route(lid), now + LONG).unwrap();
        }
        engine.flush(now).unwrap();
        for expected in 1..=20 {
            let (cookie, outcome) = engine.next();
            assert_eq!((cookie, lid(outcome)), (expected.into(), Ok(expected)));
        }
    }
    assert_eq!(connections.load(Ordering::SeqCst), 3, "all of each twenty at once, then one by one");
}

/// The request is sent twice alone, and fails. All others succeed.
#[test]
fn request_that_crashes_the_daemon_fails_alone() {
    let serve = |bytes: &[u8]| {
        let crashes = responses(bytes).iter().any(|(lid, _)| *lid == 13);
        if crashes { None } else { respond_to_all(bytes) }
    };
    let (_folder, service, connections) = daemon(serve);
    let mut engine = Engine::open(&service, 64, LONG).unwrap();
    let now = now();
    for lid in [11, 12, 13, 14, 15] {
        engine.submit(route(lid), now + LONG).unwrap();
    }
    engine.flush(now).unwrap();
    let mut outcomes = [(); 5].map(|()| engine.next()).map(|(cookie, outcome)| (cookie, lid(outcome)));
    outcomes.sort_by_key(|(cookie, _)| *cookie);
    assert_eq!(outcomes, [(11, Ok(11)), (12, Ok(12)), (13, Err(Errno::ECONNRESET)), (14, Ok(14)), (15, Ok(15))]);
    let expected = 4;
    assert_eq!(
        connections.load(Ordering::SeqCst),
        expected,
        "one with all, two with the one request, one with the rest"
    );
}

#[test]
fn malformed_response_fails_only_the_request_in_flight() {
    let serve = |bytes: &[u8]| match responses(bytes).as_slice() {
        [(1, _)] => Some(vec![7; 20]),
        [_] => respond_to_all(bytes),
        _ => None,
    };
    let (_folder, service, _) = daemon(serve);
    let mut engine = Engine::open(&service, 64, LONG).unwrap();
    let now = now();
    for lid in 1..=3 {
        engine.submit(route(lid), now + LONG).unwrap();
    }
    engine.flush(now).unwrap();
    let outcomes = [(); 3].map(|()| engine.next()).map(|(cookie, outcome)| (cookie, lid(outcome)));
    assert_eq!(outcomes, [(1, Err(Errno::EPROTO)), (2, Ok(2)), (3, Ok(3))]);
}

/// The connection is replaced when too many responses to cancelled requests are outstanding.
#[test]
fn cancelled_requests_without_response_are_bounded() {
    let serve = |bytes: &[u8]| {
        let answered = responses(bytes).into_iter().filter(|(lid, _)| *lid == 1);
        Some(answered.flat_map(|(_, reply)| reply.to_vec()).collect())
    };
    let (_folder, service, connections) = daemon(serve);
    let mut engine = Engine::open(&service, 4, LONG).unwrap();
    for _ in 0..10 {
        let ids = [(); 4].map(|()| engine.send_route(2));
        let now = now();
        assert_eq!(engine.submit(route(2), now + LONG), Err(Errno::EAGAIN));
        for id in ids {
            engine.cancel(id).unwrap();
        }
        engine.update_wake(now).unwrap();
        for _ in ids {
            assert_eq!(engine.next(), (2, Err(Errno::ECANCELED)));
        }
    }
    engine.send_route(1);
    let (_, outcome) = engine.next();
    assert_eq!(lid(outcome), Ok(1));
    let connections = connections.load(Ordering::SeqCst);
    assert!((5..=11).contains(&connections), "{connections}: a new one when four responses are outstanding");
}

#[test]
fn tcp_connection_is_reopened_after_the_daemon_closed_it() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (closed, is_closed) = std::sync::mpsc::channel();
    thread::spawn(move || {
        drop(listener.accept().unwrap());
        closed.send(()).unwrap();
        serve_stream(listener.accept().unwrap().0, respond_to_all);
    });
    let mut engine = Engine::open(&Service::Tcp { host: "localhost".into(), port }, 64, LONG).unwrap();
    is_closed.recv().unwrap();
    engine.send_route(7);
    let (_, outcome) = engine.next();
    assert_eq!(lid(outcome), Ok(7));
}

#[test]
fn request_without_daemon_expires_with_the_connect_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    let mut engine = Engine::open(&Service::Unix(path), 64, LONG).unwrap();
    drop((listener, folder));
    while engine.link.is_some() {
        engine.wake.wait();
        let now = now();
        engine.drive(now);
        engine.update_wake(now).unwrap();
    }
    let now = now();
    engine.submit(route(1), now + Duration::from_millis(30)).unwrap();
    engine.flush(now).unwrap();
    assert_eq!(engine.next(), (1, Err(Errno::ENOENT)));
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(Engine::open(&Service::Unix(folder.path().join("s")), 64, LONG), Err(Errno::ENOENT)));
}

/// A daemon that sends a response and exits. The client then fails to write another request.
#[test]
fn response_that_arrived_before_the_connection_broke_is_delivered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    let (closed, is_closed) = std::sync::mpsc::channel();
    let received = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&received);
    thread::spawn(move || {
        let mut bytes = [0; 1 << 16];
        for (connection, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let count = stream.read(&mut bytes).unwrap();
            for (lid, reply) in responses(&bytes[..count]) {
                seen.lock().unwrap().push((connection, lid));
                stream.write_all(&reply).unwrap();
            }
            drop(stream);
            closed.send(()).unwrap();
        }
    });
    let mut engine = Engine::open(&Service::Unix(path), 64, LONG).unwrap();
    engine.send_route(1);
    is_closed.recv().unwrap();
    engine.send_route(2);
    let outcomes = [(); 2].map(|()| engine.next()).map(|(cookie, outcome)| (cookie, lid(outcome)));
    assert_eq!(outcomes, [(1, Ok(1)), (2, Ok(2))]);
    assert_eq!(*received.lock().unwrap(), [(0, 1), (1, 2)], "the first request is not sent again");
}

#[test]
fn pause_between_attempts_doubles_to_200_ms_and_starts_again_after_a_connection() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    let mut engine = Engine::open(&Service::Unix(path.clone()), 64, LONG).unwrap();
    std::fs::remove_file(&path).unwrap();
    drop(listener);
    let mut time = now();
    engine.submit(route(1), time + LONG).unwrap();
    engine.drive(time);
    let mut pauses = Vec::new();
    for _ in 0..8 {
        let next = engine.retry.0.expect("another attempt");
        pauses.push((next - time).as_millis());
        engine.drive(next.checked_sub(Duration::from_millis(1)).unwrap());
        assert_eq!(engine.retry.0, Some(next), "no attempt before its time");
        time = next;
        engine.drive(time);
    }
    assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 200, 200]);
    assert_eq!(engine.connect_error, Some(Errno::ENOENT));
    let _listener = UnixListener::bind(&path).unwrap();
    engine.drive(engine.retry.0.unwrap());
    assert_eq!((engine.link.is_some(), engine.retry, engine.connect_error), (true, (None, RETRY.0), None));
}

#[test]
fn connection_is_retried_while_the_queue_of_the_daemon_is_full() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = socket2::Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
    listener.bind(&SockAddr::unix(&path).unwrap()).unwrap();
    listener.listen(0).unwrap();
    // A connection that waits to be accepted fills the queue.
    let _waiting = std::os::unix::net::UnixStream::connect(&path).unwrap();
    let mut engine = Engine::open(&Service::Unix(path), 64, LONG).unwrap();
    assert!(engine.link.is_none());
    engine.send_route(5);
    assert_eq!(engine.connect_error, Some(Errno::EAGAIN));
    thread::spawn(move || {
        drop(listener.accept().unwrap());
        serve_stream(listener.accept().unwrap().0, respond_to_all);
    });
    let (_, outcome) = engine.next();
    assert_eq!(lid(outcome), Ok(5));
}

/// Nothing else wakes the caller: the daemon is connected and silent.
#[test]
fn descriptor_is_readable_at_the_deadline_of_a_request() {
    let (_folder, service, _) = daemon(|_| Some(Vec::new()));
    let mut engine = Engine::open(&service, 64, LONG).unwrap();
    let now = now();
    engine.submit(route(1), now + Duration::from_millis(30)).unwrap();
    engine.submit(route(2), now + Duration::from_millis(20)).unwrap();
    engine.flush(now).unwrap();
    assert_eq!(engine.next(), (2, Err(Errno::ETIMEDOUT)));
    assert_eq!(engine.next(), (1, Err(Errno::ETIMEDOUT)));
}

/// The daemon reads all requests before its first response.
#[test]
fn descriptor_is_readable_when_the_socket_accepts_more_bytes() {
    const REQUESTS: u16 = 8000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    let (start, may_start) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        may_start.recv().unwrap();
        let mut all = vec![0; usize::from(REQUESTS) * 88];
        stream.read_exact(&mut all).unwrap();
        stream.write_all(&respond_to_all(&all).unwrap()).unwrap();
        // Keeps the connection open until the client closes it.
        let _ = stream.read(&mut all);
    });
    let mut engine = Engine::open(&Service::Unix(path), REQUESTS.into(), LONG).unwrap();
    let now = now();
    for lid in 1..=REQUESTS {
        engine.submit(route(lid), now + LONG).unwrap();
    }
    engine.flush(now).unwrap();
    assert!(!engine.requests.to_send().is_empty(), "the socket is full");
    start.send(()).unwrap();
    for expected in 1..=REQUESTS {
        let (_, outcome) = engine.next();
        assert_eq!(lid(outcome), Ok(expected));
    }
}

#[test]
fn request_that_is_cancelled_before_it_was_sent_is_not_sent() {
    let (_folder, service, _) = daemon(|bytes| {
        let found = responses(bytes);
        assert!(found.iter().all(|(lid, _)| *lid != 1), "the cancelled request was sent");
        respond_to_all(bytes)
    });
    let mut engine = Engine::open(&service, 64, LONG).unwrap();
    let now = now();
    let ids = [1, 2].map(|lid| engine.submit(route(lid), now + LONG).unwrap());
    engine.cancel(ids[0]).unwrap();
    assert_eq!(engine.cancel(ids[0]), Err(Errno::ENOENT), "it is complete");
    engine.flush(now).unwrap();
    assert_eq!(engine.next(), (1, Err(Errno::ECANCELED)));
    let (cookie, outcome) = engine.next();
    assert_eq!((cookie, lid(outcome)), (2, Ok(2)));
    assert_eq!(engine.cancel(ids[1]), Err(Errno::ENOENT));
}
