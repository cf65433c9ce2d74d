//! Nodes that answer as C ibacm does. A node caches the sender of the first request from a source address, and notices no
//! other location of it until the queue pair is another one. It responds along the path that it has cached, is silent
//! while it queries that path, and ignores requests for addresses that it does not have. The model sends no requests,
//! and stays in the group.
use crate::{World, foreign::port_of};
use acm_wire::{
    Address,
    multicast::{self, MulticastMessage},
};
use core::time::Duration;
use ib_mad::{
    Gid, GlobalRoute, Lid, Method, Qkey, Qpn, TransactionId,
    sa::{PathRecord, Query},
};
use ib_sim::{AgentId, Datagram, Event, MadSend, QpId};
use std::collections::BTreeMap;

/// Time-out of a path query, and its repetitions by the kernel.
const QUERY: (Duration, u32) = (Duration::from_secs(2), 2);

/// A sender of requests, by its source address.
#[derive(Clone, Copy, Debug)]
struct Peer {
    gid: Gid,
    lid: Lid,
    qpn: Qpn,
    /// The last request for an address of this node.
    tid: Option<TransactionId>,
    state: PeerState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PeerState {
    Located,
    /// The path is queried.
    Querying,
    HasPath,
}

#[derive(Debug)]
struct CNode {
    qp: QpId,
    group: Gid,
    addresses: Vec<Address>,
    peers: BTreeMap<Address, Peer>,
    /// The source addresses of all path queries.
    queries: Vec<Address>,
}

/// The nodes that answer as C ibacm does. They are the last of the fabric.
#[derive(Debug)]
pub(super) struct CNodes {
    first: usize,
    nodes: Vec<CNode>,
    acm: bool,
}

impl CNodes {
    /// Adds nodes to a fabric whose cores have joined their group.
    pub(super) fn new(world: &mut World, count: u32, acm: bool) -> Self {
        let first = world.subnet.node_count() as usize;
        world.subnet.settings_mut().strict_multicast &= count == 0;
        let nodes = (0..count).map(|_| {
            let index = world.add_foreign_node();
            let qp = world.subnet.create_qp(World::port_id(index), Qkey::GSI, 0).expect("the port has room");
            let group = world.group().0;
            world.subnet.attach(qp, group).expect("it is a group");
            let addresses = World::addresses(index as u32).to_vec();
            CNode { qp, group, addresses, peers: BTreeMap::new(), queries: Vec::new() }
        });
        Self { first, nodes: nodes.collect(), acm }
    }

    /// Reports whether a node is one of these.
    pub(super) fn has(&self, node: usize) -> bool {
        (self.first..self.first + self.nodes.len()).contains(&node)
    }

    /// Gives an address to a node, or takes it away.
    pub(super) fn change_address(&mut self, node: usize, address: Address, has_it: bool) {
        let addresses = &mut self.nodes[node - self.first].addresses;
        addresses.retain(|other| *other != address);
        addresses.extend(has_it.then_some(address));
    }

    /// Handles the events of these nodes since the last call.
    pub(super) fn run(&mut self, world: &mut World) {
        for event in world.take_foreign_events() {
            let index = port_of(&event).node.get() as usize - 1;
            let (node, acm) = (&mut self.nodes[index - self.first], self.acm);
            match event {
                Event::Datagram { source, grh, payload, .. } => {
                    if let Ok(MulticastMessage::Request(request)) = MulticastMessage::parse(&payload) {
                        let gid = grh.map(|grh| grh.sgid).unwrap_or_default();
                        let (lid, qpn) = (source.slid, source.qpn);
                        let peer = Peer { gid, lid, qpn, tid: None, state: PeerState::Located };
                        let is_asked = request.dest.is_some_and(|dest| node.addresses.contains(&dest));
                        node.requested(world, index, request.source, peer, is_asked.then_some(request.tid), acm);
                    }
                }
                Event::Mad { agent, mad, .. } => {
                    let path = mad.record::<PathRecord>().ok().filter(|_| mad.header.status.is_ok());
                    node.query_done(world, agent, path);
                }
                Event::MadTimedOut { agent, .. } => node.query_done(world, agent, None),
                _ => {}
            }
        }
    }
}

impl CNode {
    fn requested(
        &mut self,
        world: &mut World,
        index: usize,
        source: Address,
        sender: Peer,
        tid: Option<TransactionId>,
        acm: bool,
    ) {
        let peer = self.peers.entry(source).or_insert(sender);
        peer.tid = tid.or(peer.tid);
        match peer.state {
            PeerState::Querying => {}
            PeerState::HasPath if peer.qpn == sender.qpn => {
                if tid.is_some() {
                    self.respond(world, source);
                }
            }
            PeerState::HasPath | PeerState::Located => {
                if peer.state == PeerState::HasPath {
                    *peer = Peer { tid: peer.tid, ..sender };
                }
                if acm {
                    peer.state = PeerState::HasPath;
                    if tid.is_some() {
                        self.respond(world, source);
                    }
                } else if tid.is_some() {
                    self.query(world, index, source);
                }
            }
        }
    }

    fn query(&mut self, world: &mut World, index: usize, source: Address) {
        let (now, here) = (world.now(), World::port_id(index));
        let Some((local, peer)) = world.subnet.port(here).zip(self.peers.get_mut(&source)) else { return };
        let mad =
            Query::<PathRecord>::new().sgid(local.gid()).dgid(peer.gid).request(Method::GET, TransactionId::new(1));
        let agent = AgentId(self.queries.len() as u64);
        let send = MadSend { retries: QUERY.1, ..MadSend::to_administration(local, agent, QUERY.0) };
        if world.subnet.send_mad(now.since_start(), here, send, &mad).is_ok() {
            self.queries.push(source);
            peer.state = PeerState::Querying;
        }
    }

    fn query_done(&mut self, world: &mut World, agent: AgentId, path: Option<&PathRecord>) {
        let Some(source) = self.queries.get(agent.0 as usize).copied() else { return };
        match path {
            Some(path) => {
                if let Some(peer) = self.peers.get_mut(&source) {
                    (peer.state, peer.gid, peer.lid) = (PeerState::HasPath, path.dgid, path.dlid);
                }
                self.respond(world, source);
            }
            // The next request starts another query.
            None => _ = self.peers.remove(&source),
        }
    }

    /// Responds to the last request from a source address, along the cached path.
    fn respond(&self, world: &mut World, source: Address) {
        let Some(Peer { gid, lid, qpn, tid: Some(tid), .. }) = self.peers.get(&source).copied() else { return };
        let (now, mad) = (world.now(), multicast::response(tid, self.group));
        let mut datagram = Datagram::unicast(lid, qpn, Qkey::GSI, ib_mad::as_bytes(&mad));
        datagram.to.grh = Some(GlobalRoute { dgid: gid, ..GlobalRoute::default() });
        // The port may be down.
        let _ = world.subnet.send_datagram(now.since_start(), self.qp, &datagram);
    }
}
