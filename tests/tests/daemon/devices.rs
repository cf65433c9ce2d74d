//! Devices that are removed, return, are replaced or cannot be read: the daemon follows without a restart.
use acm_tests::{Binary, Kind, Lab, LabNode, binary, until};
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

    /// Waits until both nodes resolve each other.
    fn resolve(&self) {
        for (node, other) in [(&self.node, 2), (&self.other, 1)] {
            let (source, dest) = (format!("node{}", node.number), format!("node{other}"));
            until(&format!("{source} resolves {dest}"), || {
                let acme = node.acme(&["-f", "n", "-s", &source, "-d", &dest]);
                (acme.finished.code == Some(0)).then_some(())
            });
        }
    }

    /// Waits until each node resolves an uncached address of the other. The other node first, so that node1 only
    /// receives until its queue pair works.
    fn resolve_uncached(&self, addresses: &str) {
        for (node, other) in [(&self.other, 1), (&self.node, 2)] {
            let (source, dest) = (format!("{addresses}{}", node.number), format!("{addresses}{other}"));
            until(&format!("{source} resolves {dest}"), || {
                let acme = node.acme(&["-f", "i", "-s", &source, "-d", &dest]);
                (acme.finished.code == Some(0)).then_some(())
            });
        }
    }

    fn control(&self, command: &str) -> String {
        self.lab.fabric.control(command)
    }

    /// True if node1's daemon resolves node2.
    fn is_served(&self) -> bool {
        self.node.acme(&["-f", "n", "-s", "node1", "-d", "node2"]).finished.code == Some(0)
    }

    /// Ends node1's daemon and returns a counter, which the daemon logs at its end.
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

// docs/deviations.md: port-changes
#[test]
fn removed_device_is_served_again_after_its_return() {
    let mut two = Two::start();
    for round in 1..=3 {
        two.lab.fabric.control("device remove node1");
        two.node.wait_for("ibsim0 port 1 is down", round);
        assert!(!two.is_served());
        two.lab.fabric.control("device add node1");
        two.node.wait_for("join successful", round + 1);
        two.resolve();
    }
    assert_eq!(two.counter("devices_closed"), 3);
}

/// The returned device gets the addresses of the current file.
#[test]
fn address_file_may_change_while_the_device_is_removed() {
    let two = Two::start();
    let name = |name: &str| two.node.acme(&["-f", "n", "-s", name, "-d", "node2"]).finished.code == Some(0);
    let ip = || two.node.acme(&["-f", "i", "-s", "10.77.0.1", "-d", "10.77.0.2"]).finished.code == Some(0);
    assert!(!name("fresh") && ip());
    two.lab.fabric.control("device remove node1");
    two.node.wait_for("ibsim0 port 1 is down", 1);
    two.node.write_addresses("node1 ibsim0 1 default\nfresh ibsim0 1 default\n");
    two.node.process.signal(Signal::SIGHUP);
    two.node.wait_for("files read again", 1);
    two.lab.fabric.control("device add node1");
    two.node.wait_for("join successful", 2);
    two.resolve();
    assert!(name("fresh") && !ip(), "{}", two.node.log());
}

/// Until then, the node is a member of its group without receiving its datagrams, and reports no join.
// docs/deviations.md: join-retry
#[test]
fn failed_attach_to_a_group_is_retried() {
    let lab = Lab::new(2, &[]);
    let full = lab.file(1, "no_room_for_groups");
    fs::write(&full, "").unwrap();
    let node = lab.start_until(1, Kind::Rust, &["timeout 100"], "unable to attach to multicast group");
    let other = lab.start(2, Kind::Rust, &["timeout 100", "negative_timeout 1"]);
    let mut two = Two { lab, node, other };
    let is_found = |two: &Two| two.other.acme(&["-f", "n", "-s", "node2", "-d", "node1"]).finished.code == Some(0);
    assert!(!is_found(&two), "node1 receives nothing");
    assert!(!two.node.log().contains("join successful"), "{}", two.node.log());
    fs::remove_file(full).unwrap();
    two.node.wait_for("join successful", 1);
    // The failure is cached for a second.
    until("node1 is found", || is_found(&two).then_some(()));
    assert!(two.counter("attach_failures") > 0);
}

// docs/deviations.md: port-changes
#[test]
fn new_device_with_the_same_name_is_a_new_device() {
    let two = Two::start();
    // The daemon handles both changes at once and finds the same name.
    two.node.process.signal(Signal::SIGSTOP);
    two.lab.fabric.control("device remove node1");
    two.lab.fabric.control("device add node1 0x0002c90300007770");
    two.node.process.signal(Signal::SIGCONT);
    two.node.wait_for("join successful", 2);
    two.resolve();
    // Cached paths began at the former GID.
    let path = two.node.acme(&["-f", "n", "-s", "node1", "-d", "node2"]).path();
    assert_eq!(path.sgid, "fe80::2:c903:0:7771".parse().unwrap());
}

#[test]
fn port_is_served_when_its_umad_device_appears() {
    let two = Two::start();
    two.lab.fabric.control("umad remove node1 1");
    two.node.wait_for("ibsim0 port 1 is down", 1);
    // The daemon tries to open the device again after a second.
    let status = || two.lab.run(1, &binary(Binary::AcmCtl), &["status", "--all"]).stdout;
    until("an attempt", || status().contains("open_failures: ").then_some(()));
    two.lab.fabric.control("umad add node1 1");
    two.node.wait_for("join successful", 2);
    two.resolve();
}

#[test]
fn unreadable_device_is_not_removed() {
    let mut two = Two::start();
    let guid = two.lab.file(1, "sys/class/infiniband/ibsim0/node_guid");
    let good = fs::read(&guid).unwrap();
    fs::write(&guid, "?\n").unwrap();
    // A port event and a kernel message each make the daemon read the device.
    two.lab.fabric.control("smlid node1 1 9");
    two.node.wait_for("is not a GUID", 1);
    two.lab.fabric.control("umad add node1 1");
    two.lab.fabric.control("smlid node1 1 1");
    two.resolve();
    assert!(!two.node.log().contains("ibsim0 port 1 is down"), "{}", two.node.log());
    fs::write(&guid, good).unwrap();
    two.lab.fabric.control("lid node1 1 77");
    two.node.wait_for("is active, LID 77", 1);
    two.resolve();
    assert_eq!(two.counter("devices_closed"), 0);
}

#[test]
fn burst_of_events_causes_few_reads_of_the_device() {
    let mut two = Two::start();
    // The daemon is stopped, so that it handles all events at once.
    two.node.process.signal(Signal::SIGSTOP);
    for lid in 100..150 {
        two.lab.fabric.control(&format!("lid node1 1 {lid}"));
    }
    two.node.process.signal(Signal::SIGCONT);
    two.node.wait_for("is active, LID 149", 1);
    two.resolve();
    let reads = two.counter("device_reads");
    // One read per 32 events, and one for events during a read.
    assert!((1..=4).contains(&reads), "{reads} reads for 50 events");
}

#[test]
fn failed_device_is_reopened() {
    let mut two = Two::start();
    for round in 1..=2 {
        assert_eq!(two.control("device fail node1"), "ok\n");
        two.node.wait_for("ibsim0 port 1 is down", round);
        two.node.wait_for("join successful", round + 1);
        two.resolve_uncached(["", "10.77.0.", "fd00::"][round]);
    }
    assert_eq!((two.counter("devices_closed"), two.counter("scans")), (2, 1));
}

#[test]
fn failed_queue_pair_is_recovered() {
    let mut two = Two::start();
    for (round, addresses) in ["10.77.0.", "fd00::"].into_iter().enumerate() {
        assert_eq!(two.control("qp fail node1 1"), "1\n", "round {round}");
        two.resolve_uncached(addresses);
    }
    assert_eq!((two.counter("queue_pair_errors"), two.counter("queue_pairs_replaced")), (2, 0));
}

#[test]
fn queue_pair_with_a_failed_completion_queue_is_replaced() {
    let mut two = Two::start();
    for (round, addresses) in ["10.77.0.", "fd00::"].into_iter().enumerate() {
        assert_eq!(two.control("cq fail node1 1"), "1\n", "round {round}");
        two.resolve_uncached(addresses);
    }
    assert_eq!((two.counter("queue_pairs_replaced"), two.counter("devices_closed")), (2, 0));
}

#[test]
fn kernel_messages_from_other_senders_are_ignored() {
    let mut two = Two::start();
    // The daemon is stopped, so that it handles these messages before the port event.
    two.node.process.signal(Signal::SIGSTOP);
    for sender in [1, 4711] {
        assert_eq!(two.control(&format!("uevent forge node1 {sender}")), "ok\n");
    }
    two.control("lid node1 1 77");
    two.node.process.signal(Signal::SIGCONT);
    two.node.wait_for("is active, LID 77", 1);
    two.resolve_uncached("10.77.0.");
    assert_eq!(two.counter("scans"), 1, "only the scan at the start");
}

#[test]
fn lost_kernel_messages_cause_a_scan() {
    let lab = Lab::with_nodes(&["node1", "node1:1", "node2"], &[]);
    let node = lab.start(1, Kind::Rust, &[]);
    node.wait_for("ibsim1 port 1 is active", 1);
    lab.fabric.control("device remove node1:1");
    node.wait_for("port 1 is down", 1);
    // The response shows that the daemon has read the kernel's messages.
    let _ = node.acme(&["-f", "n", "-s", "node1", "-d", "node1"]).path();
    for command in ["uevent lose node1", "device add node1:1", "uevent resume node1"] {
        assert_eq!(lab.fabric.control(command), "ok\n", "{command}");
    }
    node.wait_for("ibsim1 port 1 is active", 2);
    assert!(!node.log().contains("ibsim0 port 1 is down"));
}

#[test]
fn late_device_gets_its_addresses() {
    let lab = Lab::with_nodes(&["node1", "node1:1", "node2"], &[]);
    lab.fabric.control("device remove node1:1");
    lab.write(1, "ibacm_addr.cfg", "node1 ibsim0 1 default\nlate1 ibsim1 1 default\n");
    let (node, _other) = (lab.start(1, Kind::Rust, &[]), lab.start(2, Kind::Rust, &[]));
    assert_eq!(lab.fabric.control("device add node1:1"), "ok\n");
    node.wait_for("join successful", 2);
    let path = node.acme(&["-f", "n", "-s", "late1", "-d", "node2"]).path();
    assert_eq!(path.sgid, lab.fabric.port_of("node1:1", 1).gid);
}

/// Two devices of node1, of which the second does not respond to a command.
fn with_silent_device() -> (Lab, LabNode) {
    let lab = Lab::with_nodes(&["node1", "node1:1", "node2"], &[]);
    lab.write(1, "ibacm_addr.cfg", "node1 ibsim0 1 default\nother1 ibsim1 1 default\n");
    assert_eq!(lab.fabric.control("hold node1:1 attach"), "ok\n");
    let node = lab.start(1, Kind::Rust, &[]);
    until("a command waits", || lab.fabric.control("held").ends_with(" attach 1\n").then_some(()));
    (lab, node)
}

#[test]
fn device_that_does_not_respond_disturbs_no_other_and_is_served_when_it_responds() {
    let (lab, node) = with_silent_device();
    let other = lab.start(2, Kind::Rust, &[]);
    let status = || lab.run(1, &binary(Binary::AcmCtl), &["status"]).stdout;
    let path = node.acme(&["-f", "n", "-s", "node1", "-d", "node2"]).path();
    assert_eq!(path.sgid, lab.fabric.port_of("node1", 1).gid);
    node.wait_for("ibsim1 does not respond", 1);
    node.wait_for("ibsim1 port 1 is down", 1);
    assert!(status().contains("devices that do not respond: 1"), "{}", status());
    assert!(!node.log().contains("ibsim0 port 1 is down"), "{}", node.log());
    assert_eq!(lab.fabric.control("release node1:1"), "ok\n");
    node.wait_for("ibsim1 responds again", 1);
    node.wait_for("join successful", 2);
    let path = node.acme(&["-f", "n", "-s", "other1", "-d", "node2"]).path();
    assert_eq!(path.sgid, lab.fabric.port_of("node1:1", 1).gid);
    assert!(!status().contains("devices that do not respond"), "{}", status());
    let mut two = Two { lab, node, other };
    assert_eq!((two.counter("devices_stalled"), two.counter("devices_opened")), (1, 3));
}

#[test]
fn daemon_stops_although_a_device_does_not_respond() {
    let (_lab, mut node) = with_silent_device();
    node.process.signal(Signal::SIGTERM);
    node.process.wait();
    assert!(node.log().contains("shutting down"), "{}", node.log());
}
