//! All nodes, the subnet, and virtual time.
use crate::{
    inbox::Handling,
    node::{Node, source_of},
};
use acm_sansio::{Config, Input, Output, SaRequestId, Time, door::SendFailure};
use acm_trace::Recorder;
use acm_wire::Address;
use core::{
    net::{Ipv4Addr, Ipv6Addr},
    time::Duration,
};
use ib_sim::{Event, NodeId, Port, Subnet, SubnetConfig};

/// What a world is made of.
#[derive(Clone, Debug)]
pub struct WorldConfig {
    /// How many nodes. Node k (from 0) has the addresses `node{k+1}`, 10.0.x.y and fd00::k+1.
    pub nodes: u32,
    /// The cores' options.
    pub core: Config,
    /// Options of single nodes, from 0, in place of the common ones.
    pub special: Vec<(u32, Config)>,
    /// How fast the nodes handle what the fabric tells them; `None` in no time.
    pub handling: Option<Handling>,
    /// The subnet.
    pub subnet: SubnetConfig,
    /// Feeds everything that is random.
    pub seed: u64,
    /// Nodes, from 0, of which there will be a [`World::trace`].
    pub recorded: Vec<u32>,
}

impl Default for WorldConfig {
    fn default() -> Self {
        let (core, subnet) = (Config::default(), SubnetConfig::default());
        Self { nodes: 2, core, special: Vec::new(), handling: None, subnet, seed: 1, recorded: Vec::new() }
    }
}

/// A line of the transcript: what a core wanted, and when.
pub type Entry = (Time, usize, Output);

/// All nodes, the subnet, and virtual time.
#[derive(Debug)]
pub struct World {
    /// The subnet, for faults and events; [`World::settle`] carries on after a change.
    pub subnet: Subnet,
    /// Everything that every core wanted, in order.
    pub transcript: Vec<Entry>,
    pub(crate) config: WorldConfig,
    nodes: Vec<Node>,
    now: Time,
}

/// The place of a node.
fn of(node: NodeId) -> usize {
    node.get() as usize - 1
}

/// Steps at one instant after which a world is taken to spin.
const MAX_STEPS: usize = 1_000_000;

impl World {
    /// A world whose nodes are up and have joined their groups.
    ///
    /// # Panics
    /// If the subnet has no room for so many nodes.
    #[must_use]
    pub fn new(config: WorldConfig) -> Self {
        let mut world = Self {
            subnet: Subnet::new(config.subnet.clone(), config.seed),
            transcript: Vec::new(),
            nodes: Vec::new(),
            now: Time::ZERO,
            config,
        };
        for number in 0..world.config.nodes {
            assert!(world.subnet.add_node().is_ok(), "no room for node {number}");
            world.add_core(number);
        }
        world.settle();
        world
    }

    /// The addresses of a node: name, IPv4, IPv6.
    #[must_use]
    pub fn addresses(node: u32) -> [Address; 3] {
        let [_, a, b, c] = (node + 1).to_be_bytes();
        [
            Address::from_text(&format!("node{}", node + 1)),
            Address::Ip4(Ipv4Addr::new(10, a, b, c)),
            Address::Ip6(Ipv6Addr::from(0xfd00 << 112 | u128::from(node + 1))),
        ]
    }

    fn add_core(&mut self, number: u32) {
        let seed = self.config.seed.wrapping_mul(0x1_0000).wrapping_add(number.into());
        let node = self.make_core(number, seed, None);
        self.nodes.push(node);
        self.with(number as usize, |node, subnet, now, put| node.start(subnet, now, put));
    }

    fn make_core(&self, number: u32, seed: u64, before: Option<Recorder<Vec<u8>>>) -> Node {
        let special = self.config.special.iter().find(|(node, _)| *node == number).map(|(_, config)| config);
        let config = special.unwrap_or(&self.config.core).clone();
        // Nodes of a subnet count from 1.
        let mut node = Node::new(NodeId::new(number + 1), config, seed, Self::addresses(number).to_vec());
        if self.config.recorded.contains(&number) {
            node.record(seed, before);
        }
        node
    }

    /// The trace of a recorded node so far, with an end: its cores one after the other. Then it is recorded no more.
    ///
    /// # Panics
    /// If the node is not among [`WorldConfig::recorded`].
    pub fn trace(&mut self, index: usize) -> Vec<u8> {
        let recorder = self.nodes.get_mut(index).and_then(|node| node.recorder.take());
        recorder.and_then(|recorder| recorder.finish().ok()).expect("a recorded node")
    }

    /// Kills a core, without a goodbye, and starts another in its place: it has another queue pair.
    pub fn restart(&mut self, node: usize) {
        let number = u32::try_from(node).unwrap_or(u32::MAX);
        let old: Vec<_> = self.subnet.qps().filter(|qp| qp.port.node == NodeId::new(number + 1)).collect();
        for qp in old {
            let _ = self.subnet.destroy_qp(qp);
        }
        self.subnet.cancel_all_mads(Self::port_id(node));
        let before = self.nodes.get_mut(node).and_then(|node| node.recorder.take());
        let new = self.make_core(number, self.config.seed ^ self.now.as_nanos() ^ 0x5eed, before);
        if let Some(place) = self.nodes.get_mut(node) {
            *place = new;
        }
        self.with(node, |node, subnet, now, put| node.start(subnet, now, put));
        self.settle();
    }

    pub(crate) fn with(
        &mut self,
        index: usize,
        act: impl FnOnce(&mut Node, &mut Subnet, Time, &mut dyn FnMut(&Output)),
    ) {
        let now = self.now;
        let transcript = &mut self.transcript;
        if let Some(node) = self.nodes.get_mut(index) {
            act(node, &mut self.subnet, now, &mut |output| transcript.push((now, index, output.clone())));
        }
    }

    /// Now.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// A node, from 0.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn node(&self, index: usize) -> &Node {
        self.nodes.get(index).expect("a node of this world")
    }

    /// A counter of a node's core, by its name.
    ///
    /// # Panics
    /// If there is no such node, or no such counter.
    #[must_use]
    pub fn stat(&self, index: usize, name: &str) -> u64 {
        self.node(index).acm.stat(name).unwrap_or_else(|| panic!("no counter {name}"))
    }

    /// The first port of a node.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn port(&self, index: usize) -> &Port {
        self.subnet.port(Self::port_id(index)).expect("a node of this world")
    }

    /// The first port of a node, as the subnet names it.
    #[must_use]
    pub fn port_id(index: usize) -> ib_sim::PortId {
        ib_sim::PortId { node: NodeId::new(u32::try_from(index).unwrap_or(u32::MAX - 1) + 1), port: 1 }
    }

    /// Tells a core what its first port has now: of some changes there is no event.
    pub fn read_port(&mut self, index: usize) {
        self.with(index, |node, subnet, now, put| node.port_up(subnet, now, Self::port_id(index), put));
        self.settle();
    }

    /// Makes each try of a node to open a queue pair fail, or succeed again: its device is on its way out.
    pub fn set_opening_fails(&mut self, index: usize, fails: bool) {
        if let Some(node) = self.nodes.get_mut(index) {
            node.host.opening_fails = fails;
        }
    }

    /// A node's device is closed: its queue pairs are gone, and the core hears of it.
    pub fn lose_endpoints(&mut self, index: usize) {
        self.with(index, |node, subnet, now, put| {
            for endpoint in node.host.lose_queue_pairs(subnet) {
                node.input(subnet, now, Input::EndpointLost(endpoint), put);
            }
        });
        self.settle();
    }

    /// Tells a core one fact.
    pub fn input(&mut self, index: usize, input: Input<'_>) {
        self.with(index, |node, subnet, now, put| node.input(subnet, now, input, put));
        self.settle();
    }

    /// The next instant at which something happens.
    #[must_use]
    pub fn next_time(&self) -> Option<Time> {
        let subnet = self.subnet.poll_timeout().map(|at| Time::ZERO + at);
        let inboxes = self.nodes.iter().map(|node| node.inbox.next_time(self.now));
        self.nodes.iter().map(|node| node.acm.poll_timeout()).chain(inboxes).chain([subnet]).flatten().min()
    }

    /// Goes to the next instant at which something happens; whether there was one.
    pub fn step(&mut self) -> bool {
        let Some(at) = self.next_time() else { return false };
        self.now = self.now.max(at);
        self.settle();
        true
    }

    /// Does all that is due now.
    ///
    /// # Panics
    /// If it does not end.
    pub fn settle(&mut self) {
        for _ in 0..MAX_STEPS {
            if self.subnet.poll_timeout().is_some_and(|at| Time::ZERO + at <= self.now) {
                self.subnet.handle_timeout(self.now.since_start());
            }
            if let Some(event) = self.subnet.poll_event() {
                self.receive(event);
                continue;
            }
            if let Some(event) = self.next_event() {
                self.deliver(event);
                continue;
            }
            let due = |node: &Node| node.acm.poll_timeout().is_some_and(|at| at <= self.now);
            let Some(index) = self.nodes.iter().position(due) else { return };
            self.with(index, |node, subnet, now, put| node.timeout(subnet, now, put));
        }
        assert!(self.next_time().is_none_or(|at| at > self.now), "the world spins at {}", self.now);
    }

    /// Handles an event, or lets it wait for its turn.
    fn receive(&mut self, event: Event) {
        let port = match &event {
            Event::Datagram { qp, .. } => qp.port,
            Event::Mad { port, .. } | Event::MadTimedOut { port, .. } => *port,
            Event::Report { port, .. } | Event::Port { port, .. } | Event::SaRequest { port, .. } => *port,
        };
        match (self.config.handling, self.nodes.get_mut(of(port.node))) {
            (Some(handling), Some(node)) => node.inbox.push(event, handling),
            _ => self.deliver(event),
        }
    }

    /// The next event of a node that is free.
    fn next_event(&mut self) -> Option<Event> {
        let (now, handling) = (self.now, self.config.handling?);
        self.nodes.iter_mut().find_map(|node| node.inbox.pop(now, handling))
    }

    /// Datagrams that a node lost because it did not handle them in time.
    #[must_use]
    pub fn lost(&self, index: usize) -> u64 {
        self.node(index).inbox.lost
    }

    fn deliver(&mut self, event: Event) {
        match event {
            Event::Datagram { qp, source, grh, payload } => self.with(of(qp.port.node), |node, subnet, now, put| {
                if let Some(endpoint) = node.endpoint_of(qp) {
                    let source = source_of(&source, grh.as_ref());
                    node.input(subnet, now, Input::Datagram { endpoint, source, payload: &payload }, put);
                }
            }),
            Event::Mad { port, agent, mad } => self.with(of(port.node), |node, subnet, now, put| {
                let input = Input::SaAnswer { id: SaRequestId::from_bits(agent.0), mad: ib_mad::as_bytes(&*mad) };
                node.input(subnet, now, input, put);
            }),
            Event::MadTimedOut { port, agent, .. } => self.with(of(port.node), |node, subnet, now, put| {
                let input = Input::SaFailed { id: SaRequestId::from_bits(agent.0), failure: SendFailure::TimedOut };
                node.input(subnet, now, input, put);
            }),
            Event::Report { port, slid, qpn, mad } => self.with(of(port.node), |node, subnet, now, put| {
                let port = acm_sansio::PortId(u32::from(port.port) - 1);
                let input = Input::SaReport { port, lid: slid, qpn, mad: ib_mad::as_bytes(&*mad) };
                node.input(subnet, now, input, put);
            }),
            Event::Port { port, change } => self.with(of(port.node), |node, subnet, now, put| {
                node.changed(subnet, now, port, change, put);
            }),
            Event::SaRequest { .. } => {}
        }
    }

    /// Does all that is due until `at`.
    pub fn run_until(&mut self, at: Time) {
        self.settle();
        while self.next_time().is_some_and(|next| next <= at) {
            self.step();
        }
        self.now = self.now.max(at);
        self.settle();
    }

    /// Does all that is due in the next `time`.
    pub fn run_for(&mut self, time: Duration) {
        self.run_until(self.now + time);
    }
}
