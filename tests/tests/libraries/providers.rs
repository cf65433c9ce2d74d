//! Providers as shared libraries: Debian's own `libibacmp.so` in our daemon, beside C ibacm; libraries that cannot be used,
//! and one that ends the daemon.
use acm_tests::{Connection, Entry, Kind, Lab, LabNode, program, request, run, until};
use nix::sys::signal::Signal;
use std::{fs, path::Path};
use tempfile::TempDir;

/// A daemon of ours in which C ibacm's provider serves every subnet.
fn start(lab: &Lab, number: u32, options: &[&str]) -> LabNode {
    let own = ["provider libibacmp.so default"];
    let node = lab.start(number, Kind::Rust, &[&own, options].concat());
    assert!(node.log().contains("provider: ibacmp is /usr/lib/"), "{}", node.log());
    node
}

/// Waits until node1 resolves node2 by name.
fn resolves(from: &LabNode, to: u32) {
    let (own, other) = (format!("node{}", from.number), format!("node{to}"));
    until(&format!("{own} resolves {other}"), || {
        let asked = from.acme(&["-f", "n", "-s", &own, "-d", &other]);
        (asked.finished.code == Some(0)).then_some(())
    });
}

/// Every way and every direction, between the library in our daemon, C ibacm, and our own provider.
fn every_direction(option: &str) {
    let lab = Lab::new(3, &[]);
    let all = [start(&lab, 1, &[option]), lab.start(2, Kind::C, &[option]), lab.start(3, Kind::Rust, &[option])];
    for from in &all {
        for to in all.iter().filter(|to| to.number != from.number) {
            from.resolves_every_way(&lab, to);
        }
    }
    // One base group, made by whoever came first and used by all.
    let groups = lab.fabric.groups();
    assert!(groups.iter().all(|group| group.members.len() == 3), "{groups:?}");
    // To itself, and what nobody has.
    resolves(&all[0], 1);
    let none = all[0].acme(&["-f", "n", "-s", "node1", "-d", "node9"]);
    assert_ne!(none.finished.code, Some(0), "{}", none.finished);
}

#[test]
fn debians_provider_resolves_with_routes_from_subnet_administration() {
    every_direction("route_prot sa");
}

#[test]
fn debians_provider_resolves_with_routes_from_the_group() {
    every_direction("route_prot acm");
}

#[test]
fn debians_provider_lists_its_endpoints_and_counts() {
    let lab = Lab::new(2, &[]);
    let (node, _other) = (start(&lab, 1, &[]), lab.start(2, Kind::C, &[]));
    let rows = node.acme(&["-e", "all"]).endpoints();
    let listed: Vec<_> = rows.iter().map(|row| (row.provider.as_str(), row.addresses.join(" "))).collect();
    assert_eq!(listed, [("ibacmp", "node1 10.77.0.1 fd00::1".to_owned())]);
    // Its own, of its endpoint.
    let resolved = || node.acme(&["-P", "s", "-f", "n", "-s", "node1"]).counters()[0].get("Resolve Count");
    let before = resolved();
    resolves(&node, 2);
    assert!(resolved() > before);
}

#[test]
fn debians_provider_follows_its_port() {
    let lab = Lab::new(2, &[]);
    let (node, _other) = (start(&lab, 1, &[]), lab.start(2, Kind::C, &[]));
    resolves(&node, 2);
    lab.fabric.control("down node1 1");
    node.wait_for("is down", 1);
    node.wait_for("acmp_close_endpoint: ibsim0 1 pkey 0xffff", 1);
    lab.fabric.control("up node1 1");
    node.wait_for("acmp_open_endpoint: endpoint for pkey 0xffff already exists", 1);
    // It keeps its queue pair, and joins again on the word of the subnet manager, as in C ibacm.
    lab.fabric.control("rereg node1 1");
    node.wait_for("join successful", 2);
    resolves(&node, 2);
    lab.fabric.control("lid node1 1 77");
    node.wait_for("is active, LID 77", 1);
    // Where it has been it knows already: C's provider keeps that.
    until("node1 answers from its new LID", || {
        let asked = node.acme(&["-f", "i", "-s", "10.77.0.1", "-d", "10.77.0.2"]);
        (asked.finished.code == Some(0) && asked.path().slid.get() == 77).then_some(())
    });
}

/// Two devices, each with a subnet of its own: the library has one, our own provider the other.
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
        // The library says its lines, ours its own.
        node.wait_for("provider: ibacmp: acmp_process_join_resp: join successful", 1);
    }
    for name in ["a", "b"] {
        let (own, other) = (format!("{name}1"), format!("{name}2"));
        until(&format!("{own} resolves {other}"), || {
            let asked = nodes[0].acme(&["-f", "n", "-s", &own, "-d", &other]);
            (asked.finished.code == Some(0)).then_some(())
        });
    }
}

/// A library of our own, `libtest.so`, in a directory.
fn own_library() -> TempDir {
    let libraries = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/acm-plugin/tests/c/provider.c");
    let library = libraries.path().join("libtest.so");
    let words = ["-shared", "-fPIC", "-pthread", "-o", library.to_str().unwrap(), source.to_str().unwrap()];
    let _ = run(program("cc", "gcc"), &words).success();
    libraries
}

/// A node whose daemon has a library of our own, which does what it is asked for.
fn with_own_library(lab: &Lab) -> (LabNode, TempDir) {
    let libraries = own_library();
    // C ibacm's provider joins a group, and this one has none: the other endpoint does.
    let lines =
        [format!("provider_lib_path {}", libraries.path().display()), "provider test 0xfec0000000000000".into()];
    lab.fabric.control("gid node1:1 1 0 fec0::11");
    lab.write(1, "ibacm_addr.cfg", "a1 ibsim0 1 default\nb1 ibsim1 1 default\n");
    let node = lab.start(1, Kind::Rust, &[&lines[0], &lines[1]]);
    node.wait_for("provider: test: add_address: b1 type 1 endpoint 1", 1);
    (node, libraries)
}

#[test]
fn a_library_that_crashes_ends_the_daemon_with_a_clear_last_line() {
    let lab = Lab::with_nodes(&["node1", "node1:1"], &[]);
    let (mut node, _libraries) = with_own_library(&lab);
    let asked = node.acme(&["-f", "n", "-s", "b1", "-d", "crash"]);
    assert_ne!(asked.finished.code, Some(0), "{}", asked.finished);
    node.process.wait();
    let log = node.log();
    let last = log.lines().last().unwrap_or_default();
    let ends = last.starts_with("acm-mio: provider test (/") && last.ends_with("ends the daemon: SIGSEGV in resolve");
    assert!(ends, "{log}");
}

/// The other subnet is served meanwhile, and the end waits for nobody.
#[test]
fn a_library_that_hangs_holds_up_nobody_else() {
    let lab = Lab::with_nodes(&["node1", "node1:1"], &[]);
    let (mut node, _libraries) = with_own_library(&lab);
    let mut client = Connection::open(&node.socket());
    client.send(&request(1, &[Entry::name(Entry::SOURCE, "b1"), Entry::name(Entry::DEST, "hang")]));
    until("a1 resolves itself", || {
        let asked = node.acme(&["-f", "n", "-s", "a1", "-d", "a1"]);
        (asked.finished.code == Some(0)).then_some(())
    });
    node.process.signal(Signal::SIGTERM);
    node.process.wait();
    assert!(node.log().contains("shutting down"), "{}", node.log());
}

#[test]
fn so_many_libraries_are_loaded_and_no_more() {
    let (lab, libraries) = (Lab::new(1, &[]), own_library());
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
fn a_library_that_cannot_be_used_is_refused_and_the_daemon_goes_on() {
    let lab = Lab::new(1, &[]);
    let libraries = tempfile::tempdir().unwrap();
    fs::write(libraries.path().join("libdsap.so"), "no library").unwrap();
    let own = format!("provider_lib_path {}", libraries.path().display());
    let node =
        lab.start(1, Kind::Rust, &[&own, "provider dsap 0xfec0000000000000", "provider /none.so 0xfed0000000000000"]);
    let log = node.log();
    let refused =
        format!("config: provider library {}/libdsap.so: ", fs::canonicalize(libraries.path()).unwrap().display());
    assert!(log.contains(&refused), "{log}");
    assert!(log.contains("provider dsap: no library in "), "{log}");
    assert!(log.contains("config: provider library /none.so: No such file or directory"), "{log}");
    resolves(&node, 1);
    let checked = lab.check(1, &[]);
    let said = format!("{checked}");
    assert!(said.contains("provider dsap: no library in "), "{said}");
}
