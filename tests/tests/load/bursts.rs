//! Bursts of datagrams at a daemon's queue pair.
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

/// A peer of node1 without a daemon: a queue pair at node2.
struct Peer {
    client: Client,
    qpn: Qpn,
    /// The address vector of node1's queue pair.
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
        let to = Qpn::checked(u32::from_str_radix(to, 16).unwrap()).unwrap();
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

    /// Stops the daemon, sends requests for node1 from `count` source names, continues the daemon, and waits for a
    /// response to each.
    fn burst(&mut self, node: &LabNode, count: usize) {
        node.process.signal(Signal::SIGSTOP);
        for number in 0..count as u64 {
            let source = Address::from_text(&format!("asker{number}"));
            let mad = request(TransactionId::new(number), &Address::from_text("node1"), &source, &[self.group]);
            self.send(as_bytes(&mad));
        }
        node.process.signal(Signal::SIGCONT);
        let mut responses = BTreeSet::new();
        until("all responses", || {
            while let Some(message) = self.client.receive().unwrap() {
                if let Message::Datagram { payload, .. } = message
                    && let Ok(MulticastMessage::Response(response)) = MulticastMessage::parse(payload)
                {
                    responses.insert(response.tid.get());
                }
            }
            (responses.len() == count).then_some(())
        });
    }
}

#[test]
fn burst_of_1000_requests_gets_1000_responses() {
    let lab = Lab::new(2, &[]);
    let node = lab.start(1, Kind::Rust, &["route_prot acm"]);
    let mut peer = Peer::of_node1(&lab);
    // With uncached routes, and with cached ones.
    peer.burst(&node, 1000);
    peer.burst(&node, 1000);
}

#[test]
fn oversized_datagrams_are_counted_and_dropped() {
    let lab = Lab::new(2, &[]);
    let mut node = lab.start(1, Kind::Rust, &["route_prot acm"]);
    let mut peer = Peer::of_node1(&lab);
    for _ in 0..50 {
        peer.send(&[1; 4096]);
        peer.send(&[1; 257]);
        peer.burst(&node, 1);
    }
    node.process.signal(Signal::SIGTERM);
    node.process.wait();
    let log = node.log();
    assert!(log.contains("oversized_datagrams: 100") && log.contains("receives_failed: 0"), "{log}");
}
