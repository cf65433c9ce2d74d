//! The option `shared_cache`: clients read paths from the daemon's memory, and send requests when it has none.
use acm_client::{Address, Client, Counter, Options, PerfTarget, Service};
use acm_tests::{Daemon, Fabric, LIMIT, Node, NodeBuilder, Process, until};
use acm_wire::client::{ClientStatus, EntryFlags, Header, Opcode, SHARED_CACHE, path_request};
use core::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};
use ib_mad::{Lid, sa::PathRecord};
use nix::sys::signal::Signal;
use std::{
    fs,
    io::{Read, Write},
    os::unix::net::UnixStream,
    thread,
};

fn name(number: u32) -> Address {
    Address::from_text(&format!("node{number}"))
}

fn on(fabric: &Fabric, number: u32) -> NodeBuilder {
    Node::at(fabric, number).option("shared_cache on")
}

fn connect(node: &Node, shared: bool) -> Client {
    connect_for(node, shared, LIMIT)
}

/// Returns a client whose requests fail after `limit`.
fn connect_for(node: &Node, shared: bool, limit: Duration) -> Client {
    let options = Options::default().with_timeout(limit).with_shared_cache(shared);
    Client::with_options(Service::Unix(node.socket()), options).unwrap()
}

fn lid_of(client: &mut Client, number: u32) -> Option<Lid> {
    client.resolve(Some(&name(1)), &name(number)).ok().map(|found| found.path.dlid)
}

// docs/deviations.md: shared-cache
#[test]
fn second_request_for_a_path_is_not_sent() {
    let fabric = Fabric::start(&["--nodes", "3"]);
    let [node, _second, _third] = [1, 2, 3].map(|number| on(&fabric, number).join());
    let mut client = connect(&node, true);
    let requests = |client: &mut Client| client.counters(PerfTarget::Total).unwrap().get(Counter::Resolve);
    let first = client.resolve(Some(&name(1)), &name(2)).unwrap();
    // The memory is not read while its last heartbeat is too old, as on a busy machine.
    until("the path is read", || {
        let sent = requests(&mut client);
        assert_eq!(client.resolve(Some(&name(1)), &name(2)).unwrap(), first);
        let hits = client.shared_cache_hits();
        assert_eq!(requests(&mut client) + hits, sent + 1);
        (hits == 1).then_some(())
    });
    // The path in a response is published before the response, also for another process.
    let mut other = connect(&node, true);
    let gid = Address::Gid(fabric.port(3).gid);
    let by_gid = client.resolve(None, &gid).unwrap();
    assert_eq!(client.resolve(None, &gid).unwrap(), by_gid);
    let all = [name(2), name(3), Address::Lid(fabric.port(2).lid), gid, Address::Lid(Lid::NONE)];
    until("all four paths are read", || {
        let before = other.shared_cache_hits();
        let responses = other.resolve_all(Some(&name(1)), &all);
        let lids: Vec<Option<Lid>> =
            responses.iter().map(|found| found.as_ref().ok().map(|found| found.path.dlid)).collect();
        let [second, third] = [2, 3].map(|number| Some(fabric.port(number).lid));
        assert_eq!(lids, [second, third, second, third, None]);
        (other.shared_cache_hits() == before + 4).then_some(())
    });
    assert_eq!(hits_of_two(&mut connect(&node, false)), 0, "the client does not use it");
    let hits = client.shared_cache_hits() + other.shared_cache_hits();
    // One client reports with its next request, and the other at its end.
    assert!(client.counters(PerfTarget::Total).is_ok());
    drop(other);
    client.counters(PerfTarget::Total).unwrap();
    let counters = ["shared_cache_lookups", "shared_cache_not_stored"].map(|name| node.counter(name));
    assert_eq!(counters, [hits, 0]);
    // A client that has missed heartbeats may have got the memory again.
    assert!(node.counter("shared_cache_clients") >= 2);
}

/// Resolves a path twice, and returns the number of requests that were not sent.
fn hits_of_two(client: &mut Client) -> u64 {
    (0..2).for_each(|_| assert!(lid_of(client, 2).is_some()));
    client.shared_cache_hits()
}

/// As soon as a request gets another path, nobody reads the old one.
#[test]
fn no_reader_gets_a_path_that_a_request_does_not_get_any_more() {
    let fabric = Fabric::start(&["--nodes", "2"]);
    let [node, _second] = [1, 2].map(|number| on(&fabric, number).join());
    let (mut requester, old) = (connect(&node, false), fabric.port(2).lid);
    assert_eq!(lid_of(&mut requester, 2), Some(old));
    let (is_new, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
    // Number of paths that each reader has read from the memory.
    let read: [AtomicU64; 8] = Default::default();
    thread::scope(|scope| {
        let readers: Vec<_> = read
            .iter()
            .map(|read| {
                let (node, is_new, is_over) = (&node, &is_new, &is_over);
                scope.spawn(move || {
                    let mut client = connect(node, true);
                    while !is_over.load(Ordering::Relaxed) {
                        let new = is_new.load(Ordering::Acquire);
                        let lid = lid_of(&mut client, 2);
                        assert!(!new || lid != Some(old), "the old path");
                        read.store(client.shared_cache_hits(), Ordering::Relaxed);
                    }
                })
            })
            .collect();
        // A reader that has failed reads no more.
        let reads_more = |what: &str| {
            let before = read.each_ref().map(|read| read.load(Ordering::Relaxed));
            until(what, || {
                let is_done = |(read, before): (&AtomicU64, &u64)| read.load(Ordering::Relaxed) > before + 100;
                let failed = readers.iter().any(thread::ScopedJoinHandle::is_finished);
                (failed || read.iter().zip(&before).all(is_done)).then_some(())
            });
        };
        reads_more("all read the old path");
        fabric.control("lid node2 1 77");
        until("a request gets the new LID", || (lid_of(&mut requester, 2) == Some(Lid::new(77))).then_some(()));
        is_new.store(true, Ordering::Release);
        reads_more("all read the new path");
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn memory_of_a_stopped_or_killed_daemon_is_not_used() {
    let fabric = Fabric::start(&["--nodes", "2"]);
    let [mut node, _second] = [1, 2].map(|number| on(&fabric, number).join());
    // The time after which a request to a stopped daemon fails.
    let mut client = connect_for(&node, true, Duration::from_secs(2));
    let resolves = |client: &mut Client| (0..2).all(|_| lid_of(client, 2) == Some(fabric.port(2).lid));
    until("the client reads", || (resolves(&mut client) && client.shared_cache_hits() > 0).then_some(()));
    node.process.signal(Signal::SIGSTOP);
    until("the client misses the heartbeat", || lid_of(&mut client, 2).is_none().then_some(()));
    node.process.signal(Signal::SIGCONT);
    until("the client reads again", || {
        let hits = client.shared_cache_hits();
        (resolves(&mut client) && client.shared_cache_hits() > hits).then_some(())
    });
    node.process.signal(Signal::SIGKILL);
    until("the client misses the heartbeat", || lid_of(&mut client, 2).is_none().then_some(()));
    // A new daemon has new memory.
    fabric.control("lid node2 1 78");
    node.process = Process::start(&mut on(&fabric, 1).command(node.dir()));
    let hits = client.shared_cache_hits();
    until("the path is read from the new memory", || {
        let lid = lid_of(&mut client, 2);
        assert!(lid.is_none_or(|lid| lid == Lid::new(78)), "a path of the killed daemon");
        (client.shared_cache_hits() > hits).then_some(())
    });
}

#[test]
fn sighup_switches_the_memory_on_and_off_and_changes_its_size() {
    let fabric = Fabric::start(&["--nodes", "2"]);
    let [mut node, _second] = [1, 2].map(|number| Node::at(&fabric, number).option("shared_cache off").join());
    let mut client = connect(&node, true);
    let options = fs::read_to_string(node.dir().join("opts")).unwrap();
    let mut times = 0;
    let mut switch = |value: &str| {
        fs::write(node.dir().join("opts"), format!("{options}shared_cache {value}\n")).unwrap();
        node.process.signal(Signal::SIGHUP);
        times += 1;
        node.process.wait_for("files read again", times);
        is_marked(&node)
    };
    assert_eq!(hits_of_two(&mut client), 0);
    assert!(switch("auto"), "every user may connect");
    until("the path is read", || (hits_of_two(&mut client) > 0).then_some(()));
    let hits = client.shared_cache_hits();
    assert!(!switch("off"));
    assert_eq!(hits_of_two(&mut client), hits, "the memory is not used any more");
    assert!(switch("on"));
    until("the path is read again", || (hits_of_two(&mut client) > hits).then_some(()));
    // Memory of another size replaces the memory: clients do not use the old one any more.
    let hits = client.shared_cache_hits();
    assert!(switch("on\nshared_cache_entries 5000"));
    assert!(lid_of(&mut client, 2).is_some());
    assert_eq!(client.shared_cache_hits(), hits, "the path was published in the old memory");
    until("the path is read from the new memory", || (hits_of_two(&mut client) > hits).then_some(()));
    node.process.signal(Signal::SIGUSR1);
    node.process.wait_for("shared_cache_room: 5000", 1);
}

/// Limits the length of the daemon's files, also of its memory for clients.
fn with_files_of(builder: NodeBuilder, bytes: u32) -> NodeBuilder {
    builder.after(&format!("trap '' XFSZ && prlimit --pid $$ --fsize={bytes}"))
}

#[test]
fn daemon_without_memory_to_share_serves_requests() {
    let fabric = Fabric::start(&["--nodes", "2"]);
    let [node, _second] = [1, 2].map(|number| with_files_of(on(&fabric, number), 1 << 20).join());
    assert!(node.log().contains("no memory to share"), "{}", node.log());
    assert_eq!(hits_of_two(&mut connect(&node, true)), 0);
    assert!(!is_marked(&node));
    assert_eq!(request_memory(&node), [0; 0]);
}

/// Writes a request for the memory, and returns the response.
fn request_memory(node: &Node) -> Vec<u8> {
    let mut stream = UnixStream::connect(node.socket()).unwrap();
    let head = Header::new(Opcode::new(SHARED_CACHE), ClientStatus::SUCCESS, 16, [7; 8]);
    stream.write_all(ib_mad::as_bytes(&head)).unwrap();
    let mut response = Vec::new();
    // The end of the stream, or a reset.
    let _ = stream.read_to_end(&mut response);
    response
}

/// Reports whether a response has the mark of a daemon that shares its cache.
fn is_marked(node: &Node) -> bool {
    let mut stream = UnixStream::connect(node.socket()).unwrap();
    let path = PathRecord { dlid: Lid::new(1), ..PathRecord::default() };
    stream.write_all(&path_request(&path, EntryFlags::empty(), [7; 8])).unwrap();
    let mut head = [0; 16];
    stream.read_exact(&mut head).unwrap();
    head[5] & 0x40 != 0
}

/// Clients without support for the memory, and daemons without the option.
// docs/deviations.md: shared-cache
#[test]
fn daemon_without_the_option_closes_the_connection_and_serves_others() {
    let fabric = Fabric::start(&["--nodes", "2"]);
    let (node, second) = (Node::at(&fabric, 1).option("shared_cache off").join(), on(&fabric, 2).join());
    let mut client = connect(&node, true);
    assert_eq!(hits_of_two(&mut client), 0);
    assert_eq!([&node, &second].map(is_marked), [false, true]);
    assert_eq!(request_memory(&node), [0; 0]);
    assert!(lid_of(&mut client, 2).is_some());
    // With the option, a client that reads the message without the descriptor gets a header.
    assert_eq!(request_memory(&second).len(), 16);
}

/// Debian's `ib_acme` with responses that have the mark: of a new path, and of a cached one.
#[test]
fn client_without_support_for_the_memory_gets_responses() {
    let fabric = Fabric::start(&["--nodes", "2"]);
    let [node, _second] = [1, 2].map(|number| on(&fabric, number).join());
    for _ in 0..2 {
        assert_eq!(node.acme(&["-f", "n", "-s", "node1", "-d", "node2", "-v"]).verified().dlid, fabric.port(2).lid);
    }
    assert_eq!(node.acme(&["-e", "1"]).finished.code, Some(0));
}
