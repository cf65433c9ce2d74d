//! `libibacm_preload.so` with a C program whose library is called `librdmacm.so.1` and behaves as rdma-core's.
use acm_client::{Address, Client, Counter, PerfTarget, Service};
use acm_tests::{Fabric, Finished, Node, Process, preloaded, until};
use acm_wire::client::{EntryFlags, path_request, resolve_request};
use ib_mad::{Gid, Lid, sa::PathRecord};
use nix::sys::signal::Signal;
use std::fs;

fn start(preload: bool, arguments: &[&str]) -> Process {
    Process::start(preloaded(preload).args(arguments))
}

fn success(finished: Finished) -> String {
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{finished}");
    finished.stdout
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a request as librdmacm sends it, with a transaction id of zero.
fn between(source: Option<&str>, dest: &str, flags: EntryFlags) -> String {
    let address = |text: &str| Address::from_text(text);
    hex(&resolve_request(source.map(address).as_ref(), &address(dest), flags, [0; 8]))
}

fn known() -> String {
    between(Some("10.77.0.1"), "10.77.0.2", EntryFlags::empty())
}

/// A request from the address of another node, which the daemon refuses.
fn foreign() -> String {
    between(Some("10.77.0.2"), "10.77.0.1", EntryFlags::empty())
}

fn two(shared_cache: &str) -> (Fabric, [Node; 2]) {
    let fabric = Fabric::serve(2, &["--subnet-timeout", "8"]);
    let option = format!("shared_cache {shared_cache}");
    let nodes = [1, 2].map(|number| Node::at(&fabric, number).option(&option).option("timeout 200").join());
    (fabric, nodes)
}

/// Returns the daemon's number of requests for paths.
fn requests(node: &Node) -> u64 {
    let mut client = Client::connect(Service::Unix(node.socket())).unwrap();
    client.counters(PerfTarget::Total).unwrap().get(Counter::Resolve)
}

/// The requests that librdmacm sends, and others.
fn all_requests(fabric: &Fabric) -> Vec<String> {
    let (none, at_once) = (EntryFlags::empty(), EntryFlags::NO_DELAY);
    let (first, second) = (fabric.port(1), fabric.port(2));
    let route = |sgid: Gid, dgid: Gid, dlid: Lid, flags| {
        hex(&path_request(&PathRecord { sgid, dgid, dlid, ..PathRecord::default() }, flags, [0; 8]))
    };
    let (no_gid, no_lid) = (Gid::default(), Lid::NONE);
    let mut odd = known();
    // A reserved byte of the entry.
    odd.replace_range(2 * 23..2 * 24, "07");
    let mut with_tid = known();
    with_tid.replace_range(2 * 8..2 * 16, "0102030405060708");
    vec![
        known(),
        between(Some("10.77.0.1"), "10.77.0.2", at_once),
        between(Some("fd00::1"), "fd00::2", none),
        between(Some("node1"), "node2", none),
        between(Some("NODE1"), "Node2", at_once),
        with_tid,
        // Without a source, the response contains the one that the daemon chose.
        between(None, "10.77.0.2", none),
        between(None, "fd00::2", at_once),
        foreign(),
        between(Some("node1"), "10.77.0.2", none),
        odd,
        route(no_gid, second.gid, no_lid, none),
        route(no_gid, second.gid, no_lid, at_once),
        route(first.gid, second.gid, no_lid, none),
        route(no_gid, no_gid, second.lid, none),
        route(no_gid, second.gid, no_lid, EntryFlags::QUERY_SA),
    ]
}

#[test]
fn answers_from_memory_equal_those_of_the_daemon() {
    let (fabric, [mut node, _second]) = two("on");
    let socket = node.socket().display().to_string();
    let all = all_requests(&fabric);
    let arguments: Vec<&str> = ["answers", &socket, "40"].into_iter().chain(all.iter().map(String::as_str)).collect();
    // The first round fills the cache. Then every answer depends on the request only.
    let _ = success(start(false, &arguments).wait());
    let before = requests(&node);
    let sent = success(start(false, &arguments).wait());
    let all_sent = requests(&node) - before;
    let before = requests(&node);
    let with_memory = success(start(true, &arguments).wait());
    let some_sent = requests(&node) - before;
    for (number, (read, sent)) in with_memory.lines().zip(sent.lines()).enumerate() {
        assert_eq!(read, sent, "{}", all[number % all.len()]);
    }
    assert_eq!(with_memory, sent);
    assert!(some_sent < all_sent * 3 / 4, "{some_sent} of {all_sent} requests were sent");
    // The lookups are reported when the connection is closed.
    node.process.signal(Signal::SIGUSR1);
    node.process.wait_for(&format!("shared_cache_lookups: {}", all_sent - some_sent), 1);
}

#[test]
fn nothing_changes_without_the_option() {
    let (fabric, [node, _second]) = two("off");
    let socket = node.socket().display().to_string();
    let all = all_requests(&fabric);
    let arguments: Vec<&str> = ["answers", &socket, "5"].into_iter().chain(all.iter().map(String::as_str)).collect();
    let _ = success(start(false, &arguments).wait());
    let mut outcomes = [false, true].map(|preload| {
        let before = requests(&node);
        (success(start(preload, &arguments).wait()), requests(&node) - before)
    });
    let [without, with] = &mut outcomes;
    assert_eq!(with, without);
}

#[test]
fn calls_on_the_connection_keep_their_meaning() {
    let (_fabric, [node, _second]) = two("on");
    let socket = node.socket().display().to_string();
    success(start(true, &["rules", &socket, &known(), &foreign()]).wait());
}

#[test]
fn program_continues_after_the_daemon_was_killed_and_started_again() {
    let fabric = Fabric::serve(2, &[]);
    let _second = Node::at(&fabric, 2).join();
    let (folder, builder) = (tempfile::tempdir().unwrap(), Node::at(&fabric, 1).option("shared_cache on"));
    let mut daemon = Process::start(&mut builder.command(folder.path()));
    daemon.wait_for("join successful", 1);
    let (socket, gone) = (folder.path().join(acm_tests::UNIX_SOCKET), folder.path().join("gone"));
    let arguments = ["restart", socket.to_str().unwrap(), gone.to_str().unwrap(), &known()];
    let mut client = start(true, &arguments);
    client.wait_for("reading", 1);
    daemon.signal(Signal::SIGKILL);
    daemon.wait();
    fs::write(&gone, "").unwrap();
    client.wait_for("waiting", 1);
    let _daemon = Process::start(&mut builder.command(folder.path()));
    success(client.wait());
}

#[test]
fn withdrawn_path_is_requested() {
    let (fabric, [node, _second]) = two("on");
    let (socket, gone) = (node.socket().display().to_string(), node.dir().join("gone"));
    let mut client = start(true, &["withdrawn", &socket, gone.to_str().unwrap(), &known()]);
    client.wait_for("reading", 1);
    fabric.control("lid node2 1 77");
    let mut requester = Client::connect(Service::Unix(node.socket())).unwrap();
    let [from, to] = ["10.77.0.1", "10.77.0.2"].map(Address::from_text);
    until("a request gets the new LID", || {
        let found = requester.resolve(Some(&from), &to).ok()?;
        (found.path.dlid == Lid::new(77)).then_some(())
    });
    fs::write(&gone, "").unwrap();
    success(client.wait());
}
