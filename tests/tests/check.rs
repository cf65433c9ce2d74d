//! `acm-mio --check` looks at what the daemon would use: with these files, and on this fabric.
use acm_tests::{Binary, Fabric, Finished, Node, NodeBuilder, Process, binary};
use std::{fs, path::Path, process::Command};

fn check(builder: &NodeBuilder, dir: &Path) -> Finished {
    Process::start(&mut builder.clone().argument("--check").command(dir)).wait()
}

/// Whether there is a line that begins and ends like this.
fn has(finished: &Finished, start: &str, end: &str) -> bool {
    finished.stdout.lines().any(|line| line.starts_with(start) && line.contains(end))
}

#[test]
fn addresses_on_the_fabric_that_was_given() {
    let dir = tempfile::tempdir().unwrap();
    let fabric = Fabric::serve(2, &[]);
    let node = Node::at(&fabric, 2)
        .option("support_ips_in_addr_cfg 0\numad_debug_level 2")
        .addresses("node2 sim0 1 default\nother sim0 1 8001\nnone sim1 1 default\n10.77.0.2 sim0 1 default\n");
    let said = check(&node, dir.path());
    for (start, end) in [
        ("ok option file ", "/opts: "),
        ("ok address file ", "/addr: 3 addresses"),
        ("ok fabric at ", ": this is node2"),
        ("ok node2: served at sim0 port 1, partition 0xffff", ""),
        ("warn other is not served: partition 0x8001 is not in the table of sim0 port 1: ", "correct"),
        (
            "warn ",
            "/addr:3: none is not served: no port 1 of a device \"sim1\": correct the line; ports here: sim0 port 1",
        ),
        ("warn ", "/addr:4: 10.77.0.2 is skipped: "),
        ("warn addresses: 1 of 3 are served: ", ""),
        ("warn umad_debug_level 2 does nothing: there is no libibumad: ", ""),
    ] {
        assert!(has(&said, start, end), "{start}{end}: {said}");
    }
    assert!(!said.stdout.contains("/sys/class"), "real devices do not matter here: {said}");
    assert_eq!(said.code, Some(0), "{said}");
    // It has changed nothing.
    assert!(!dir.path().join("ibacm.pid").exists() && !dir.path().join("ibacm-unix.sock").exists());
}

#[test]
fn beside_a_daemon_that_runs() {
    let fabric = Fabric::serve(1, &[]);
    let node = Node::at(&fabric, 1).join();
    let said = check(&Node::at(&fabric, 1), node.dir());
    assert!(has(&said, "ok node1: served at sim0 port 1", ""), "{said}");
    assert!(has(&said, &format!("warn process {} has ", node.process.id()), "/ibacm.pid: "), "{said}");
    assert!(node.acme(&["-f", "n", "-s", "node1", "-d", "node1"]).finished.code == Some(0), "it goes on");
}

#[test]
fn a_fabric_that_is_not_there() {
    let dir = tempfile::tempdir().unwrap();
    let said = check(&Node::alone().argument("--fabric=sim:/none/fabric.sock"), dir.path());
    assert!(has(&said, "FAIL simulated fabric at /none/fabric.sock: ", "correct --fabric"), "{said}");
    assert_eq!(said.code, Some(1), "{said}");
}

#[test]
fn preload_files_of_a_node() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("hosts"), "10.0.0.1 fe80::1\nnode9 fe80::2\n").unwrap();
    let node = Node::embedded().option(
        "addr_preload acm_hosts\naddr_data_file DIR/hosts\nroute_preload opensm_full_v1\nroute_data_file DIR/hosts",
    );
    let said = check(&node, dir.path());
    assert!(has(&said, "ok addr_data_file ", "/hosts: 2 addresses"), "{said}");
    assert!(has(&said, "warn route_data_file ", "it is a file of hosts"), "{said}");
}

#[test]
fn a_log_that_a_daemon_cannot_open() {
    let dir = tempfile::tempdir().unwrap();
    let node = Node::embedded().option("log_file DIR/none/log");
    let said = check(&node.clone().daemon(), dir.path());
    assert!(has(&said, "FAIL log file ", "mkdir -p ") && said.code == Some(1), "{said}");
    let said = check(&node, dir.path());
    assert!(has(&said, "warn log file ", "mkdir -p ") && said.code == Some(0), "{said}");
}

#[test]
fn a_file_that_is_named_and_not_there() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(binary(Binary::AcmMio));
    command.args(["--check", "--fabric", "embedded", "-O", "/none/opts", "--run-dir"]).arg(dir.path().join("run"));
    let said = Process::start(&mut command).wait();
    assert!(has(&said, "FAIL option file /none/opts: there is none", "correct -O"), "{said}");
    assert!(has(&said, "ok run directory ", "/run is made at the start"), "{said}");
    assert_eq!(said.code, Some(1), "{said}");
}
