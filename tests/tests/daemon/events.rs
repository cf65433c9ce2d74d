//! Asynchronous events of a port through device files: the daemon's log and its responses show each event.
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
            let acme = self.node.acme(&["-f", "n", "-s", "node1", "-d", "node2"]);
            (acme.finished.code == Some(0)).then_some(())
        });
    }
}

#[test]
fn port_that_is_down_at_the_start_is_logged_and_served_when_it_is_active() {
    let lab = Lab::new(1, &[]);
    lab.fabric.control("down node1 1");
    let node = lab.start_until(1, Kind::Rust, &[], "port 1 is down");
    lab.fabric.control("up node1 1");
    node.wait_for("join successful", 1);
}

#[test]
fn port_that_goes_down_and_up_rejoins() {
    let two = Two::start();
    two.lab.fabric.control("down node1 1");
    two.node.wait_for("is down", 1);
    two.lab.fabric.control("up node1 1");
    two.node.wait_for("join successful", 2);
    two.resolves();
}

#[test]
fn port_that_goes_down_and_up_at_once_rejoins() {
    let two = Two::start();
    // The daemon handles both events at once. The port is active then, but has lost its memberships.
    two.node.process.signal(Signal::SIGSTOP);
    two.lab.fabric.control("down node1 1");
    two.lab.fabric.control("up node1 1");
    two.node.process.signal(Signal::SIGCONT);
    two.node.wait_for("join successful", 2);
    two.resolves();
}

// docs/deviations.md: port-changes
#[test]
fn lid_change_is_served() {
    let two = Two::start();
    two.resolves();
    two.lab.fabric.control("lid node1 1 77");
    two.node.wait_for("is active, LID 77", 1);
    two.resolves();
    let path = two.node.acme(&["-f", "n", "-s", "node1", "-d", "node2"]).path();
    assert_eq!(path.slid.get(), 77);
}

#[test]
fn subnet_manager_change_causes_a_join() {
    let two = Two::start();
    two.lab.fabric.control("smlid node1 1 9");
    // The core logs the change and joins at the new subnet manager.
    two.node.wait_for("ibsim0 port 1 is active", 2);
    two.node.wait_for("join successful", 2);
}

// docs/deviations.md: port-changes
#[test]
fn pkey_change_opens_and_closes_endpoints() {
    let two = Two::start();
    two.lab.fabric.control("pkeys node1 1 8001,ffff");
    // `default` is the first entry of the table.
    two.node.wait_for("pkey 0xffff closed", 1);
    two.node.wait_for("pkey 0x8001 opened", 1);
}

// docs/deviations.md: port-changes
#[test]
fn gid_change_is_served() {
    let two = Two::start();
    two.resolves();
    two.lab.fabric.control("gid node1 1 0 fe80::77");
    two.node.wait_for("ibsim0 port 1 is active", 2);
    two.node.wait_for("join successful", 2);
    // An uncached address needs a multicast request from the new GID.
    until("node1 resolves 10.77.0.2", || {
        let acme = two.node.acme(&["-f", "i", "-s", "10.77.0.1", "-d", "10.77.0.2"]);
        (acme.finished.code == Some(0)).then_some(())
    });
    let path = two.node.acme(&["-f", "n", "-s", "node1", "-d", "node1"]).path();
    assert_eq!(path.sgid, "fe80::77".parse().unwrap());
}

#[test]
fn client_reregister_causes_a_join() {
    let two = Two::start();
    two.lab.fabric.control("rereg node1 1");
    two.node.wait_for("join successful", 2);
}

#[test]
fn subnet_manager_restart_is_followed() {
    let two = Two::start();
    two.lab.fabric.control("smrestart");
    until("both are in the group again", || {
        let groups = two.lab.fabric.groups();
        (groups.len() == 1 && groups[0].members.len() == 2).then_some(())
    });
    two.resolves();
}
