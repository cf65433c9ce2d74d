//! Malformed requests and misbehaving clients: the daemon responds or closes the connection, and serves other clients.
use acm_tests::{Connection, Daemon, Entry, Fabric, Header, LIMIT, Node, Received, request, until};
use acm_wire::client::ClientStatus;
use core::time::Duration;
use nix::sys::signal::Signal;
use std::{
    fs,
    io::{ErrorKind, Read, Write},
    os::unix::net::UnixStream,
};

const RESOLVE: u8 = 1;
const PERF: u8 = 2;
const EP: u8 = 3;
/// Flag that the core adds to the opcode of a refused request.
const ACK: u8 = 0x80;
const IP: u16 = 2;
const PATH: u16 = 0x10;
const LOCALHOST: [u8; 4] = [127, 0, 0, 1];

/// Starts a daemon with the addresses node1 and 127.0.0.1, to which each machine has a route.
fn daemon() -> Node {
    Node::embedded().addresses("node1 sim0 1 default\n127.0.0.1 sim0 1 default\n").join()
}

fn from() -> Entry {
    Entry::name(Entry::SOURCE, "node1")
}

fn to() -> Entry {
    Entry::name(Entry::DEST, "node1")
}

/// Returns a valid request with an immediate response.
fn valid(tid: u64) -> Vec<u8> {
    request(tid, &[from(), to()])
}

fn assert_serves(node: &Node) {
    assert_eq!(node.connect().request(1, &[from(), to()]), ClientStatus::SUCCESS);
}

#[test]
fn silent_connection_does_not_disturb_others() {
    let node = daemon();
    let silent = node.connect();
    assert_serves(&node);
    drop(silent);
    drop(node.connect());
    assert_serves(&node);
}

#[test]
fn request_may_arrive_byte_by_byte() {
    let node = daemon();
    let mut client = node.connect();
    for tid in 1..4 {
        for byte in valid(tid) {
            client.send(&[byte]);
        }
        // The daemon serves another client before the response.
        assert_serves(&node);
        assert_eq!(client.receive().status(tid), ClientStatus::SUCCESS);
    }
}

// docs/deviations.md: one-read
#[test]
fn many_requests_may_arrive_in_one_write() {
    let node = daemon();
    let mut client = node.connect();
    let all: Vec<u8> = (0..200).flat_map(valid).collect();
    // The last request comes in two parts.
    let (first, rest) = all.split_at(all.len() - 100);
    client.send(first);
    for tid in 0..199 {
        assert_eq!(client.receive().status(tid), ClientStatus::SUCCESS);
    }
    client.send(rest);
    assert_eq!(client.receive().status(199), ClientStatus::SUCCESS);
}

#[test]
fn invalid_headers_close_the_connection() {
    let node = daemon();
    let body = [0; 600];
    for opcode in [RESOLVE, PERF, EP] {
        for length in [0, 15, 593, 65535] {
            let mut client = node.connect();
            client.send(&Header::new(opcode, length, 1).with(&body[..usize::from(length.clamp(16, 600) - 16)]));
            assert_eq!(client.receive(), Received::Closed, "opcode {opcode} length {length}");
            assert_serves(&node);
        }
    }
    for opcode in [0, 0x7f, 0x0f, 0x11, 0x81, 0x82, 0x83, 0xff] {
        let mut client = node.connect();
        client.send(&Header::new(opcode, 88, 1).with(&body[..72]));
        assert_eq!(client.receive(), Received::Closed, "opcode {opcode:#x}");
    }
    for version in [0, 2, 255] {
        let mut client = node.connect();
        client.send(&Header { version, ..Header::new(PERF, 16, 1) }.with(&[]));
        assert_eq!(client.receive(), Received::Closed, "version {version}");
    }
    assert_serves(&node);
}

#[test]
fn requests_before_a_bad_header_get_responses() {
    let node = daemon();
    let mut client = node.connect();
    client.send(&[valid(7), vec![2; 16]].concat());
    assert_eq!(client.receive().status(7), ClientStatus::SUCCESS);
    assert_eq!(client.receive(), Received::Closed);
}

#[test]
fn half_closed_client_gets_its_responses() {
    let node = daemon();
    for _ in 0..20 {
        let mut client = node.connect();
        client.send(&[valid(7), valid(8)].concat());
        client.end();
        assert_eq!(client.receive().status(7), ClientStatus::SUCCESS);
        assert_eq!(client.receive().status(8), ClientStatus::SUCCESS);
        assert_eq!(client.receive(), Received::Closed);
    }
}

#[test]
fn partial_last_entry_is_ignored() {
    let node = daemon();
    let mut client = node.connect();
    let none = [0; 7 * 72];
    // 591 bytes: a part of the eighth entry. 592: the longest request.
    for length in [591, 592] {
        let entries = [&request(0, &[from(), to()])[16..], &none].concat();
        client.send(&Header::new(RESOLVE, length, u64::from(length)).with(&entries[..usize::from(length) - 16]));
        assert_eq!(client.receive().status(u64::from(length)), ClientStatus::SUCCESS);
    }
}

#[test]
fn request_without_source_gets_the_selected_source() {
    let node = daemon();
    let mut client = node.connect();
    let none = Entry::new(0, 0, &[]);
    let mut entries = [none; 8];
    entries[0] = Entry::new(Entry::DEST, IP, &LOCALHOST);
    client.send(&request(1, &entries));
    let Received::Response { status: ClientStatus::SUCCESS, body, .. } = client.receive() else { panic!("refused") };
    // The path and the selected source.
    assert_eq!(body.len(), 2 * 72);
    let source = &body[72..];
    assert_eq!((&source[..4], &source[4..6]), (&Entry::SOURCE.to_ne_bytes()[..], &IP.to_ne_bytes()[..]));
    assert_eq!((&source[8..12], &source[12..]), (&LOCALHOST[..], &[0; 60][..]));
    entries.rotate_right(1);
    assert_eq!(client.request(2, &entries), ClientStatus::SUCCESS);
    assert_eq!(client.request(3, &[none; 8]), ClientStatus::EDESTTYPE);
}

#[test]
fn invalid_entries_fail_with_their_status() {
    let node = daemon();
    let mut client = node.connect();
    let path = |flags| Entry::new(flags, PATH, &[]);
    const QUERY_SA: u32 = 1 << 31;
    let mut cases = vec![
        (vec![], ClientStatus::EDESTTYPE),
        (vec![from()], ClientStatus::EDESTTYPE),
        (vec![to()], ClientStatus::EDESTTYPE),
        (vec![from(), from(), to()], ClientStatus::ESRCADDR),
        (vec![from(), to(), to()], ClientStatus::EDESTADDR),
        (vec![Entry::name(Entry::SOURCE, "nobody"), to()], ClientStatus::ESRCADDR),
        (vec![path(0)], ClientStatus::EDESTADDR),
        (vec![path(QUERY_SA), path(QUERY_SA)], ClientStatus::EINVAL),
    ];
    for kind in [0, 6, 255] {
        cases.push((vec![from(), Entry::new(Entry::DEST, kind, b"node1")], ClientStatus::EDESTTYPE));
        cases.push((vec![Entry::new(Entry::SOURCE, kind, b"node1"), to()], ClientStatus::ESRCTYPE));
    }
    for (tid, (entries, expected)) in (100..).zip(cases) {
        client.send(&request(tid, &entries));
        let refused = Received::Response { opcode: RESOLVE | ACK, status: expected, tid, body: vec![] };
        assert_eq!(client.receive(), refused, "{entries:?}");
    }
    // A request for counters, and a request for an unknown endpoint.
    client.send(&Header::new(PERF, 16, 5).with(&[]));
    let Received::Response { opcode: 0x82, status: ClientStatus::SUCCESS, tid: 5, body } = client.receive() else {
        panic!("no counters")
    };
    assert_eq!(body.len(), 56);
    client.send(&Header::new(EP, 16, 6).with(&[]));
    assert_eq!(client.receive().status(6), ClientStatus::EINVAL);
    assert_eq!(client.request(7, &[from(), to()]), ClientStatus::SUCCESS);
}

#[test]
fn binary_names_cannot_forge_log_lines() {
    let node = Node::embedded().option("timeout 10\nretries 0").join();
    let mut client = node.connect();
    let names = [&[0xff; 64][..], b"\x1b[2Ja\nINJECTED: b", &[b'x'; 64], b""];
    for (tid, name) in (1..).zip(names) {
        let status = client.request(tid, &[from(), Entry::new(Entry::DEST, 1, name)]);
        assert_ne!(status, ClientStatus::SUCCESS, "{name:?}");
    }
    assert_serves(&node);
    let log = node.log();
    assert!(log.contains("INJECTED"), "the name is not in the log");
    assert!(!log.contains('\x1b') && !log.lines().any(|line| line.starts_with("INJECTED")), "{log}");
}

/// Sends requests without reading responses until the daemon stops to read. Returns the stream and the number of sent
/// bytes.
fn greedy(node: &Node) -> (UnixStream, usize) {
    let mut greedy = UnixStream::connect(node.socket()).unwrap();
    greedy.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
    greedy.set_read_timeout(Some(LIMIT)).unwrap();
    let perf = Header::new(PERF, 16, 3).with(&[]).repeat(1024);
    let mut sent = 0;
    loop {
        match greedy.write(&perf[sent % perf.len()..]) {
            Ok(count) => sent += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return (greedy, sent),
            Err(error) => panic!("closed after {sent} bytes: {error}"),
        }
        // The buffers of the system and the daemon are far smaller.
        assert!(sent < 16 << 20, "the daemon stops to read");
    }
}

// docs/deviations.md: no-reader
#[test]
fn client_that_does_not_read_is_not_read_from() {
    let node = daemon();
    let (mut greedy, sent) = greedy(&node);
    for _ in 0..10 {
        assert_serves(&node);
    }
    // All responses arrive once the client reads.
    let mut responses = vec![0; sent / 16 * 72];
    greedy.read_exact(&mut responses).unwrap();
    assert!(responses.chunks(72).all(|response| response[..4] == [1, PERF | ACK, 0, 7] && response[15] == 3));
}

/// A shorter `client_timeout` applies from SIGHUP on, also to a client that is already blocked.
// docs/deviations.md: no-reader
#[test]
fn client_that_does_not_read_is_closed_after_reloaded_client_timeout() {
    let mut node = Node::embedded().option("client_timeout 3600").join();
    let (mut greedy, sent) = greedy(&node);
    let options = node.dir().join("opts");
    let text = fs::read_to_string(&options).unwrap();
    fs::write(&options, text.replace("client_timeout 3600", "client_timeout 1")).unwrap();
    node.process.signal(Signal::SIGHUP);
    node.process.wait_for("client_timeout 3600 -> client_timeout 1", 1);
    node.process.wait_for("takes no answers for 1s: closed", 1);
    let (mut taken, mut piece) = (0, [0; 4096]);
    loop {
        match greedy.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => taken += count,
            Err(error) => break assert_eq!(error.kind(), ErrorKind::ConnectionReset),
        }
    }
    assert!(taken < sent / 16 * 72, "{taken} bytes of responses to {sent} bytes");
    assert_serves(&node);
}

/// The log line has the time of the option, whose default is 30 s.
#[test]
fn client_that_does_not_read_is_closed_after_client_timeout() {
    let mut node = Node::embedded().option("client_timeout 1").join();
    let mut deaf = UnixStream::connect(node.socket()).unwrap();
    deaf.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
    let perf = Header::new(PERF, 16, 3).with(&[]).repeat(1024);
    // Until the daemon stops to read or closes the connection.
    assert!((0..1024).any(|_| deaf.write_all(&perf).is_err()), "the daemon stops to read");
    node.process.wait_for("takes no answers for 1s: closed", 1);
    assert_serves(&node);
}

#[test]
fn connected_clients_are_served_without_free_descriptors() {
    let node = Node::embedded().descriptors(40).option("connections 1000").join();
    let mut first = node.connect();
    assert_eq!(first.request(1, &[from(), to()]), ClientStatus::SUCCESS);
    let many: Vec<Connection> = (0..60).map(|_| node.connect()).collect();
    until("a line about descriptors", || node.log().contains("Too many open files").then_some(()));
    assert_eq!(first.request(2, &[from(), to()]), ClientStatus::SUCCESS, "connected clients are served");
    // The daemon retries ten times per second. The log has one line, and a count after a minute.
    let wake_ups = || -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/status", node.process.id())).unwrap();
        text.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).unwrap().trim().parse().unwrap()
    };
    let before = wake_ups();
    until("five tries", || (wake_ups() >= before + 5).then_some(()));
    assert_eq!(node.log().matches("Too many open files").count(), 1);
    drop(many);
    assert_serves(&node);
}

#[test]
fn clients_that_close_before_their_responses_do_no_harm() {
    let node = daemon();
    let perf = Header::new(PERF, 16, 1).with(&[]);
    for count in 0..100 {
        let mut client = node.connect();
        client.send(&perf.repeat(1 + count % 40));
        drop(client);
    }
    assert_serves(&node);
}

#[test]
fn pending_requests_of_a_closed_client_are_dropped() {
    let fabric = Fabric::serve(1, &["--subnet-timeout", "8"]);
    let node = Node::at(&fabric, 1).option("timeout 2000\nretries 1").join();
    let unknown = |name: &str| [from(), Entry::name(Entry::DEST, name)];
    let mut gone = node.connect();
    for tid in 0..10 {
        gone.send(&request(tid, &unknown("nobody")));
    }
    // This response arrives after the daemon has read the requests.
    gone.send(&Header::new(PERF, 16, 99).with(&[]));
    assert_eq!(gone.receive().status(99), ClientStatus::SUCCESS);
    drop(gone);
    until("the requests are dropped", || (node.counter("requests_abandoned") == 10).then_some(()));
    // The next client reuses the client number and gets only its own responses.
    let mut next = node.connect();
    assert_eq!(next.request(50, &unknown("nobody-either")), ClientStatus::ETIMEDOUT);
    assert_eq!(next.request(51, &[from(), to()]), ClientStatus::SUCCESS);
}

#[test]
fn requests_over_the_limit_get_one_response_each() {
    let fabric = Fabric::serve(1, &["--subnet-timeout", "8"]);
    let node = Node::at(&fabric, 1).option("timeout 100\nretries 0").join();
    let mut client = node.connect();
    let all: Vec<u8> = (0..300).flat_map(|tid| request(tid, &[from(), Entry::name(Entry::DEST, "nobody")])).collect();
    client.send(&all);
    assert_serves(&node);
    let responses = (0..300).map(|_| match client.receive() {
        Received::Response { status, tid, .. } => (tid, status),
        other => panic!("{other:?}"),
    });
    let (mut tids, statuses): (Vec<u64>, Vec<ClientStatus>) = responses.unzip();
    // 64 wait, and those that would wait beside them are refused.
    let count = |wanted| statuses.iter().filter(|status| **status == wanted).count();
    let (timed_out, refused) = (count(ClientStatus::ETIMEDOUT), count(ClientStatus::ENOMEM));
    assert!(timed_out >= 64 && timed_out + refused == 300, "{timed_out} timed out, {refused} refused");
    tids.sort_unstable();
    assert!(tids.into_iter().eq(0..300), "one response for each request");
}
