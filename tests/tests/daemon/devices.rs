//! Devices that go away, come back, are replaced or cannot be read: the daemon follows without a restart.
use acm_tests::{Kind, Lab, LabNode, until};
use nix::sys::signal::Signal;
use std::fs;

struct Two {
    lab: Lab,
    node: LabNode,
    other: LabNode,
}

impl Two {
    fn start() -> Self {
        let lab = Lab::new(2, &[]);
        let (node, other) = (lab.start(1, Kind::Rust, &[]), lab.start(2, Kind::Rust, &[]));
        let two = Self { lab, node, other };
        two.resolve();
        two
    }

    /// Waits until both resolve each other.
    fn resolve(&self) {
        for (node, other) in [(&self.node, 2), (&self.other, 1)] {
            let (own, other) = (format!("node{}", node.number), format!("node{other}"));
            until(&format!("{own} resolves {other}"), || {
                let asked = node.acme(&["-f", "n", "-s", &own, "-d", &other]);
                (asked.finished.code == Some(0)).then_some(())
            });
        }
    }

    /// Waits until each gets an address of the other that it does not know. The other one first: node1 only receives
    /// until its queue pair works.
    fn resolve_anew(&self, addresses: &str) {
        for (node, other) in [(&self.other, 1), (&self.node, 2)] {
            let (own, other) = (format!("{addresses}{}", node.number), format!("{addresses}{other}"));
            until(&format!("{own} resolves {other}"), || {
                let asked = node.acme(&["-f", "i", "-s", &own, "-d", &other]);
                (asked.finished.code == Some(0)).then_some(())
            });
        }
    }

    fn control(&self, command: &str) -> String {
        self.lab.fabric.control(command)
    }

    /// Whether node1 can ask anything.
    fn is_served(&self) -> bool {
        self.node.acme(&["-f", "n", "-s", "node1", "-d", "node2"]).finished.code == Some(0)
    }

    /// The device's counters, which node1's daemon says when it ends.
    fn counter(&mut self, name: &str) -> u64 {
        if self.node.process.is_running() {
            self.node.process.signal(Signal::SIGTERM);
            self.node.process.wait();
        }
        let log = self.node.log();
        let start = format!(" stats: {name}: ");
        log.lines().find_map(|line| line.split_once(&start)?.1.parse().ok()).unwrap_or(0)
    }
}

#[test]
fn a_device_that_goes_and_comes_back_is_served_again() {
    let mut two = Two::start();
    for round in 1..=3 {
        two.lab.fabric.control("device remove node1");
        two.node.wait_for("port 0 is down", round);
        assert!(!two.is_served());
        two.lab.fabric.control("device add node1");
        two.node.wait_for("join successful", round + 1);
        two.resolve();
    }
    assert_eq!(two.counter("devices_closed"), 3);
}

/// The lines of a device that is away count as they are when it is back.
#[test]
fn the_address_file_changes_while_its_device_is_away() {
    let two = Two::start();
    let name = |name: &str| two.node.acme(&["-f", "n", "-s", name, "-d", "node2"]).finished.code == Some(0);
    let ip = || two.node.acme(&["-f", "i", "-s", "10.77.0.1", "-d", "10.77.0.2"]).finished.code == Some(0);
    assert!(!name("fresh") && ip());
    two.lab.fabric.control("device remove node1");
    two.node.wait_for("port 0 is down", 1);
    two.node.write_addresses("node1 ibsim0 1 default\nfresh ibsim0 1 default\n");
    two.node.process.signal(Signal::SIGHUP);
    two.node.wait_for("files read again", 1);
    two.lab.fabric.control("device add node1");
    two.node.wait_for("join successful", 2);
    two.resolve();
    assert!(name("fresh") && !ip(), "{}", two.node.log());
}

/// A node that is in its group and hears nothing of it asks to hear it until it does.
#[test]
fn a_queue_pair_that_cannot_be_attached_is_attached_later() {
    let lab = Lab::new(2, &[]);
    let full = lab.file(1, "no_room_for_groups");
    fs::write(&full, "").unwrap();
    let node = lab.start(1, Kind::Rust, &["timeout 100"]);
    let other = lab.start(2, Kind::Rust, &["timeout 100", "negative_timeout 1"]);
    node.wait_for("unable to attach to multicast group", 1);
    let mut two = Two { lab, node, other };
    let heard = |two: &Two| two.other.acme(&["-f", "n", "-s", "node2", "-d", "node1"]).finished.code == Some(0);
    assert!(!heard(&two), "nobody hears");
    fs::remove_file(full).unwrap();
    two.node.wait_for("after all", 1);
    assert!(heard(&two), "{}", two.node.log());
    assert!(two.counter("attach_failures") > 0);
}

#[test]
fn another_device_of_the_same_name_is_another_device() {
    let two = Two::start();
    // Both at once for the daemon, which finds the same name at its next look.
    two.node.process.signal(Signal::SIGSTOP);
    two.lab.fabric.control("device remove node1");
    two.lab.fabric.control("device add node1 0x0002c90300007770");
    two.node.process.signal(Signal::SIGCONT);
    two.node.wait_for("join successful", 2);
    two.resolve();
    // What was known began at the GID that is gone.
    let path = two.node.acme(&["-f", "n", "-s", "node1", "-d", "node2"]).path();
    assert_eq!(path.sgid, "fe80::2:c903:0:7771".parse().unwrap());
}

#[test]
fn a_umad_device_that_comes_later_brings_its_port() {
    let mut two = Two::start();
    two.lab.fabric.control("umad remove node1 1");
    two.node.wait_for("port 0 is down", 1);
    two.node.wait_for("no umad", 1);
    two.lab.fabric.control("umad add node1 1");
    two.node.wait_for("join successful", 2);
    two.resolve();
    assert!(two.counter("open_failures") > 0);
}

#[test]
fn a_device_that_cannot_be_read_is_not_gone() {
    let mut two = Two::start();
    let guid = two.lab.file(1, "sys/class/infiniband/ibsim0/node_guid");
    let good = fs::read(&guid).unwrap();
    fs::write(&guid, "?\n").unwrap();
    // An event of the port, then a message of the kernel: each makes the daemon read.
    two.lab.fabric.control("smlid node1 1 9");
    two.node.wait_for("is not a GUID", 1);
    two.lab.fabric.control("umad add node1 1");
    two.lab.fabric.control("smlid node1 1 1");
    two.resolve();
    assert!(!two.node.log().contains("port 0 is down"), "{}", two.node.log());
    fs::write(&guid, good).unwrap();
    two.lab.fabric.control("lid node1 1 77");
    two.node.wait_for("is active, LID 77", 1);
    two.resolve();
    assert_eq!(two.counter("devices_closed"), 0);
}

#[test]
fn a_burst_of_events_is_one_look_at_the_device() {
    let mut two = Two::start();
    // While the daemon stands still, so that it finds all of them at once.
    two.node.process.signal(Signal::SIGSTOP);
    for lid in 100..150 {
        two.lab.fabric.control(&format!("lid node1 1 {lid}"));
    }
    two.node.process.signal(Signal::SIGCONT);
    two.node.wait_for("is active, LID 149", 1);
    two.resolve();
    let reads = two.counter("device_reads");
    // A look for each turn of 32 events, and one for what came while it was looked.
    assert!((1..=4).contains(&reads), "{reads} reads for 50 events");
}

#[test]
fn a_device_that_failed_and_is_there_is_opened_again() {
    let mut two = Two::start();
    for round in 1..=2 {
        assert_eq!(two.control("device fail node1"), "ok\n");
        two.node.wait_for("port 0 is down", round);
        two.node.wait_for("join successful", round + 1);
        two.resolve_anew(["", "10.77.0.", "fd00::"][round]);
    }
    assert_eq!((two.counter("devices_closed"), two.counter("scans")), (2, 1));
}

#[test]
fn a_queue_pair_that_failed_goes_on() {
    let mut two = Two::start();
    for (round, addresses) in ["10.77.0.", "fd00::"].into_iter().enumerate() {
        assert_eq!(two.control("qp fail node1 1"), "1\n", "round {round}");
        two.resolve_anew(addresses);
    }
    assert_eq!((two.counter("queue_pair_errors"), two.counter("queue_pairs_replaced")), (2, 0));
}

#[test]
fn a_queue_pair_without_completions_is_replaced() {
    let mut two = Two::start();
    for (round, addresses) in ["10.77.0.", "fd00::"].into_iter().enumerate() {
        assert_eq!(two.control("cq fail node1 1"), "1\n", "round {round}");
        two.resolve_anew(addresses);
    }
    assert_eq!((two.counter("queue_pairs_replaced"), two.counter("devices_closed")), (2, 0));
}

#[test]
fn what_others_say_of_devices_is_not_heard() {
    let mut two = Two::start();
    // While the daemon stands still, so that it finds all of it before the port's event.
    two.node.process.signal(Signal::SIGSTOP);
    for sender in [1, 4711] {
        assert_eq!(two.control(&format!("uevent forge node1 {sender}")), "ok\n");
    }
    two.control("lid node1 1 77");
    two.node.process.signal(Signal::SIGCONT);
    two.node.wait_for("is active, LID 77", 1);
    two.resolve_anew("10.77.0.");
    assert_eq!(two.counter("scans"), 1, "that of the start");
}

#[test]
fn what_was_lost_of_the_kernel_is_looked_for() {
    let lab = Lab::with_nodes(&["node1", "node1:1", "node2"], &[]);
    let node = lab.start(1, Kind::Rust, &[]);
    node.wait_for("ibsim1 port 1 is active", 1);
    lab.fabric.control("device remove node1:1");
    node.wait_for("port 1 is down", 1);
    // By the time that it answers it has read what the kernel said.
    let _ = node.acme(&["-f", "n", "-s", "node1", "-d", "node1"]).path();
    for command in ["uevent lose node1", "device add node1:1", "uevent resume node1"] {
        assert_eq!(lab.fabric.control(command), "ok\n", "{command}");
    }
    node.wait_for("ibsim1 port 1 is active", 2);
    assert!(!node.log().contains("port 0 is down") && !node.log().contains("ibsim0 port 1 is down"));
}

#[test]
fn a_device_that_comes_after_the_start_has_its_addresses() {
    let lab = Lab::with_nodes(&["node1", "node1:1", "node2"], &[]);
    lab.fabric.control("device remove node1:1");
    lab.write(1, "ibacm_addr.cfg", "node1 ibsim0 1 default\nlate1 ibsim1 1 default\n");
    let (node, _other) = (lab.start(1, Kind::Rust, &[]), lab.start(2, Kind::Rust, &[]));
    assert_eq!(lab.fabric.control("device add node1:1"), "ok\n");
    node.wait_for("join successful", 2);
    let path = node.acme(&["-f", "n", "-s", "late1", "-d", "node2"]).path();
    assert_eq!(path.sgid, lab.fabric.port_of("node1:1", 1).gid);
}
