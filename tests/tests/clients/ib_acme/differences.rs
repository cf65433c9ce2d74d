//! Differences from Debian's `ib_acme`, and additional options.
use super::programs::Two;
use acm_tests::{Binary, Kind, Lab, Node, Process, binary, run};
use std::{
    io::Read,
    os::unix::{net::UnixListener, process::CommandExt},
    process::Command,
    thread,
};

/// The daemon ends during a request. Debian's ib_acme treats this as a response.
#[test]
fn closed_connection_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("socket");
    let listener = UnixListener::bind(&socket).unwrap();
    let closing = thread::spawn(move || {
        for _ in 0..3 {
            let (mut client, _) = listener.accept().unwrap();
            // Reads the request, so that the close is an end of file and no reset.
            let _ = client.read(&mut [0; 200]).unwrap();
        }
    });
    let ib_acme = |words: &[&str]| run(binary(Binary::IbAcme), &[&["-S", socket.to_str().unwrap()], words].concat());
    let lost = "Connection reset by peer";
    let path = ib_acme(&["-f", "l", "-d", "1", "-v"]);
    assert!(path.code == Some(255) && path.stdout.contains(&format!("ib_acm_resolve_path failed: {lost}")), "{path}");
    let counters = ib_acme(&["-P"]);
    assert!(counters.stdout.contains(&format!("Failed to query perf data: {lost}")), "{counters}");
    let endpoints = ib_acme(&["-e", "1"]);
    assert!(endpoints.stdout.contains(" Endpoint 1 is not available"), "{endpoints}");
    closing.join().unwrap();
}

/// Debian's ib_acme crashes, or sends requests for other names.
#[test]
fn empty_lists_are_refused() {
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
    // A request has one byte for the number of an endpoint. The lowest byte of this number is 1.
    let ours = |words: &[&str]| run(binary(Binary::IbAcme), &[&["-S", &socket], words].concat()).success();
    assert!(ours(&["-e", "257"]).starts_with(" Endpoint 257 is not available\n"));
    assert!(ours(&["-P", "257"]).contains("Failed to query perf data: Cannot assign requested address\n"));
}

/// C ibacm ignores the conditions of a request by name, and caches one path for each GID.
// docs/deviations.md: name-conditions
#[test]
fn path_by_name_has_the_conditions_with_daemons_of_both_kinds() {
    let lab = Lab::new(2, &[]);
    let kinds = [(1, Kind::C, "node2", 2), (2, Kind::Rust, "node1", 1)];
    let nodes = kinds.map(|(number, kind, ..)| lab.start(number, kind, &[]));
    for (node, (_, kind, peer, requests)) in nodes.iter().zip(kinds) {
        let ask = |options: &str| {
            let words = format!("-S {} -f n -s node{} -d {peer}{options}", node.socket().display(), node.number);
            run(binary(Binary::IbAcme), &words.split(' ').collect::<Vec<_>>())
        };
        let resolved = || node.acme(&["-P"]).counters()[0].get("Resolve Count");
        assert!(ask("").success().contains("  sl: 0\n"), "{kind:?}");
        for sl in [3, 2, 3] {
            let before = resolved();
            let path = ask(&format!(" --sl {sl}")).success();
            assert!(path.contains(&format!("  sl: {sl}\n")), "{kind:?}: {path}");
            assert_eq!(resolved() - before, requests, "{kind:?}");
        }
        assert!(ask("").success().contains("  sl: 0\n"), "{kind:?}");
        let at_once = ask(" --sl 4 -c");
        assert!(at_once.stdout.contains("ib_acm_resolve_name failed: No data available\n"), "{kind:?}: {at_once}");
    }
}

/// Without a response, the trace checks the membership of the local port.
#[test]
fn trace_reports_membership_in_the_group() {
    let lab = Lab::new(2, &[]);
    // Without witnesses no node notices that it has lost its group, and joins it again.
    let nodes = [1, 2].map(|number| lab.start(number, Kind::Rust, &["witness no"]));
    let at = |arguments: &[&str]| lab.run(1, &binary(Binary::IbAcme), arguments);
    // A different name each time, because failed names are cached.
    let check = |name: &str, text: &str| {
        let traced = at(&["--trace", name, "-f", "n"]);
        assert!(traced.code == Some(1) && traced.stdout.contains(text), "no {text:?}: {traced}");
    };
    let mgid = "ff15:4001:ffff:3:400::";
    check("node8", &format!("ok   this port is in the multicast group {mgid}, LID "));
    assert!(at(&["groups", "leave", "acm"]).success().contains(" left "));
    check("node9", "FAIL this port is in no multicast group of ibacm's of partition 0xffff\n");
    drop(nodes);
    // Without a device on this machine.
    let two = Two::start();
    let traced = run(binary(Binary::IbAcme), &["-S", &two.service("node1"), "--trace", "node9", "-f", "n"]);
    assert!(traced.stdout.contains("note the multicast group was not checked: no InfiniBand device"), "{traced}");
}

// docs/deviations.md: long-options
#[test]
fn additional_options_work() {
    let two = Two::start();
    let node1 = two.service("node1");
    let ours = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        run(binary(Binary::IbAcme), &[&["-S", node1.as_str()], words.as_slice()].concat())
    };
    let check = |words: &str, code: i32, texts: &[&str]| {
        let finished = ours(words);
        assert_eq!(finished.code, Some(code), "{words}: {finished}");
        texts.iter().for_each(|text| assert!(finished.stdout.contains(text), "{words}: no {text:?}: {finished}"));
    };
    let (lid, gid) = (two.fabric.port(2).lid, two.fabric.port(2).gid);

    let json =
        ["\"dlid\": ", "\"destination\": \"node2\"", "\"verified\": true", "\"pkey\": \"0xffff\"", &gid.to_string()];
    check("--json -f n -s node1 -d node2 -v", 0, &json);
    check("--json -e -P", 0, &["\"resolve_count\": ", "\"node1b\"", "\"provider\": \"ibacmp\""]);
    check("--json -P 9", 255, &["\"counters\": []"]);
    // An IP address of node1, which is not a name.
    check("--json -P s -s 10.77.0.1", 0, &["\"resolve_count\": "]);
    check("--json -P s -s 10.77.0.1 -f n", 255, &["\"counters\": []"]);
    check("--json -f n -s node9 -d node2", 255, &["\"error\": \"Cannot assign requested address\""]);

    // Constraints are part of the request.
    check("-f n -s node1 -d node2 --sl 3", 0, &["  sl: 3\n"]);
    check(&format!("-f l -d {lid} --sl 2 --qos-class 7"), 0, &["  sl: 2\n"]);
    check(&format!("-f g -d {gid} --pkey 0x8001"), 0, &["  pkey: 0x8001\n"]);
    check(&format!("-f g -d {gid} --service-id lustre"), 0, &["dlid"]);
    for words in
        ["--sl 3", "-d a --sl 16", "-d a --service-id x", "-d a --qos-class 4096", "--json", "-d a --diff --json"]
    {
        assert_eq!(ours(words).code, Some(1), "{words}");
    }

    check("--diff -f n -s node1 -d node[1,2]", 0, &["ok   node1 to node1: as", "ok   node1 to node2: as"]);
    two.fabric.control("set pr_sl 5");
    check("--diff -f n -s node1 -d node2", 1, &["FAIL node1 to node2", "     sl: daemon 0, subnet administration 5\n"]);
    check("--trace node2 -f n", 1, &["note subnet administration has", "     sl: daemon 0"]);
    two.fabric.control("set pr_sl 0");
    check("--diff -f n -s node1 -d node9", 255, &["FAIL node1 to node9: no path: Connection timed out"]);

    check("--trace node2 -f n", 0, &["ok   a daemon answers", "ok   it serves node1 ", "as the daemon had cached"]);
    check(
        "--trace node9 -f n",
        1,
        &["FAIL no path to node9", "a multicast request was sent", "on that node: does a daemon run"],
    );
    check("--trace node2 -f n -s node9", 1, &["FAIL node9 is not among them"]);
    check("--trace 4711 -f l", 1, &["subnet administration was queried", "it has no such path"]);
    let nowhere = run(binary(Binary::IbAcme), &["--trace", "node2", "-S", "/none"]);
    assert!(nowhere.code == Some(1) && nowhere.stdout.contains("FAIL no daemon answers at /none"), "{nowhere}");

    let bash = run(binary(Binary::IbAcme), &["--completions", "bash"]).success();
    assert!(bash.contains("--service-id") && bash.contains("complete "), "{bash}");
    let renamed = Command::new(binary(Binary::IbAcme)).arg0("acm-ib_acme").args(["--completions", "bash"]).output();
    let renamed = String::from_utf8(renamed.unwrap().stdout).unwrap();
    assert!(renamed.trim_end().ends_with(" acm-ib_acme") || renamed.contains("default acm-ib_acme\n"), "{renamed}");

    // A changed path is printed again.
    let mut command = Command::new(binary(Binary::IbAcme));
    let mut watch = Process::start(command.args(["-S", &node1, "-f", "l", "-d", &lid.to_string(), "-v", "--watch"]));
    watch.wait_for("SA verification: success", 1);
    two.fabric.control("set sa_mute on");
    watch.wait_for("SA verification: failed", 1);
}

/// The command of docs/rollout.md by which an administrator decides after the first node.
#[test]
fn gate_of_the_roll_out_passes_in_a_healthy_mixed_fabric() {
    let page = include_str!("../../../../docs/rollout.md");
    let row = page.lines().find(|line| line.starts_with("| 1. one node")).unwrap();
    let command = row.split('`').find(|words| words.contains("--diff")).unwrap();
    let (lab, acme) = (Lab::new(2, &[]), binary(Binary::IbAcme));
    let nodes = [lab.start(1, Kind::Rust, &[]), lab.start(2, Kind::C, &[])];
    // An administrator's machine knows node2 as its Ethernet address, or does not know it.
    for (node, other) in [(&nodes[0], "node2"), (&nodes[1], "node1")] {
        let program = format!("{} -S {}", acme.display(), node.socket().display());
        let own = format!("node{}", node.number);
        let line = command.replace("acm-ib_acme", &program).replace("$(hostname -s)", &own).replace("NODES", other);
        let finished = run("sh", &["-c", &line]);
        assert_eq!(finished.code, Some(0), "{line}: {finished}");
    }
}
