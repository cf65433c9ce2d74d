//! The functions for the fabric, at a node with simulated device files.
use super::installed::{file, quiet, shared};
use acm_tests::{Binary, Fabric, OpenSm, Process, binary, preload};
use std::process::Command;

const PARTITIONS: &str = "Default=0x7fff,ipoib:ALL=full;\nStorage=0x1:ALL=full;\n";
const POLICY: &str = "
qos-ulps
    default : 0
    any, service-id 0x00000000010603DB : 3
end-qos-ulps
";

/// Runs the C program at node1, and returns its output.
fn at_node1(fabric: &Fabric, arguments: &[&str]) -> String {
    let mut command = Command::new(binary(Binary::IbSim));
    command.args(["run", "--no-namespaces", "--only", "node1", "--preload"]).arg(preload());
    command.arg("--socket").arg(fabric.socket()).arg("--").arg(shared("fabric")).args(arguments);
    quiet(Process::start(command.env("LD_LIBRARY_PATH", file("lib"))).wait())
}

#[test]
fn groups_are_created_listed_and_left() {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    let fabric = Fabric::serve(2, &["--pkeys", "ffff,8001", "--tree", tree.to_str().unwrap()]);
    at_node1(&fabric, &["groups"]);
}

#[test]
fn path_of_a_service_becomes_an_address_handle() {
    let folder = tempfile::tempdir().unwrap();
    let opensm = OpenSm::start_with_policy(PARTITIONS, POLICY);
    let fabric = opensm.fabric_with(&["--tree", folder.path().join("tree").to_str().unwrap()]);
    let dest = fabric.port(2);
    for (service, sl) in [("lustre", "3"), ("tcp:5000", "0")] {
        let output = at_node1(&fabric, &["path", &dest.gid.to_string(), service, "0x8001", sl]);
        assert_eq!(output, format!("P_Key index 1, LID {}, path bits 0\n", dest.lid));
    }
}

#[test]
fn address_handle_has_the_gid_and_the_lid_of_the_source() {
    let folder = tempfile::tempdir().unwrap();
    let fabric = Fabric::serve(1, &["--lmc", "2", "--tree", folder.path().join("tree").to_str().unwrap()]);
    fabric.control("gid node1 1 2 fe80::7");
    let slid = (fabric.port(1).lid.get() + 3).to_string();
    assert_eq!(at_node1(&fabric, &["handle", "fe80::7", &slid]), "GID index 2, path bits 3, global 1\n");
}
