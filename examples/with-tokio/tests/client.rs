//! Against a daemon that answers in another order.
use acm_client::{
    Response, ClientStatus, Request,
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

const PATIENCE: Duration = Duration::from_secs(60);

fn route(lid: u16) -> Request {
    Request::Route { path: PathRecord { dlid: Lid::new(lid), ..PathRecord::default() }, no_delay: false }
}

/// Takes so many requests before it answers the last one first, with the LID that was asked for, or a no for LID 0;
/// then it closes the connection.
fn daemon(listener: UnixListener, requests: usize) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut input, mut replies) = (Vec::new(), Vec::new());
        while replies.len() < requests {
            let mut some = [0; 512];
            let count = stream.read(&mut some).unwrap();
            input.extend_from_slice(&some[..count]);
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
async fn each_task_has_its_own_answer_and_learns_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let daemon = daemon(UnixListener::bind(&path).unwrap(), 50);
    let client = AsyncClient::connect(&path).await.unwrap();
    let tasks: Vec<_> = (0..50)
        .map(|lid| {
            let client = client.clone();
            tokio::spawn(async move { client.ask(route(lid), PATIENCE).await })
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
    assert_eq!(client.ask(route(1), PATIENCE).await, None, "the connection is closed");
}

#[tokio::test]
async fn nobody_waits_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _listener = UnixListener::bind(&path).unwrap();
    let client = AsyncClient::connect(&path).await.unwrap();
    assert_eq!(client.ask(route(1), Duration::from_millis(20)).await, None);
    assert!(AsyncClient::connect(&folder.path().join("none")).await.is_err());
}
