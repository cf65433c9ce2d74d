//! Programs that look for InfiniBand devices, on a simulated fabric by `LD_PRELOAD`.
use acm_tests::{Binary, Fabric, Finished, binary, preload, program, run};
use core::fmt::Write;
use std::{fs, path::Path};
use tempfile::TempDir;

/// A fabric with its files.
fn fabric(folder: &TempDir, nodes: u32) -> Fabric {
    Fabric::serve(nodes, &["--tree", folder.path().join("tree").to_str().unwrap()])
}

/// Runs a program at nodes: each that is named, or all.
fn at(fabric: &Fabric, only: &[&str], options: &[&str], command: &[&str]) -> Finished {
    let (socket, library) = (fabric.socket().to_str().unwrap(), preload());
    let mut words = vec!["run", "--socket", socket, "--preload", library.to_str().unwrap()];
    for node in only {
        words.extend(["--only", node]);
    }
    words.extend(options);
    words.push("--");
    words.extend(command);
    run(binary(Binary::IbSim), &words)
}

/// What a Debian program says at node1, without namespaces.
fn said(fabric: &Fabric, package: &str, command: &[&str]) -> String {
    let (name, arguments) = command.split_first().unwrap();
    let path = program(name, package);
    let command = [&[path.to_str().unwrap()], arguments].concat();
    at(fabric, &["node1"], &["--no-namespaces"], &command).success()
}

/// Whether a line has all these words behind each other, however far apart.
fn has(text: &str, name: &str, value: &str) -> bool {
    let bare = |line: &str| line.trim().replace(['.', '\t', ' '], "");
    let wanted = format!("{name}{value}").replace([' ', '.'], "");
    text.lines().any(|line| bare(line) == wanted)
}

#[test]
fn ibstat_follows_the_port() {
    let folder = tempfile::tempdir().unwrap();
    let fabric = fabric(&folder, 2);
    let ibstat = || said(&fabric, "infiniband-diags", &["ibstat"]);
    let first = ibstat();
    for (name, value) in [("State:", "Active"), ("Base lid:", "16"), ("SM lid:", "1"), ("Rate:", "100")] {
        assert!(has(&first, name, value), "{name} {value} in {first}");
    }
    for (command, name, value) in [
        ("lid node1 1 77", "Base lid:", "77"),
        ("smlid node1 1 9", "SM lid:", "9"),
        ("down node1 1", "State:", "Down"),
        ("up node1 1", "State:", "Active"),
    ] {
        fabric.control(command);
        let now = ibstat();
        assert!(has(&now, name, value), "{command}: {now}");
    }
}

#[test]
fn verbs_show_the_device() {
    let folder = tempfile::tempdir().unwrap();
    let fabric = fabric(&folder, 2);
    fabric.control("gid node1 1 1 fe80::1234");
    let shown = said(&fabric, "ibverbs-utils", &["ibv_devinfo", "-v"]);
    for (name, value) in [
        ("hca_id:", "ibsim0"),
        ("node_guid:", "0002:c903:0000:0010"),
        ("state:", "PORT_ACTIVE (4)"),
        ("active_mtu:", "4096 (5)"),
        ("port_lid:", "16"),
        ("sm_lid:", "1"),
        ("GID[  0]:", "fe80:0000:0000:0000:0002:c903:0000:0011"),
        ("GID[  1]:", "fe80:0000:0000:0000:0000:0000:0000:1234"),
    ] {
        assert!(has(&shown, name, value), "{name} {value} in {shown}");
    }
}

#[test]
fn smpquery_sees_ports() {
    let folder = tempfile::tempdir().unwrap();
    let fabric = fabric(&folder, 2);
    let smpquery = |arguments: &[&str]| said(&fabric, "infiniband-diags", &[&["smpquery"], arguments].concat());
    let own = smpquery(&["-D", "nodeinfo", "0"]);
    assert!(has(&own, "Guid:", "0x0002c90300000010") && has(&own, "NodeType:", "Channel Adapter"), "{own}");
    let other = smpquery(&["portinfo", "17"]);
    for (name, value) in [("Lid:", "17"), ("SMLid:", "1"), ("LinkState:", "Active"), ("LinkWidthActive:", "4X")] {
        assert!(has(&other, name, value), "{name} {value} in {other}");
    }
    assert!(smpquery(&["nodedesc", "17"]).contains("node2 ibsim0"));
    assert!(smpquery(&["pkeys", "17"]).contains("0: 0xffff 0x0000"));
    let guids = smpquery(&["guidinfo", "17"]);
    assert!(guids.contains("0x0002c90300000021"), "{guids}");
}

#[test]
fn saquery_sees_paths_and_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let fabric = fabric(&folder, 3);
    let saquery = |arguments: &[&str]| said(&fabric, "infiniband-diags", &[&["saquery"], arguments].concat());
    let path = saquery(&["PR", "--slid", "16", "--dlid", "18"]);
    for (name, value) in [("dlid", "18"), ("slid", "16"), ("pkey", "0xFFFF"), ("dgid", "fe80::2:c903:0:31")] {
        assert!(has(&path, name, value), "{name} {value} in {path}");
    }
    let every = saquery(&["PR"]);
    assert_eq!(every.matches("PathRecord dump").count(), 9, "{every}");
    let nodes = saquery(&["NR"]);
    assert_eq!(nodes.matches("NodeRecord dump").count(), 3, "{nodes}");
}

/// Options and addresses of C ibacm at a node, in the folder that becomes its /etc/rdma.
fn write_ibacm_files(home: &Path, node: u32) {
    fs::create_dir_all(home.join("etc-rdma")).unwrap();
    let mut options = String::new();
    writeln!(options, "log_file {}", home.join("ibacm.log").display()).unwrap();
    options.push_str("log_level 2\nlock_file /run/ibacm.pid\nserver_mode unix\nacme_plus_kernel_only no\n");
    options.push_str("support_ips_in_addr_cfg 1\ntimeout 500\n");
    fs::write(home.join("etc-rdma/ibacm_opts.cfg"), options).unwrap();
    let names = format!("node{node} ibsim0 1 default\n10.77.0.{node} ibsim0 1 default\n");
    fs::write(home.join("etc-rdma/ibacm_addr.cfg"), names).unwrap();
}

/// Needs root, for namespaces: both daemons have the same files otherwise.
#[test]
fn c_daemons_resolve_each_other() {
    let (ibacm, acme) = (program("ibacm", "ibacm"), program("ib_acme", "ibacm"));
    let folder = tempfile::tempdir().unwrap();
    let fabric = fabric(&folder, 2);
    let homes = folder.path().join("nodes");
    (1..=2).for_each(|node| write_ibacm_files(&homes.join(format!("node{node}")), node));
    // Each waits for the other's answers before it ends its own daemon.
    let script = r#"
        "$0" -P & daemon=$!
        case $IB_SIM_NODE in node1) own=1 other=2;; *) own=2 other=1;; esac
        for try in $(seq 100); do [ -S /run/ibacm-unix.sock ] && break; sleep 0.1; done
        failed=1
        for try in $(seq 20); do
            "$1" -f n -s node$own -d node$other -v && "$1" -f i -s 10.77.0.$own -d 10.77.0.$other -v && failed=0 && break
            sleep 0.5
        done
        : >"$2/done$own"
        for try in $(seq 200); do [ -e "$2/done$other" ] && break; sleep 0.1; done
        kill $daemon; wait $daemon
        exit $failed
    "#;
    let (ibacm, acme) = (ibacm.to_str().unwrap(), acme.to_str().unwrap());
    let place = homes.to_str().unwrap();
    let done = at(&fabric, &[], &["--dir", place], &["sh", "-c", script, ibacm, acme, place]);
    let all = done.success();
    for lid in ["dlid: 16", "dlid: 17"] {
        assert!(all.matches(lid).count() >= 2, "{lid} in {all}");
    }
    assert!(all.contains("SA verification: success"), "{all}");
    assert!(fabric.statistic("sa_joins") >= 2);
}
