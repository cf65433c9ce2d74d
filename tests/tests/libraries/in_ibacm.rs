//! Providers in C `ibacm`: this project's, and those of `examples/provider-hosts`, which are also tested in acm-mio.
use acm_tests::{
    Connection, Entry, Kind, Lab, LabNode, Path, Received, acmrs, program, provider_hosts, request, until,
};
use ib_mad::{Mtu, Rate};
use std::{fs, path::Path as File, process::Command};
use tempfile::TempDir;

/// Flag of an entry that requests the path from subnet administration.
const QUERY_SA: u32 = 1 << 31;

/// Compiles the provider of `examples/provider-hosts/c`.
fn provider_hosts_in_c(to: &File) {
    let source = File::new(env!("CARGO_MANIFEST_DIR")).join("../examples/provider-hosts/c/hosts.c");
    let arguments = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-o"];
    let compiled = Command::new("cc").args(arguments).arg(to).arg(source).output().expect("cc: install gcc");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}

/// Returns a directory with a provider, and the options that load it.
fn folder(name: &str, put: impl FnOnce(&File)) -> (TempDir, [String; 2]) {
    let folder = tempfile::tempdir().unwrap();
    put(&folder.path().join(format!("lib{name}.so")));
    let options = [format!("provider_lib_path {}", folder.path().display()), format!("provider {name} default")];
    (folder, options)
}

/// Resolves a node by each kind of address and checks that each path connects both ports.
fn resolve_each_way(lab: &Lab, from: &LabNode, to: u32) -> Vec<Path> {
    let (a, source, dest) = (from.number, lab.fabric.port(from.number), lab.fabric.port(to));
    let arguments = [
        format!("-f n -s node{a} -d NODE{to}"),
        format!("-f i -s 10.77.0.{a} -d 10.77.0.{to}"),
        format!("-f i -s fd00::{a} -d fd00::{to}"),
        format!("-f l -s {} -d {}", source.lid, dest.lid),
        format!("-f g -s {} -d {}", source.gid, dest.gid),
    ];
    let path = |arguments: &String| {
        let path = from.acme(&arguments.split(' ').collect::<Vec<_>>()).path();
        assert_eq!((path.slid, path.dlid), (source.lid, dest.lid), "{arguments}");
        assert_eq!((path.sgid, path.dgid), (source.gid, dest.gid), "{arguments}");
        path
    };
    arguments.iter().map(path).collect()
}

/// Checks that the example finds its paths in its file, and that either daemon shows the provider's name and counters.
fn finds_paths_in_a_file(put: impl Fn(&File)) {
    finds_paths_in(Kind::C, &put);
    finds_paths_in(Kind::Rust, &put);
}

fn finds_paths_in(kind: Kind, put: impl FnOnce(&File)) {
    let lab = Lab::new(2, &[]);
    let (folder, options) = folder("hosts", put);
    let (file, ports) = (folder.path().join("hosts.data"), [lab.fabric.port(1), lab.fabric.port(2)]);
    let lines = |number: usize| {
        let port = &ports[number - 1];
        ["node", "10.77.0.", "fd00::"].map(|start| format!("{start}{number} {} {}\n", port.gid, port.lid)).concat()
    };
    fs::write(&file, format!("# a comment\n\n{}{}", lines(1), lines(2))).unwrap();
    let option = format!("hosts_file {}", file.display());
    let options = [options[0].as_str(), options[1].as_str(), &option];
    let node = lab.start_until(1, kind, &options, "6 addresses");
    let paths = resolve_each_way(&lab, &node, 2);
    assert!(paths.iter().all(|path| (path.mtu, path.rate, path.reversible) == (Mtu::B2048, Rate::GBPS_10, true)));
    let failed = node.acme(&["-f", "n", "-s", "node1", "-d", "nobody"]).failure();
    assert!(failed.ends_with("No data available"), "{failed}");
    let endpoints = node.acme(&["-e"]).endpoints();
    assert_eq!(endpoints.iter().map(|row| row.provider.as_str()).collect::<Vec<_>>(), ["hosts"]);
    assert_eq!(endpoints[0].addresses, ["node1", "10.77.0.1", "fd00::1"]);
    let counters = &node.acme(&["-P", "1"]).counters()[0];
    assert_eq!((counters.get("Error Count"), counters.get("Resolve Count")), (1, 6));
    // The provider reloads the file after the port was down, and no longer finds addresses without a line.
    fs::write(&file, lines(1)).unwrap();
    lab.fabric.control("down node1 1");
    until("the end of the port", || {
        let to_itself = node.acme(&["-f", "n", "-s", "node1", "-d", "node1"]);
        (to_itself.finished.code != Some(0)).then_some(())
    });
    lab.fabric.control("up node1 1");
    node.wait_for("3 addresses", 1);
    assert!(!node.acme(&["-f", "n", "-s", "node1", "-d", "node2"]).failure().is_empty());
}

#[test]
fn rust_example_finds_paths_in_a_file() {
    finds_paths_in_a_file(|to| {
        fs::copy(provider_hosts(), to).unwrap();
    });
}

#[test]
fn c_example_finds_paths_in_a_file() {
    finds_paths_in_a_file(provider_hosts_in_c);
}

/// Returns a directory with this project's provider, and the options that load it.
fn acmrs_options() -> (TempDir, [String; 2]) {
    folder("acmrs", |to| {
        fs::copy(acmrs(), to).unwrap();
    })
}

/// Checks that three nodes find each other: C ibacm with this project's provider, C ibacm with its provider, and
/// acm-mio.
fn all_nodes_find_each_other(route_prot: &str) {
    let lab = Lab::new(3, &[]);
    let (_folder, options) = acmrs_options();
    let route_prot = format!("route_prot {route_prot}");
    let with_acmrs = [options[0].as_str(), options[1].as_str(), &route_prot];
    let nodes = [
        lab.start(1, Kind::C, &with_acmrs),
        lab.start(2, Kind::C, &[&route_prot]),
        lab.start(3, Kind::Rust, &[&route_prot]),
    ];
    for (from, to) in [(1, 2), (1, 3), (2, 1), (3, 1), (1, 1)] {
        resolve_each_way(&lab, &nodes[from - 1], u32::try_from(to).unwrap());
    }
    let endpoints = nodes[0].acme(&["-e"]).endpoints();
    assert_eq!(endpoints.iter().map(|row| row.provider.as_str()).collect::<Vec<_>>(), ["acmrs"]);
}

#[test]
fn nodes_find_each_other_with_route_prot_sa() {
    all_nodes_find_each_other("sa");
}

#[test]
fn nodes_find_each_other_with_route_prot_acm() {
    all_nodes_find_each_other("acm");
}

#[test]
fn acm_mio_loads_the_provider() {
    let lab = Lab::new(2, &[]);
    let (_folder, options) = acmrs_options();
    let nodes = [lab.start(1, Kind::Rust, &[options[0].as_str(), options[1].as_str()]), lab.start(2, Kind::C, &[])];
    resolve_each_way(&lab, &nodes[0], 2);
    resolve_each_way(&lab, &nodes[1], 1);
    assert_eq!(nodes[0].acme(&["-e"]).endpoints()[0].provider, "acmrs");
}

/// Returns the responses of C ibacm with these options to requests of each kind.
fn responses(lab: &Lab, options: &[&str]) -> Vec<(&'static str, Received)> {
    const PATH: u16 = 0x10;
    let node = lab.start(1, Kind::C, options);
    let dest = lab.fabric.port(2);
    let (lid, gid) = (dest.lid.get().to_be_bytes(), dest.gid.get());
    let path = |flags, at: usize, bytes: &[u8]| {
        let mut record = [0; 64];
        record[at..at + bytes.len()].copy_from_slice(bytes);
        vec![Entry::new(flags, PATH, &record)]
    };
    let names = |to: &str, flags| vec![Entry::name(Entry::SOURCE, "node1"), Entry::name(Entry::DEST | flags, to)];
    // On a busy machine, the first lookup may fail.
    until("the path to node2", || {
        (node.acme(&["-f", "n", "-s", "node1", "-d", "node2"]).finished.code == Some(0)).then_some(())
    });
    let mut connection = Connection::open(&node.socket());
    let requests = [
        ("a name", names("node2", 0)),
        ("a name that is known", names("NODE2", 0)),
        ("the destination first", names("node2", 0).into_iter().rev().collect()),
        ("its own name", names("node1", 0)),
        ("nobody, without delay", names("nobody", Entry::NO_DELAY)),
        ("nobody", names("nobody", 0)),
        ("a LID", path(0, 40, &lid)),
        ("a GID", path(0, 8, &gid)),
        ("a LID, of subnet administration", path(QUERY_SA, 40, &lid)),
        ("a LID that is not there", path(0, 40, &[0x12, 0x34])),
        ("a LID that is not there, of subnet administration", path(QUERY_SA, 40, &[0x12, 0x34])),
        ("a LID that is not there, without delay", path(Entry::NO_DELAY, 40, &[0x12, 0x35])),
    ];
    let tids = 0x0102_0304_0506_0700_u64..;
    let send = |((what, entries), tid): ((&'static str, Vec<Entry>), u64)| {
        connection.send(&request(tid, &entries));
        (what, connection.receive())
    };
    requests.into_iter().zip(tids).map(send).collect()
}

#[test]
fn responses_equal_those_of_ibacms_provider() {
    let lab = Lab::new(2, &["--subnet-timeout", "8"]);
    let _other = lab.start(2, Kind::C, &[]);
    let (_folder, options) = acmrs_options();
    let common = ["timeout 200", "retries 1"];
    let theirs = responses(&lab, &common);
    let ours = responses(&lab, &[options[0].as_str(), options[1].as_str(), common[0], common[1]]);
    let differ: Vec<_> = theirs.iter().zip(&ours).filter(|(theirs, ours)| theirs != ours).collect();
    let names: Vec<_> = differ.iter().map(|(theirs, _)| theirs.0).collect();
    // As in acm-mio, the loopback path has exact MTU and rate (docs/deviations.md). If subnet administration has no
    // path, the response has the client's record and not the record of the error datagram.
    assert_eq!(names, ["its own name", "a LID that is not there, of subnet administration"], "{differ:#?}");
}

/// Returns the output of `ib_acme` for a path without a source, which the daemon then selects by its routing table.
fn without_source(lab: &Lab, provider: &str) -> String {
    let text = format!("log_file /run/log\nlog_level 1\nsupport_ips_in_addr_cfg 1\n{provider}");
    lab.write(1, "ibacm_opts.cfg", &text);
    lab.write(1, "ibacm_addr.cfg", "10.77.0.1 ibsim0 1 default\n");
    let (ibacm, ib_acme) = (program("ibacm", "ibacm"), program("ib_acme", "ibacm"));
    let script = format!(
        "ip link set lo up && ip address add 10.77.0.1/24 dev lo && {} -P & daemon=$!
         touch /run/output
         until grep -q 'Path information' /run/output; do sleep 0.1
             {} -S /run/ibacm-unix.sock -f i -d 10.77.0.2 > /run/output
         done
         kill $daemon; cat /run/output",
        ibacm.display(),
        ib_acme.display()
    );
    let ended = lab.run(1, File::new("/bin/sh"), &["-c", &script]);
    assert!(ended.stdout.contains("Path information"), "{ended}");
    ended.stdout
}

#[test]
fn selected_source_is_in_the_response() {
    let lab = Lab::new(2, &[]);
    let _other = lab.start(2, Kind::C, &[]);
    let (_folder, options) = acmrs_options();
    let theirs = without_source(&lab, "");
    assert_eq!(without_source(&lab, &options.map(|line| line + "\n").concat()), theirs);
    assert!(theirs.contains("Source: 10.77.0.1\n"), "{theirs}");
}

/// The port goes down and up, gets a new LID, and the subnet manager requests reregistration.
#[test]
fn port_changes_are_followed() {
    let lab = Lab::new(2, &[]);
    let (_folder, options) = acmrs_options();
    let options = [options[0].as_str(), options[1].as_str(), "timeout 200"];
    let nodes = [lab.start(1, Kind::C, &options), lab.start(2, Kind::Rust, &["timeout 200"])];
    let joined = |times| nodes[0].wait_for("join successful", times);
    // C ibacm's provider would send responses to the old LID without end.
    let wait_for_path = |what: &str| {
        let (source, dest) = (lab.fabric.port(1), lab.fabric.port(2));
        let found = until(what, || {
            let acme = nodes[0].acme(&["-f", "n", "-s", "node1", "-d", "node2"]);
            (acme.finished.code == Some(0)).then(|| acme.path())
        });
        assert_eq!((found.slid, found.dlid), (source.lid, dest.lid), "{what}");
    };
    wait_for_path("at first");
    lab.fabric.control("down node1 1");
    nodes[0].wait_for("acmrs: ibsim0 port 1 is down", 1);
    assert!(!nodes[0].acme(&["-f", "n", "-s", "node1", "-d", "node2"]).failure().is_empty());
    lab.fabric.control("up node1 1");
    joined(2);
    wait_for_path("up again");
    lab.fabric.control("lid node1 1 77");
    joined(3);
    wait_for_path("with another LID");
    lab.fabric.control("rereg node1 1");
    joined(4);
    wait_for_path("after a reregistration");
}

/// ibacm shows the counters of each endpoint.
#[test]
fn counters_are_listed() {
    let lab = Lab::new(1, &["--subnet-timeout", "8"]);
    let (_folder, options) = acmrs_options();
    let node = lab.start(1, Kind::C, &[options[0].as_str(), options[1].as_str(), "timeout 100", "retries 0"]);
    assert!(!node.acme(&["-f", "n", "-s", "node1", "-d", "nobody"]).failure().is_empty());
    assert_eq!(node.acme(&["-f", "n", "-s", "node1", "-d", "node1"]).path().slid, lab.fabric.port(1).lid);
    let counters = &node.acme(&["-P", "1"]).counters()[0];
    let names =
        ["Error Count", "Resolve Count", "No Data", "Addr Query Count", "Addr Cache Count", "Route Query Count"];
    assert_eq!(names.map(|name| counters.get(name)), [1, 2, 0, 1, 0, 0], "{counters:?}");
    assert_eq!(counters.get("Route Cache Count"), 1, "{counters:?}");
}

/// With C ibacm's provider, a client that disconnects at once ends the daemon by SIGPIPE, unless systemd started it.
#[test]
fn clients_that_close_before_their_responses_do_not_end_ibacm() {
    let lab = Lab::new(1, &[]);
    let (_folder, options) = acmrs_options();
    let node = lab.start(1, Kind::C, &[options[0].as_str(), options[1].as_str()]);
    for tid in 0..200 {
        let mut client = Connection::open(&node.socket());
        client.send(&request(tid, &[Entry::name(Entry::SOURCE, "node1"), Entry::name(Entry::DEST, "node1")]));
    }
    assert_eq!(node.acme(&["-f", "n", "-s", "node1", "-d", "node1"]).path().slid, lab.fabric.port(1).lid);
}

/// If ibacm cannot listen, it unloads its providers while their threads run. This project's provider prevents that.
#[test]
fn provider_is_not_unloaded_if_ibacm_cannot_listen() {
    let lab = Lab::new(1, &[]);
    let (folder, options) = acmrs_options();
    // A provider without threads is unloaded.
    provider_hosts_in_c(&folder.path().join("libhosts.so"));
    lab.write(1, "ibacm_opts.cfg", &format!("log_file stdout\nlog_level 1\n{}\n{}\n", options[0], options[1]));
    lab.write(1, "ibacm_addr.cfg", "node1 ibsim0 1 default\n");
    let ibacm = program("ibacm", "ibacm");
    // The loader logs what it unloads.
    let script = format!(
        "mkdir -p /run/ibacm-unix.sock/in_the_way; LD_DEBUG=files LD_DEBUG_OUTPUT=/run/loader {} -P; status=$?; \
         cat /run/loader.*; exit $status",
        ibacm.display()
    );
    let ended = lab.run(1, File::new("/bin/sh"), &["-c", &script]);
    assert_eq!(ended.code, Some(0), "{ended}");
    assert!(ended.stdout.contains("server listen failed") && ended.stdout.contains("Provider acmrs"), "{ended}");
    let unloaded = |name: &str| ended.stdout.contains(&format!("{name} [0];  destroying link map"));
    assert_eq!(["libhosts.so", "libacmrs.so"].map(unloaded), [true, false], "{ended}");
}
