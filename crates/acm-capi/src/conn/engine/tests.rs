//! A connection and daemons that do as each test says.
use super::*;
use crate::clock;
use acm_client::{Request, Response};
use acm_wire::client::{ClientRequest, Reply, Resolve, Route, next_frame};
use core::sync::atomic::{AtomicUsize, Ordering};
use ib_mad::{Lid, sa::PathRecord};
use std::{
    io::{Read, Write},
    net::TcpListener,
    os::unix::net::UnixListener,
    path::PathBuf,
    sync::Arc,
    thread,
};

/// Longer than any answer takes.
const LONG: Duration = Duration::from_secs(60);

fn route(lid: u16) -> Asked {
    let path = PathRecord { dlid: Lid::new(lid), ..PathRecord::default() };
    Asked { request: Request::Route { path, no_delay: false }, cookie: lid.into(), kind: 3 }
}

impl Engine {
    fn ask(&mut self, lid: u16) -> u64 {
        let now = clock::now();
        let id = self.submit(route(lid), now + LONG).unwrap();
        self.flush(now).unwrap();
        id
    }

    /// The next completion's cookie and outcome. Nothing is done but when the descriptor says so.
    fn next(&mut self) -> (u64, Result<Response>) {
        loop {
            self.wake.wait();
            let now = clock::now();
            self.drive(now);
            let done = self.take();
            self.settle(now).unwrap();
            if let Some(done) = done {
                return (done.cookie, done.outcome);
            }
        }
    }
}

/// What a daemon does with what it reads at once: answers, or the end.
type Serve = fn(&[u8]) -> Option<Vec<u8>>;

/// The LIDs that are asked for, and their answers.
fn found(mut bytes: &[u8]) -> Vec<(u16, Reply)> {
    let mut found = Vec::new();
    while let Some(frame) = next_frame(bytes).unwrap() {
        let ClientRequest::Resolve(Ok(Resolve::Route(Route { path, .. }))) = ClientRequest::parse(&frame) else {
            panic!("not asked here");
        };
        found.push((path.dlid.get(), Reply::resolved(frame.tid(), path, None)));
        bytes = &bytes[frame.length()..];
    }
    found
}

fn all(bytes: &[u8]) -> Option<Vec<u8>> {
    Some(found(bytes).iter().flat_map(|(_, reply)| reply.to_vec()).collect())
}

fn converse(mut stream: impl Read + Write, serve: Serve) {
    let mut bytes = [0; 1 << 16];
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        let Some(answer) = serve(&bytes[..count]) else { return };
        // Who goes does not take all.
        if stream.write_all(&answer).is_err() {
            return;
        }
    }
}

/// A daemon at a socket; how often somebody came.
fn daemon(serve: Serve) -> (tempfile::TempDir, Service, Arc<AtomicUsize>) {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("s");
    let (listener, came) = (UnixListener::bind(&path).unwrap(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&came);
    thread::spawn(move || {
        for stream in listener.incoming() {
            count.fetch_add(1, Ordering::SeqCst);
            thread::spawn(move || converse(stream.unwrap(), serve));
        }
    });
    (folder, Service::Unix(path), came)
}

fn lid(answer: Result<Response>) -> Result<u16> {
    answer.map(|answer| match answer {
        Response::Path(found) => found.path.dlid.get(),
        other => panic!("{other:?}"),
    })
}

/// As C ibacm does it.
#[test]
fn a_daemon_that_takes_one_request_at_a_time() {
    let (_folder, service, came) = daemon(|bytes| if found(bytes).len() == 1 { all(bytes) } else { None });
    let mut engine = Engine::open(&service, 64, LONG).unwrap();
    for _ in 0..2 {
        let now = clock::now();
        for lid in 1..=20 {
            engine.submit(route(lid), now + LONG).unwrap();
        }
        engine.flush(now).unwrap();
        for expected in 1..=20 {
            let (cookie, answer) = engine.next();
            assert_eq!((cookie, lid(answer)), (expected.into(), Ok(expected)));
        }
    }
    assert_eq!(came.load(Ordering::SeqCst), 3, "the first of each twenty at once, then one by one");
}

/// What it dies of is asked twice, and takes nothing else with it.
#[test]
fn a_request_that_a_daemon_dies_of() {
    let deadly = |bytes: &[u8]| if found(bytes).iter().any(|(lid, _)| *lid == 13) { None } else { all(bytes) };
    let (_folder, service, came) = daemon(deadly);
    let mut engine = Engine::open(&service, 64, LONG).unwrap();
    let now = clock::now();
    for lid in [11, 12, 13, 14, 15] {
        engine.submit(route(lid), now + LONG).unwrap();
    }
    engine.flush(now).unwrap();
    let mut outcomes = [(); 5].map(|()| engine.next()).map(|(cookie, answer)| (cookie, lid(answer)));
    outcomes.sort_by_key(|(cookie, _)| *cookie);
    assert_eq!(outcomes, [(11, Ok(11)), (12, Ok(12)), (13, Err(Errno::ECONNRESET)), (14, Ok(14)), (15, Ok(15))]);
    assert_eq!(came.load(Ordering::SeqCst), 4, "with all, twice with the one, and with the rest");
}

/// What is no answer ends what was asked, and nothing else.
#[test]
fn what_is_no_answer_takes_nothing_else_with_it() {
    let muddled = |bytes: &[u8]| match found(bytes).as_slice() {
        [(1, _)] => Some(vec![7; 20]),
        [_] => all(bytes),
        _ => None,
    };
    let (_folder, service, _) = daemon(muddled);
    let mut engine = Engine::open(&service, 64, LONG).unwrap();
    let now = clock::now();
    for lid in 1..=3 {
        engine.submit(route(lid), now + LONG).unwrap();
    }
    engine.flush(now).unwrap();
    let outcomes = [(); 3].map(|()| engine.next()).map(|(cookie, answer)| (cookie, lid(answer)));
    assert_eq!(outcomes, [(1, Err(Errno::EPROTO)), (2, Ok(2)), (3, Ok(3))]);
}

/// Answers that nobody wants any more, and that never come, leave room for others.
#[test]
fn what_is_cancelled_and_not_answered_is_bounded() {
    let picky = |bytes: &[u8]| {
        let wanted = found(bytes).into_iter().filter(|(lid, _)| *lid == 1);
        Some(wanted.flat_map(|(_, reply)| reply.to_vec()).collect())
    };
    let (_folder, service, came) = daemon(picky);
    let mut engine = Engine::open(&service, 4, LONG).unwrap();
    for _ in 0..10 {
        let ids = [(); 4].map(|()| engine.ask(2));
        let now = clock::now();
        assert_eq!(engine.submit(route(2), now + LONG), Err(Errno::EAGAIN));
        for id in ids {
            engine.cancel(id).unwrap();
        }
        engine.settle(now).unwrap();
        for _ in ids {
            assert_eq!(engine.next(), (2, Err(Errno::ECANCELED)));
        }
    }
    engine.ask(1);
    let (_, answer) = engine.next();
    assert_eq!(lid(answer), Ok(1));
    let connections = came.load(Ordering::SeqCst);
    assert!((5..=11).contains(&connections), "{connections}: a new one when four are owed");
}

/// By TCP, where connecting takes a while, and again after the daemon closed the connection.
#[test]
fn a_host() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (closed, is_closed) = std::sync::mpsc::channel();
    thread::spawn(move || {
        drop(listener.accept().unwrap());
        closed.send(()).unwrap();
        converse(listener.accept().unwrap().0, all);
    });
    let mut engine = Engine::open(&Service::Tcp { host: "localhost".into(), port }, 64, LONG).unwrap();
    is_closed.recv().unwrap();
    engine.ask(7);
    let (_, answer) = engine.next();
    assert_eq!(lid(answer), Ok(7));
}

/// The daemon is gone for good: the request ends with its time, and says why there was no answer.
#[test]
fn nobody_to_ask() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    let mut engine = Engine::open(&Service::Unix(path), 64, LONG).unwrap();
    drop((listener, folder));
    while engine.link.is_some() {
        engine.wake.wait();
        let now = clock::now();
        engine.drive(now);
        engine.settle(now).unwrap();
    }
    let now = clock::now();
    engine.submit(route(1), now + Duration::from_millis(30)).unwrap();
    engine.flush(now).unwrap();
    assert_eq!(engine.next(), (1, Err(Errno::ENOENT)));
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(Engine::open(&Service::Unix(folder.path().join("s")), 64, LONG), Err(Errno::ENOENT)));
}
