//! Providers in C `ibacm`: ours, and those of `examples/provider-hosts`.
use acm_tests::{Kind, Lab, LabNode, Path, acmrs, provider_hosts};
use ib_mad::{Mtu, Rate};
use std::{fs, path::Path as File, process::Command};
use tempfile::TempDir;

/// The provider of `examples/provider-hosts/c`.
fn provider_hosts_in_c(to: &File) {
    let source = File::new(env!("CARGO_MANIFEST_DIR")).join("../examples/provider-hosts/c/hosts.c");
    let arguments = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-o"];
    let compiled = Command::new("cc").args(arguments).arg(to).arg(source).output().expect("cc: install gcc");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}

/// A folder of providers with this one, and the options for it.
fn folder(name: &str, library: impl FnOnce(&File)) -> (TempDir, [String; 2]) {
    let folder = tempfile::tempdir().unwrap();
    library(&folder.path().join(format!("lib{name}.so")));
    let options = [format!("provider_lib_path {}", folder.path().display()), format!("provider {name} default")];
    (folder, options)
}

/// Asks in each way; each answer leads from one port to the other.
fn every_way(lab: &Lab, from: &LabNode, to: u32) -> Vec<Path> {
    let (a, source, dest) = (from.number, lab.fabric.port(from.number), lab.fabric.port(to));
    let asked = [
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
    asked.iter().map(path).collect()
}

/// The example finds its paths in its file, and the daemon shows its name and its counters.
fn finds_paths_in_a_file(library: impl FnOnce(&File)) {
    let lab = Lab::new(2, &[]);
    let (folder, options) = folder("hosts", library);
    let (file, ports) = (folder.path().join("hosts.data"), [lab.fabric.port(1), lab.fabric.port(2)]);
    let lines = |number: usize| {
        let port = &ports[number - 1];
        ["node", "10.77.0.", "fd00::"].map(|start| format!("{start}{number} {} {}\n", port.gid, port.lid)).concat()
    };
    fs::write(&file, format!("# a comment\n\n{}{}", lines(1), lines(2))).unwrap();
    let place = format!("hosts_file {}", file.display());
    let options = [options[0].as_str(), options[1].as_str(), &place];
    let node = lab.start_until(1, Kind::C, &options, "6 addresses");
    let paths = every_way(&lab, &node, 2);
    assert!(paths.iter().all(|path| (path.mtu, path.rate, path.reversible) == (Mtu::B2048, Rate::GBPS_10, true)));
    let failed = node.acme(&["-f", "n", "-s", "node1", "-d", "nobody"]).failure();
    assert!(failed.ends_with("No data available"), "{failed}");
    let endpoints = node.acme(&["-e"]).endpoints();
    assert_eq!(endpoints.iter().map(|row| row.provider.as_str()).collect::<Vec<_>>(), ["hosts"]);
    assert_eq!(endpoints[0].addresses, ["node1", "10.77.0.1", "fd00::1"]);
    let own = &node.acme(&["-P", "1"]).counters()[0];
    assert_eq!((own.get("Error Count"), own.get("Resolve Count")), (1, 6));
    // The file is read anew when the port was down, and an address without a line is not found any more.
    fs::write(&file, lines(1)).unwrap();
    lab.fabric.control("down node1 1");
    lab.fabric.control("up node1 1");
    node.wait_for("3 addresses", 1);
    assert!(!node.acme(&["-f", "n", "-s", "node1", "-d", "node2"]).failure().is_empty());
}

#[test]
fn the_example_in_rust_finds_paths_in_a_file() {
    finds_paths_in_a_file(|to| {
        fs::copy(provider_hosts(), to).unwrap();
    });
}

#[test]
fn the_example_in_c_finds_paths_in_a_file() {
    finds_paths_in_a_file(provider_hosts_in_c);
}

/// A folder with our provider, as a node's options name it.
fn ours() -> (TempDir, [String; 2]) {
    folder("acmrs", |to| {
        fs::copy(acmrs(), to).unwrap();
    })
}

/// One C daemon with our provider, one with its own, and a daemon of ours: each finds each other one.
fn all_find_all(route_prot: &str) {
    let lab = Lab::new(3, &[]);
    let (_folder, options) = ours();
    let route_prot = format!("route_prot {route_prot}");
    let with_ours = [options[0].as_str(), options[1].as_str(), &route_prot];
    let nodes = [
        lab.start(1, Kind::C, &with_ours),
        lab.start(2, Kind::C, &[&route_prot]),
        lab.start(3, Kind::Rust, &[&route_prot]),
    ];
    for (from, to) in [(1, 2), (1, 3), (2, 1), (3, 1), (1, 1)] {
        every_way(&lab, &nodes[from - 1], u32::try_from(to).unwrap());
    }
    let endpoints = nodes[0].acme(&["-e"]).endpoints();
    assert_eq!(endpoints.iter().map(|row| row.provider.as_str()).collect::<Vec<_>>(), ["acmrs"]);
}

#[test]
fn all_find_all_with_routes_from_subnet_administration() {
    all_find_all("sa");
}

#[test]
fn all_find_all_with_routes_from_the_group() {
    all_find_all("acm");
}
