//! SIGHUP reloads files: changes apply, changes that need a restart are logged, and files with errors change nothing.
use acm_tests::{Connection, Entry, Finished, Node, until};
use acm_wire::client::ClientStatus;
use core::net::Ipv4Addr;
use nix::sys::signal::Signal;
use std::{
    fs,
    io::{self, Write},
    os::unix::net::{UnixListener, UnixStream},
};

const OPTIONS: &str = "support_ips_in_addr_cfg 1\nlog_file stderr\nlog_level 0\n";

fn resolve(client: &mut Connection, source: &str, dest: &str) -> ClientStatus {
    client.request(1, &[Entry::name(Entry::SOURCE, source), Entry::name(Entry::DEST, dest)])
}

/// Starts a daemon with further options.
fn node(more: &str) -> Node {
    let node = Node::embedded().options(&format!("{OPTIONS}{more}")).serve();
    until("the daemon's group", || {
        (resolve(&mut node.connect(), "node1", "node1") == ClientStatus::SUCCESS).then_some(())
    });
    node
}

/// Replaces the files and makes the daemon reload them.
fn reload(node: &mut Node, options: &str, addresses: &str) {
    let times = node.log().matches("files read again").count();
    fs::write(node.dir().join("opts"), format!("{OPTIONS}{options}")).unwrap();
    fs::write(node.dir().join("addr"), addresses).unwrap();
    node.process.signal(Signal::SIGHUP);
    node.process.wait_for("files read again", times + 1);
}

// docs/deviations.md: sighup
#[test]
fn reload_adds_and_removes_addresses() {
    let mut node = node("");
    let mut client = node.connect();
    reload(&mut node, "", "node1 sim0 1 default\nother sim0 1 default\nthird sim0 1 default\n");
    assert_eq!(resolve(&mut client, "other", "third"), ClientStatus::SUCCESS);
    reload(&mut node, "", "other sim0 1 default\n");
    assert_eq!(resolve(&mut client, "other", "other"), ClientStatus::SUCCESS, "the endpoint stays");
    assert_eq!(resolve(&mut client, "node1", "other"), ClientStatus::ESRCADDR);
    let log = node.log();
    assert!(log.contains("node1 is not served any more"), "{log}");
    assert_eq!(log.matches(" closed").count(), 0, "no endpoint was closed: {log}");
}

// docs/deviations.md: sighup
#[test]
fn reloaded_time_outs_apply_to_later_requests() {
    let mut node = node("timeout 60000\nretries 9\n");
    let mut client = node.connect();
    reload(&mut node, "timeout 1\nretries 0\n", "node1 sim0 1 default\n");
    let log = node.log();
    assert!(log.contains("options: timeout 60000 -> timeout 1\n"), "{log}");
    assert!(log.contains("options: retries 9 -> retries 0\n"), "{log}");
    // With the old options, the request would take ten minutes, and the client waits 30 s at most.
    assert_eq!(resolve(&mut client, "node1", "nobody"), ClientStatus::ETIMEDOUT);
}

#[test]
fn reload_changes_log_level_and_log_file() {
    let mut node = node("");
    assert_eq!(node.connect().request(1, &[]), ClientStatus::EDESTTYPE);
    assert!(!node.log().contains("failing request"));
    reload(&mut node, "log_level 1\n", "node1 sim0 1 default\n");
    assert_eq!(node.connect().request(1, &[]), ClientStatus::EDESTTYPE);
    node.process.wait_for("failing request", 1);
    let elsewhere = node.dir().join("log");
    fs::write(node.dir().join("opts"), format!("log_file {}\n", elsewhere.display())).unwrap();
    node.process.signal(Signal::SIGHUP);
    until("the file", || fs::read_to_string(&elsewhere).ok()?.contains("files read again").then_some(()));
}

#[test]
fn options_that_need_a_restart_are_logged_at_each_reload() {
    let mut node = node("");
    for times in 1..3 {
        reload(&mut node, "server_mode loop\nsend_depth 9\n", "node1 sim0 1 default\n");
        let log = node.log();
        let line = "options: server_mode: needs a restart; \"server_mode unix\" goes on, not \"server_mode loop\"";
        assert_eq!((log.matches(line).count(), log.matches("send_depth: needs a restart").count()), (times, times));
    }
    reload(&mut node, "", "node1 sim0 1 default\n");
    assert_eq!(node.log().matches("server_mode: needs a restart").count(), 2, "no further line");
    assert_eq!(resolve(&mut node.connect(), "node1", "node1"), ClientStatus::SUCCESS);
}

// docs/deviations.md: sighup
#[test]
fn files_with_errors_are_not_applied() {
    let mut node = node("timeout 500\n");
    reload(&mut node, "timeout 600\nretrys 1\n", "node2 sim0\n");
    let log = node.log();
    let dir = node.dir().display().to_string();
    for line in [
        format!("{dir}/opts:5:1: no such option: \"retrys\""),
        format!("{dir}/opts: not applied"),
        format!("{dir}/addr:1:11: "),
        format!("{dir}/addr: not applied"),
    ] {
        assert!(log.contains(&line), "{line}\n{log}");
    }
    assert!(!log.contains("timeout 600"), "{log}");
    assert_eq!(resolve(&mut node.connect(), "node1", "node1"), ClientStatus::SUCCESS);
    reload(&mut node, "timeout 600\n", "node1 sim0 1 default\n");
    assert!(node.log().contains("timeout 500 -> timeout 600"));
}

/// A program empties a file and then writes it; the daemon looks at the file before and after.
// docs/deviations.md: sighup
#[test]
fn half_written_files_change_nothing() {
    let mut node = node("timeout 500\n");
    let (options, addresses) = (node.dir().join("opts"), node.dir().join("addr"));
    fs::write(&addresses, "").unwrap();
    // The daemon looks at the files, and again half a second later. It is stopped between, unless this machine is slow.
    let readings = until("the daemon is stopped while it waits", || {
        let readings = node.log().matches("files read again").count();
        ask(&node, "POST /reload");
        node.process.stop();
        if node.log().matches("files read again").count() == readings {
            return Some(readings);
        }
        node.process.signal(Signal::SIGCONT);
        None
    });
    fs::write(&addresses, "node1 sim0 1 default\nother sim0 1 default\n").unwrap();
    node.process.signal(Signal::SIGCONT);
    node.process.wait_for("files read again", readings + 1);
    let mut client = node.connect();
    assert_eq!(resolve(&mut client, "node1", "other"), ClientStatus::SUCCESS);
    assert!(!node.log().contains("node1 is not served any more"), "{}", node.log());
    // A full disk leaves them empty.
    for file in [&options, &addresses] {
        fs::write(file, "").unwrap();
    }
    node.process.signal(Signal::SIGHUP);
    node.process.wait_for("files read again", readings + 2);
    let log = node.log();
    for file in [&options, &addresses] {
        let file = file.display();
        assert!(log.contains(&format!("config: {file}: it is empty")), "{log}");
        assert!(log.contains(&format!("config: {file}: not applied")), "{log}");
    }
    assert_eq!(resolve(&mut client, "node1", "other"), ClientStatus::SUCCESS);
    assert!(!log.contains("timeout 500 ->"), "{log}");
}

#[test]
fn reload_changes_the_provider_of_a_subnet() {
    let mut node = node("");
    let mut client = node.connect();
    reload(&mut node, "provider other default\n", "node1 sim0 1 default\n");
    let log = node.log();
    assert!(log.contains("provider other: needs a restart; its subnets are not served"), "{log}");
    assert!(log.contains("sim0 port 1: not served: no provider for subnet prefix 0xfe80000000000000"), "{log}");
    assert_eq!(resolve(&mut client, "node1", "node1"), ClientStatus::ESRCADDR);
    reload(&mut node, "provider other default\nprovider ibacmp 0xfe80000000000000\n", "node1 sim0 1 default\n");
    until("the daemon's group", || (resolve(&mut client, "node1", "node1") == ClientStatus::SUCCESS).then_some(()));
}

/// The names of the files are on the command line, so a missing file is an error and does not select defaults.
// docs/deviations.md: sighup
#[test]
fn removed_named_file_is_not_applied() {
    let mut node = node("timeout 500\n");
    for name in ["opts", "addr"] {
        fs::remove_file(node.dir().join(name)).unwrap();
    }
    node.process.signal(Signal::SIGHUP);
    node.process.wait_for("files read again", 1);
    let (log, dir) = (node.log(), node.dir().display().to_string());
    for name in ["opts", "addr"] {
        assert!(log.contains(&format!("config: {dir}/{name}: there is none any more")), "{log}");
        assert!(log.contains(&format!("config: {dir}/{name}: not applied")), "{log}");
    }
    assert!(log.contains(&format!("main: files read again; not applied: {dir}/opts, {dir}/addr\n")), "{log}");
    assert_eq!(resolve(&mut node.connect(), "node1", "node1"), ClientStatus::SUCCESS);
    let status = node.status();
    assert!(status.contains("\nfiles_not_applied: 2\n"), "{status}");
    reload(&mut node, "timeout 600\n", "node1 sim0 1 default\n");
    assert!(node.log().contains("timeout 500 -> timeout 600"), "the old options stayed");
}

/// The address file first lacks the port's default name, then contains it, and is removed again.
#[test]
fn default_name_is_kept_if_the_address_file_has_it() {
    let dir = tempfile::tempdir().unwrap();
    // The default path of the file, which is optional.
    let file = dir.path().join("ibacm_addr.cfg");
    fs::write(&file, "other sim0 1 default\n").unwrap();
    let mut node = Node::alone().argument("--fabric=embedded").options(OPTIONS).own_etc_rdma().spawn_in(dir);
    until("the daemon's socket", || Connection::try_open(&node.socket()).ok());
    let mut client = node.connect();
    until("the daemon's group", || (resolve(&mut client, "other", "other") == ClientStatus::SUCCESS).then_some(()));
    let remove = |node: &mut Node, times: usize| {
        fs::remove_file(&file).unwrap();
        node.process.signal(Signal::SIGHUP);
        node.process.wait_for("files read again", times);
    };
    remove(&mut node, 1);
    assert_eq!(resolve(&mut client, "node1-1", "node1"), ClientStatus::SUCCESS);
    fs::write(&file, "node1 sim0 1 default\nother sim0 1 default\n").unwrap();
    reload(&mut node, "log_level 2\n", "");
    assert_eq!(resolve(&mut client, "node1", "other"), ClientStatus::SUCCESS);
    assert_eq!(resolve(&mut client, "node1-1", "node1"), ClientStatus::ESRCADDR, "the default name of the port");
    remove(&mut node, 3);
    assert_eq!(resolve(&mut client, "node1", "node1-1"), ClientStatus::SUCCESS);
    assert_eq!(resolve(&mut client, "other", "node1"), ClientStatus::ESRCADDR);
    let log = node.log();
    let removed = |name: &str| log.matches(&format!("Removed {name} from")).count();
    assert_eq!((removed("node1"), removed("node1-1"), removed("other")), (0, 1, 1), "{log}");
    assert_eq!(log.matches(" closed").count(), 0, "{log}");
}

fn reload_command(node: &Node) -> Finished {
    node.ctl(&["reload"])
}

/// Sends a request to the status socket, and returns the response.
fn ask(node: &Node, request: &str) -> String {
    let mut stream = UnixStream::connect(node.dir().join("acm-mio.status")).unwrap();
    stream.write_all(format!("{request} HTTP/1.0\r\n\r\n").as_bytes()).unwrap();
    let text = io::read_to_string(stream).unwrap();
    text.split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// The file is so long that reading it takes longer than a question. This program may sleep through a reading, so that
/// it asks until it has seen one.
#[test]
fn daemon_reports_that_it_reads_preload_files() {
    let node = node("");
    let hosts = node.dir().join("hosts");
    let lines: String = (0..50_000_u32).map(|number| format!("{} 1::\n", Ipv4Addr::from(number))).collect();
    let options = format!("{OPTIONS}addr_preload acm_hosts\naddr_data_file {}\n", hosts.display());
    fs::write(node.dir().join("opts"), options).unwrap();
    let mut number = 0;
    until("a reading is seen", || {
        // A changed file is read again.
        fs::write(&hosts, &lines).unwrap();
        number += 1;
        assert_eq!(ask(&node, "POST /reload"), format!("{{\"number\":{number}}}"));
        assert_eq!(ask(&node, &format!("GET /reload?number={}", number + 1)), "\"waits\"");
        let mut answers = Vec::new();
        until("the reading is complete", || {
            let answer = ask(&node, &format!("GET /reload?number={number}"));
            if answers.last() != Some(&answer) {
                answers.push(answer);
            }
            (answers.last().unwrap() == "{\"complete\":[]}").then_some(())
        });
        let order = ["\"waits\"", "\"reads_preload\"", "{\"complete\":[]}"];
        let places = answers.iter().map(|answer| order.iter().position(|other| other == answer).expect("an answer"));
        assert!(places.is_sorted(), "{answers:?}");
        answers.iter().any(|answer| answer == order[1]).then_some(())
    });
}

/// Another process serves the socket at the start.
#[test]
fn metrics_listen_is_tried_again_at_each_reload() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("metrics");
    let other = UnixListener::bind(&path).unwrap();
    let node = node(&format!("metrics_listen {}\n", path.display()));
    for _ in 0..2 {
        let finished = reload_command(&node);
        assert!(finished.code == Some(1) && finished.stderr.contains(": a process serves it; "), "{finished}");
    }
    drop(other);
    let finished = reload_command(&node);
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
    assert!(UnixStream::connect(&path).is_ok());
}

#[test]
fn reload_command_waits_and_fails_with_the_reason() {
    let node = node("");
    let reload = || reload_command(&node);
    let write = |text: &str| fs::write(node.dir().join("opts"), format!("{OPTIONS}{text}")).unwrap();
    write("retries 9\n");
    let finished = reload();
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
    assert!(node.log().contains("options: retries 2 -> retries 9\n"), "it is applied when the command ends");
    write("retries many\n");
    let finished = reload();
    assert_eq!(finished.code, Some(1));
    for part in ["opts:4:9: ", "opts: not applied; "] {
        assert!(finished.stderr.contains(part), "{part:?} in {}", finished.stderr);
    }
    write("retries 8\n");
    assert_eq!(reload().code, Some(0), "the next reading is no failure");
    write("retries 8\nserver_mode loop\n");
    let finished = reload();
    let line = "server_mode: needs a restart; \"server_mode unix\" goes on, not \"server_mode loop\"\n";
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), line));
    for (text, reason) in [
        ("addr_preload acm_hosts\naddr_data_file /nosuch\n", "addr preload: none loaded: /nosuch: "),
        ("log_file /nosuch/log\n", "log file /nosuch/log: "),
        ("metrics_listen /nosuch/socket\n", "metrics_listen: "),
    ] {
        write(text);
        let finished = reload();
        assert!(finished.code == Some(1) && finished.stderr.contains(reason), "{reason}: {finished}");
        write("");
        assert_eq!(reload().code, Some(0));
    }
}

#[test]
fn reload_names_addresses_that_are_not_served() {
    let node = node("retrys 3\n");
    let gauges = |expected: [u32; 2]| {
        let text = node.status();
        for (name, value) in ["config_problems", "addresses_not_served"].into_iter().zip(expected) {
            // A zero has no line.
            let line = if value == 0 { format!("\n{name}: ") } else { format!("\n{name}: {value}\n") };
            assert_eq!(text.contains(&line), value > 0, "{name} {value}: {text}");
        }
    };
    gauges([1, 0]);
    fs::write(node.dir().join("opts"), OPTIONS).unwrap();
    let reload = |addresses: &str| {
        fs::write(node.dir().join("addr"), addresses).unwrap();
        let finished = reload_command(&node);
        (finished.code, finished.stdout + &finished.stderr)
    };
    let (code, lines) = reload("node1 sim0 1 default\nother sim0 1 0x8005\n");
    assert!(code == Some(0) && lines.contains("addr:2: other is not served: device \"sim0\" port 1"), "{lines}");
    gauges([0, 1]);
    let (code, lines) = reload("node1 mlx5_0 1 default\nother sim0 1 0x8005\n");
    assert!(code == Some(1) && lines.contains("addr:1: node1 is not served: device \"mlx5_0\" port 1"), "{lines}");
    gauges([0, 2]);
    assert_eq!(reload("node1 sim0 1 default\n"), (Some(0), String::new()));
    gauges([0, 0]);
}
