//! Providers as shared libraries: Debian's `libibacmp.so` in acm-mio beside C ibacm, unusable libraries, and libraries
//! that crash or hang.
use acm_tests::{Binary, Connection, Entry, Kind, Lab, LabNode, binary, program, request, run, until, write_script};
use nix::sys::signal::Signal;
use std::{fs, path::Path};
use tempfile::TempDir;

/// Starts acm-mio with C ibacm's provider for all subnets.
fn start(lab: &Lab, number: u32, options: &[&str]) -> LabNode {
    let provider = ["provider libibacmp.so default"];
    let node = lab.start(number, Kind::Rust, &[&provider, options].concat());
    assert!(node.log().contains("provider: ibacmp is /usr/lib/"), "{}", node.log());
    node
}

/// Waits until a node resolves another node by name.
fn wait_until_resolved(from: &LabNode, to: u32) {
    let (source, dest) = (format!("node{}", from.number), format!("node{to}"));
    until(&format!("{source} resolves {dest}"), || {
        let acme = from.acme(&["-f", "n", "-s", &source, "-d", &dest]);
        (acme.finished.code == Some(0)).then_some(())
    });
}

/// Resolves by each kind of address and in each direction between Debian's provider in acm-mio, C ibacm, and acm-mio's
/// provider.
fn resolve_in_each_direction(option: &str) {
    let lab = Lab::new(3, &[]);
    let all = [start(&lab, 1, &[option]), lab.start(2, Kind::C, &[option]), lab.start(3, Kind::Rust, &[option])];
    for from in &all {
        for to in all.iter().filter(|to| to.number != from.number) {
            from.resolves_every_way(&lab, to);
        }
    }
    // All nodes share one base group.
    let groups = lab.fabric.groups();
    assert!(groups.iter().all(|group| group.members.len() == 3), "{groups:?}");
    // The local name, and an unknown name.
    wait_until_resolved(&all[0], 1);
    let none = all[0].acme(&["-f", "n", "-s", "node1", "-d", "node9"]);
    assert_ne!(none.finished.code, Some(0), "{}", none.finished);
}

#[test]
fn debians_provider_resolves_with_route_prot_sa() {
    resolve_in_each_direction("route_prot sa");
}

#[test]
fn debians_provider_resolves_with_route_prot_acm() {
    resolve_in_each_direction("route_prot acm");
}

#[test]
fn debians_provider_has_endpoints_and_counters() {
    let lab = Lab::new(2, &[]);
    let (node, _other) = (start(&lab, 1, &[]), lab.start(2, Kind::C, &[]));
    let rows = node.acme(&["-e", "all"]).endpoints();
    let listed: Vec<_> = rows.iter().map(|row| (row.provider.as_str(), row.addresses.join(" "))).collect();
    assert_eq!(listed, [("ibacmp", "node1 10.77.0.1 fd00::1".to_owned())]);
    // The counters of its endpoint.
    let resolved = || node.acme(&["-P", "s", "-f", "n", "-s", "node1"]).counters()[0].get("Resolve Count");
    let before = resolved();
    wait_until_resolved(&node, 2);
    assert!(resolved() > before);
}

#[test]
fn debians_provider_queries_the_sa_for_a_client() {
    let lab = Lab::new(2, &[]);
    let (node, _other) = (start(&lab, 1, &[]), lab.start(2, Kind::C, &[]));
    wait_until_resolved(&node, 2);
    // The provider counts its queries. -v verifies the path, which is cached, by QUERY_SA.
    let queries = || node.acme(&["-P", "s", "-f", "n", "-s", "node1"]).counters()[0].get("Route Query Count");
    let before = queries();
    let verified = node.acme(&["-f", "n", "-s", "node1", "-d", "node2", "-v"]);
    assert!(verified.finished.stdout.contains("SA verification: success"), "{}", verified.finished);
    assert_eq!(queries(), before + 1);
}

#[test]
fn debians_provider_follows_port_changes() {
    let lab = Lab::new(2, &[]);
    let (node, _other) = (start(&lab, 1, &[]), lab.start(2, Kind::C, &[]));
    wait_until_resolved(&node, 2);
    lab.fabric.control("down node1 1");
    node.wait_for("is down", 1);
    node.wait_for("acmp_close_endpoint: ibsim0 1 pkey 0xffff", 1);
    lab.fabric.control("up node1 1");
    node.wait_for("acmp_open_endpoint: endpoint for pkey 0xffff already exists", 1);
    // As in C ibacm, the provider keeps its queue pair and joins again after a reregistration.
    lab.fabric.control("rereg node1 1");
    node.wait_for("join successful", 2);
    wait_until_resolved(&node, 2);
    lab.fabric.control("lid node1 1 77");
    node.wait_for("is active, LID 77", 1);
    // An uncached destination, because C ibacm's provider keeps cached paths.
    until("node1 resolves from its new LID", || {
        let acme = node.acme(&["-f", "i", "-s", "10.77.0.1", "-d", "10.77.0.2"]);
        (acme.finished.code == Some(0) && acme.path().slid.get() == 77).then_some(())
    });
}

/// There are two devices on two subnets. The library serves one subnet, acm-mio's provider the other.
#[test]
fn two_providers_serve_two_subnets() {
    let lab = Lab::with_nodes(&["node1", "node1:1", "node2", "node2:1"], &[]);
    for node in ["node1:1", "node2:1"] {
        lab.fabric.control(&format!("gid {node} 1 0 fec0::{}", node.replace("node", "").replace(':', "")));
    }
    let names = |number: u32| format!("a{number} ibsim0 1 default\nb{number} ibsim1 1 default\n");
    let lines = ["provider libibacmp.so default", "provider ibacmp 0xfec0000000000000"];
    let nodes = [1, 2].map(|number| {
        lab.write(number, "ibacm_addr.cfg", &names(number));
        lab.start(number, Kind::Rust, &lines)
    });
    for node in &nodes {
        node.wait_for("join successful", 2);
        // Both providers log.
        node.wait_for("provider: ibacmp: acmp_process_join_resp: join successful", 1);
    }
    for name in ["a", "b"] {
        let (source, dest) = (format!("{name}1"), format!("{name}2"));
        until(&format!("{source} resolves {dest}"), || {
            let acme = nodes[0].acme(&["-f", "n", "-s", &source, "-d", &dest]);
            (acme.finished.code == Some(0)).then_some(())
        });
    }
}

/// Compiles a test provider, `libtest.so`, into a directory.
fn test_library() -> TempDir {
    let libraries = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/acm-plugin/tests/c/provider.c");
    let library = libraries.path().join("libtest.so");
    let words = ["-shared", "-fPIC", "-pthread", "-o", library.to_str().unwrap(), source.to_str().unwrap()];
    let _ = run(program("cc", "gcc"), &words).success();
    libraries
}

/// Starts a node whose daemon has the test provider, which crashes or hangs on request.
fn with_test_library(lab: &Lab) -> (LabNode, TempDir) {
    with_test_library_in(lab, &binary(Binary::AcmMio))
}

fn with_test_library_in(lab: &Lab, daemon: &Path) -> (LabNode, TempDir) {
    let libraries = test_library();
    // The test provider joins no group, so the other endpoint's provider joins one.
    let lines =
        [format!("provider_lib_path {}", libraries.path().display()), "provider test 0xfec0000000000000".into()];
    lab.fabric.control("gid node1:1 1 0 fec0::11");
    lab.write(1, "ibacm_addr.cfg", "a1 ibsim0 1 default\nb1 ibsim1 1 default\n");
    let node = lab.start_build(1, daemon, &[&lines[0], &lines[1]]);
    node.wait_for("provider: test: add_address: b1 type 1 endpoint 1", 1);
    (node, libraries)
}

// docs/deviations.md: provider-crash
#[test]
fn crash_of_a_library_is_named_in_the_last_line() {
    let lab = Lab::with_nodes(&["node1", "node1:1"], &[]);
    let (mut node, _libraries) = with_test_library(&lab);
    let acme = node.acme(&["-f", "n", "-s", "b1", "-d", "crash"]);
    assert_ne!(acme.finished.code, Some(0), "{}", acme.finished);
    node.process.wait();
    let log = node.log();
    let last = log.lines().last().unwrap_or_default();
    let ends = last.starts_with("acm-mio: provider test (/") && last.ends_with("ends the daemon: SIGSEGV in resolve");
    assert!(ends, "{log}");
}

/// A script starts the daemon where `lo` has an address of IP over InfiniBand: 4 bytes, and the GID of the port.
#[test]
fn library_gets_the_gid_of_an_interface() {
    let lab = Lab::with_nodes(&["node1", "node1:1"], &[]);
    let folder = tempfile::tempdir().unwrap();
    let (script, unshare) = (folder.path().join("start"), program("unshare", "util-linux"));
    let daemon = binary(Binary::AcmMio);
    let address = "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:00:11";
    let net = "/sys/class/net";
    let make = format!("mount -t tmpfs none {net} && mkdir {net}/lo && echo {address} > {net}/lo/address");
    let words = format!("{} --user --map-root-user --mount /bin/sh -c", unshare.display());
    let text = format!("exec {words} '{make} && exec {} \"$@\"' sh \"$@\"", daemon.display());
    write_script(&script, &text);
    let (node, _libraries) = with_test_library_in(&lab, &script);
    let _ = node.acme(&["-f", "n", "-s", "b1", "-d", "helpers"]);
    node.wait_for("provider: test: resolve: lo 0 fe80::2:c903:0:11, none -1, path -1, null -1", 1);
}

/// The other subnet is served, and the shutdown does not wait.
#[test]
fn hanging_library_does_not_block_other_subnets() {
    let lab = Lab::with_nodes(&["node1", "node1:1"], &[]);
    let (mut node, _libraries) = with_test_library(&lab);
    let mut client = Connection::open(&node.socket());
    client.send(&request(1, &[Entry::name(Entry::SOURCE, "b1"), Entry::name(Entry::DEST, "hang")]));
    until("a1 resolves itself", || {
        let acme = node.acme(&["-f", "n", "-s", "a1", "-d", "a1"]);
        (acme.finished.code == Some(0)).then_some(())
    });
    node.process.signal(Signal::SIGTERM);
    node.process.wait();
    assert!(node.log().contains("shutting down"), "{}", node.log());
}

#[test]
fn at_most_16_libraries_are_loaded() {
    let (lab, libraries) = (Lab::new(1, &[]), test_library());
    let mut lines = vec![format!("provider_lib_path {}", libraries.path().display())];
    for number in 1..=17 {
        fs::copy(libraries.path().join("libtest.so"), libraries.path().join(format!("lib{number}.so"))).unwrap();
        lines.push(format!("provider lib{number}.so {number}"));
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let log = lab.start(1, Kind::Rust, &lines).log();
    assert_eq!(log.matches("provider: test is ").count(), 16, "{log}");
    assert_eq!(log.matches(": more than 16 libraries: its subnets are not served").count(), 1, "{log}");
    assert!(log.contains("provider lib17.so: more than 16"), "{log}");
}

#[test]
fn unusable_library_is_reported_and_the_daemon_serves() {
    let lab = Lab::new(1, &[]);
    let libraries = tempfile::tempdir().unwrap();
    fs::write(libraries.path().join("libdsap.so"), "no library").unwrap();
    let option = format!("provider_lib_path {}", libraries.path().display());
    let node = lab.start(
        1,
        Kind::Rust,
        &[&option, "provider dsap 0xfec0000000000000", "provider /none.so 0xfed0000000000000"],
    );
    let log = node.log();
    let refused =
        format!("config: provider library {}/libdsap.so: ", fs::canonicalize(libraries.path()).unwrap().display());
    assert!(log.contains(&refused), "{log}");
    assert!(log.contains("provider dsap: no library in "), "{log}");
    assert!(log.contains("config: provider library /none.so: No such file or directory"), "{log}");
    wait_until_resolved(&node, 1);
    let checked = lab.check(1, &[]);
    let text = checked.to_string();
    assert!(text.contains("provider dsap: no library in "), "{text}");
}
