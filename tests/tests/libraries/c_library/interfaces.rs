//! Both interfaces under valgrind: all functions, all error numbers, threads, and a restarted daemon.
use super::installed::{file, quiet, shared, shared_of, watch, watched};
use acm_tests::{Fabric, Node, Process};
use acm_wire::{
    Address,
    client::{ClientRequest, ClientStatus, Counters, Reply, Resolve, next_frame},
};
use ib_mad::sa::PathRecord;
use nix::sys::signal::Signal;
use std::{
    fs,
    io::{Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
    thread,
};

/// Starts two nodes. A lookup of an unknown name takes some seconds.
fn two() -> (Fabric, [Node; 2]) {
    let fabric = Fabric::serve(2, &["--subnet-timeout", "8"]);
    let nodes = [1, 2].map(|number| Node::at(&fabric, number).option("timeout 2000").join());
    (fabric, nodes)
}

#[test]
fn blocking_functions_work() {
    let (_fabric, nodes) = two();
    watch(&shared("interfaces"), &["blocking", nodes[0].socket().to_str().unwrap()]);
}

#[test]
fn asynchronous_functions_work() {
    let (_fabric, nodes) = two();
    watch(&shared("interfaces"), &["asynchronous", nodes[0].socket().to_str().unwrap()]);
}

#[test]
fn threads_share_a_connection() {
    let (_fabric, nodes) = two();
    watch(&shared("interfaces"), &["threads", nodes[0].socket().to_str().unwrap()]);
}

// docs/deviations.md: c-restart
#[test]
fn requests_survive_a_restart_of_the_daemon() {
    let fabric = Fabric::serve(2, &[]);
    let _other = Node::at(&fabric, 2).join();
    let (folder, builder) = (tempfile::tempdir().unwrap(), Node::at(&fabric, 1));
    let start = || {
        let mut daemon = Process::start(&mut builder.command(folder.path()));
        daemon.wait_for("join successful", 1);
        daemon
    };
    let mut daemon = start();
    let (socket, gone) = (folder.path().join(acm_tests::UNIX_SOCKET), folder.path().join("gone"));
    let mut client = watched(&shared("interfaces"), &["restart", socket.to_str().unwrap(), gone.to_str().unwrap()]);
    client.wait_for("connected", 1);
    daemon.signal(Signal::SIGTERM);
    daemon.wait();
    fs::write(&gone, "").unwrap();
    client.wait_for("waiting", 1);
    let _daemon = start();
    quiet(client.wait());
}

/// The program reads paths from the daemon's memory, while the daemon is killed and started again.
#[test]
fn paths_are_read_from_the_shared_cache() {
    let fabric = Fabric::serve(2, &[]);
    let _other = Node::at(&fabric, 2).join();
    let (folder, builder) = (tempfile::tempdir().unwrap(), Node::at(&fabric, 1).option("shared_cache on"));
    let mut daemon = Process::start(&mut builder.command(folder.path()));
    daemon.wait_for("join successful", 1);
    let (socket, gone) = (folder.path().join(acm_tests::UNIX_SOCKET), folder.path().join("gone"));
    let arguments = ["shared_cache", socket.to_str().unwrap(), gone.to_str().unwrap()];
    let mut client = watched(&shared("interfaces"), &arguments);
    client.wait_for("reading", 1);
    daemon.signal(Signal::SIGKILL);
    daemon.wait();
    fs::write(&gone, "").unwrap();
    client.wait_for("waiting", 1);
    let mut daemon = Process::start(&mut builder.command(folder.path()));
    quiet(client.wait());
    // The library reported its lookups at the latest when it closed the connection.
    daemon.signal(Signal::SIGUSR1);
    daemon.wait_for("shared_cache_lookups: ", 1);
    assert!(!daemon.stderr().contains("shared_cache_lookups: 0"), "no report");
}

/// Without a service name, at the socket and by TCP, in a separate `/run`.
// docs/deviations.md: c-default
#[test]
fn default_service_is_found() {
    let script =
        format!("LD_LIBRARY_PATH={} exec {} default_service .", file("lib").display(), shared("interfaces").display());
    for mode in ["unix", "loop\nserver_port 7352"] {
        let node = Node::embedded().option(&format!("server_mode {mode}")).own_namespace().join();
        quiet(node.run_inside(Path::new("/bin/sh"), &["-c", &script]));
    }
}

#[test]
fn example_of_the_readme_works() {
    let node = Node::embedded().addresses("node1 sim0 1 default\n127.0.0.1 sim0 1 default\n").join();
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/acm-capi");
    let readme = fs::read_to_string(package.join("README.md")).unwrap();
    let text = readme.split("```c\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("example.c");
    fs::write(&source, text).unwrap();
    let output = watch(&shared_of(&source), &[node.socket().to_str().unwrap(), "127.0.0.1", "10.77.0.99"]);
    // The error of the second address depends on this machine's routing table.
    assert_eq!(output.lines().count(), 2, "{output}");
    assert!(output.contains("127.0.0.1: LID ") && !output.contains("10.77.0.99: LID"), "{output}");
}

/// Sends the response that the destination's name selects, until the client disconnects.
fn respond(mut client: UnixStream) {
    let mut received = Vec::new();
    loop {
        let mut bytes = [0; 1000];
        let count = client.read(&mut bytes).unwrap();
        if count == 0 {
            return;
        }
        received.extend_from_slice(&bytes[..count]);
        let Some(frame) = next_frame(&received).unwrap() else { continue };
        let ClientRequest::Resolve(Ok(Resolve::Address { dest: Address::Name(name), .. })) =
            ClientRequest::parse(&frame)
        else {
            panic!("not a request of this test");
        };
        let (tid, length) = (frame.tid(), frame.length());
        let sent = match String::from_utf8(name.as_bytes().to_vec()).unwrap().as_str() {
            "found" => client.write_all(&Reply::resolved(tid, &PathRecord::default(), None)),
            "source" => {
                let source = Address::from_text("fd00::1");
                client.write_all(&Reply::resolved(tid, &PathRecord::default(), Some(&source)))
            }
            "empty" => client.write_all(&Reply::unresolved(tid, ClientStatus::SUCCESS)),
            "other" => client.write_all(&Reply::counters(tid, &Counters::default())),
            "other_tid" => client.write_all(&Reply::unresolved([9; 8], ClientStatus::EINVAL)),
            "garbage" => client.write_all(&[7; 20]),
            "close" => return,
            status => client.write_all(&Reply::unresolved(tid, ClientStatus::new(status.parse().unwrap()))),
        };
        sent.unwrap();
        received.drain(..length);
    }
}

/// Covers all statuses and invalid responses.
// docs/deviations.md: c-restart
#[test]
fn each_response_gives_its_error_number() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let listener = UnixListener::bind(&socket).unwrap();
    // The thread ends with the test's process.
    thread::spawn(move || listener.incoming().for_each(|client| drop(thread::spawn(|| respond(client.unwrap())))));
    let responses = [
        ("found", "found, found, 0, 0"),
        ("source", "found, found, 0, 3"),
        ("1", "Cannot allocate memory, Cannot allocate memory, 1, 0"),
        ("2", "Invalid argument, Invalid argument, 2, 0"),
        ("3", "No data available, No data available, 3, 0"),
        ("4", "Invalid argument, Invalid argument, 4, 0"),
        ("5", "Transport endpoint is not connected, Transport endpoint is not connected, 5, 0"),
        ("6", "Connection timed out, Connection timed out, 6, 0"),
        ("7", "Cannot assign requested address, Cannot assign requested address, 7, 0"),
        ("8", "Invalid argument, Invalid argument, 8, 0"),
        ("9", "Cannot assign requested address, Cannot assign requested address, 9, 0"),
        ("10", "Invalid argument, Invalid argument, 10, 0"),
        ("255", "Invalid argument, Invalid argument, 255, 0"),
        ("empty", "Protocol error, Protocol error, 0, 0"),
        ("other", "Protocol error, Protocol error, 0, 0"),
        ("other_tid", "Protocol error, Protocol error, 0, 0"),
        ("garbage", "Protocol error, Protocol error, 0, 0"),
        // Sent twice.
        ("close", "Connection reset by peer, Connection reset by peer, 0, 0"),
        // On the next connection.
        ("found", "found, found, 0, 0"),
    ];
    let names = responses.map(|(name, _)| name);
    let output = watch(&shared("interfaces"), &[&["responses", socket.to_str().unwrap()], &names[..]].concat());
    let lines: Vec<String> = output.lines().filter(|line| !line.starts_with("Source: ")).map(str::to_owned).collect();
    assert_eq!(lines, responses.map(|(name, result)| format!("{name}: {result}")));
    assert_eq!(output.matches("Source: fd00::1\n").count(), 1, "{output}");
}
