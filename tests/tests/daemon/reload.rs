//! SIGHUP: files are read again, what changed is applied, what cannot be is said, and bad files change nothing.
use acm_tests::{Binary, Connection, Entry, Node, binary, run, until};
use acm_wire::client::ClientStatus;
use nix::sys::signal::Signal;
use std::fs;

const OPTIONS: &str = "support_ips_in_addr_cfg 1\nlog_file stderr\nlog_level 0\n";

fn resolve(client: &mut Connection, source: &str, dest: &str) -> ClientStatus {
    client.ask(1, &[Entry::name(Entry::SOURCE, source), Entry::name(Entry::DEST, dest)])
}

/// A daemon with these options.
fn node(more: &str) -> Node {
    let node = Node::embedded().options(&format!("{OPTIONS}{more}")).serve();
    until("its group", || (resolve(&mut node.connect(), "node1", "node1") == ClientStatus::SUCCESS).then_some(()));
    node
}

/// Writes other files and has them read.
fn reload(node: &mut Node, options: &str, addresses: &str) {
    let times = node.log().matches("files read again").count();
    fs::write(node.dir().join("opts"), format!("{OPTIONS}{options}")).unwrap();
    fs::write(node.dir().join("addr"), addresses).unwrap();
    node.process.signal(Signal::SIGHUP);
    node.process.wait_for("files read again", times + 1);
}

#[test]
fn addresses_come_and_go() {
    let mut node = node("");
    let mut client = node.connect();
    reload(&mut node, "", "node1 sim0 1 default\nother sim0 1 default\nthird sim0 1 default\n");
    assert_eq!(resolve(&mut client, "other", "third"), ClientStatus::SUCCESS);
    reload(&mut node, "", "other sim0 1 default\n");
    assert_eq!(resolve(&mut client, "other", "other"), ClientStatus::SUCCESS, "the endpoint stayed");
    assert_eq!(resolve(&mut client, "node1", "other"), ClientStatus::ESRCADDR);
    let log = node.log();
    assert!(log.contains("node1 is not served any more"), "{log}");
    assert_eq!(log.matches(" closed").count(), 0, "no endpoint was closed: {log}");
}

#[test]
fn time_outs_count_from_then_on() {
    let mut node = node("timeout 60000\nretries 9\n");
    let mut client = node.connect();
    reload(&mut node, "timeout 1\nretries 0\n", "node1 sim0 1 default\n");
    let log = node.log();
    assert!(log.contains("options: timeout 60000 -> timeout 1\n"), "{log}");
    assert!(log.contains("options: retries 9 -> retries 0\n"), "{log}");
    // Without the change it takes a minute, ten times, and the client does not wait for half of one.
    assert_eq!(resolve(&mut client, "node1", "nobody"), ClientStatus::ETIMEDOUT);
}

#[test]
fn the_log_is_more_or_less_and_elsewhere() {
    let mut node = node("");
    assert_eq!(node.connect().ask(1, &[]), ClientStatus::EDESTTYPE);
    assert!(!node.log().contains("failing request"));
    reload(&mut node, "log_level 1\n", "node1 sim0 1 default\n");
    assert_eq!(node.connect().ask(1, &[]), ClientStatus::EDESTTYPE);
    node.process.wait_for("failing request", 1);
    let elsewhere = node.dir().join("log");
    fs::write(node.dir().join("opts"), format!("log_file {}\n", elsewhere.display())).unwrap();
    node.process.signal(Signal::SIGHUP);
    until("the file", || fs::read_to_string(&elsewhere).ok()?.contains("files read again").then_some(()));
}

#[test]
fn what_needs_a_restart_is_said_until_then() {
    let mut node = node("");
    for times in 1..3 {
        reload(&mut node, "server_mode loop\nsend_depth 9\n", "node1 sim0 1 default\n");
        let log = node.log();
        let said = "options: server_mode: needs a restart; \"server_mode unix\" goes on, not \"server_mode loop\"";
        assert_eq!((log.matches(said).count(), log.matches("send_depth: needs a restart").count()), (times, times));
    }
    reload(&mut node, "", "node1 sim0 1 default\n");
    assert_eq!(node.log().matches("server_mode: needs a restart").count(), 2, "as it was");
    assert_eq!(resolve(&mut node.connect(), "node1", "node1"), ClientStatus::SUCCESS);
}

#[test]
fn bad_files_change_nothing() {
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

#[test]
fn another_providers_subnet() {
    let mut node = node("");
    let mut client = node.connect();
    reload(&mut node, "provider other default\n", "node1 sim0 1 default\n");
    let log = node.log();
    assert!(log.contains("provider other: needs a restart; its subnets are not served"), "{log}");
    assert!(log.contains("sim0 port 1: not served: no provider for subnet prefix 0xfe80000000000000"), "{log}");
    assert_eq!(resolve(&mut client, "node1", "node1"), ClientStatus::ESRCADDR);
    reload(&mut node, "provider other default\nprovider ibacmp 0xfe80000000000000\n", "node1 sim0 1 default\n");
    until("its group", || (resolve(&mut client, "node1", "node1") == ClientStatus::SUCCESS).then_some(()));
}

/// Its name is on the command line: that it is gone is somebody's mistake, and not a wish for defaults.
#[test]
fn a_named_file_that_is_gone_changes_nothing() {
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
    assert_eq!(resolve(&mut node.connect(), "node1", "node1"), ClientStatus::SUCCESS);
    let words = ["--status", "--run-dir", node.dir().to_str().unwrap()];
    let status = run(binary(Binary::AcmMio), &words).success();
    assert!(status.contains("\nfiles_not_applied: 2\n"), "{status}");
    reload(&mut node, "timeout 600\n", "node1 sim0 1 default\n");
    assert!(node.log().contains("timeout 500 -> timeout 600"), "the old one went on");
}

/// A file that has the name which the port has already changes nothing about it; nor does one that goes.
#[test]
fn the_nodes_own_name_stays_when_a_file_has_it() {
    let dir = tempfile::tempdir().unwrap();
    // Where ibacm has it: it need not be there.
    let file = dir.path().join("ibacm_addr.cfg");
    fs::write(&file, "other sim0 1 default\n").unwrap();
    let mut node = Node::alone().argument("--fabric=embedded").options(OPTIONS).own_etc_rdma().spawn_in(dir);
    until("the daemon's socket", || Connection::try_open(&node.socket()).ok());
    let mut client = node.connect();
    until("its group", || (resolve(&mut client, "other", "other") == ClientStatus::SUCCESS).then_some(()));
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
    assert_eq!(resolve(&mut client, "node1-1", "node1"), ClientStatus::ESRCADDR, "the node's other name");
    remove(&mut node, 3);
    assert_eq!(resolve(&mut client, "node1", "node1-1"), ClientStatus::SUCCESS);
    assert_eq!(resolve(&mut client, "other", "node1"), ClientStatus::ESRCADDR);
    let log = node.log();
    let removed = |name: &str| log.matches(&format!("Removed {name} from")).count();
    assert_eq!((removed("node1"), removed("node1-1"), removed("other")), (0, 1, 1), "{log}");
    assert_eq!(log.matches(" closed").count(), 0, "{log}");
}
