//! The client for tokio.
use acm_client::{
    ClientStatus, Request, Response, Service,
    ib_mad::{Lid, sa::PathRecord},
    tokio::{AskError, Client},
};
use acm_wire::client::{Reply, next_frame};
use std::{
    future::{Future, poll_fn},
    io::{Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::PathBuf,
    pin::pin,
    task::Poll,
    thread,
    time::Duration,
};
use tempfile::TempDir;
use tokio::net::UnixSocket;

const LIMIT: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(30);

fn route(lid: u16) -> Request {
    Request::Route { path: PathRecord { dlid: Lid::new(lid), ..PathRecord::default() }, no_delay: false }
}

struct Address(TempDir);

impl Address {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    fn path(&self) -> PathBuf {
        self.0.path().join("socket")
    }
    fn listen(&self) -> UnixListener {
        let _ = std::fs::remove_file(self.path());
        UnixListener::bind(self.path()).unwrap()
    }
    async fn connect(&self) -> Client {
        Client::connect(Service::Unix(self.path())).await.unwrap()
    }
}

/// Receives `count` requests. Returns their responses: the requested LID, or ENODATA for LID 0.
fn receive(stream: &mut UnixStream, count: usize) -> Vec<Reply> {
    let (mut input, mut replies) = (Vec::new(), Vec::new());
    while replies.len() < count {
        let mut buffer = [0; 512];
        let length = stream.read(&mut buffer).unwrap();
        assert!(length > 0, "the client has closed the connection");
        input.extend_from_slice(&buffer[..length]);
        while let Some(frame) = next_frame(&input).unwrap() {
            let lid = u16::from_be_bytes([input[64], input[65]]);
            let path = PathRecord { dlid: Lid::new(lid), ..PathRecord::default() };
            replies.push(match lid {
                0 => Reply::unresolved(frame.tid(), ClientStatus::ENODATA),
                _ => Reply::resolved(frame.tid(), &path, None),
            });
            let length = frame.length();
            input.drain(..length);
        }
    }
    replies
}

fn lid(response: Result<Response, AskError>) -> u16 {
    match response {
        Ok(Response::Path(found)) => found.path.dlid.get(),
        Ok(Response::Refused(ClientStatus::ENODATA)) => 0,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn each_task_gets_its_own_response() {
    let address = Address::new();
    let listener = address.listen();
    let daemon = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        receive(&mut stream, 50).iter().rev().for_each(|reply| stream.write_all(reply).unwrap());
    });
    let client = address.connect().await;
    let tasks: Vec<_> = (0..50)
        .map(|lid| {
            let client = client.clone();
            tokio::spawn(async move { client.ask(route(lid), LIMIT).await })
        })
        .collect();
    for (number, task) in (0..).zip(tasks) {
        assert_eq!(lid(task.await.unwrap()), number);
    }
    daemon.join().unwrap();
}

#[tokio::test]
async fn requests_are_repeated_at_the_restarted_daemon() {
    let address = Address::new();
    let listener = address.listen();
    let first = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let replies = receive(&mut stream, 3);
        stream.write_all(&replies[1]).unwrap();
    });
    let client = address.connect().await;
    let (one, two, three) = tokio::join!(
        client.ask(route(1), LIMIT),
        async {
            let response = client.ask(route(2), LIMIT).await;
            first.join().unwrap();
            let listener = address.listen();
            // The restarted daemon receives only the two requests without a response.
            thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                for reply in receive(&mut stream, 2) {
                    stream.write_all(&reply).unwrap();
                }
                let _ = stream.read(&mut [0; 16]);
            });
            response
        },
        client.ask(route(3), LIMIT),
    );
    assert_eq!([one, two, three].map(lid), [1, 2, 3]);
    assert!(client.is_connected());
}

#[tokio::test]
async fn late_response_and_missing_daemon_are_told_apart() {
    let address = Address::new();
    let listener = address.listen();
    let client = address.connect().await;
    assert_eq!(client.ask(route(1), SHORT).await, Err(AskError::Late));
    let (stream, _) = listener.accept().unwrap();
    drop((stream, listener));
    std::fs::remove_file(address.path()).unwrap();
    let closed = async {
        while client.is_connected() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, closed).await.unwrap();
    assert_eq!(client.ask(route(2), SHORT).await, Err(AskError::Disconnected));
    let nowhere = Client::connect(Service::Unix(address.path())).await;
    assert_eq!(nowhere.unwrap_err().kind(), std::io::ErrorKind::NotFound);
}

#[tokio::test]
async fn request_that_ends_two_connections_is_not_repeated() {
    let address = Address::new();
    let listener = address.listen();
    let daemon = thread::spawn(move || {
        for _ in 0..2 {
            receive(&mut listener.accept().unwrap().0, 1);
        }
        let (mut stream, _) = listener.accept().unwrap();
        let replies = receive(&mut stream, 1);
        stream.write_all(&replies[0]).unwrap();
    });
    let client = address.connect().await;
    assert_eq!(client.ask(route(1), LIMIT).await, Err(AskError::Lost));
    assert_eq!(lid(client.ask(route(2), LIMIT).await), 2);
    daemon.join().unwrap();
}

#[tokio::test]
async fn connection_is_replaced_when_no_request_has_a_response() {
    let address = Address::new();
    let listener = address.listen();
    let daemon = thread::spawn(move || {
        let (silent, _) = listener.accept().unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let replies = receive(&mut stream, 1);
        stream.write_all(&replies[0]).unwrap();
        drop(silent);
    });
    let client = address.connect().await;
    let dead: Vec<_> = (1..=64)
        .map(|lid| {
            let client = client.clone();
            tokio::spawn(async move { client.ask(route(lid), SHORT).await })
        })
        .collect();
    for task in dead {
        assert_eq!(task.await.unwrap(), Err(AskError::Late));
    }
    assert_eq!(lid(client.ask(route(65), LIMIT).await), 65);
    daemon.join().unwrap();
}

#[tokio::test]
async fn connecting_waits_for_room_in_the_queue_of_the_daemon() {
    let address = Address::new();
    let socket = UnixSocket::new_stream().unwrap();
    socket.bind(address.path()).unwrap();
    // The queue has room for one.
    let listener = socket.listen(0).unwrap();
    let first = UnixStream::connect(address.path()).unwrap();
    let mut second = pin!(Client::connect(Service::Unix(address.path())));
    assert!(poll_fn(|context| Poll::Ready(second.as_mut().poll(context))).await.is_pending());
    listener.accept().await.unwrap();
    second.await.unwrap();
    drop(first);
}
