//! All nodes, the subnet, and virtual time.
use crate::{
    deadlines::Deadlines,
    foreign::{Foreign, index_of, port_of},
    held::Held,
    inbox::{Handling, Inbox},
    node::{Node, source_of},
};
use acm_sansio::{Config, Input, Output, SaRequestId, Time, api::SendFailure};
use acm_trace::Recorder;
use core::time::Duration;
use ib_sim::{Event, NodeId, Port, Settings, Subnet, SubnetConfig};

/// The configuration of a world.
#[derive(Clone, Debug)]
pub struct WorldConfig {
    /// Number of nodes. Node k (from 0) has the addresses `node{k+1}`, 10.0.x.y and fd00::k+1.
    pub nodes: u32,
    /// Options of the cores.
    pub core: Config,
    /// Options of single nodes, numbered from 0, that replace [`Self::core`].
    pub special: Vec<(u32, Config)>,
    /// Speed at which the nodes handle events of the fabric; `None` for no delay.
    pub handling: Option<Handling>,
    /// The subnet.
    pub subnet: SubnetConfig,
    /// Settings of the subnet from the start.
    pub settings: Settings,
    /// Seed of all random numbers.
    pub seed: u64,
    /// True for the option `witness`: without it, scenarios can count datagrams.
    pub witness: bool,
    /// Nodes to record, numbered from 0; [`World::trace`] returns their traces.
    pub recorded: Vec<u32>,
    /// If true, [`World::transcript`] and [`Host::events`](crate::Host::events) are kept. A world of thousands of nodes
    /// has no memory for them.
    pub transcript: bool,
}

impl Default for WorldConfig {
    fn default() -> Self {
        let (core, subnet) = (Config::default(), SubnetConfig::default());
        Self {
            nodes: 2,
            core,
            special: Vec::new(),
            handling: None,
            subnet,
            settings: Settings::default(),
            seed: 1,
            witness: false,
            recorded: Vec::new(),
            transcript: true,
        }
    }
}

/// An entry of the transcript: time, node and output of its core.
pub type TranscriptEntry = (Time, usize, Output);

/// All nodes, the subnet, and virtual time.
#[derive(Debug)]
pub struct World {
    /// The subnet, for faults and events. Call [`World::settle`] after a change.
    pub subnet: Subnet,
    /// All outputs of all cores, in order.
    pub transcript: Vec<TranscriptEntry>,
    pub(crate) config: WorldConfig,
    nodes: Vec<Node>,
    pub(crate) foreign: Foreign,
    pub(crate) held: Held,
    /// Deadlines of the cores.
    timeouts: Deadlines,
    /// Times at which nodes handle their next event.
    inboxes: Deadlines,
    now: Time,
}

/// Steps at one instant after which [`World::settle`] panics.
const MAX_STEPS: usize = 1_000_000;
const MAX_STEPS_PER_NODE: usize = 20_000;

impl World {
    /// Creates a world and starts its nodes, which join their groups.
    ///
    /// # Panics
    /// If the subnet cannot hold that many nodes.
    #[must_use]
    pub fn new(config: WorldConfig) -> Self {
        let mut world = Self {
            subnet: Subnet::new(config.subnet.clone(), config.seed),
            transcript: Vec::new(),
            nodes: Vec::new(),
            foreign: Foreign::default(),
            held: Held::default(),
            timeouts: Deadlines::default(),
            inboxes: Deadlines::default(),
            now: Time::ZERO,
            config,
        };
        world.subnet.settings_mut().clone_from(&world.config.settings);
        for number in 0..world.config.nodes {
            assert!(world.subnet.add_node().is_ok(), "the subnet cannot hold node {number}");
            world.add_core(number);
        }
        world.settle();
        world
    }

    fn add_core(&mut self, number: u32) {
        let seed = self.config.seed.wrapping_mul(0x1_0000).wrapping_add(number.into());
        let node = self.make_core(number, seed, None);
        self.nodes.push(node);
        self.with(number as usize, |node, subnet, now, put| node.start(subnet, now, put));
    }

    fn make_core(&self, number: u32, seed: u64, before: Option<Recorder<Vec<u8>>>) -> Node {
        let special = self.config.special.iter().find(|(node, _)| *node == number).map(|(_, config)| config);
        let config = Config { witness: self.config.witness, ..special.unwrap_or(&self.config.core).clone() };
        // The subnet numbers nodes from 1.
        let id = NodeId::new(number + 1);
        let addresses = match self.nodes.get(number as usize) {
            Some(before) => before.host.addresses.clone(),
            None => Self::addresses(number).to_vec(),
        };
        let mut node = Node::new(id, config, seed, addresses, self.config.transcript);
        if self.config.recorded.contains(&number) {
            node.record(seed, before);
        }
        node
    }

    /// Ends the recording of a node and returns its trace: that of all its cores, one after the other.
    ///
    /// # Panics
    /// If the node is not among [`WorldConfig::recorded`].
    pub fn trace(&mut self, index: usize) -> Vec<u8> {
        let recorder = self.nodes.get_mut(index).and_then(|node| node.recorder.take());
        recorder.and_then(|recorder| recorder.finish().ok()).expect("the node is recorded")
    }

    /// Replaces a core by a new one, without a shutdown. The new core has another queue pair.
    pub fn restart(&mut self, node: usize) {
        let number = u32::try_from(node).unwrap_or(u32::MAX);
        let old: Vec<_> = self.subnet.qps().filter(|qp| qp.port.node == NodeId::new(number + 1)).collect();
        for qp in old {
            let _ = self.subnet.destroy_qp(qp);
        }
        self.subnet.cancel_all_mads(Self::port_id(node));
        let before = self.nodes.get_mut(node).and_then(|node| node.recorder.take());
        let new = self.make_core(number, self.config.seed ^ self.now.as_nanos() ^ 0x5eed, before);
        if let Some(node) = self.nodes.get_mut(node) {
            *node = new;
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
        let Some(node) = self.nodes.get_mut(index) else { return };
        if self.config.transcript {
            let transcript = &mut self.transcript;
            act(node, &mut self.subnet, now, &mut |output| transcript.push((now, index, output.clone())));
        } else {
            act(node, &mut self.subnet, now, &mut |_| {});
        }
        self.schedule(index);
    }

    /// Updates the deadlines of a node.
    pub(crate) fn schedule(&mut self, index: usize) {
        let Some(node) = self.nodes.get(index) else { return };
        let runs = !self.held.has(index);
        // A deadline in the past is due now, in the order of the nodes.
        self.timeouts.set(index, node.acm.poll_timeout().filter(|_| runs).map(|at| at.max(self.now)));
        self.inboxes.set(index, node.inbox.next_time(self.now));
    }

    /// Returns the current virtual time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns a node, numbered from 0.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn node(&self, index: usize) -> &Node {
        self.nodes.get(index).expect("the node exists")
    }

    /// Returns a counter of a node's core by its name.
    ///
    /// # Panics
    /// If there is no such node, or no such counter.
    #[must_use]
    pub fn stat(&self, index: usize, name: &str) -> u64 {
        self.node(index).acm.stat(name).unwrap_or_else(|| panic!("no counter {name}"))
    }

    /// Returns the first port of a node.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn port(&self, index: usize) -> &Port {
        self.subnet.port(Self::port_id(index)).expect("the node exists")
    }

    /// Returns the subnet's id of a node's first port.
    #[must_use]
    pub fn port_id(index: usize) -> ib_sim::PortId {
        ib_sim::PortId { node: NodeId::new(u32::try_from(index).unwrap_or(u32::MAX - 1) + 1), port: 1 }
    }

    /// Passes the current attributes of a node's first port to its core. Some changes of a port cause no event.
    pub fn read_port(&mut self, index: usize) {
        self.with(index, |node, subnet, now, put| node.port_up(subnet, now, Self::port_id(index), put));
        self.settle();
    }

    /// Sets whether opening a queue pair fails at a node, as while its device is being removed.
    pub fn set_opening_fails(&mut self, index: usize, fails: bool) {
        if let Some(node) = self.nodes.get_mut(index) {
            node.host.opening_fails = fails;
        }
    }

    /// Closes a node's device: destroys its queue pairs and notifies the core.
    pub fn lose_endpoints(&mut self, index: usize) {
        self.with(index, |node, subnet, now, put| {
            for endpoint in node.host.lose_queue_pairs(subnet) {
                node.input(subnet, now, Input::EndpointLost(endpoint), put);
            }
        });
        self.settle();
    }

    /// Passes one input to a core.
    pub fn input(&mut self, index: usize, input: Input<'_>) {
        self.with(index, |node, subnet, now, put| node.input(subnet, now, input, put));
        self.settle();
    }

    /// Returns the time of the next event, if there is one.
    #[must_use]
    pub fn next_time(&self) -> Option<Time> {
        let subnet = self.subnet.poll_timeout().map(|at| Time::ZERO + at);
        [subnet, self.inboxes.next(), self.timeouts.next()].into_iter().flatten().min()
    }

    /// Advances to the time of the next event and handles it. Returns false if there is none.
    pub fn step(&mut self) -> bool {
        let Some(at) = self.next_time() else { return false };
        self.now = self.now.max(at);
        self.settle();
        true
    }

    /// Handles all events that are due now.
    ///
    /// # Panics
    /// If events at one instant cause events without end.
    pub fn settle(&mut self) {
        for _ in 0..MAX_STEPS.max(MAX_STEPS_PER_NODE * self.subnet.node_count() as usize) {
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
            let Some(index) = self.timeouts.due(self.now) else { return };
            self.with(index, |node, subnet, now, put| node.timeout(subnet, now, put));
        }
        assert!(self.next_time().is_none_or(|at| at > self.now), "events at {} cause events without end", self.now);
    }

    /// Handles an event, or queues it in the node's inbox.
    fn receive(&mut self, event: Event) {
        let Some(event) = self.held.keep(event) else { return };
        let (index, now) = (index_of(port_of(&event).node), self.now);
        match (self.config.handling, self.inbox_mut(index)) {
            (Some(handling), Some(inbox)) => {
                inbox.push(event, handling);
                let next = inbox.next_time(now);
                self.inboxes.set(index, next);
            }
            _ => self.deliver(event),
        }
    }

    /// Returns the unhandled events of a node.
    fn inbox_mut(&mut self, index: usize) -> Option<&mut Inbox> {
        let cores = self.nodes.len();
        match self.nodes.get_mut(index) {
            Some(node) => Some(&mut node.inbox),
            None => self.foreign.inboxes.get_mut(index - cores),
        }
    }

    /// Returns the next event of an inbox whose node is not busy.
    fn next_event(&mut self) -> Option<Event> {
        let (now, handling) = (self.now, self.config.handling?);
        let index = self.inboxes.due(now)?;
        let inbox = self.inbox_mut(index)?;
        let (event, next) = (inbox.pop(now, handling), inbox.next_time(now));
        self.inboxes.set(index, next);
        event
    }

    /// Returns the number of datagrams that all nodes lost because their queues were full.
    pub(crate) fn all_lost(&self) -> u64 {
        self.nodes.iter().map(|node| &node.inbox).chain(&self.foreign.inboxes).map(|inbox| inbox.lost).sum()
    }

    /// Returns the number of datagrams that a node lost because its queue was full.
    #[must_use]
    pub fn lost(&self, index: usize) -> u64 {
        self.node(index).inbox.lost
    }

    pub(crate) fn deliver(&mut self, event: Event) {
        let index = index_of(port_of(&event).node);
        if (self.nodes.len()..self.nodes.len() + self.foreign.inboxes.len()).contains(&index) {
            return self.foreign.events.push(event);
        }
        match event {
            Event::Datagram { qp, source, grh, payload } => {
                self.with(index_of(qp.port.node), |node, subnet, now, put| {
                    if let Some(endpoint) = node.endpoint_of(qp) {
                        let source = source_of(&source, grh.as_ref());
                        node.input(subnet, now, Input::Datagram { endpoint, source, payload: &payload }, put);
                    }
                })
            }
            Event::Mad { port, agent, mad } => self.with(index_of(port.node), |node, subnet, now, put| {
                let input = Input::SaResponse { id: SaRequestId::from_bits(agent.0), mad: ib_mad::as_bytes(&*mad) };
                node.input(subnet, now, input, put);
            }),
            Event::Table { port, agent, message } => self.with(index_of(port.node), |node, subnet, now, put| {
                let input = Input::SaResponse { id: SaRequestId::from_bits(agent.0), mad: &message };
                node.input(subnet, now, input, put);
            }),
            Event::MadTimedOut { port, agent, .. } => self.with(index_of(port.node), |node, subnet, now, put| {
                let input = Input::SaFailed { id: SaRequestId::from_bits(agent.0), failure: SendFailure::TimedOut };
                node.input(subnet, now, input, put);
            }),
            Event::Report { port, slid, qpn, mad } => self.with(index_of(port.node), |node, subnet, now, put| {
                let port = acm_sansio::PortId(u32::from(port.port) - 1);
                let input = Input::SaReport { port, lid: slid, qpn, mad: ib_mad::as_bytes(&*mad) };
                node.input(subnet, now, input, put);
            }),
            Event::Port { port, change } => self.with(index_of(port.node), |node, subnet, now, put| {
                node.port_changed(subnet, now, port, change, put);
            }),
            // The subnet has its own administrator.
            Event::SaRequest { .. } => {}
        }
    }

    /// Handles all events up to `at`, and advances to it.
    pub fn run_until(&mut self, at: Time) {
        self.settle();
        while self.next_time().is_some_and(|next| next <= at) {
            self.step();
        }
        self.now = self.now.max(at);
        self.settle();
    }

    /// Handles all events of the next `time`, and advances by it.
    pub fn run_for(&mut self, time: Duration) {
        self.run_until(self.now + time);
    }
}
