//! Routes and hosts from files: `ib_acme` gets paths to nodes without a daemon.
use acm_tests::{Acme, Fabric, Node, until};
use core::fmt::Write;
use nix::sys::signal::Signal;
use std::{fs, path::Path};
use tempfile::TempDir;

const OPTIONS: &str = "route_preload full_opensm_v1\nroute_data_file DIR/routes\n\
                       addr_preload acm_hosts\naddr_data_file DIR/hosts\nroute_timeout 1";

/// Returns the dump of a subnet of three nodes with this service level on all of node1's routes. Its white space is
/// irregular, and it has one wrong line.
fn dump(fabric: &Fabric, sl: u8, end: &str) -> String {
    let ports = [1, 2, 3].map(|number| fabric.port(number));
    let mut text = format!("# paths{end}{end}");
    for (port, number) in ports.iter().zip(1..) {
        let (guid, lid) = (port.gid.interface_id(), port.lid);
        let _ = write!(text, " \tchannel adapter   {guid} ,  base LID {lid},\"node{number} sim0\", port 1 {end}");
        let _ = write!(text, "# LID  : SL : MTU : RATE{end}");
        for to in &ports {
            // Lines of other nodes are not parsed.
            let sl = if number == 1 { sl.to_string() } else { "rubbish".into() };
            let _ = write!(text, "\t {:#06x}:{sl} :  4:\t16  {end}", to.lid.get());
        }
        let _ = write!(text, "0x0fff : UNREACHABLE{end}0x0ffe : 0 : 4{end}");
    }
    text
}

fn hosts(fabric: &Fabric) -> String {
    let gid = |number: u32| fabric.port(number).gid;
    format!("#\r\n\t node2   {}\r\n10.77.0.3\t{} # rack\r\nnode4 gid\r\nfd00::3 {}", gid(2), gid(3), gid(3))
}

fn put(dir: &Path, name: &str, text: &str) {
    fs::write(dir.join("new"), text).unwrap();
    fs::rename(dir.join("new"), dir.join(name)).unwrap();
}

/// Starts node 1 with both files. The other nodes have no daemon.
fn start(fabric: &Fabric) -> Node {
    let folder = TempDir::new().unwrap();
    put(folder.path(), "routes", &dump(fabric, 5, "\r\n"));
    put(folder.path(), "hosts", &hosts(fabric));
    let mut node = Node::at(fabric, 1).option(OPTIONS).spawn_in(folder);
    node.process.wait_for("route preload: loaded", 1);
    node.process.wait_for("addr preload: loaded", 1);
    node.process.wait_for("join successful", 1);
    node
}

fn resolve(node: &Node, kind: &str, dest: &str) -> Acme {
    let source = if kind == "n" { "node1" } else { "10.77.0.1" };
    node.acme(&["-f", kind, "-s", source, "-d", dest])
}

/// Waits until the path to node2 has this service level.
fn wait_for_sl(node: &Node, sl: u8) {
    until(&format!("service level {sl}"), || (resolve(node, "n", "node2").path().sl.get() == sl).then_some(()));
}

#[test]
fn preloaded_paths_need_no_requests() {
    let fabric = Fabric::serve(3, &[]);
    let node = start(&fabric);
    let (here, there) = (fabric.port(1), fabric.port(2));
    wait_for_sl(&node, 5);
    let path = resolve(&node, "n", "node2").path();
    assert_eq!((path.dgid, path.dlid, path.sgid, path.slid), (there.gid, there.lid, here.gid, here.lid));
    assert_eq!((path.mtu.get(), path.rate.get(), path.reversible), (4, 16, true));
    assert_eq!(resolve(&node, "i", "10.77.0.3").path().dlid, fabric.port(3).lid);
    let by_lid = node.acme(&["-f", "l", "-s", &here.lid.to_string(), "-d", &there.lid.to_string()]);
    assert_eq!(by_lid.path().sl.get(), 5);
    let log = node.log();
    assert!(!log.contains("requesting the location") && !log.contains("asking the SA"), "{log}");
    let dir = node.dir().display();
    for line in [
        format!("route preload: none loaded yet: {dir}/routes"),
        "route preload: loaded 3 destinations from 1 of 3 ports, 0 without a GID".into(),
        format!("{dir}/routes:9:16: expected :, but the line ends; the line is skipped"),
        "addr preload: loaded 3 addresses".into(),
        format!("{dir}/hosts:4:7: expected the GID of a port"),
    ] {
        assert!(log.contains(&line), "{line}: {log}");
    }
    node.process.signal(Signal::SIGUSR1);
    for line in ["preload: sections 1 destinations 3 ports 3 wrong 0", "preload: hosts 3 wrong 0"] {
        until(line, || node.log().contains(line).then_some(()));
    }
}

// docs/deviations.md: preload-lifetime, preload-lines
#[test]
fn sighup_reloads_tables_and_a_wrong_file_changes_nothing() {
    let fabric = Fabric::serve(3, &[]);
    let mut node = start(&fabric);
    wait_for_sl(&node, 5);
    put(node.dir(), "routes", &dump(&fabric, 6, "\n"));
    node.process.signal(Signal::SIGHUP);
    node.process.wait_for("route preload: loaded", 2);
    wait_for_sl(&node, 6);
    // SIGHUP also reloads an unchanged file.
    node.process.signal(Signal::SIGHUP);
    node.process.wait_for("route preload: loaded", 3);
    node.process.wait_for("addr preload: loaded", 3);
    put(node.dir(), "routes", "key = value\n");
    fs::remove_file(node.dir().join("hosts")).unwrap();
    node.process.signal(Signal::SIGHUP);
    node.process.wait_for("preload: the old one stays", 2);
    let dir = node.dir().to_str().unwrap();
    let status = || node.status();
    // More than two, if the daemon notices the new files before SIGHUP.
    until("each failed reading is counted", || {
        let lines = node.log().matches("preload: the old one stays").count();
        status().contains(&format!("preload_not_read: {lines}\n")).then_some(())
    });
    assert!(status().contains("preload_problems: 2\n"), "{}", status());
    let log = node.log();
    assert!(log.contains("routes: no line of it is right") && log.contains("hosts: No such file"), "{log}");
    wait_for_sl(&node, 6);
    assert!(!node.log().contains("requesting the location"));
    // A part of a file.
    for (name, text) in
        [("routes", dump(&fabric, 6, "\n").replace("0x0ffe : 0 : 4", "")), ("hosts", "node3 fe80::3\nbad\n".to_owned())]
    {
        put(node.dir(), name, &text);
    }
    let reload = node.ctl(&["reload"]);
    let skipped = format!("addr preload: {dir}/hosts: 1 lines are wrong and skipped\n");
    assert_eq!((reload.code, reload.stdout), (Some(0), skipped));
    assert!(status().contains("preload_problems: 1\n"), "{}", status());
}

#[test]
fn sighup_applies_new_file_names() {
    let fabric = Fabric::serve(3, &[]);
    let other = Node::at(&fabric, 2).join();
    let node = start(&fabric);
    wait_for_sl(&node, 5);
    put(node.dir(), "other", &dump(&fabric, 6, "\n"));
    let options = fs::read_to_string(node.dir().join("opts")).unwrap();
    let other_file = options.replace("/routes", "/other");
    let none = options.replace("full_opensm_v1", "none");
    for (text, sl) in [(&other_file, 6), (&none, 0), (&options, 5), (&other_file, 6)] {
        put(node.dir(), "opts", text);
        node.process.signal(Signal::SIGHUP);
        wait_for_sl(&node, sl);
    }
    other.process.signal(Signal::SIGTERM);
}

// docs/deviations.md: preload-lifetime
#[test]
fn replaced_file_is_reloaded_automatically() {
    let fabric = Fabric::serve(3, &[]);
    let node = start(&fabric);
    wait_for_sl(&node, 5);
    put(node.dir(), "routes", &dump(&fabric, 7, "\n"));
    wait_for_sl(&node, 7);
}

// docs/deviations.md: preload-lifetime
#[test]
fn new_lid_of_the_port_needs_a_new_dump() {
    let fabric = Fabric::serve(3, &[]);
    let mut node = start(&fabric);
    wait_for_sl(&node, 5);
    fabric.control("lid node1 1 77");
    node.process.wait_for("with LID 77; its routes come from elsewhere", 1);
    wait_for_sl(&node, 0);
    put(node.dir(), "routes", &dump(&fabric, 5, "\n"));
    node.process.signal(Signal::SIGHUP);
    node.process.wait_for("route preload: loaded", 2);
    until("a route of the new dump", || {
        let by_lid = node.acme(&["-f", "l", "-s", "77", "-d", &fabric.port(3).lid.to_string()]).path();
        (by_lid.slid.get() == 77 && by_lid.sl.get() == 5).then_some(())
    });
}
