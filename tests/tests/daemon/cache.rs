//! `acmctl cache` and `acmctl explain`: an administrator lists, explains and removes entries of a running daemon.
use acm_tests::{Binary, Fabric, Node, binary, run, until};
use std::{
    fs,
    io::{self, Write},
    os::unix::{fs::PermissionsExt, net::UnixStream},
    path::Path,
};

/// Runs `acmctl` with these words. Returns its output, or `Err` with standard error.
fn cache(dir: &Path, words: &[&str]) -> Result<String, String> {
    let dir = dir.to_str().unwrap();
    let finished = run(binary(Binary::AcmCtl), &[&["--run-dir", dir], words].concat());
    if finished.code == Some(0) { Ok(finished.stdout) } else { Err(finished.stderr) }
}

#[test]
fn administrator_lists_explains_and_removes_entries() {
    let fabric = Fabric::serve(2, &[]);
    let node = Node::at(&fabric, 1).join();
    let _peer = Node::at(&fabric, 2).join();
    let resolve = || node.acme(&["-f", "n", "-s", "node1", "-d", "node2"]);
    let _ = resolve().path();
    let dir = node.dir();
    let list = cache(dir, &["cache", "list", "node2"]).unwrap();
    let mut lines = list.lines();
    assert!(lines.next().unwrap().starts_with("DESTINATION  STATE"), "{list}");
    let entry = lines.next().unwrap();
    assert!(entry.starts_with("node2        ready  sa ") && entry.ends_with("/1  0xffff"), "{list}");
    assert_eq!(lines.next(), None, "{list}");
    let text = cache(dir, &["explain", "NODE2"]).unwrap();
    let user = format!("requests answered: 1, the last of user {} ", nix::unistd::getuid());
    for part in ["node2 at ", "from the multicast group\n", "from the subnet administrator, ", &user] {
        assert!(text.contains(part), "{part:?} in {text}");
    }
    let json = cache(dir, &["cache", "list", "--state", "ready", "node2", "--json"]).unwrap();
    assert!(
        json.starts_with("{\"schema\":1,\"entries\":[\n{") && json.contains("\"dest\":\"node2\",\"state\":\"ready\""),
        "{json}"
    );
    assert_eq!(cache(dir, &["cache", "flush", "node2"]).unwrap(), "1 entry removed\n");
    assert!(cache(dir, &["explain", "node2"]).unwrap_err().contains("nothing is cached for node2"));
    assert!(node.log().contains("removes entries: name=node2\n"), "{}", node.log());
    let _ = resolve().path();
    assert_eq!(cache(dir, &["cache", "list", "node2"]).unwrap().lines().count(), 2, "it is looked up again");
    // A local address stays.
    cache(dir, &["cache", "flush", "--all"]).unwrap();
    assert!(node.log().contains("removes entries: all\n"), "{}", node.log());
    assert!(cache(dir, &["explain", "node1"]).unwrap().contains("it is an address of this node"));
}

#[test]
fn each_removal_has_its_line_in_the_log() {
    let mut node = Node::embedded().join();
    let remove = |query: &str| {
        let mut stream = UnixStream::connect(node.dir().join("acm-mio.status")).unwrap();
        stream.write_all(format!("DELETE /cache?{query} HTTP/1.0\r\n\r\n").as_bytes()).unwrap();
        let text = io::read_to_string(stream).unwrap();
        assert!(text.ends_with("{\"flushed\":0,\"next\":null}"), "{text}");
    };
    (0..40).for_each(|number| remove(&format!("name=a{number}&from=0")));
    remove("from=1");
    node.process.wait_for(" removes entries: all, from slot 1 on", 1);
    assert_eq!(node.log().matches(" removes entries: name=a").count(), 40);
}

#[test]
fn invalid_commands_are_refused_with_the_reason() {
    let node = Node::embedded().join();
    for (words, reason) in [
        (&["cache", "list", "--state", "redy"][..], "state=redy: expected one of unknown, "),
        (&["cache", "flush"], "--all"),
        (&["cache", "flush", "--port", "sim9/1"], "endpoint=sim9/1: no such endpoint; there are: sim0/1 pkey 0xffff"),
        (&["cache", "list", "--user", "no-such-user"], "no-such-user: no such user; of the users of entries "),
        (&["explain", "10.0.0.256"], "10.0.0.256: expected an IPv4 address, or a name"),
        (&["cache", "drop"], "unrecognized subcommand 'drop'"),
    ] {
        let error = cache(node.dir(), words).unwrap_err();
        assert!(error.contains(reason), "{words:?}: {error}");
    }
    let none = cache(node.dir(), &["cache", "list", "--user", "root", "--failed", "--no-header"]);
    assert_eq!(none.unwrap(), "");
    let mode = node.dir().join("acm-mio.status").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o660, "for root and the daemon's group");
    let nobody = cache(tempfile::tempdir().unwrap().path(), &["cache", "list"]).unwrap_err();
    assert!(nobody.contains("no daemon answers"), "{nobody}");
}

#[test]
fn explain_names_the_host_file_before_and_after_the_first_request() {
    let fabric = Fabric::serve(2, &[]);
    let _peer = Node::at(&fabric, 2).join();
    let gid = fabric.port(2).gid.to_string();
    let node = Node::at(&fabric, 1).option("addr_preload acm_hosts").option("addr_data_file DIR/hosts");
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("hosts"), format!("host2 {gid}\n")).unwrap();
    let node = node.spawn_in(dir);
    let expected = format!("and the host file has it at GID {gid}");
    until("the host file", || cache(node.dir(), &["explain", "HOST2"]).unwrap_err().contains(&expected).then_some(()));
    until("a path", || {
        let _ = node.acme(&["-f", "n", "-s", "node1", "-d", "host2"]);
        let text = cache(node.dir(), &["explain", "host2"]).unwrap_or_default();
        text.contains(&format!("GID {gid}, from the host file (addr_data_file)\n")).then_some(())
    });
}
