//! Async events of a port reach the core through device files: each is seen in the daemon's log and in what it serves.
use acm_tests::{Kind, Lab, LabNode, until};
use nix::sys::signal::Signal;

struct Two {
    lab: Lab,
    node: LabNode,
    _other: LabNode,
}

impl Two {
    fn start() -> Self {
        let lab = Lab::new(2, &[]);
        let (node, other) = (lab.start(1, Kind::Rust, &[]), lab.start(2, Kind::Rust, &[]));
        Self { lab, node, _other: other }
    }

    /// Waits until node1 resolves node2 again.
    fn resolves(&self) {
        until("node1 resolves node2", || {
            let asked = self.node.acme(&["-f", "n", "-s", "node1", "-d", "node2"]);
            (asked.finished.code == Some(0)).then_some(())
        });
    }
}

#[test]
fn port_down_and_up() {
    let two = Two::start();
    two.lab.fabric.control("down node1 1");
    two.node.wait_for("is down", 1);
    two.lab.fabric.control("up node1 1");
    two.node.wait_for("join successful", 2);
    two.resolves();
}

#[test]
fn port_down_and_up_at_once() {
    let two = Two::start();
    // Both wait for the daemon: when it looks the port is up, and the subnet manager has forgotten it all the same.
    two.node.process.signal(Signal::SIGSTOP);
    two.lab.fabric.control("down node1 1");
    two.lab.fabric.control("up node1 1");
    two.node.process.signal(Signal::SIGCONT);
    two.node.wait_for("join successful", 2);
    two.resolves();
}

#[test]
fn lid_change() {
    let two = Two::start();
    two.resolves();
    two.lab.fabric.control("lid node1 1 77");
    two.node.wait_for("is active, LID 77", 1);
    two.resolves();
    let path = two.node.acme(&["-f", "n", "-s", "node1", "-d", "node2"]).path();
    assert_eq!(path.slid.get(), 77);
}

#[test]
fn subnet_manager_change() {
    let two = Two::start();
    two.lab.fabric.control("smlid node1 1 9");
    // The core says that the port moved, and joins at the new place.
    two.node.wait_for("ibsim0 port 1 is active", 2);
    two.node.wait_for("join successful", 2);
}

#[test]
fn pkey_change() {
    let two = Two::start();
    two.lab.fabric.control("pkeys node1 1 8001,ffff");
    // `default` is the table's first now.
    two.node.wait_for("pkey 0xffff closed", 1);
    two.node.wait_for("pkey 0x8001 opened", 1);
}

#[test]
fn gid_change() {
    let two = Two::start();
    two.resolves();
    two.lab.fabric.control("gid node1 1 0 fe80::77");
    two.node.wait_for("ibsim0 port 1 is active", 2);
    two.node.wait_for("join successful", 2);
    // Another address: the group is asked, from the GID that is there now.
    until("node1 resolves 10.77.0.2", || {
        let asked = two.node.acme(&["-f", "i", "-s", "10.77.0.1", "-d", "10.77.0.2"]);
        (asked.finished.code == Some(0)).then_some(())
    });
    let path = two.node.acme(&["-f", "n", "-s", "node1", "-d", "node1"]).path();
    assert_eq!(path.sgid, "fe80::77".parse().unwrap());
}

#[test]
fn client_reregister() {
    let two = Two::start();
    two.lab.fabric.control("rereg node1 1");
    two.node.wait_for("join successful", 2);
}

#[test]
fn restarted_subnet_manager() {
    let two = Two::start();
    two.lab.fabric.control("smrestart");
    until("both are in the group again", || {
        let groups = two.lab.fabric.groups();
        (groups.len() == 1 && groups[0].members.len() == 2).then_some(())
    });
    two.resolves();
}
