//! Addresses of network interfaces, which `ip` changes and the daemon follows. The test machines have no InfiniBand
//! devices, so the interfaces' aliases name their ports.
use acm_tests::{Binary, Fabric, Node, binary, program, until};
use ib_mad::Gid;
use nix::sys::signal::Signal;

struct Lab {
    node: Node,
    other: Node,
    gids: [Gid; 2],
}

impl Lab {
    /// Starts two nodes with two ports each. The first has its own network namespace, in which `ib0` is on port 1.
    fn start(options: &str) -> (Fabric, Self) {
        let (fabric, lab) = Self::before_it_is_on_a_port(options);
        lab.on_port("ib0", 1);
        (fabric, lab)
    }

    fn before_it_is_on_a_port(options: &str) -> (Fabric, Self) {
        let fabric = Fabric::serve(2, &["--ports", "2"]);
        let ports = fabric.control("ports");
        let gids = ["1/1 ", "1/2 "].map(|port| {
            let line = ports.lines().find(|line| line.starts_with(port)).unwrap();
            line.split(' ').skip_while(|word| *word != "gid").nth(1).unwrap().parse().unwrap()
        });
        let node = Node::at(&fabric, 1)
            .options(&format!("log_file stderr\nlog_level 2\n{options}"))
            .addresses("node1 sim0 1 default\n")
            .argument("--interfaces=alias")
            .own_namespace()
            .join();
        let lab = Self { node, other: Node::at(&fabric, 2).join(), gids };
        lab.ip("link add ib0 type veth peer name far0");
        lab.ip("link set far0 up");
        lab.ip("link set ib0 up");
        (fabric, lab)
    }

    fn ip(&self, command: &str) {
        let words: Vec<&str> = command.split(' ').collect();
        let _ = self.node.run_inside(&program("ip", "iproute2"), &words).success();
    }

    fn on_port(&self, interface: &str, port: usize) {
        let alias = format!("infiniband {}", self.gids[port - 1]);
        let words = ["link", "set", interface, "alias", &alias];
        let _ = self.node.run_inside(&program("ip", "iproute2"), &words).success();
    }

    fn shell(&self, script: &str) {
        let _ = self.node.run_inside(&program("sh", "dash"), &["-c", script]).success();
    }

    /// Waits until the address is served at this port.
    fn wait_at(&self, address: &str, port: usize) {
        let expected = self.gids[port - 1];
        until(&format!("{address} at {expected}:\n{}", self.node.log()), || {
            let acme = self.node.acme(&["-f", "i", "-s", address, "-d", address]);
            (acme.finished.code == Some(0) && acme.path().sgid == expected).then_some(())
        });
    }

    fn addresses(&self) -> Vec<String> {
        let rows = self.node.acme(&["-e"]).endpoints();
        rows.into_iter().flat_map(|row| row.addresses).filter(|address| address != "node1").collect()
    }

    fn has(&self, expected: &[&str]) {
        until(&format!("the addresses are {expected:?}"), || {
            let mut found = self.addresses();
            found.retain(|address| !address.starts_with("fe80:"));
            (found == expected).then_some(())
        });
    }

    /// Stops the daemon, sends so many messages about a link that the socket overflows, replaces the address `old` by
    /// `new`, and continues the daemon.
    fn storm(&self, old: &str, new: &str) {
        self.node.process.signal(Signal::SIGSTOP);
        let batch = self.node.dir().join("batch").display().to_string();
        self.shell(&format!(
            "for i in $(seq 1 4000); do echo link set ib0 txqueuelen $((1000 + i % 2)); done > {batch}
             ip -batch {batch} && ip addr del {old}/32 dev ib0 && ip addr add {new}/32 dev ib0"
        ));
        self.node.process.signal(Signal::SIGCONT);
    }

    /// Ends the daemon and returns a counter, which the daemon logs at its end.
    fn counter(&mut self, name: &str) -> u64 {
        self.node.process.signal(Signal::SIGTERM);
        self.node.process.wait();
        let log = self.node.log();
        let start = format!(" stats: {name}: ");
        log.lines()
            .find_map(|line| line.split_once(&start)?.1.parse().ok())
            .unwrap_or_else(|| panic!("no {name}: {log}"))
    }
}

// docs/deviations.md: endpoints, interfaces
#[test]
fn interface_addresses_are_followed() {
    let (_fabric, lab) = Lab::start("");
    lab.ip("addr add 10.8.0.1/24 dev ib0");
    lab.ip("addr add fd08::1/64 dev ib0 nodad");
    lab.has(&["10.8.0.1", "fd08::1"]);
    for (source, address) in [("10.77.0.2", "10.8.0.1"), ("fd00::2", "fd08::1")] {
        let path = lab.other.acme(&["-f", "i", "-s", source, "-d", address]).path();
        assert_eq!(path.dgid, lab.gids[0], "{address}");
    }
    let check = lab.node.run_inside(&binary(Binary::AcmCtl), &["check", "--interfaces=alias"]);
    assert!(check.stdout.contains("ok interfaces: 1 with "), "{check:?}");
    let check = lab.node.run_inside(&binary(Binary::AcmCtl), &["check"]);
    assert!(check.stdout.contains("warn no address on an IPoIB interface: "), "{check:?}");
    // The kernel creates a link-local IPv6 address after duplicate address detection.
    until("a link-local address", || lab.addresses().iter().any(|address| address.starts_with("fe80:")).then_some(()));
    // Without a source, the routing table selects one, or the interface for a link-local destination.
    let link_local = lab.addresses().into_iter().find(|address| address.starts_with("fe80:")).unwrap();
    for dest in ["10.8.0.1", "fd08::1", &link_local] {
        assert_eq!(lab.node.acme(&["-f", "i", "-d", dest]).path().dgid, lab.gids[0], "{dest}");
    }
    // Moves the interface to another port, as a failover of a bond does.
    lab.on_port("ib0", 2);
    lab.wait_at("10.8.0.1", 2);
    lab.wait_at("fd08::1", 2);
    lab.ip("link set ib0 down");
    lab.has(&["10.8.0.1"]);
    lab.ip("link set ib0 name storage");
    lab.ip("addr add 10.8.0.2/24 dev storage");
    lab.has(&["10.8.0.1", "10.8.0.2"]);
    lab.ip("addr del 10.8.0.1/24 dev storage");
    // The secondary address in the same network is removed with the first.
    lab.has(&[]);
    lab.ip("link set storage up");
    lab.ip("addr add 10.8.0.3/24 dev storage");
    lab.has(&["10.8.0.3"]);
    lab.shell(
        "unshare -n sleep 60 & other=$!
         until test $(readlink /proc/$other/ns/net) != $(readlink /proc/$$/ns/net); do sleep 0.1; done
         ip link set storage netns $other && kill $other",
    );
    lab.has(&[]);
    let refused = lab.node.acme(&["-f", "i", "-s", "10.8.0.3", "-d", "10.77.0.2"]);
    assert_ne!(refused.finished.code, Some(0));
    assert!(
        lab.node.acme(&["-f", "n", "-s", "node1", "-d", "node2"]).finished.code == Some(0),
        "other addresses are served"
    );
}

/// A user can hold all ports that the system assigns. Here they are reserved, with the same effect.
#[test]
fn source_is_selected_without_a_free_port() {
    let (_fabric, lab) = Lab::start("");
    lab.ip("addr add 10.8.0.1/24 dev ib0");
    lab.ip("addr add fd08::1/64 dev ib0 nodad");
    lab.has(&["10.8.0.1", "fd08::1"]);
    lab.shell("echo 1-65535 > /proc/sys/net/ipv4/ip_local_reserved_ports");
    for dest in ["10.8.0.1", "fd08::1"] {
        assert_eq!(lab.node.acme(&["-f", "i", "-d", dest]).path().dgid, lab.gids[0], "{dest}");
    }
}

/// The socket overflows twice, because the daemon may read all addresses again after the first overflow for another
/// reason: the interfaces are new.
// docs/deadlines.md: rtnetlink
#[test]
fn lost_rtnetlink_messages_cause_a_dump() {
    let (_fabric, mut lab) = Lab::start("");
    lab.ip("addr add 10.8.0.1/32 dev ib0");
    lab.has(&["10.8.0.1"]);
    lab.storm("10.8.0.1", "10.8.0.2");
    // The old address is removed: a dump is complete and no other dump is due.
    lab.has(&["10.8.0.2"]);
    lab.storm("10.8.0.2", "10.8.0.3");
    lab.has(&["10.8.0.3"]);
    assert!(lab.counter("interface_messages_lost") > 1);
}

/// The interface gets its addresses before its port, so that one dump reports them. An address that arrives while a
/// dump is due would be reported and refused twice.
// docs/deadlines.md: interfaces
#[test]
fn interface_addresses_over_the_limit_are_refused_and_counted() {
    let (_fabric, mut lab) = Lab::before_it_is_on_a_port("interface_addresses 2\n");
    lab.ip("link set ib0 addrgenmode none");
    lab.ip("link set ib0 down");
    lab.ip("link set ib0 up");
    for last in 1..=4 {
        lab.ip(&format!("addr add 10.8.0.{last}/32 dev ib0"));
    }
    lab.on_port("ib0", 1);
    lab.has(&["10.8.0.1", "10.8.0.2"]);
    // A refused address is served once the limit allows it, and the remaining one is counted again.
    lab.ip("addr del 10.8.0.1/32 dev ib0");
    lab.has(&["10.8.0.2", "10.8.0.3"]);
    assert_eq!(lab.counter("interface_addresses_refused"), 3);
}

/// Without an option, a simulated node does not use this machine's addresses.
#[test]
fn simulated_node_ignores_interfaces_by_default() {
    let fabric = Fabric::serve(1, &[]);
    let node = Node::at(&fabric, 1).own_namespace().join();
    let alias = format!("infiniband {}", fabric.port(1).gid);
    let ip = program("ip", "iproute2");
    for words in [
        &["link", "add", "ib0", "type", "veth", "peer", "name", "far0"][..],
        &["link", "set", "ib0", "up"],
        &["link", "set", "ib0", "alias", &alias],
        &["addr", "add", "10.8.0.1/24", "dev", "ib0"],
    ] {
        let _ = node.run_inside(&ip, words).success();
    }
    let acme = node.acme(&["-f", "i", "-s", "10.8.0.1", "-d", "10.8.0.1"]);
    assert_ne!(acme.finished.code, Some(0), "{acme:?}");
    assert!(!node.log().contains("10.8.0.1 to"), "{}", node.log());
}
