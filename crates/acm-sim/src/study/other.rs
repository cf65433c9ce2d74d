//! A job on nodes without this project's daemon: its ranks ask the administrator themselves, or a model of C ibacm.
use super::{
    Options, Report,
    answers::{Answers, RANKS},
    counts::{Counts, MULTICASTS, UNICASTS},
    lab::handling,
};
use crate::{World, deadlines::Deadlines, inbox::Inbox};
use acm_sansio::Time;
use core::time::Duration;
use ib_mad::{
    Gid, Lid, Qkey, TransactionId,
    sa::{PathRecord, Query},
};
use ib_sim::{AgentId, Datagram, Event, MadSend, QpId, Settings, Subnet, SubnetConfig};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

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
const GROUP: (Gid, Lid) = (Gid::from_parts(0xff12_4001_ffff_0000, ib_mad::Guid::new(1)), Lid::new(0xc000));

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Peer {
    Located,
    HasPath,
}

/// The datagrams of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Request,
    Response,
}

struct Node {
    qp: QpId,
    inbox: Inbox,
    peers: BTreeMap<u32, Peer>,
    /// Peers to locate and to query the path of. The first of each is in flight.
    requests: VecDeque<u32>,
    queries: VecDeque<u32>,
    /// Times that the request in flight was repeated.
    repeated: u32,
    /// Ranks that wait for a peer.
    waiting: BTreeMap<u32, Vec<u32>>,
    /// Peers that wait for a response.
    owed: BTreeSet<u32>,
}

struct Job {
    program: Program,
    subnet: Subnet,
    nodes: Vec<Node>,
    inboxes: Deadlines,
    timeouts: Deadlines,
    counts: Counts,
    now: Time,
    /// The peers that each rank has not resolved yet.
    left: Vec<Vec<u32>>,
    open: Vec<Time>,
    answers: Answers,
}

/// Runs a job. `left` are the peers of each rank, the last one first.
pub(super) fn start(options: &Options, program: Program, left: Vec<Vec<u32>>, event: &str, report: &mut Report) {
    let mut subnet = Subnet::new(SubnetConfig::default(), options.seed);
    *subnet.settings_mut() = Settings { strict_multicast: false, ..options.settings.clone() };
    let mut nodes = Vec::new();
    for index in 0..options.nodes as usize {
        subnet.add_node().expect("the subnet has room");
        let qp = subnet.create_qp(World::port_id(index), Qkey::GSI, 0).expect("the port has room for a queue pair");
        subnet.attach(qp, GROUP.0).expect("it is a group");
        nodes.push(Node {
            qp,
            inbox: Inbox::default(),
            peers: BTreeMap::new(),
            requests: VecDeque::new(),
            queries: VecDeque::new(),
            repeated: 0,
            waiting: BTreeMap::new(),
            owed: BTreeSet::new(),
        });
    }
    let counts = Counts::new(Time::ZERO, &subnet);
    let (now, open) = (Time::ZERO, vec![Time::ZERO; left.len()]);
    let (inboxes, timeouts, answers) = (Deadlines::default(), Deadlines::default(), Answers::default());
    let mut job = Job { program, subnet, nodes, inboxes, timeouts, counts, now, left, open, answers };
    for rank in 0..job.left.len() as u32 {
        job.resolve_next(rank);
    }
    while job.step() {}
    job.answers.report(report, event);
    let lost = job.nodes.iter().map(|node| node.inbox.lost).sum();
    job.counts.report(report, event, lost);
}

impl Job {
    /// Handles the next event. Returns false if there is none.
    fn step(&mut self) -> bool {
        while let Some(event) = self.subnet.poll_event() {
            let (Event::Datagram { qp: QpId { port, .. }, .. }
            | Event::Mad { port, .. }
            | Event::MadTimedOut { port, .. }) = event
            else {
                continue;
            };
            let index = port.node.get() as usize - 1;
            let inbox = &mut self.nodes[index].inbox;
            inbox.push(event, handling());
            self.inboxes.set(index, inbox.next_time(self.now));
        }
        self.counts.read(self.now, &self.subnet);
        let subnet = self.subnet.poll_timeout().map(|at| Time::ZERO + at);
        let Some(next) = [subnet, self.inboxes.next(), self.timeouts.next()].into_iter().flatten().min() else {
            return false;
        };
        self.now = self.now.max(next);
        if subnet.is_some_and(|at| at <= self.now) {
            self.subnet.handle_timeout(self.now.since_start());
        } else if let Some(index) = self.inboxes.due(self.now) {
            let inbox = &mut self.nodes[index].inbox;
            let event = inbox.pop(self.now, handling());
            self.inboxes.set(index, inbox.next_time(self.now));
            if let Some(event) = event {
                self.handle(index as u32, event);
            }
        } else if let Some(index) = self.timeouts.due(self.now) {
            self.timeouts.set(index, None);
            self.request_timed_out(index as u32);
        }
        true
    }

    fn handle(&mut self, node: u32, event: Event) {
        match event {
            Event::Datagram { payload, .. } => {
                let [kind, from, to] = decode(&payload);
                self.locate(node, from);
                if kind == Kind::Request as u32 && to == node {
                    self.node(node).owed.insert(from);
                    self.respond(node, from);
                }
            }
            Event::Mad { agent, .. } => self.query_done(node, agent, true),
            Event::MadTimedOut { agent, .. } => self.query_done(node, agent, false),
            _ => {}
        }
    }

    fn node(&mut self, node: u32) -> &mut Node {
        &mut self.nodes[node as usize]
    }

    fn resolve_next(&mut self, rank: u32) {
        let Some(dest) = self.left[rank as usize].pop() else { return };
        self.open[rank as usize] = self.now;
        let index = rank / RANKS;
        if self.program == Program::None {
            return self.query(index, dest, AgentId(rank.into()));
        }
        let node = self.node(index);
        match node.peers.get(&dest) {
            Some(Peer::HasPath) => self.answered(rank, true),
            Some(Peer::Located) => {
                node.waiting.entry(dest).or_default().push(rank);
                self.want_path(index, dest);
            }
            None => {
                node.waiting.entry(dest).or_default().push(rank);
                if !node.requests.contains(&dest) {
                    node.requests.push_back(dest);
                    if node.requests.len() == 1 {
                        self.request(index);
                    }
                }
            }
        }
    }

    fn answered(&mut self, rank: u32, is_ok: bool) {
        let since = self.open[rank as usize];
        self.answers.add(self.now.since(since), self.now.since_start(), is_ok);
        self.resolve_next(rank);
    }

    /// Sends the multicast request for the first peer of the queue.
    fn request(&mut self, index: u32) {
        let Some(dest) = self.node(index).requests.front().copied() else { return };
        let (mgid, mlid) = GROUP;
        let payload = encode(Kind::Request, index, dest);
        let qp = self.node(index).qp;
        let datagram = Datagram::multicast(mlid, mgid, Qkey::GSI, &payload);
        self.subnet.send_datagram(self.now.since_start(), qp, &datagram).expect("the subnet accepts the datagram");
        self.counts.add(self.now, MULTICASTS, 1);
        self.timeouts.set(index as usize, Some(self.now + REQUEST));
    }

    fn request_timed_out(&mut self, index: u32) {
        let node = self.node(index);
        node.repeated += 1;
        if node.repeated <= REQUEST_RETRIES {
            return self.request(index);
        }
        let Some(dest) = node.requests.front().copied() else { return };
        let waiting = node.waiting.remove(&dest).unwrap_or_default();
        self.end_request(index, dest);
        waiting.into_iter().for_each(|rank| self.answered(rank, false));
    }

    fn end_request(&mut self, index: u32, dest: u32) {
        let node = self.node(index);
        let is_first = node.requests.front() == Some(&dest);
        node.requests.retain(|other| *other != dest);
        if is_first {
            node.repeated = 0;
            self.timeouts.set(index as usize, None);
            self.request(index);
        }
    }

    /// A datagram of a peer was received.
    fn locate(&mut self, index: u32, peer: u32) {
        let node = self.node(index);
        if node.peers.contains_key(&peer) {
            return;
        }
        node.peers.insert(peer, Peer::Located);
        if node.waiting.contains_key(&peer) {
            self.want_path(index, peer);
        }
        self.end_request(index, peer);
    }

    fn want_path(&mut self, index: u32, peer: u32) {
        let node = self.node(index);
        if !node.queries.contains(&peer) {
            node.queries.push_back(peer);
            if node.queries.len() == 1 {
                self.query(index, peer, AgentId(0));
            }
        }
    }

    fn query(&mut self, index: u32, dest: u32, agent: AgentId) {
        let [here, there] = [index, dest].map(|node| World::port_id(node as usize));
        let (Some(local), Some(remote)) = (self.subnet.port(here), self.subnet.port(there)) else { return };
        let mad = Query::<PathRecord>::new().sgid(local.gid()).dgid(remote.gid()).get(TransactionId::new(1));
        let send = MadSend { retries: QUERY.1, ..MadSend::to_administration(local, agent, QUERY.0) };
        self.counts.add_request(self.now, &mad);
        self.subnet.send_mad(self.now.since_start(), here, send, &mad).expect("the port exists");
    }

    fn query_done(&mut self, index: u32, agent: AgentId, is_ok: bool) {
        if self.program == Program::None {
            return self.answered(agent.0 as u32, is_ok);
        }
        let node = self.node(index);
        let Some(peer) = node.queries.pop_front() else { return };
        let next = node.queries.front().copied();
        let waiting = node.waiting.remove(&peer).unwrap_or_default();
        if is_ok {
            node.peers.insert(peer, Peer::HasPath);
            self.respond(index, peer);
        } else {
            node.owed.remove(&peer);
        }
        if let Some(next) = next {
            self.query(index, next, AgentId(0));
        }
        waiting.into_iter().for_each(|rank| self.answered(rank, is_ok));
    }

    /// Responds to a peer, once its path is there.
    fn respond(&mut self, index: u32, peer: u32) {
        let node = self.node(index);
        if node.peers.get(&peer) != Some(&Peer::HasPath) {
            return self.want_path(index, peer);
        }
        if !node.owed.remove(&peer) {
            return;
        }
        let from = node.qp;
        let to = self.node(peer).qp;
        let lid = self.subnet.port(to.port).map(|port| port.lid).unwrap_or_default();
        let payload = encode(Kind::Response, index, peer);
        let datagram = Datagram::unicast(lid, to.qpn, Qkey::GSI, &payload);
        self.subnet.send_datagram(self.now.since_start(), from, &datagram).expect("the subnet accepts the datagram");
        self.counts.add(self.now, UNICASTS, 1);
    }
}

fn encode(kind: Kind, from: u32, to: u32) -> Vec<u8> {
    [kind as u32, from, to].into_iter().flat_map(u32::to_be_bytes).collect()
}

fn decode(payload: &[u8]) -> [u32; 3] {
    let mut numbers = payload.as_chunks().0.iter().map(|bytes| u32::from_be_bytes(*bytes));
    [(); 3].map(|()| numbers.next().unwrap_or_default())
}
