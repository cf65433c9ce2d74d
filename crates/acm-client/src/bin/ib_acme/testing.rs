//! A daemon for unit tests: the subnet administrator behind it has paths to one port.
use acm_client::{
    Address, ClientStatus,
    ib_mad::{
        Gid, ServiceLevel,
        sa::{PathRecord, QosSl},
    },
};
use acm_wire::client::{ClientRequest, EpHead, Opcode, Reply, Resolve, ep_reply, next_frame};
use std::{
    io::{Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    sync::{Arc, Mutex},
    thread,
};

/// The port that has a path, and every name except [`LOST`].
pub(crate) const PEER: &str = "fe80::2";
/// A name whose port has no path any more. The daemon's cache still has one.
pub(crate) const LOST: &str = "lost";

/// Calls `client` with the daemon's socket. Returns its result, and the paths that were queried from the SA.
pub(crate) fn with_daemon<T>(client: impl FnOnce(&str) -> T) -> (T, Vec<PathRecord>) {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let listener = UnixListener::bind(&socket).unwrap();
    let queried = Arc::new(Mutex::new(Vec::new()));
    let paths = Arc::clone(&queried);
    let daemon = thread::spawn(move || respond(&listener.accept().unwrap().0, &paths));
    let result = client(socket.to_str().unwrap());
    daemon.join().unwrap();
    let queried = queried.lock().unwrap().clone();
    (result, queried)
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
                ClientRequest::Resolve(Ok(Resolve::Address { dest, .. })) => {
                    let dgid = if dest == Address::from_text(LOST) { "fe80::4" } else { PEER };
                    let [sgid, dgid] = ["fe80::1", dgid].map(|gid| gid.parse().unwrap());
                    let path = PathRecord { sgid, dgid, ..PathRecord::default() };
                    response.extend_from_slice(&Reply::resolved(tid, &path, None));
                }
                ClientRequest::Resolve(Ok(Resolve::QuerySa { path, entry })) => {
                    queried.lock().unwrap().push(*path);
                    let qos_sl = QosSl::default().with_sl(ServiceLevel::checked(3).unwrap());
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
