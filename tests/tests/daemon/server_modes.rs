//! Start, listening sockets, and end of the daemon.
use acm_client::{Address, Client, Counter, PerfTarget, Service};
use acm_tests::{
    Acme, Binary, Connection, Entry, Fabric, Finished, Node, Process, TcpPort, binary, example, program, run, until,
};
use acm_trace::{Kind, Reader, Replay, Stats};
use acm_wire::client::{ClientStatus, Header, Opcode, SHARED_CACHE};
use ib_mad::sa::PathRecord;
use nix::sys::signal::Signal;
use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::fs::MetadataExt,
    path::Path,
    process::Command,
};

const SELF: [&str; 6] = ["-f", "n", "-s", "node1", "-d", "node1"];

fn entries() -> [Entry; 2] {
    [Entry::name(Entry::SOURCE, "node1"), Entry::name(Entry::DEST, "node1")]
}

fn assert_serves(mut client: Connection) {
    assert_eq!(client.request(1, &entries()), ClientStatus::SUCCESS);
}

/// Starts a daemon in a TCP mode.
fn tcp(mode: &str, more: &str) -> (Node, TcpPort) {
    let port = TcpPort::reserve();
    let node = Node::embedded().option(&format!("server_mode {mode}\nserver_port {}\n{more}", port.number())).join();
    assert_eq!(fs::read_to_string(node.dir().join("ibacm-tcp.port")).unwrap(), format!("{}\n", port.number()));
    (node, port)
}

/// Runs the daemon to its end.
fn end_of(mut command: Command) -> Finished {
    Process::start(&mut command).wait()
}

/// Checks that namespaces are available, for tests with fixed paths.
fn needs_namespaces() {
    let words = ["--user", "--map-root-user", "--mount", "--net", "true"];
    let is_allowed = run(program("unshare", "util-linux"), &words).code == Some(0);
    assert!(
        is_allowed,
        "unshare fails: run this as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1)"
    );
}

#[test]
fn loop_mode_serves_this_machine_only() {
    let (node, reserved) = tcp("loop", "");
    let port = reserved.number();
    assert_eq!(node.client_files(), ["ibacm-tcp.port", "ibacm.port"]);
    assert_eq!(fs::read_link(node.dir().join("ibacm.port")).unwrap(), Path::new("ibacm-tcp.port"));
    assert_serves(Connection::tcp("127.0.0.1", port).unwrap());
    let name = Address::from_text("node1");
    let mut client = Client::connect(Service::find_in(node.dir()).unwrap()).unwrap();
    assert_eq!(client.service().to_string(), format!("127.0.0.1:{port}"));
    assert!(client.resolve(Some(&name), &name).is_ok());
    assert!(Connection::tcp("127.0.0.2", port).is_err(), "only 127.0.0.1");
}

/// A descriptor cannot be sent over TCP.
#[test]
fn tcp_client_of_a_daemon_with_a_shared_cache_sends_requests() {
    let (node, reserved) = tcp("loop", "shared_cache on\n");
    let port = reserved.number();
    let mut client = Client::connect(Service::find_in(node.dir()).unwrap()).unwrap();
    let name = Address::from_text("node1");
    for _ in 0..3 {
        assert!(client.resolve(Some(&name), &name).is_ok());
    }
    assert_eq!(client.shared_cache_hits(), 0);
    assert_eq!(client.counters(PerfTarget::Total).unwrap().get(Counter::Resolve), 3);
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let request = Header::new(Opcode::new(SHARED_CACHE), ClientStatus::SUCCESS, 16, [0; 8]);
    stream.write_all(ib_mad::as_bytes(&request)).unwrap();
    assert_eq!(stream.read(&mut [0; 16]).unwrap_or(0), 0, "the daemon closes the connection");
    assert_serves(Connection::tcp("127.0.0.1", port).unwrap());
}

#[test]
fn open_mode_serves_all_addresses_and_logs_it() {
    let (node, reserved) = tcp("open", "");
    let port = reserved.number();
    for address in ["127.0.0.1", "127.0.0.2"] {
        assert_serves(Connection::tcp(address, port).unwrap());
    }
    assert!(node.log().contains("server_mode open: anybody"), "{}", node.log());
}

/// The client sends each kind of request and reconnects after a restart of the daemon.
#[test]
fn rust_client_reconnects_to_a_restarted_daemon() {
    let builder = Node::embedded();
    let mut node = builder.clone().join();
    let mut client = Client::connect(Service::Unix(node.socket())).unwrap();
    let name = Address::from_text("node1");
    let path = client.resolve(Some(&name), &name).unwrap().path;
    assert_eq!((path.sgid, path.slid), (path.dgid, path.dlid));
    for local in [Address::Lid(path.dlid), Address::Gid(path.dgid)] {
        assert_eq!(client.resolve(None, &local).unwrap().path.dlid, path.dlid, "{local}");
    }
    let ends = PathRecord { sgid: path.sgid, dgid: path.dgid, ..PathRecord::default() };
    assert_eq!(client.query_sa(&ends).unwrap().dlid, path.dlid);
    let endpoints = client.endpoints().unwrap();
    assert!(endpoints.len() == 1 && endpoints[0].addresses.contains(&"node1".into()), "{endpoints:?}");
    assert_eq!(client.counters(PerfTarget::Total).unwrap().get(Counter::Resolve), 4);
    let unknown = client.resolve(Some(&Address::from_text("nobody")), &name).unwrap_err();
    assert_eq!(unknown.status(), Some(ClientStatus::ESRCADDR));

    node.process.signal(Signal::SIGTERM);
    node.process.wait();
    node.process = Process::start(&mut builder.command(node.dir()));
    // The daemon serves before it has joined its group.
    let resolved = until("a path", || client.resolve(Some(&name), &name).ok());
    assert_eq!((resolved.path.dlid, client.reconnects()), (path.dlid, 1));
}

#[test]
fn examples_of_the_client_work() {
    let node = Node::embedded().join();
    let socket = node.socket().display().to_string();
    let run_example =
        |name: &str, words: &[&str]| run(example(name), &[&["--service", &socket], words].concat()).success();
    let resolved = run_example("resolve", &["--source", "node1", "node1"]);
    assert!(resolved.starts_with("node1: LID "), "{resolved}");
    let refused = run_example("resolve", &["--source", "nobody", "node1"]);
    assert!(refused.ends_with(": source address\n"), "{refused}");
    assert!(run_example("watch", &["--times", "1"]).starts_with("Counters"));
    let storm = ["--connections", "100", "--depth", "32", "--requests", "4000", "--source", "node1", "--json", "node1"];
    let storm = run_example("storm", &storm);
    assert!(storm.contains("\"found\":4000,") && storm.contains("\"refused\":0,"), "{storm}");
    let dead = run_example("storm", &["--connections", "2", "--requests", "3", "--source", "nobody", "--cold", "node"]);
    assert!(dead.contains("0 paths, 3 refused, "), "{dead}");
}

#[test]
fn debians_ib_acme_finds_the_port_file_and_the_socket() {
    needs_namespaces();
    let ib_acme = program("ib_acme", "ibacm");
    let resolve = |node: &Node, words: &[&str]| {
        Acme::from(node.run_inside(&ib_acme, &[&SELF[..], &["-v"], words].concat())).verified()
    };
    for option in ["server_mode loop\nserver_port 7351", "server_mode open"] {
        let node = Node::embedded().option(option).own_namespace().join();
        let path = resolve(&node, &["-S", "127.0.0.1"]);
        assert_eq!(path.dgid, path.sgid);
    }
    let node = Node::embedded().own_namespace().join();
    let path = resolve(&node, &[]);
    assert_eq!(path.dgid, path.sgid);
}

#[test]
fn default_log_depends_on_the_fabric() {
    needs_namespaces();
    const FIRST: &str = "Assistant to the InfiniBand Communication Manager";
    // The log is not on standard error.
    let node = Node::alone().options("").own_namespace().serve();
    let log = until("the log at ibacm's path", || fs::read_to_string(node.dir().join("ibacm.log")).ok());
    assert!(log.contains(FIRST), "{log}");
    // A simulated node logs to standard output, because many of them may run on one machine.
    let node = Node::embedded().options("").own_namespace().serve();
    until("a response", || (node.connect().request(1, &entries()) == ClientStatus::SUCCESS).then_some(()));
    assert!(node.process.stdout().contains(FIRST), "{}", node.process.stdout());
    assert!(!node.dir().join("ibacm.log").exists());
}

#[test]
fn acme_plus_kernel_only_hides_the_other_files() {
    let node = Node::embedded().join();
    assert_eq!(node.client_files(), ["ibacm-unix.sock", "ibacm.sock"]);
    assert_serves(Connection::open(&node.dir().join("ibacm.sock")));
    let node = Node::embedded().option("acme_plus_kernel_only yes").join();
    assert_eq!(node.client_files(), ["ibacm-unix.sock"]);
    assert_serves(node.connect());
    let (node, reserved) = tcp("loop", "acme_plus_kernel_only yes");
    let port = reserved.number();
    assert_eq!(node.client_files(), ["ibacm-tcp.port"]);
    assert_serves(Connection::tcp("127.0.0.1", port).unwrap());
}

// docs/deviations.md: failed-start
#[test]
fn second_daemon_does_not_start() {
    let first = Node::embedded().join();
    let second = end_of(Node::alone().command(first.dir()));
    assert_eq!(second.code, Some(255), "{second}");
    let lock = first.dir().join("ibacm.pid");
    let line = second.stderr.lines().find(|line| line.starts_with("acm-mio: ")).expect("an error line");
    assert!(line.contains(&lock.display().to_string()) && line.contains("another"), "{line}");
    assert_serves(first.connect());
    assert_eq!(fs::read_to_string(lock).unwrap(), format!("{}\n", first.process.id()));
}

#[test]
fn daemon_starts_after_a_crash() {
    let mut first = Node::embedded().join();
    first.process.signal(Signal::SIGKILL);
    assert_eq!(first.process.wait().code, None);
    assert_eq!(first.client_files(), ["ibacm-unix.sock", "ibacm.sock"]);
    let mut second = Process::start(&mut Node::embedded().command(first.dir()));
    second.wait_for("join successful", 1);
    assert_serves(first.connect());
}

// docs/deviations.md: sockets-removed
#[test]
fn shutdown_leaves_groups_and_removes_sockets() {
    let fabric = Fabric::serve(2, &[]);
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let mut nodes = [1, 2].map(|number| Node::at(&fabric, number).option("route_prot acm").join());
        let _open = nodes[0].connect();
        assert_eq!(fabric.groups().len(), 2);
        let leaves = fabric.statistic("sa_leaves");
        nodes[0].process.signal(signal);
        let finished = nodes[0].process.wait();
        assert_eq!(finished.code, Some(0), "{finished}");
        assert!(nodes[0].client_files().is_empty(), "{:?}", nodes[0].client_files());
        assert_eq!(fabric.statistic("sa_leaves"), leaves + 2);
        assert!(fabric.groups().iter().all(|group| group.members == ["2/1"]), "{:?}", fabric.groups());
        assert_eq!(fabric.control("qps").lines().count(), 1);
    }
}

#[test]
fn shutdown_ends_with_a_silent_sa() {
    let fabric = Fabric::serve(1, &[]);
    let mut node = Node::at(&fabric, 1).join();
    fabric.control("set sa_mute on");
    node.process.signal(Signal::SIGTERM);
    assert_eq!(node.process.wait().code, Some(0));
    assert!(node.client_files().is_empty());
}

#[test]
fn shutdown_during_the_start_ends_cleanly() {
    for _ in 0..10 {
        let mut node = Node::embedded().spawn();
        let lock = node.dir().join("ibacm.pid");
        until("a process id", || fs::read_to_string(&lock).is_ok_and(|text| !text.is_empty()).then_some(()));
        node.process.signal(Signal::SIGTERM);
        let finished = node.process.wait();
        assert_eq!(finished.code, Some(0), "{finished}");
        assert!(node.client_files().is_empty(), "{:?}", node.client_files());
    }
}

// docs/deviations.md: sighup
#[test]
fn sighup_reopens_the_log() {
    let node = Node::embedded().option("log_file DIR/log").serve();
    let (log, old) = (node.dir().join("log"), node.dir().join("log.1"));
    until("the first lines", || fs::read_to_string(&log).ok()?.contains("Assistant").then_some(()));
    fs::rename(&log, &old).unwrap();
    node.process.signal(Signal::SIGHUP);
    until("the new file", || log.exists().then_some(()));
    // Causes a log line.
    assert_eq!(node.connect().request(1, &[]), ClientStatus::EDESTTYPE);
    until("a line in the new file", || fs::read_to_string(&log).unwrap().contains("failing request").then_some(()));
    assert!(!fs::read_to_string(&old).unwrap().contains("failing request"));
    assert_serves(node.connect());
}

/// The second recording is anonymized.
#[test]
fn recording_of_a_daemon_replays_unchanged() {
    let fabric = Fabric::serve(2, &[]);
    let _peer = Node::at(&fabric, 2).join();
    for mask in ["", ",mask=names"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let mut node = Node::at(&fabric, 1).argument(&format!("--record={}{mask}", path.display())).join();
        let words = ["-f", "n", "-s", "node1", "-d", "node2"];
        for words in [&words[..], &["-f", "i", "-s", "10.77.0.1", "-d", "10.77.0.2"], &["-e"], &["-P"]] {
            assert!(!node.acme(words).finished.success().is_empty());
        }
        node.process.signal(Signal::SIGTERM);
        assert_eq!(node.process.wait().code, Some(0));
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let trace = fs::read(&path).unwrap();
        let done = Replay::default().run(trace.as_slice()).unwrap_or_else(|error| panic!("{mask}: {error}"));
        assert_eq!((done.cores, done.not_compared, done.notes.as_slice()), (1, 0, &[][..]), "{done:?}");
        let mut stats = Stats::default();
        Reader::new(trace.as_slice()).for_each(|entry| stats.add(&entry.unwrap()));
        let count = |kind| stats.counts().find(|(other, _)| *other == kind).map_or(0, |(_, count)| count);
        assert!(count(Kind::ClientMessage) >= 4 && count(Kind::Datagram) > 0 && count(Kind::SaAnswer) > 2, "{stats}");
        assert_eq!((count(Kind::ShutdownDone), count(Kind::End)), (1, 1), "{stats}");
        let has = |text: &str| trace.windows(text.len()).any(|bytes| bytes == text.as_bytes());
        assert_eq!(["node1", "node2", "10.77.0.1"].map(has), [mask.is_empty(); 3], "{mask}");
        assert_eq!(trace.windows(4).any(|bytes| bytes == [10, 77, 0, 2]), mask.is_empty(), "{mask}");
    }
}

#[test]
fn failed_recording_ends_and_the_daemon_continues() {
    let mut node = Node::embedded().argument("--record=/dev/full").join();
    node.process.wait_for("/dev/full: No space left on device (os error 28); the recording ends here", 1);
    assert_serves(node.connect());
    let status = node.status();
    assert!(!status.contains("\nrecording: ") && status.contains("\nrecord_facts_lost: "), "{status}");
    let failed = node.ctl(&["record", "status"]);
    assert!(failed.code == Some(1) && failed.stderr.contains("/dev/full: No space left on device"), "{failed}");
    let dir = tempfile::tempdir().unwrap();
    let refused = end_of(Node::embedded().argument("--record=/none/t").command(dir.path()));
    assert!(refused.code == Some(255) && refused.stderr.contains("cannot record into /none/t: No such"), "{refused}");
}

// docs/deviations.md: failed-start
#[test]
fn exit_codes_distinguish_errors() {
    let program = binary(Binary::AcmMio);
    let help = run(&program, &["--help"]);
    assert!(help.code == Some(0) && help.stdout.contains("--run-dir"), "{help}");
    let version = run(&program, &["--version"]);
    assert!(version.code == Some(0) && version.stdout.starts_with("acm-mio "), "{version}");
    for bad in [&["-x"][..], &["--fabric", "nonsense"], &["-A"]] {
        let finished = run(&program, bad);
        assert!(finished.code == Some(1) && !finished.stderr.is_empty(), "{bad:?}: {finished}");
    }
    let none = run(&program, &["-P", "--run-dir", "/none/at/all"]);
    assert!(none.code == Some(255) && none.stderr.contains("/none/at/all"), "{none}");

    let dir = tempfile::tempdir().unwrap();
    let lost = Node::alone().argument("--fabric=sim:/none/fabric.sock?node=node1").command(dir.path());
    let lost = end_of(lost);
    assert!(lost.code == Some(255) && lost.stderr.contains("acm-mio: simulated fabric at /none/fabric.sock"), "{lost}");

    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let option = format!("server_mode loop\nserver_port {}", taken.local_addr().unwrap().port());
    let refused = end_of(Node::embedded().option(&option).command(dir.path()));
    assert!(refused.code == Some(1) && refused.stderr.contains("server_port"), "{refused}");
}

// docs/deviations.md: no-device
#[test]
fn daemon_without_a_device_serves_and_waits() {
    needs_namespaces();
    // Hides the devices of this machine.
    let mut node = Node::alone().without_devices().serve();
    node.process.wait_for("no InfiniBand device", 1);
    assert_eq!(node.connect().request(1, &entries()), ClientStatus::ESRCADDR);
    assert!(!node.acme(&["-e"]).finished.success().contains("ibacmp"), "no endpoints");
    node.process.signal(Signal::SIGTERM);
    assert_eq!(node.process.wait().code, Some(0));

    let dir = tempfile::tempdir().unwrap();
    let refused = end_of(Node::alone().without_devices().argument("--require-device").command(dir.path()));
    assert!(refused.code == Some(255) && refused.stderr.contains("acm-mio: "), "{refused}");
}
