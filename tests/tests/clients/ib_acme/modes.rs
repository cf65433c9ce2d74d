//! All modes and failures of `ib_acme`, with daemons of both implementations.
use super::programs::{Both, Two};
use acm_tests::{Binary, Finished, Kind, Lab, Node, binary, run};
use std::{fs, path::Path};

#[test]
fn each_mode_and_each_failure_equals_debians() {
    let (both, two) = (Both::new(), Two::start());
    let node1 = two.service("node1");
    paths(&both, &two, &node1);
    invalid_addresses(&both, &node1);
    tables(&both, &two, &node1);
    services(&both, &two);
    // The verification of -v gets no response.
    two.fabric.control("set sa_mute on");
    both.fails(&node1, "-f n -s node1 -d node2 -v", "SA verification: failed Connection timed out");
}

fn paths(both: &Both, two: &Two, node1: &str) {
    let dest = two.fabric.port(2);
    let (lid, gid) = (dest.lid, dest.gid);
    both.fails(node1, "-f n -s node1 -d nobody -c", "failed: No data available");
    for words in [
        "-f n -s node1 -d node2",
        "-fname -snode1 -dnode2 -v stray",
        "-f i -s 10.77.0.1 -d 10.77.0.2 -v",
        "-f i -s fd00::1 -d fd00::2",
        "-s 10.77.0.1 -d 10.77.0.2 -c",
        "-f n -s node[1-1] -d node[1-2] -vc",
        "-f n -s node1 -d node2 -C 5",
        "-f n -s node1 -d node2 -C x -V",
        "-f n -s node1c -d node1c",
        "-f n -s node1 -d node2 -e 2",
    ] {
        both.succeeds(node1, words, "dlid: ");
    }
    for words in [
        format!("-f l -d {lid}"),
        format!("-f l -s {} -d {lid}x -v", two.fabric.port(1).lid),
        format!("-f g -d {gid}"),
        format!("-f g -s {} -d {gid} -v", two.fabric.port(1).gid),
    ] {
        both.succeeds(node1, &words, &format!("dlid: {lid}\n"));
    }
    for (words, source) in [
        ("-f i -d 127.0.0.1", "Source: 127.0.0.1\n"),
        ("-d ::1 -v", "Source: ::1\n"),
        ("-d 127.0.0.1 -C 2", "Destination: 127.0.0.1\nPath"),
    ] {
        both.succeeds(node1, words, source);
    }
    both.fails(node1, "-f n -s node[1,8] -d node2 -C 2", "ib_acm_resolve_name failed: Cannot assign");
    both.fails(node1, "-f n -d node2", "ib_acm_resolve_name failed: Invalid argument");
    both.fails(node1, "-f i -s 10.77.0.9 -d 10.77.0.2", "ib_acm_resolve_ip failed: Cannot assign");
    both.fails(node1, "-f l -d 4711", "ib_acm_resolve_path failed: No data available");
    both.fails(node1, "-f l -d 65536", "ib_acm_resolve_path failed: Cannot assign");
    both.fails(node1, "-f g -d fe80::1234", "ib_acm_resolve_path failed: No data available");
    both.fails(node1, "-d no-such-host.invalid", "ib_acm_resolve_path failed: Cannot assign");
    both.fails(node1, "-f n -s node1 -d node2 -C -1", "Destination: node2\nSource: node1\n\n");
    // The exit code is that of the last destination.
    both.succeeds(node1, "-f n -s node1 -d node[9,2]", "timed out");
    both.fails(node1, "-f n -s node1 -d node[2,9]", "ib_acm_resolve_name failed: Connection timed out");
}

fn invalid_addresses(both: &Both, node1: &str) {
    both.fails(node1, "-f i -s node1 -d 10.77.0.2", "inet_pton error on source address (node1): 0x0");
    both.fails(node1, "-f i -s 10.77.0.1 -d node2 -C 2", "inet_pton error on destination address (node2): 0x0");
    both.fails(node1, "-f i -s 10.77.0.1 -d fd00::2", "address families don't match");
    both.fails(node1, "-f g -s x -d fe80::1", "inet_pton error on source address (x): 0x0");
    both.fails(node1, "-f g -d 10.0.0.1", "inet_pton error on dest address (10.0.0.1): 0x0");
    let long = "x".repeat(64);
    both.fails(node1, &format!("-f n -s node1 -d {long}"), "ib_acm_resolve_name failed: No such file");
    both.fails(node1, &format!("-f n -s node[9,{long}] -d node2"), "ib_acm_resolve_name failed: Cannot assign");
    both.fails(node1, &format!("-f n -s node1 -d {}", &long[1..]), "ib_acm_resolve_name failed: Connection timed out");
}

fn tables(both: &Both, two: &Two, node1: &str) {
    for words in ["-P", "-P0", "-P col", "-P COLUMN", "-P x", "-P all", "-Pall", "-P 1", "-P3", "-P -e"] {
        both.succeeds(node1, words, "Resolve Count");
    }
    for words in ["-P s -f n -s node1", "-P s -s 10.77.0.1 -V", "-Ps -f n -s node1b -V", "-P s -f i -s fd00::1"] {
        both.succeeds(node1, words, "svc,Error Count,Resolve Count");
    }
    let refused = "Failed to query perf data: Cannot assign requested address";
    for words in ["-P 9", "-P s -f n -s node9", "-P s -f i -s 10.77.0.9 -V"] {
        both.succeeds(node1, words, refused);
    }
    both.succeeds(node1, "-P s -f i -s node1", "inet_pton error on src address (node1): 0x0");
    both.succeeds(node1, "-P s -f l -s 1", "Unsupported src_type 108");
    both.succeeds(node1, "-P s -f g -s fe80::1", "Unsupported src_type 103");
    both.succeeds(node1, "-P s -s no-such-host.invalid", "Unsupported src_type 108");
    both.succeeds(node1, &format!("-P s -f n -s {}", "x".repeat(64)), "Failed to query perf data");
    for words in ["-e", "-e0", "-e x", "-e 1"] {
        both.succeeds(node1, words, ",1,ibacmp,node1,10.77.0.1,fd00::1,127.0.0.1,::1\n");
    }
    both.succeeds(node1, "-e 3", "");
    both.succeeds(node1, "-e 9", " Endpoint 9 is not available\n");
    both.succeeds(&two.service("node[1-2]"), "-e -P all", "node2,");
    // Debian's ib_acme has one number for both options.
    let [theirs, ours] = both.run(&["-S", node1, "-e", "-P", "2"]);
    let rows = |finished: &Finished| finished.stdout.matches(",ibacmp,").count();
    assert_eq!((rows(&theirs), rows(&ours)), (1, 3), "{ours}");
}

fn services(both: &Both, two: &Two) {
    let all = two.service("node[1-3]");
    let finished = both.run_same(&all, "-f n -s node2 -d node2");
    assert_eq!(finished.code, Some(2), "the last service does not exist: {finished}");
    let finished = both.run_same(&two.service("node[3,2]"), "-f n -s node2 -d node2");
    assert_eq!(finished.code, Some(0), "{finished}");
    for (service, code) in [
        (two.service(&"n".repeat(120)), 36),
        (two.folder.path().display().to_string(), 111),
        ("no-such-host.invalid".into(), 254),
        ("127.0.0.[8-9]".into(), 255),
        ("::1".into(), 255),
    ] {
        for words in ["-P", "-d localhost -V"] {
            let finished = both.run_same(&service, words);
            assert_eq!(finished.code, Some(code), "{service} {words}: {finished}");
        }
    }
}

/// Standard output stays C's; `Both` compares it.
// docs/deviations.md: tool-notes
#[test]
fn misread_argument_has_a_note_on_standard_error() {
    let node = Node::embedded().join();
    let socket = node.socket().display().to_string();
    for (service, words, note) in [
        ("n1/ibacm-unix.sock", "-e", "n1/ibacm-unix.sock is taken for a host; the path of a socket begins with /"),
        (
            &*socket,
            "-d 256.1.1.1",
            "256.1.1.1 is neither an IP address nor a host that resolves, and is taken for LID 256; for a name of the \
             daemons, give -f n",
        ),
        (&*socket, "-f n -d node1", "a name has no route that selects a port: give a name of this node with -s"),
        (&*socket, "-f n -s node1 -d node1", ""),
        (&*socket, "-d 256", ""),
    ] {
        let words: Vec<&str> = ["-S", service].into_iter().chain(words.split(' ')).collect();
        let expected = if note.is_empty() { String::new() } else { format!("note: {note}\n") };
        assert_eq!(run(binary(Binary::IbAcme), &words).stderr, expected, "{words:?}");
    }
}

/// The usage text differs: Debian's is rdma-core's text.
// docs/deviations.md: usage, long-options
#[test]
fn wrong_command_line_is_refused_as_by_debians() {
    let both = Both::new();
    for words in [
        &[][..],
        &["-x"],
        &["-vx"],
        &["-h"],
        &["-d"],
        &["-f"],
        &["-d", "a", "-f", "u"],
        &["-d", "a", "-f", ""],
        &["-s", "a"],
        &["-s", "a", "-e"],
        &["-P", "s"],
        &["-v", "-c", "-V"],
        &["-P", "-5"],
    ] {
        let [theirs, ours] = both.run(words);
        assert_eq!((ours.code, &ours.stderr), (Some(1), &theirs.stderr), "{words:?}: {ours}\nDebian's: {theirs}");
        for text in [theirs.stdout, ours.stdout] {
            assert!(text.starts_with("usage 1: ib_acme") && text.contains("\nusage 2: ib_acme"), "{text}");
        }
    }
    for (word, text) in [("--help", "Usage: ib_acme"), ("--version", "ib_acme ")] {
        let [theirs, ours] = both.run(&[word]);
        assert_eq!((theirs.code, theirs.stderr.as_str()), (Some(1), "ib_acme: invalid option -- '-'\n"));
        assert!(ours.code == Some(0) && ours.stdout.contains(text) && ours.stderr.is_empty(), "{ours}");
    }
}

/// Both programs send requests to C ibacm.
#[test]
fn requests_to_c_ibacm_give_the_same_output() {
    let (both, lab) = (Both::new(), Lab::new(2, &["--ports", "2"]));
    let nodes = [1, 2].map(|number| lab.start(number, Kind::C, &["retries 0", "timeout 100"]));
    let socket = nodes[0].socket().display().to_string();
    for words in [
        "-f n -s node1 -d node2 -v",
        "-f i -s 10.77.0.1 -d 10.77.0.2",
        "-f n -s node1 -d node2 -c",
        "-f l -d 1 -v",
        "-P",
        "-P col",
        "-P all",
        "-P s -f n -s node1",
        "-P s -f n -s node9",
        "-P 7",
        "-e",
        "-e 7",
        "-f n -s node9 -d node2",
        "-f n -s node1 -d node9",
        "-f n -d node2",
        "-f l -d 4711",
        "-f g -d ::",
    ] {
        both.run_same(&socket, words);
    }
}

/// The port is in the port file. A service with an IPv6 address first is found by this project's ib_acme only.
// docs/deviations.md: tool-addresses
#[test]
fn daemon_with_tcp_is_found_by_its_port_file() {
    let node = Node::embedded().option("server_mode loop\nserver_port 7351").own_namespace().join();
    let both = Both::new();
    let inside = |words: &str| {
        let script = format!("exec \"$0\" -f n -s node1 -d node1 {words}");
        both.0
            .each_ref()
            .map(|program| node.run_inside(Path::new("/bin/sh"), &["-c", &script, program.to_str().unwrap()]))
    };
    for (words, code) in [("-S 127.0.0.1", 0), ("-S 127.0.0.2", 255), ("", 2)] {
        let [theirs, ours] = inside(words);
        assert_eq!((ours.code, &ours), (Some(code), &theirs), "{words}");
    }
    fs::write(node.dir().join("ibacm-tcp.port"), "none\n").unwrap();
    let [theirs, ours] = inside("-S 127.0.0.1");
    assert_eq!((ours.code, &ours), (Some(255), &theirs));
    assert!(ours.stdout.starts_with("Failed to read server port\n"), "{ours}");

    fs::write(node.dir().join("ibacm-tcp.port"), "7351\n").unwrap();
    fs::write(node.dir().join("hosts"), "::1 two\n127.0.0.1 two\n").unwrap();
    let mounted = node.run_inside(Path::new("/bin/mount"), &["--bind", "/run/hosts", "/etc/hosts"]);
    assert_eq!(mounted.code, Some(0), "{mounted}");
    let [theirs, ours] = inside("-S two");
    assert_eq!((theirs.code, ours.code), (Some(255), Some(0)), "{theirs}{ours}");
}
