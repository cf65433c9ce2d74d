//! The subnet: its door, and who is in it.
mod deliver;
mod mad;
mod nodes;

use crate::{
    Counters, Error, Event, Faults, Group, Node, NodeConfig, NodeId, Port, PortChange, PortId, QpId, Settings,
    SubnetConfig, rng::Rng, sa::Sa, schedule::Schedule,
};
use alloc::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    vec::Vec,
};
use core::time::Duration;
use deliver::Arrival;
use ib_mad::{Gid, Lid, PortState, Qkey, Qpn};
use mad::{Request, Served};

/// A simulated subnet.
///
/// Its methods are of four kinds:
/// - getters ([`port`](Self::port), [`groups`](Self::groups), ...),
/// - what people and programs do to it ([`add_node`](Self::add_node), [`send_datagram`](Self::send_datagram), ...),
/// - [`handle_timeout`](Self::handle_timeout), due at [`poll_timeout`](Self::poll_timeout),
/// - [`poll_event`](Self::poll_event), to be called to `None` after each of the two.
#[derive(Debug)]
pub struct Subnet {
    config: SubnetConfig,
    settings: Settings,
    counters: Counters,
    rng: Rng,
    nodes: Vec<Node>,
    queues: Vec<Queues>,
    lids: BTreeMap<Lid, PortId>,
    gids: BTreeMap<Gid, PortId>,
    attached: BTreeMap<Gid, BTreeSet<QpId>>,
    links: BTreeMap<(PortId, PortId), Faults>,
    /// When the last datagram of a link with jitter arrives: later ones stay behind it.
    last_arrival: BTreeMap<(PortId, PortId), Duration>,
    sa: Sa,
    requests: BTreeMap<crate::RequestId, Request>,
    requests_made: u64,
    schedule: Schedule<Due>,
    events: VecDeque<Event>,
    now: Duration,
}

/// The queue pairs of a node.
#[derive(Debug)]
struct Queues {
    next: Qpn,
    open: BTreeMap<Qpn, Queue>,
}

/// A queue pair.
#[derive(Clone, Copy, Debug)]
struct Queue {
    port: u8,
    qkey: Qkey,
    pkey_index: u16,
}

/// What is to happen.
#[derive(Debug)]
enum Due {
    /// A datagram arrives.
    Arrival(Arrival),
    /// The administrator has worked on a request.
    Served(Served),
    /// Nobody answered a transmission in time.
    NoAnswer(crate::RequestId),
}

impl Subnet {
    /// An empty subnet. Equal seeds and calls give equal events.
    #[must_use]
    pub fn new(config: SubnetConfig, seed: u64) -> Self {
        Self {
            config,
            settings: Settings::default(),
            counters: Counters::default(),
            rng: Rng::new(seed),
            nodes: Vec::new(),
            queues: Vec::new(),
            lids: BTreeMap::new(),
            gids: BTreeMap::new(),
            attached: BTreeMap::new(),
            links: BTreeMap::new(),
            last_arrival: BTreeMap::new(),
            sa: Sa::default(),
            requests: BTreeMap::new(),
            requests_made: 0,
            schedule: Schedule::default(),
            events: VecDeque::new(),
            now: Duration::ZERO,
        }
    }

    /// The subnet manager restarts: every group is forgotten, MLIDs begin at `first_mlid` (0xC000 if `None`), and every
    /// port is asked to register again.
    pub fn restart_sm(&mut self, first_mlid: Option<Lid>) {
        self.sa.restart(first_mlid);
        for id in self.port_ids() {
            self.tell(id, PortChange::ClientReregister);
        }
    }

    /// The administrator forgets a port's memberships, and nobody is told.
    pub fn forget_memberships(&mut self, port: PortId) {
        self.sa.forget(port);
    }

    /// What happened next; `None` when everything was told.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) must be called; `None`: not before something else is done. Every
    /// method that takes `now` can change it.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Duration> {
        self.schedule.next()
    }

    /// Lets everything happen that is due. Calls that are too early are harmless.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.advance(now);
        while let Some((at, due)) = self.schedule.take(now) {
            match due {
                Due::Arrival(arrival) => self.arrive(arrival),
                Due::Served(served) => self.served(served),
                Due::NoAnswer(request) => self.no_answer(at, request),
            }
        }
    }

    /// What can be set while it runs.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Sets what can be set while it runs; what is on its way already is not changed.
    pub fn settings_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// Gives the way from one port to another faults of its own, or (`None`) those of [`Settings::faults`] again.
    pub fn set_link(&mut self, from: PortId, to: PortId, faults: Option<Faults>) {
        match faults {
            Some(faults) => self.links.insert((from, to), faults),
            None => self.links.remove(&(from, to)),
        };
    }

    /// The faults of the way from one port to another.
    #[must_use]
    pub fn link(&self, from: PortId, to: PortId) -> Faults {
        self.links.get(&(from, to)).copied().unwrap_or(self.settings.faults)
    }

    /// What happened, in numbers.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Sets every counter to zero.
    pub fn reset_counters(&mut self) {
        self.counters = Counters::default();
    }

    /// The groups, by GID.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.sa.groups.values()
    }

    /// A group.
    #[must_use]
    pub fn group(&self, mgid: Gid) -> Option<&Group> {
        self.sa.groups.get(&mgid)
    }

    /// The open queue pairs, by port and number.
    pub fn qps(&self) -> impl Iterator<Item = QpId> {
        (1..).zip(&self.queues).flat_map(|(node, queues)| {
            queues.open.iter().map(move |(qpn, queue)| QpId { port: PortId::new(node, queue.port), qpn: *qpn })
        })
    }

    pub(crate) fn counters_mut(&mut self) -> &mut Counters {
        &mut self.counters
    }

    pub(crate) fn sa_mut(&mut self) -> &mut Sa {
        &mut self.sa
    }

    fn tell(&mut self, port: PortId, change: PortChange) {
        self.events.push_back(Event::Port { port, change });
    }

    fn advance(&mut self, now: Duration) {
        debug_assert!(now >= self.now, "time went back from {:?} to {now:?}", self.now);
        self.now = now;
    }
}

#[cfg(test)]
mod tests;
