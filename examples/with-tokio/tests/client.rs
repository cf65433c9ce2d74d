//! Tests with a daemon that responds in reverse order.
use acm_client::{
    ClientStatus, Request, Response,
    ib_mad::{Lid, sa::PathRecord},
};
use acm_wire::client::{Reply, next_frame};
use std::{
    io::{Read, Write},
    os::unix::net::UnixListener,
    thread,
    time::Duration,
};
use with_tokio::AsyncClient;

const LIMIT: Duration = Duration::from_secs(60);

fn route(lid: u16) -> Request {
    Request::Route { path: PathRecord { dlid: Lid::new(lid), ..PathRecord::default() }, no_delay: false }
}

/// Starts a daemon that receives `requests` requests, responds in reverse order, and closes the connection. A response
/// has the requested LID, or ENODATA for LID 0.
fn daemon(listener: UnixListener, requests: usize) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut input, mut replies) = (Vec::new(), Vec::new());
        while replies.len() < requests {
            let mut buffer = [0; 512];
            let count = stream.read(&mut buffer).unwrap();
            input.extend_from_slice(&buffer[..count]);
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
        replies.iter().rev().for_each(|reply| stream.write_all(reply).unwrap());
    })
}

#[tokio::test]
async fn each_task_gets_its_own_response_and_closed_connection_ends_requests() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let daemon = daemon(UnixListener::bind(&path).unwrap(), 50);
    let client = AsyncClient::connect(&path).await.unwrap();
    let tasks: Vec<_> = (0..50)
        .map(|lid| {
            let client = client.clone();
            tokio::spawn(async move { client.ask(route(lid), LIMIT).await })
        })
        .collect();
    for (lid, task) in (0..).zip(tasks) {
        match task.await.unwrap() {
            Some(Response::Refused(status)) => assert_eq!((lid, status), (0, ClientStatus::ENODATA)),
            Some(Response::Path(found)) => assert_eq!(found.path.dlid, Lid::new(lid)),
            other => panic!("{lid}: {other:?}"),
        }
    }
    daemon.join().unwrap();
    assert_eq!(client.ask(route(1), LIMIT).await, None, "the connection is closed");
}

#[tokio::test]
async fn request_without_response_times_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _listener = UnixListener::bind(&path).unwrap();
    let client = AsyncClient::connect(&path).await.unwrap();
    assert_eq!(client.ask(route(1), Duration::from_millis(20)).await, None);
    assert!(AsyncClient::connect(&folder.path().join("none")).await.is_err());
}
