//! `ib_acme vfabric` with a daemon that has paths to one peer.
use super::{failure::Failure, vfabric::Vfabric};
use crate::output::Output;
use acm_client::{
    Address, ClientStatus,
    ib_mad::{
        Gid, ServiceLevel,
        sa::{PathRecord, QosSl},
    },
};
use acm_wire::client::{ClientRequest, EpHead, Opcode, Reply, Resolve, ep_reply, next_frame};
use clap::Parser;
use std::{
    io::{Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    sync::{Arc, Mutex},
    thread,
};

/// The port that has a path.
const PEER: &str = "fe80::2";

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    vfabric: Vfabric,
}

/// Responds to requests until the client closes the connection. Keeps the queried paths.
fn respond(mut stream: &UnixStream, queried: &Mutex<Vec<PathRecord>>) {
    let mut received = Vec::new();
    loop {
        let mut bytes = [0; 1000];
        match stream.read(&mut bytes) {
            Ok(count @ 1..) => received.extend_from_slice(&bytes[..count]),
            _ => return,
        }
        while let Some(frame) = next_frame(&received).unwrap() {
            let (tid, length, mut response) = (frame.tid(), frame.length(), Vec::new());
            match ClientRequest::parse(&frame) {
                ClientRequest::Endpoint { index: 1, .. } => {
                    let addresses = [Address::from_text("node1")];
                    ep_reply(tid, 1, &EpHead::default(), addresses.iter(), |bytes| response.extend_from_slice(bytes));
                }
                ClientRequest::Resolve(Ok(Resolve::Address { .. })) => {
                    let path = PathRecord { sgid: "fe80::1".parse().unwrap(), ..PathRecord::default() };
                    response.extend_from_slice(&Reply::resolved(tid, &path, None));
                }
                ClientRequest::Resolve(Ok(Resolve::QuerySa { path, entry })) => {
                    queried.lock().unwrap().push(*path);
                    let qos_sl = QosSl::default().with_sl(ServiceLevel::new(3).unwrap());
                    let found = PathRecord { qos_sl, ..*path };
                    let has_path = path.dgid == PEER.parse::<Gid>().unwrap();
                    let result = if has_path { Ok(&found) } else { Err(ClientStatus::ENODATA) };
                    response.extend_from_slice(&Reply::queried(tid, entry, result));
                }
                _ => response.extend_from_slice(&Reply::refused(Opcode::EP, tid, ClientStatus::EINVAL)),
            }
            stream.write_all(&response).unwrap();
            received.drain(..length);
        }
    }
}

/// Runs the command. Returns its result, its output, and the paths that it queried.
fn run(words: &[&str]) -> (Result<(), Failure>, String, Vec<PathRecord>) {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let listener = UnixListener::bind(&socket).unwrap();
    let queried = Arc::new(Mutex::new(Vec::new()));
    let paths = Arc::clone(&queried);
    let daemon = thread::spawn(move || respond(&listener.accept().unwrap().0, &paths));
    let mut out = Output::in_memory();
    let line = Line::parse_from([&["vfabric", "-S", socket.to_str().unwrap()], words].concat());
    let result = line.vfabric.run(&mut out);
    daemon.join().unwrap();
    let queried = queried.lock().unwrap().clone();
    (result, String::from_utf8(out.into_bytes()).unwrap(), queried)
}

#[test]
fn quality_of_service_class_is_part_of_the_query() {
    for (words, expected) in [(&["--qos-class", "5"][..], 5), (&[], 0)] {
        let (result, text, queried) = run(&[&["--to", PEER], words].concat());
        assert!(result.is_ok(), "{text}");
        let classes: Vec<u16> = queried.iter().map(|path| path.qos_sl.qos_class()).collect();
        assert_eq!(classes, [expected], "{text}");
    }
}

#[test]
fn one_missing_path_is_a_failure_and_the_others_are_printed() {
    let (result, text, queried) = run(&["--to", PEER, "--to", "fe80::3"]);
    assert!(matches!(result, Err(Failure::Printed)), "{result:?}");
    assert_eq!(queried.len(), 2);
    assert!(text.lines().any(|line| line.starts_with(&format!("any      {PEER}  "))), "{text}");
    assert!(text.contains("any to fe80::3: no path: "), "{text}");
    assert!(run(&["--to", PEER]).0.is_ok());
}
