//! `acmctl check`: it checks the files and the fabric that the daemon would use.
use acm_tests::{Binary, Fabric, Finished, Kind, Lab, Node, NodeBuilder, Process, binary};
use std::{fs, path::Path, process::Command};

fn check(builder: &NodeBuilder, dir: &Path) -> Finished {
    builder.check(dir)
}

/// True if a line begins with `start` and contains `end`.
fn has(finished: &Finished, start: &str, end: &str) -> bool {
    finished.stdout.lines().any(|line| line.starts_with(start) && line.contains(end))
}

#[test]
fn addresses_are_checked_on_the_given_fabric() {
    let dir = tempfile::tempdir().unwrap();
    let fabric = Fabric::serve(2, &[]);
    let node = Node::at(&fabric, 2)
        .option("support_ips_in_addr_cfg 0\numad_debug_level 2")
        .addresses("node2 sim0 1 default\nother sim0 1 8001\nnone sim1 1 default\n10.77.0.2 sim0 1 default\n");
    let checked = check(&node, dir.path());
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
        assert!(has(&checked, start, end), "{start}{end}: {checked}");
    }
    assert!(!checked.stdout.contains("/sys/class"), "without real devices: {checked}");
    assert_eq!(checked.code, Some(0), "{checked}");
    // The check has created no files.
    assert!(!dir.path().join("ibacm.pid").exists() && !dir.path().join("ibacm-unix.sock").exists());
}

#[test]
fn file_that_sighup_would_not_apply_has_an_exit_status() {
    let fabric = Fabric::serve(1, &[]);
    let mut node = Node::at(&fabric, 1).option("timeout 500\nretrys 1").join();
    let checked = check(&Node::at(&fabric, 1).option("timeout 500\nretrys 1"), node.dir());
    assert!(has(&checked, "FAIL ", "/opts: SIGHUP would not apply it: correct it"), "{checked}");
    assert!(!checked.stdout.contains("/addr: SIGHUP would"), "{checked}");
    let json = check(&Node::at(&fabric, 1).option("timeout 500\nretrys 1").argument("--json"), node.dir());
    let finding = "\"verdict\":\"reload\",\"what\":\"";
    assert!(has(&json, "{\"schema\":1,\"findings\":[", "/opts: SIGHUP would not apply it\""), "{json}");
    assert!(json.stdout.contains(finding) && json.stdout.ends_with("\"verdict\":\"reload\"}\n"), "{json}");
    assert_eq!(json.stdout.matches("\"what\":").count(), checked.stdout.lines().count(), "{json}");
    assert_eq!((json.code, checked.code), (Some(4), Some(4)), "{checked}");
    let quiet = check(&Node::at(&fabric, 1).option("timeout 500\nretrys 1").argument("--quiet"), node.dir());
    assert!(!has(&quiet, "ok ", "") && has(&quiet, "FAIL ", "SIGHUP"), "{quiet}");
    assert!(quiet.stderr.starts_with("acmctl: the daemon would serve, and a reload would fail: "), "{quiet}");
    node.process.signal(nix::sys::signal::Signal::SIGHUP);
    node.process.wait_for("/opts: not applied", 1);
    let checked = check(&Node::at(&fabric, 1).option("timeout 500"), node.dir());
    assert_eq!(checked.code, Some(0), "{checked}");
}

#[test]
fn check_beside_a_running_daemon_is_a_warning() {
    let fabric = Fabric::serve(1, &[]);
    let node = Node::at(&fabric, 1).join();
    let checked = check(&Node::at(&fabric, 1), node.dir());
    assert!(has(&checked, "ok node1: served at sim0 port 1", ""), "{checked}");
    assert!(has(&checked, &format!("warn process {} has ", node.process.id()), "/ibacm.pid: "), "{checked}");
    assert!(node.acme(&["-f", "n", "-s", "node1", "-d", "node1"]).finished.code == Some(0), "the daemon still serves");
}

#[test]
fn missing_fabric_is_a_failure() {
    let dir = tempfile::tempdir().unwrap();
    let checked = check(&Node::alone().argument("--fabric=sim:/none/fabric.sock"), dir.path());
    assert!(has(&checked, "FAIL simulated fabric at /none/fabric.sock: ", "correct --fabric"), "{checked}");
    assert_eq!(checked.code, Some(1), "{checked}");
}

#[test]
fn preload_files_are_checked() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("hosts"), "10.0.0.1 fe80::1\nnode9 fe80::2\n").unwrap();
    let node = Node::embedded().option(
        "addr_preload acm_hosts\naddr_data_file DIR/hosts\nroute_preload opensm_full_v1\nroute_data_file DIR/hosts",
    );
    let checked = check(&node, dir.path());
    assert!(has(&checked, "ok addr_data_file ", "/hosts: 2 addresses"), "{checked}");
    assert!(has(&checked, "FAIL route_data_file ", "it is a file of hosts"), "{checked}");
}

#[test]
fn unwritable_log_is_a_failure_for_a_daemon() {
    let dir = tempfile::tempdir().unwrap();
    let node = Node::embedded().option("log_file DIR/none/log");
    let checked = check(&node.clone().daemon(), dir.path());
    assert!(has(&checked, "FAIL log file ", "mkdir -p ") && checked.code == Some(1), "{checked}");
    let checked = check(&node, dir.path());
    assert!(has(&checked, "warn log file ", "mkdir -p ") && checked.code == Some(0), "{checked}");
}

#[test]
fn missing_named_file_is_a_failure() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(binary(Binary::AcmCtl));
    command.args(["check", "--fabric", "embedded", "-O", "/none/opts", "--run-dir"]).arg(dir.path().join("run"));
    let checked = Process::start(&mut command).wait();
    assert!(has(&checked, "FAIL option file /none/opts: there is none", "correct -O"), "{checked}");
    assert!(!checked.stdout.contains("no option file"), "reported once: {checked}");
    assert!(has(&checked, "ok run directory ", "/run is made at the start"), "{checked}");
    assert_eq!(checked.code, Some(1), "{checked}");
}

/// Covers modules, files, libibverbs, ports, and the addresses that the core would serve.
#[test]
fn devices_of_a_healthy_node_are_ok() {
    let lab = Lab::new(1, &[]);
    lab.write(1, "ibacm_addr.cfg", "node1 ibsim0 1 default\n");
    let checked = lab.check(1, &["--interfaces", "off"]);
    let port = lab.fabric.port(1);
    for (start, end) in [
        ("ok no option file /etc/rdma/ibacm_opts.cfg: defaults count", ""),
        ("ok address file /etc/rdma/ibacm_addr.cfg: 1 addresses", ""),
        ("ok /sys/class/infiniband_verbs", ""),
        ("ok ibsim0: libibverbs opens it", ""),
        (&format!("ok ibsim0 port 1: active, LID {}, SM LID ", port.lid), ""),
        ("ok /dev/infiniband/umad0 can be read and written", ""),
        ("ok CAP_NET_ADMIN", ""),
        ("ok addresses of interfaces are not taken", ""),
        ("ok node1: served at ibsim0 port 1, partition 0xffff", ""),
        ("ok addresses: 1 of 1 are served", ""),
    ] {
        assert!(has(&checked, start, end), "{start}{end}: {checked}");
    }
    assert!(has(&checked, "ok NETLINK_RDMA", "") || has(&checked, "warn the kernel's path requests", ""), "{checked}");
    assert!(!checked.stdout.contains("FAIL") && checked.code == Some(0), "{checked}");
    // The device still works: a daemon serves it.
    let node = lab.start(1, Kind::Rust, &[]);
    let beside = lab.check(1, &[]);
    assert!(has(&beside, &format!("warn process {} has /run/ibacm.pid", node.process.id()), ""), "{beside}");
    assert!(has(&beside, "warn no address on an IPoIB interface", ""), "{beside}");
}

#[test]
fn inactive_ports_are_warnings() {
    let lab = Lab::new(1, &["--ports", "2"]);
    assert_eq!(lab.fabric.control("down node1 2"), "ok\n");
    lab.write(1, "ibacm_addr.cfg", "one ibsim0 1 default\ntwo ibsim0 2 default\n");
    let checked = lab.check(1, &[]);
    for (start, end) in [
        ("ok ibsim0 port 1: active", ""),
        ("warn ibsim0 port 2: down: no link", ""),
        ("ok one: served at ibsim0 port 1", ""),
        ("warn /etc/rdma/ibacm_addr.cfg:2: two is not served: ibsim0 port 2 is not active: ", "subnet manager"),
        ("warn addresses: 1 of 2 are served", ""),
    ] {
        assert!(has(&checked, start, end), "{start}{end}: {checked}");
    }
    assert_eq!(checked.code, Some(0), "{checked}");
    assert_eq!(lab.fabric.control("init node1 1"), "ok\n");
    let checked = lab.check(1, &[]);
    assert!(has(&checked, "warn ibsim0 port 1: init: no subnet manager", ""), "{checked}");
    assert!(has(&checked, "FAIL no active InfiniBand port", "") && checked.code == Some(1), "{checked}");
    assert!(has(&checked, "warn addresses: 0 of 2 are served", ""), "{checked}");
}

#[test]
fn address_of_a_missing_device_is_a_warning() {
    let lab = Lab::new(1, &[]);
    lab.write(1, "ibacm_addr.cfg", "node1 ibsim0 1 default\nother mlx5_7 1 default\n");
    let checked = lab.check(1, &[]);
    let line = "warn /etc/rdma/ibacm_addr.cfg:2: other is not served: no port 1 of a device \"mlx5_7\": ";
    assert!(has(&checked, line, "ports here: ibsim0 port 1"), "{checked}");
    assert!(has(&checked, "warn addresses: 1 of 2 are served", "") && checked.code == Some(0), "{checked}");
    // A file that is for other nodes, or for another device.
    lab.write(1, "ibacm_addr.cfg", "node1 mlx5_7 1 default\nother ibsim0 1 0x8001\n");
    let checked = lab.check(1, &[]);
    assert!(has(&checked, "FAIL addresses: 0 of 2 are served", "") && checked.code == Some(1), "{checked}");
}

/// The check uses the port of the fabric that the daemon would create, for example to check a path dump.
#[test]
fn path_dump_is_checked_with_the_embedded_fabrics_port() {
    let node = Node::embedded().serve();
    let port = Fabric::at(&node.dir().join("fabric.sock")).port(1);
    let (guid, lid) = (port.gid.interface_id(), port.lid);
    let dir = tempfile::tempdir().unwrap();
    let dump = format!("Channel Adapter {guid}, base LID {lid}, \"node1\", port 1\n# LID\n0x4 : 0 : 4 : 3\n");
    fs::write(dir.path().join("dump"), dump).unwrap();
    let options = "route_preload opensm_full_v1\nroute_data_file DIR/dump";
    let checked = check(&Node::embedded().option(options), dir.path());
    assert!(has(&checked, "ok route_data_file ", &format!(" destinations of port {guid} with LID {lid}")), "{checked}");
    assert!(has(&checked, "ok node1: served at sim0 port 1, partition 0xffff", ""), "{checked}");
}
