//! A daemon beside ibacm's files, and beside an ibacm that somebody starts by hand.
use acm_tests::{Binary, Node, TcpPort, binary, until};
use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt};

/// The lock file of ibacm, by the name of files that `ib_acme -O` wrote until 2016.
const THEIRS: &str = "lock_file /var/run/ibacm.pid\nlog_file stderr\n";

#[test]
fn file_with_the_lock_of_ibacm_excludes_ibacm() {
    // This one stands for ibacm: it holds the lock of /run/ibacm.pid.
    let first = Node::embedded().own_namespace().join();
    let options = first.dir().join("two");
    fs::write(&options, THEIRS).unwrap();
    let own = first.dir().join("run");
    let words = ["--run-dir", own.to_str().unwrap(), "-O", options.to_str().unwrap(), "-A", "/dev/null"];
    let run = |program, first_words: &[&str]| {
        first.run_inside(&binary(program), &[first_words, &["--fabric=embedded"], &words[..]].concat())
    };
    let refused = run(Binary::AcmMio, &["-P"]);
    let pid = format!("/run/ibacm.pid is locked: another ibacm or acm-mio is running, process {}", first.process.id());
    assert!(refused.code == Some(255) && refused.stderr.contains(&pid), "{refused}");
    let checked = run(Binary::AcmCtl, &["check"]);
    assert!(checked.stdout.contains(&format!("warn process {} has /run/ibacm.pid: ", first.process.id())), "{checked}");
    // The path is that of ibacm, and stands for the lock in the run directory.
    assert!(checked.stdout.contains(&format!("ok no other daemon has {}/ibacm.pid", own.display())), "{checked}");
}

#[test]
fn daemon_of_systemd_without_its_socket_makes_the_unix_socket() {
    let port = TcpPort::reserve();
    let options = format!("server_mode loop\nserver_port {}\nacme_plus_kernel_only yes", port.number());
    let node = Node::embedded().option(&options).argument("--systemd").join();
    assert_eq!(node.client_files(), ["ibacm-unix.sock", "ibacm.sock"]);
    let why = "(does nothing: the socket unit of systemd decides)";
    for option in ["server_mode loop", "acme_plus_kernel_only yes"] {
        assert!(node.log().contains(&format!("options: {option} {why}")), "{}", node.log());
    }
}

/// Returns the mode of each file in the run directory of a daemon that is started with this mask.
fn modes(umask: &str, server_mode: &str, file: &str) -> BTreeMap<String, u32> {
    let port = TcpPort::reserve();
    let more = "log_file DIR/log\nmetrics_listen DIR/metrics.sock";
    let options = format!("server_mode {server_mode}\nserver_port {}\n{more}", port.number());
    let node = Node::embedded().option(&options).after(&format!("umask {umask}")).spawn();
    until(file, || [file, "metrics.sock"].iter().all(|name| node.dir().join(name).exists()).then_some(()));
    // Its status is served when all files are there.
    until("status", || (node.ctl(&["status"]).code == Some(0)).then_some(()));
    let entries = fs::read_dir(node.dir()).unwrap().map(|entry| entry.unwrap());
    let entries = entries.filter(|entry| !entry.file_type().unwrap().is_symlink());
    let mode = |entry: &fs::DirEntry| entry.metadata().unwrap().permissions().mode() & 0o7777;
    let modes = entries.map(|entry| (entry.file_name().into_string().unwrap(), mode(&entry)));
    modes.filter(|(name, _)| !["opts", "addr"].contains(&name.as_str())).collect()
}

/// An environment without a mask does not open files to others, and a strict one does not close those of clients.
#[test]
fn each_created_file_has_its_mode() {
    for (umask, own) in [("0", 0o640), ("0077", 0o600)] {
        for (server_mode, file, mode) in [("unix", "ibacm-unix.sock", 0o777), ("loop", "ibacm-tcp.port", 0o644)] {
            let expected = [
                ("acm-mio.status", 0o660),
                ("fabric.sock", 0o666),
                (file, mode),
                ("ibacm.pid", own),
                ("log", own),
                ("metrics.sock", 0o666),
            ];
            let expected = expected.map(|(name, mode)| (name.to_owned(), mode)).into();
            assert_eq!(modes(umask, server_mode, file), expected, "{umask} {server_mode}");
        }
    }
}
