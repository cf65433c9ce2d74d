//! Programs for InfiniBand devices on a simulated fabric by `LD_PRELOAD`.
use acm_tests::{Binary, Fabric, Finished, Process, binary, preload, program, run, until};
use core::fmt::Write;
use ib_mad::{
    Mad, Method, MgmtClass, Wire, as_bytes,
    notice::ClassPortInfo,
    perf::{PerfCapability, PortCounters},
    umad::UmadHeader,
};
use ib_sim::client::{open_umad, register_umad_agent};
use std::{
    fs::{self, File},
    io::{Read, Write as _},
    os::fd::AsFd,
    path::Path,
    process::Command,
    thread,
};
use tempfile::TempDir;

/// Starts a fabric with the files of its devices.
fn fabric(folder: &TempDir, nodes: u32) -> Fabric {
    Fabric::serve(nodes, &["--tree", folder.path().join("tree").to_str().unwrap()])
}

/// Runs a program at the nodes `only`, or at all nodes.
fn at(fabric: &Fabric, only: &[&str], options: &[&str], command: &[&str]) -> Finished {
    let words = words(fabric, only, options, command);
    run(binary(Binary::IbSim), &words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Returns the arguments of `ib-sim` that run a program at nodes.
fn words(fabric: &Fabric, only: &[&str], options: &[&str], command: &[&str]) -> Vec<String> {
    let (socket, library) = (fabric.socket().to_str().unwrap(), preload());
    let mut words = vec!["run", "--socket", socket, "--preload", library.to_str().unwrap()];
    for node in only {
        words.extend(["--only", node]);
    }
    words.extend(options);
    words.push("--");
    words.extend(command);
    words.into_iter().map(str::to_owned).collect()
}

/// Runs a Debian program at node1 without namespaces and returns its output.
fn run_at_node1(fabric: &Fabric, package: &str, command: &[&str]) -> String {
    let (name, arguments) = command.split_first().unwrap();
    let path = program(name, package);
    let command = [&[path.to_str().unwrap()], arguments].concat();
    at(fabric, &["node1"], &["--no-namespaces"], &command).success()
}

/// True if a line consists of name and value, ignoring dots and white space.
fn has(text: &str, name: &str, value: &str) -> bool {
    let bare = |line: &str| line.trim().replace(['.', '\t', ' '], "");
    let expected = format!("{name}{value}").replace([' ', '.'], "");
    text.lines().any(|line| bare(line) == expected)
}

/// A test that fails kills `ib-sim run`, whose program must not run on.
#[test]
fn program_at_a_node_ends_with_ib_sim_run() {
    let folder = tempfile::tempdir().unwrap();
    let fabric = fabric(&folder, 1);
    let words = words(&fabric, &[], &["--no-namespaces"], &["sh", "-c", "echo pid $$ has started; exec sleep 600"]);
    let mut running = Process::start(Command::new(binary(Binary::IbSim)).args(&words));
    running.wait_for(" has started", 1);
    let pid = running.stdout().split(' ').nth(1).unwrap().to_owned();
    // A process that has ended has no command line.
    let command_line = || fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    assert!(!command_line().is_empty());
    drop(running);
    until("the end of the program", || command_line().is_empty().then_some(()));
}

#[test]
fn ibstat_shows_changes_of_the_port() {
    let folder = tempfile::tempdir().unwrap();
    let fabric = fabric(&folder, 2);
    let ibstat = || run_at_node1(&fabric, "infiniband-diags", &["ibstat"]);
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
fn ibv_devinfo_shows_the_device() {
    let folder = tempfile::tempdir().unwrap();
    let fabric = fabric(&folder, 2);
    fabric.control("gid node1 1 1 fe80::1234");
    let shown = run_at_node1(&fabric, "ibverbs-utils", &["ibv_devinfo", "-v"]);
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
fn smpquery_shows_ports() {
    let folder = tempfile::tempdir().unwrap();
    let fabric = fabric(&folder, 2);
    let smpquery = |arguments: &[&str]| run_at_node1(&fabric, "infiniband-diags", &[&["smpquery"], arguments].concat());
    let local = smpquery(&["-D", "nodeinfo", "0"]);
    assert!(has(&local, "Guid:", "0x0002c90300000010") && has(&local, "NodeType:", "Channel Adapter"), "{local}");
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
fn saquery_shows_paths_and_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let fabric = fabric(&folder, 3);
    let saquery = |arguments: &[&str]| run_at_node1(&fabric, "infiniband-diags", &[&["saquery"], arguments].concat());
    let path = saquery(&["PR", "--slid", "16", "--dlid", "18"]);
    for (name, value) in [("dlid", "18"), ("slid", "16"), ("pkey", "0xFFFF"), ("dgid", "fe80::2:c903:0:31")] {
        assert!(has(&path, name, value), "{name} {value} in {path}");
    }
    let every = saquery(&["PR"]);
    assert_eq!(every.matches("PathRecord dump").count(), 9, "{every}");
    let nodes = saquery(&["NR"]);
    assert_eq!(nodes.matches("NodeRecord dump").count(), 3, "{nodes}");
}

/// Writes options and addresses of C ibacm into the directory that becomes the node's /etc/rdma.
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

/// Needs root for namespaces, because both daemons have the same fixed paths.
#[test]
fn c_daemons_resolve_each_other() {
    let (ibacm, acme) = (program("ibacm", "ibacm"), program("ib_acme", "ibacm"));
    let folder = tempfile::tempdir().unwrap();
    let fabric = fabric(&folder, 2);
    let homes = folder.path().join("nodes");
    (1..=2).for_each(|node| write_ibacm_files(&homes.join(format!("node{node}")), node));
    // Each node ends its daemon after the other node has resolved it.
    let script = r#"
        "$0" -P & daemon=$!
        case $IB_SIM_NODE in node1) own=1 other=2;; *) own=2 other=1;; esac
        until [ -S /run/ibacm-unix.sock ]; do sleep 0.1; done
        until "$1" -f n -s node$own -d node$other -v; do sleep 0.1; done
        until "$1" -f i -s 10.77.0.$own -d 10.77.0.$other -v; do sleep 0.1; done
        : >"$2/done$own"
        until [ -e "$2/done$other" ]; do sleep 0.1; done
        kill $daemon; wait $daemon
        exit 0
    "#;
    let (ibacm, acme) = (ibacm.to_str().unwrap(), acme.to_str().unwrap());
    let folder = homes.to_str().unwrap();
    let done = at(&fabric, &[], &["--dir", folder], &["sh", "-c", script, ibacm, acme, folder]);
    let all = done.success();
    for lid in ["dlid: 16", "dlid: 17"] {
        assert!(all.matches(lid).count() >= 2, "{lid} in {all}");
    }
    assert!(all.contains("SA verification: success"), "{all}");
    assert!(fabric.statistic("sa_joins") >= 2);
}

/// Returns counters that all differ, except that QP1Dropped equals VL15Dropped, because perfquery prints VL15Dropped
/// for both (rdma-core 44).
fn counters() -> PortCounters {
    let bytes: [u8; size_of::<PortCounters>()] = core::array::from_fn(|at| u8::try_from(at * 5 + 3).unwrap());
    let counters = PortCounters::parse(&bytes).unwrap();
    PortCounters { port_select: 1, qp1_dropped: counters.vl15_dropped, ..*counters }
}

/// Serves performance management at node2 until the fabric ends.
fn serve_counters(fabric: &Fabric) {
    let mut umad = File::from(open_umad(fabric.socket(), "node2", 1).unwrap().0);
    register_umad_agent(umad.as_fd(), 0, MgmtClass::PERF, 1, [1 << Method::GET.get(), 0]).unwrap();
    // The fabric has registered the agent once it responds to the next command.
    fabric.control("stats");
    let waits = PerfCapability::XMIT_WAIT | PerfCapability::ALL_PORT_SELECT;
    let capabilities = ClassPortInfo { capability_mask: waits.into(), ..ClassPortInfo::default() };
    thread::spawn(move || {
        let mut frame = [0; 320];
        while umad.read(&mut frame).is_ok_and(|length| length == frame.len()) {
            let (header, mad) = UmadHeader::parse_prefix(&frame).unwrap();
            let (header, request) = (UmadHeader { timeout_ms: 0.into(), ..*header }, Mad::parse(mad).unwrap());
            let response =
                request.answer_with(&counters()).or_else(|_| request.answer_with_shared(&capabilities)).unwrap();
            umad.write_all(&[as_bytes(&header), as_bytes(&response)].concat()).unwrap();
        }
    });
}

#[test]
fn perfquery_of_the_book_equals_debians() {
    let folder = tempfile::tempdir().unwrap();
    let fabric = fabric(&folder, 2);
    serve_counters(&fabric);
    let theirs = run_at_node1(&fabric, "infiniband-diags", &["perfquery", "17", "1"]);
    let ours = at(&fabric, &["node1"], &["--no-namespaces"], &[env!("CARGO_BIN_EXE_book-perfquery"), "17", "1"]);
    assert_eq!(ours.success(), theirs);
    assert!(has(&theirs, "PortXmitWait:", &counters().port_xmit_wait.get().to_string()), "{theirs}");
    // No agent responds at node1.
    let alone = at(&fabric, &["node1"], &["--no-namespaces"], &[env!("CARGO_BIN_EXE_book-perfquery"), "16", "1"]);
    assert!(alone.code != Some(0) && alone.stderr.contains("NoResponse"), "{alone}");
}

#[test]
fn saquery_gets_paths_from_the_administrator_of_the_book() {
    let folder = tempfile::tempdir().unwrap();
    let fabric = fabric(&folder, 2);
    let command = [env!("CARGO_BIN_EXE_book-administrator"), "16", "17", "99"];
    let words = words(&fabric, &["node2"], &["--no-namespaces"], &command);
    let mut administrator = Process::start(Command::new(binary(Binary::IbSim)).args(words));
    administrator.wait_for("9 paths", 1);
    fabric.control("smlid node1 1 17");
    let saquery = |arguments: &[&str]| run_at_node1(&fabric, "infiniband-diags", &[&["saquery"], arguments].concat());
    let path = saquery(&["PR", "--slid", "16", "--dlid", "99"]);
    // The selector "exactly" is 2 in the upper two bits: 100 Gb/s and 2048 bytes.
    for (name, value) in [("dlid", "99"), ("slid", "16"), ("pkey", "0xFFFF"), ("mtu", "0x84"), ("rate", "0x90")] {
        assert!(has(&path, name, value), "{name} {value} in {path}");
    }
    for (arguments, count) in [(&["PR"][..], 9), (&["PR", "--slid", "17"], 3), (&["PR", "--dlid", "5"], 0)] {
        let output = saquery(arguments);
        assert_eq!(output.matches("PathRecord dump").count(), count, "{arguments:?}: {output}");
    }
    // The book's administrator does not serve node records.
    let saquery = program("saquery", "infiniband-diags");
    let nodes = at(&fabric, &["node1"], &["--no-namespaces"], &[saquery.to_str().unwrap(), "NR"]);
    assert!(nodes.code != Some(0), "{nodes}");
}
