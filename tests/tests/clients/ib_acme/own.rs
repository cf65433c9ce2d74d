//! What ours does otherwise than Debian's, and what it has besides.
use super::programs::Two;
use acm_tests::{Binary, Kind, Lab, Node, Process, binary, run};
use std::{io::Read, os::unix::net::UnixListener, process::Command, thread};

/// A daemon that ends while it is asked: Debian's takes it for an answer.
#[test]
fn a_daemon_that_closes_the_connection() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("socket");
    let listener = UnixListener::bind(&socket).unwrap();
    let closing = thread::spawn(move || {
        for _ in 0..3 {
            let (mut client, _) = listener.accept().unwrap();
            // What is asked is read, so that the end is an end and no reset.
            let _ = client.read(&mut [0; 200]).unwrap();
        }
    });
    let ask = |words: &[&str]| run(binary(Binary::IbAcme), &[&["-S", socket.to_str().unwrap()], words].concat());
    let lost = "Connection reset by peer";
    let path = ask(&["-f", "l", "-d", "1", "-v"]);
    assert!(path.code == Some(255) && path.stdout.contains(&format!("ib_acm_resolve_path failed: {lost}")), "{path}");
    let counters = ask(&["-P"]);
    assert!(counters.stdout.contains(&format!("Failed to query perf data: {lost}")), "{counters}");
    let endpoints = ask(&["-e", "1"]);
    assert!(endpoints.stdout.contains(" Endpoint 1 is not available"), "{endpoints}");
    closing.join().unwrap();
}

/// Debian's crashes, or asks for what nobody named.
#[test]
fn lists_without_a_name_in_them() {
    let node = Node::embedded().join();
    let socket = node.socket().display().to_string();
    for (words, what) in [
        (["-d", "", "-S", &socket], "destination argument"),
        (["-d", "node[3-1]", "-S", &socket], "destination argument"),
        (["-d", "node[,]", "-S", &socket], "destination argument"),
        (["-d", "node1", "-S", ""], "service list argument"),
        (["-s", "", "-dnode1", &format!("-S{socket}")], "source argument"),
    ] {
        let finished = run(binary(Binary::IbAcme), &words);
        assert!(finished.code == Some(255), "{words:?}: {finished}");
        assert!(finished.stdout.starts_with(&format!("Unable to parse {what}\n")), "{words:?}: {finished}");
    }
    // No endpoint has a number that a request has no room for; the lowest byte of this one is 1.
    let ours = |words: &[&str]| run(binary(Binary::IbAcme), &[&["-S", &socket], words].concat()).success();
    assert!(ours(&["-e", "257"]).starts_with(" Endpoint 257 is not available\n"));
    assert!(ours(&["-P", "257"]).contains("Failed to query perf data: Cannot assign requested address\n"));
}

/// Nobody answers: is the port in the group at all?
#[test]
fn a_trace_looks_at_the_group() {
    let lab = Lab::new(2, &[]);
    let nodes = [1, 2].map(|number| lab.start(number, Kind::Rust, &[]));
    let at = |arguments: &[&str]| lab.run(1, &binary(Binary::IbAcme), arguments);
    // Each name once: what nobody had a moment ago is not asked for.
    let says = |name: &str, text: &str| {
        let traced = at(&["--trace", name, "-f", "n"]);
        assert!(traced.code == Some(1) && traced.stdout.contains(text), "no {text:?}: {traced}");
    };
    let mgid = "ff15:4001:ffff:3:400::";
    says("node8", &format!("ok   this port is in the multicast group {mgid}, LID "));
    assert!(at(&["groups", "leave", "acm"]).success().contains(" left "));
    says("node9", "FAIL this port is in no multicast group of ibacm's of partition 0xffff\n");
    drop(nodes);
    // From another machine's view: no device here.
    let two = Two::start();
    let traced = run(binary(Binary::IbAcme), &["-S", &two.service("node1"), "--trace", "node9", "-f", "n"]);
    assert!(traced.stdout.contains("note the multicast group was not looked at: no InfiniBand device"), "{traced}");
}

/// What ours has besides, asked of the same fabric.
#[test]
fn options_of_our_own() {
    let two = Two::start();
    let node1 = two.service("node1");
    let ours = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        run(binary(Binary::IbAcme), &[&["-S", node1.as_str()], words.as_slice()].concat())
    };
    let said = |words: &str, code: i32, texts: &[&str]| {
        let finished = ours(words);
        assert_eq!(finished.code, Some(code), "{words}: {finished}");
        texts.iter().for_each(|text| assert!(finished.stdout.contains(text), "{words}: no {text:?}: {finished}"));
    };
    let (lid, gid) = (two.fabric.port(2).lid, two.fabric.port(2).gid);

    let json =
        ["\"dlid\": ", "\"destination\": \"node2\"", "\"verified\": true", "\"pkey\": \"0xffff\"", &gid.to_string()];
    said("--json -f n -s node1 -d node2 -v", 0, &json);
    said("--json -e -P", 0, &["\"resolve_count\": ", "\"node1b\"", "\"provider\": \"ibacmp\""]);
    said("--json -P 9", 255, &["\"counters\": []"]);
    // node1's address, which is no name of it.
    said("--json -P s -s 10.77.0.1", 0, &["\"resolve_count\": "]);
    said("--json -P s -s 10.77.0.1 -f n", 255, &["\"counters\": []"]);
    said("--json -f n -s node9 -d node2", 255, &["\"error\": \"Cannot assign requested address\""]);

    // What is wanted is part of the question.
    said("-f n -s node1 -d node2 --sl 3", 0, &["  sl: 3\n"]);
    said(&format!("-f l -d {lid} --sl 2 --qos-class 7"), 0, &["  sl: 2\n"]);
    said(&format!("-f g -d {gid} --pkey 0x8001"), 0, &["  pkey: 0x8001\n"]);
    said(&format!("-f g -d {gid} --service-id lustre"), 0, &["dlid"]);
    for words in
        ["--sl 3", "-d a --sl 16", "-d a --service-id x", "-d a --qos-class 4096", "--json", "-d a --diff --json"]
    {
        assert_eq!(ours(words).code, Some(1), "{words}");
    }

    said("--diff -f n -s node1 -d node[1,2]", 0, &["ok   node1 to node1: as", "ok   node1 to node2: as"]);
    two.fabric.control("set pr_sl 5");
    said("--diff -f n -s node1 -d node2", 1, &["FAIL node1 to node2", "     sl: daemon 0, subnet administration 5\n"]);
    said("--trace node2 -f n", 1, &["note subnet administration has", "     sl: daemon 0"]);
    two.fabric.control("set pr_sl 0");
    said("--diff -f n -s node1 -d node9", 255, &["FAIL node1 to node9: no path: Connection timed out"]);

    said("--trace node2 -f n", 0, &["ok   a daemon answers", "ok   it serves node1 ", "as the daemon knew already"]);
    said(
        "--trace node9 -f n",
        1,
        &["FAIL no path to node9", "the multicast group was asked", "there: does a daemon run"],
    );
    said("--trace node2 -f n -s node9", 1, &["FAIL node9 is not among them"]);
    said("--trace 4711 -f l", 1, &["subnet administration was asked", "it has no such path"]);
    let nowhere = run(binary(Binary::IbAcme), &["--trace", "node2", "-S", "/none"]);
    assert!(nowhere.code == Some(1) && nowhere.stdout.contains("FAIL no daemon answers at /none"), "{nowhere}");

    let bash = run(binary(Binary::IbAcme), &["--completions", "bash"]).success();
    assert!(bash.contains("--service-id") && bash.contains("complete "), "{bash}");

    // A path that changes is shown anew.
    let mut command = Command::new(binary(Binary::IbAcme));
    let mut watch = Process::start(command.args(["-S", &node1, "-f", "l", "-d", &lid.to_string(), "-v", "--watch"]));
    watch.wait_for("SA verification: success", 1);
    two.fabric.control("set sa_mute on");
    watch.wait_for("SA verification: failed", 1);
}
