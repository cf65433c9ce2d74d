//! Many datagrams at once at a daemon's queue pair.
use acm_tests::{Kind, Lab, LabNode, until};
use acm_wire::{
    Address,
    multicast::{MulticastMessage, request},
};
use ib_mad::{AddressVector, Gid, GlobalRoute, Qkey, Qpn, ServiceLevel, TransactionId, as_bytes};
use ib_sim::{
    Datagram,
    client::{Client, ClientError, Message},
};
use nix::sys::signal::Signal;
use std::collections::BTreeSet;

/// A peer of node1 that is no daemon: a queue pair at node2.
struct Peer {
    client: Client,
    qpn: Qpn,
    /// The way to node1's queue pair.
    way: AddressVector,
    to: Qpn,
    group: Gid,
}

impl Peer {
    fn of_node1(lab: &Lab) -> Self {
        let mut client = Client::connect(lab.fabric.socket(), Some("node2")).unwrap();
        let qpn = client.open_qp(1, Qkey::GSI, 0).unwrap();
        let queue_pairs = lab.fabric.control("qps");
        let to = queue_pairs.lines().find_map(|line| line.strip_prefix("1/1 0x")).unwrap();
        let to = Qpn::new(u32::from_str_radix(to, 16).unwrap()).unwrap();
        let port = lab.fabric.port(1);
        let route = GlobalRoute { dgid: port.gid, hop_limit: 1, ..GlobalRoute::default() };
        let way = AddressVector::local(port.lid, ServiceLevel::default()).with_grh(route);
        Self { client, qpn, way, to, group: lab.fabric.groups()[0].mgid }
    }

    fn send(&mut self, payload: &[u8]) {
        let datagram = Datagram { to: self.way, qpn: self.to, qkey: Qkey::GSI, payload };
        until("room to send", || match self.client.send_datagram(self.qpn, &datagram) {
            Ok(()) => Some(()),
            Err(ClientError::Full) => None,
            Err(error) => panic!("{error}"),
        });
    }

    /// Asks for node1 in the name of so many, while the daemon stands still; how many are answered.
    fn burst(&mut self, node: &LabNode, askers: u64) -> usize {
        node.process.signal(Signal::SIGSTOP);
        for asker in 0..askers {
            let source = Address::from_text(&format!("asker{asker}"));
            let asked = request(TransactionId::new(asker), &Address::from_text("node1"), &source, &[self.group]);
            self.send(as_bytes(&asked));
        }
        node.process.signal(Signal::SIGCONT);
        let (mut answered, mut quiet) = (BTreeSet::new(), 0);
        until("all answered, or nothing more for a while", || {
            quiet += 1;
            while let Some(message) = self.client.receive().unwrap() {
                if let Message::Datagram { payload, .. } = message
                    && let Ok(MulticastMessage::Response(response)) = MulticastMessage::parse(payload)
                {
                    answered.insert(response.tid.get());
                    quiet = 0;
                }
            }
            (answered.len() as u64 == askers || quiet > 400).then_some(())
        });
        answered.len()
    }
}

#[test]
fn a_thousand_askers_at_once_are_all_answered() {
    let lab = Lab::new(2, &[]);
    let node = lab.start(1, Kind::Rust, &["route_prot acm"]);
    let mut peer = Peer::of_node1(&lab);
    assert_eq!(peer.burst(&node, 1000), 1000, "routes are new");
    assert_eq!(peer.burst(&node, 1000), 1000, "routes are known");
}

#[test]
fn the_longest_datagram_changes_nothing() {
    let lab = Lab::new(2, &[]);
    let mut node = lab.start(1, Kind::Rust, &["route_prot acm"]);
    let mut peer = Peer::of_node1(&lab);
    for _ in 0..50 {
        peer.send(&[1; 4096]);
        peer.send(&[1; 257]);
        assert_eq!(peer.burst(&node, 1), 1);
    }
    node.process.signal(Signal::SIGTERM);
    node.process.wait();
    let log = node.log();
    assert!(log.contains("oversized_datagrams: 100") && log.contains("receives_failed: 0"), "{log}");
}
