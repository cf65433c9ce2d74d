//! The state of a subnet, its clock and its events.
use super::{
    pending::{Request, Timer},
    wire::Wire,
};
use crate::{
    counters::Counters,
    crossing::Crossing,
    event::Event,
    id::{PortId, QpId, RequestId},
    port::{Node, PortChange, SubnetConfig},
    rng::Rng,
    schedule::Schedule,
    settings::{Faults, Settings},
    subnet::sa::{Group, Sa},
};
use alloc::{
    boxed::Box,
    collections::{BTreeMap, BTreeSet, VecDeque},
    vec::Vec,
};
use core::time::Duration;
use ib_mad::{Gid, Lid, Qkey, Qpn, notice::TrapNumber, sa::SaMad};

/// A simulated subnet.
///
/// The methods are of four kinds:
/// - getters ([`port`](Self::port), [`groups`](Self::groups), ...),
/// - actions of people and programs ([`add_node`](Self::add_node), [`send_datagram`](Self::send_datagram), ...),
/// - [`handle_timeout`](Self::handle_timeout), to be called at the time of [`poll_timeout`](Self::poll_timeout),
/// - [`poll_event`](Self::poll_event), to be called until `None` after an action or a time-out.
#[derive(Debug)]
pub struct Subnet {
    pub(super) config: SubnetConfig,
    pub(super) settings: Settings,
    pub(super) counters: Counters,
    pub(super) rng: Rng,
    pub(super) nodes: Vec<Node>,
    pub(super) queues: Vec<Queues>,
    pub(super) lids: BTreeMap<Lid, PortId>,
    pub(super) gids: BTreeMap<Gid, PortId>,
    pub(super) attached: BTreeMap<Gid, BTreeSet<QpId>>,
    pub(super) links: BTreeMap<(PortId, PortId), Faults>,
    /// Arrival time of the last datagram on each link with jitter. Later datagrams of the link arrive after this time.
    pub(super) last_arrival: BTreeMap<(PortId, PortId), Duration>,
    /// Links with a rate ([`Settings::link_rates`]).
    pub(super) wires: BTreeMap<PortId, Wire>,
    pub(super) sa: Sa,
    pub(super) requests: BTreeMap<RequestId, Request>,
    pub(super) requests_made: u64,
    pub(super) schedule: Schedule<Timer>,
    pub(super) events: VecDeque<Event>,
    /// Packets for the watcher; `None` without a watcher.
    pub(super) crossings: Option<VecDeque<Crossing>>,
    pub(super) now: Duration,
}

/// The queue pairs of a node.
#[derive(Debug)]
pub(super) struct Queues {
    pub(super) next: Qpn,
    pub(super) open: BTreeMap<Qpn, Queue>,
}

/// A queue pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    pub(super) port: u8,
    pub(super) qkey: Qkey,
    pub(super) pkey_index: u16,
}

impl Subnet {
    /// Creates an empty subnet. Equal seeds and calls give equal events.
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
            wires: BTreeMap::new(),
            sa: Sa::default(),
            requests: BTreeMap::new(),
            requests_made: 0,
            schedule: Schedule::default(),
            events: VecDeque::new(),
            crossings: None,
            now: Duration::ZERO,
        }
    }

    /// Restarts the subnet manager. All groups are deleted, MLIDs begin at `first_mlid` (0xC000 if `None`), and every
    /// port has to register again.
    pub fn restart_sm(&mut self, first_mlid: Option<Lid>) {
        self.sa.restart(first_mlid);
        for id in self.port_ids() {
            self.push_port_event(id, PortChange::ClientReregister);
        }
    }

    /// Deletes a port's memberships at the administrator without an event at the port. Groups without members are
    /// deleted, and subscribers get a report.
    pub fn drop_memberships(&mut self, port: PortId) {
        for mgid in self.sa.remove_memberships(port) {
            self.report_trap(TrapNumber::MGID_DESTROYED, mgid);
        }
    }

    /// Deletes a group at the administrator.
    pub fn delete_group(&mut self, mgid: Gid) {
        if self.sa.groups.remove(&mgid).is_some() {
            self.report_trap(TrapNumber::MGID_DESTROYED, mgid);
        }
    }

    /// Delivers a report of an external administrator to a port.
    pub fn report(&mut self, now: Duration, port: PortId, slid: Lid, mad: &SaMad) {
        self.advance(now);
        if self.port(port).is_some() {
            self.watch_report(port, slid, mad);
            self.events.push_back(Event::Report { port, slid, qpn: Qpn::GSI, mad: Box::new(*mad) });
        }
    }

    /// Returns the next event; `None` if there is no event at this time.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) must be called; `None` if there is no timer.
    /// Every method with a parameter `now` can change this time.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Duration> {
        self.schedule.next()
    }

    /// Handles all timers that are due. Does nothing if no timer is due.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.advance(now);
        while let Some((at, timer)) = self.schedule.pop_due(now) {
            match timer {
                Timer::Arrival(arrival) => self.arrive(arrival),
                Timer::SaDone(job) => self.finish_job(job),
                Timer::MadTimeout(request) => self.handle_mad_timeout(at, request),
                Timer::Report(port, mad) => self.deliver_report(port, mad),
                Timer::ReportTimeout(report) => self.send_report(report),
            }
        }
    }

    /// Returns the settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the settings for changes. Changes do not affect packets on their way.
    pub fn settings_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// Sets the faults of the link from one port to another. With `None`, the link gets [`Settings::faults`].
    pub fn set_link(&mut self, from: PortId, to: PortId, faults: Option<Faults>) {
        match faults {
            Some(faults) => self.links.insert((from, to), faults),
            None => self.links.remove(&(from, to)),
        };
    }

    /// Returns the faults of the link from one port to another.
    #[must_use]
    pub fn link(&self, from: PortId, to: PortId) -> Faults {
        self.links.get(&(from, to)).copied().unwrap_or(self.settings.faults)
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Sets every counter to zero.
    pub fn reset_counters(&mut self) {
        self.counters = Counters::default();
    }

    /// Returns all groups in the order of their GIDs.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.sa.groups.values()
    }

    /// Returns the group with this multicast GID.
    #[must_use]
    pub fn group(&self, mgid: Gid) -> Option<&Group> {
        self.sa.groups.get(&mgid)
    }

    /// Returns the open queue pairs in the order of nodes and queue pair numbers.
    pub fn qps(&self) -> impl Iterator<Item = QpId> {
        (1..).zip(&self.queues).flat_map(|(node, queues)| {
            queues.open.iter().map(move |(qpn, queue)| QpId { port: PortId::new(node, queue.port), qpn: *qpn })
        })
    }

    pub(crate) fn counters_mut(&mut self) -> &mut Counters {
        &mut self.counters
    }

    pub(crate) fn sa(&self) -> &Sa {
        &self.sa
    }

    pub(crate) fn set_timer(&mut self, after: Duration, timer: Timer) {
        self.schedule.add(self.now + after, timer);
    }

    pub(crate) fn push_event(&mut self, event: Event) {
        self.events.push_back(event);
    }

    /// Decides if a management datagram is lost, and counts it.
    pub(crate) fn loses_mad(&mut self) -> bool {
        let lost = self.settings.sa.loss.happens(&mut self.rng);
        self.counters.sa_lost += u64::from(lost);
        lost
    }

    pub(crate) fn sa_mut(&mut self) -> &mut Sa {
        &mut self.sa
    }

    pub(super) fn push_port_event(&mut self, port: PortId, change: PortChange) {
        self.events.push_back(Event::Port { port, change });
    }

    pub(super) fn advance(&mut self, now: Duration) {
        debug_assert!(now >= self.now, "time went back from {:?} to {now:?}", self.now);
        self.now = now;
    }
}
