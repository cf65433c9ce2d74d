//! Nodes without this project's daemon: their ranks ask the administrator themselves, or a model of C ibacm.
use super::{
    answers::Answers,
    counts::{MULTICASTS, UNICASTS},
    lab::Lab,
};
use crate::{World, deadlines::Deadlines, foreign::port_of, name};
use acm_sansio::Time;
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
use std::collections::{BTreeMap, VecDeque};

/// The program that the ranks of a node ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    /// None: each rank sends a path query for the GID of its peer, which it has from elsewhere.
    None,
    /// C ibacm with its defaults: one multicast request and one path query at a time, and repetitions after fixed
    /// times. It learns the sources of all multicast requests. It responds once it has the path to the requester.
    Ibacm,
}

/// Time-out of a path query, and its repetitions by the kernel.
const QUERY: (Duration, u32) = (Duration::from_secs(2), 2);
/// Time-out of a multicast request: `timeout` and the time in the subnet, 2^(18 - 8) ms.
const REQUEST: Duration = Duration::from_millis(2000 + 1024);
const REQUEST_RETRIES: u32 = 2;
/// The group, if no node has this project's daemon.
const GROUP: (Gid, Lid) = (Gid::from_parts(0xff12_4001_ffff_0000, ib_mad::Guid::new(1)), Lid::new(0xc000));

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Peer {
    Located,
    HasPath,
}

/// The sender of a request, for the response.
#[derive(Clone, Copy, Debug)]
struct Requester {
    gid: Gid,
    lid: Lid,
    qpn: Qpn,
    tid: TransactionId,
}

struct Node {
    qp: QpId,
    peers: BTreeMap<u32, Peer>,
    /// Peers to locate and to query the path of. The first of each is in flight.
    requests: VecDeque<u32>,
    queries: VecDeque<u32>,
    /// Times that the request in flight was repeated.
    repeated: u32,
    /// Ranks that wait for a peer.
    waiting: BTreeMap<u32, Vec<usize>>,
    /// Peers that wait for a response.
    owed: BTreeMap<u32, Requester>,
}

struct Rank {
    node: u32,
    /// The peers that the rank has not resolved yet, the last one first.
    left: Vec<u32>,
    since: Time,
}

/// The nodes without this project's daemon, which are the last of the subnet, and their ranks.
pub(super) struct Others {
    program: Program,
    nodes: BTreeMap<u32, Node>,
    group: (Gid, Lid),
    /// All nodes of the subnet by name.
    numbers: BTreeMap<Address, u32>,
    timeouts: Deadlines,
    ranks: Vec<Rank>,
    /// Requests without an answer.
    open: usize,
    pub(super) answers: Answers,
}

impl Others {
    /// Adds nodes to a subnet whose nodes with this project's daemon have joined their group.
    pub(super) fn new(lab: &mut Lab, program: Program, count: u32) -> Self {
        let group = lab.world.subnet.groups().next().map_or(GROUP, |group| (group.mgid, group.mlid));
        // The model does not join the group.
        lab.world.subnet.settings_mut().strict_multicast &= count == 0;
        let mut nodes = BTreeMap::new();
        for _ in 0..count {
            let index = lab.world.add_foreign_node();
            let subnet = &mut lab.world.subnet;
            let qp = subnet.create_qp(World::port_id(index), Qkey::GSI, 0).expect("the port has room");
            subnet.attach(qp, group.0).expect("it is a group");
            let node = Node {
                qp,
                peers: BTreeMap::new(),
                requests: VecDeque::new(),
                queries: VecDeque::new(),
                repeated: 0,
                waiting: BTreeMap::new(),
                owed: BTreeMap::new(),
            };
            nodes.insert(index as u32, node);
        }
        let numbers = (0..lab.world.subnet.node_count()).map(|node| (name(node), node)).collect();
        let (timeouts, answers) = (Deadlines::default(), Answers::default());
        Self { program, nodes, group, numbers, timeouts, ranks: Vec::new(), open: 0, answers }
    }

    /// Starts a rank, which resolves its peers one after the other, the last one first.
    pub(super) fn start(&mut self, lab: &mut Lab, node: u32, left: Vec<u32>) {
        self.ranks.push(Rank { node, left, since: lab.world.now() });
        self.resolve_next(lab, self.ranks.len() - 1);
    }

    /// True if a rank waits.
    pub(super) fn has_open(&self) -> bool {
        self.open > 0
    }

    /// Returns the time of the next repetition of a request.
    pub(super) fn next_time(&self) -> Option<Time> {
        self.timeouts.next()
    }

    /// Handles the events of these nodes.
    pub(super) fn run(&mut self, lab: &mut Lab) {
        for event in lab.world.take_foreign_events() {
            self.handle(lab, event);
        }
        while let Some(index) = self.timeouts.due(lab.world.now()) {
            self.timeouts.set(index, None);
            self.request_timed_out(lab, index as u32);
        }
    }

    fn handle(&mut self, lab: &mut Lab, event: Event) {
        let node = port_of(&event).node.get() - 1;
        match event {
            Event::Datagram { source, grh, payload, .. } => match MulticastMessage::parse(&payload) {
                Ok(MulticastMessage::Request(request)) => {
                    let Some(from) = self.numbers.get(&request.source).copied() else { return };
                    self.locate(lab, node, from);
                    if request.dest.is_some_and(|dest| self.numbers.get(&dest) == Some(&node)) {
                        let gid = grh.map(|grh| grh.sgid).unwrap_or_default();
                        let requester = Requester { gid, lid: source.slid, qpn: source.qpn, tid: request.tid };
                        self.node(node).owed.insert(from, requester);
                        self.respond(lab, node, from);
                    }
                }
                Ok(MulticastMessage::Response(response)) => self.locate(lab, node, peer_of(response.tid)),
                Err(_) => {}
            },
            Event::Mad { agent, mad, .. } => self.query_done(lab, node, agent, mad.header.status.is_ok()),
            Event::MadTimedOut { agent, .. } => self.query_done(lab, node, agent, false),
            _ => {}
        }
    }

    fn node(&mut self, node: u32) -> &mut Node {
        self.nodes.get_mut(&node).expect("the node is one of these")
    }

    fn resolve_next(&mut self, lab: &mut Lab, number: usize) {
        let now = lab.world.now();
        let Some(rank) = self.ranks.get_mut(number) else { return };
        let (index, Some(dest)) = (rank.node, rank.left.pop()) else { return };
        rank.since = now;
        self.open += 1;
        if self.program == Program::None {
            return self.query(lab, index, dest, AgentId(number as u64));
        }
        let node = self.node(index);
        match node.peers.get(&dest) {
            Some(Peer::HasPath) => self.answered(lab, number, true),
            Some(Peer::Located) => {
                node.waiting.entry(dest).or_default().push(number);
                self.want_path(lab, index, dest);
            }
            None => {
                node.waiting.entry(dest).or_default().push(number);
                if !node.requests.contains(&dest) {
                    node.requests.push_back(dest);
                    if node.requests.len() == 1 {
                        self.request(lab, index);
                    }
                }
            }
        }
    }

    fn answered(&mut self, lab: &mut Lab, number: usize, is_ok: bool) {
        let latency = lab.world.now().since(self.ranks[number].since);
        self.answers.add(latency, lab.elapsed(), is_ok);
        self.open -= 1;
        self.resolve_next(lab, number);
    }

    /// Sends the multicast request for the first peer of the queue.
    fn request(&mut self, lab: &mut Lab, index: u32) {
        let Some(dest) = self.node(index).requests.front().copied() else { return };
        let (mgid, mlid) = self.group;
        let mad = multicast::request(tid(index, dest), &name(dest), &name(index), &[mgid]);
        let datagram = Datagram::multicast(mlid, mgid, Qkey::GSI, ib_mad::as_bytes(&mad));
        let (now, qp) = (lab.world.now(), self.node(index).qp);
        lab.world.subnet.send_datagram(now.since_start(), qp, &datagram).expect("the subnet accepts the datagram");
        lab.counts.add(now, MULTICASTS, 1);
        self.timeouts.set(index as usize, Some(now + REQUEST));
    }

    fn request_timed_out(&mut self, lab: &mut Lab, index: u32) {
        let node = self.node(index);
        node.repeated += 1;
        if node.repeated <= REQUEST_RETRIES {
            return self.request(lab, index);
        }
        let Some(dest) = node.requests.front().copied() else { return };
        let waiting = node.waiting.remove(&dest).unwrap_or_default();
        self.end_request(lab, index, dest);
        waiting.into_iter().for_each(|rank| self.answered(lab, rank, false));
    }

    fn end_request(&mut self, lab: &mut Lab, index: u32, dest: u32) {
        let node = self.node(index);
        let is_first = node.requests.front() == Some(&dest);
        node.requests.retain(|other| *other != dest);
        if is_first {
            node.repeated = 0;
            self.timeouts.set(index as usize, None);
            self.request(lab, index);
        }
    }

    /// A datagram of a peer was received.
    fn locate(&mut self, lab: &mut Lab, index: u32, peer: u32) {
        let node = self.node(index);
        if node.peers.contains_key(&peer) {
            return;
        }
        node.peers.insert(peer, Peer::Located);
        if node.waiting.contains_key(&peer) {
            self.want_path(lab, index, peer);
        }
        self.end_request(lab, index, peer);
    }

    fn want_path(&mut self, lab: &mut Lab, index: u32, peer: u32) {
        let node = self.node(index);
        if !node.queries.contains(&peer) {
            node.queries.push_back(peer);
            if node.queries.len() == 1 {
                self.query(lab, index, peer, AgentId(0));
            }
        }
    }

    fn query(&self, lab: &mut Lab, index: u32, dest: u32, agent: AgentId) {
        let (now, subnet) = (lab.world.now(), &mut lab.world.subnet);
        let [here, there] = [index, dest].map(|node| World::port_id(node as usize));
        let (Some(local), Some(remote)) = (subnet.port(here), subnet.port(there)) else { return };
        let mad =
            Query::<PathRecord>::new().sgid(local.gid()).dgid(remote.gid()).request(Method::GET, TransactionId::new(1));
        let send = MadSend { retries: QUERY.1, ..MadSend::to_administration(local, agent, QUERY.0) };
        lab.counts.add_request(now, index as usize, &mad);
        subnet.send_mad(now.since_start(), here, send, &mad).expect("the port exists");
    }

    fn query_done(&mut self, lab: &mut Lab, index: u32, agent: AgentId, is_ok: bool) {
        if self.program == Program::None {
            return self.answered(lab, agent.0 as usize, is_ok);
        }
        let node = self.node(index);
        let Some(peer) = node.queries.pop_front() else { return };
        let next = node.queries.front().copied();
        let waiting = node.waiting.remove(&peer).unwrap_or_default();
        if is_ok {
            node.peers.insert(peer, Peer::HasPath);
            self.respond(lab, index, peer);
        } else {
            node.owed.remove(&peer);
        }
        if let Some(next) = next {
            self.query(lab, index, next, AgentId(0));
        }
        waiting.into_iter().for_each(|rank| self.answered(lab, rank, is_ok));
    }

    /// Responds to a peer, once its path is there.
    fn respond(&mut self, lab: &mut Lab, index: u32, peer: u32) {
        let mgid = self.group.0;
        let node = self.node(index);
        if node.peers.get(&peer) != Some(&Peer::HasPath) {
            return self.want_path(lab, index, peer);
        }
        let Some(to) = node.owed.remove(&peer) else { return };
        let (now, mad) = (lab.world.now(), multicast::response(to.tid, mgid));
        let mut datagram = Datagram::unicast(to.lid, to.qpn, Qkey::GSI, ib_mad::as_bytes(&mad));
        datagram.to.grh = Some(GlobalRoute { dgid: to.gid, ..GlobalRoute::default() });
        lab.world.subnet.send_datagram(now.since_start(), node.qp, &datagram).expect("the subnet accepts the datagram");
        lab.counts.add(now, UNICASTS, 1);
    }
}

/// Returns the transaction id of a request.
fn tid(from: u32, to: u32) -> TransactionId {
    TransactionId::new(u64::from(from) << 32 | u64::from(to))
}

/// Returns the peer that was requested with a transaction id.
fn peer_of(tid: TransactionId) -> u32 {
    tid.get() as u32
}
