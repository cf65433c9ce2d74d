//! What a subnet is: its state, its clock, its events.
use super::pending::{Due, Request};
use crate::{
    Counters, Crossing, Event, Faults, Group, Node, PortChange, PortId, QpId, RequestId, Settings, SubnetConfig,
    rng::Rng, sa::Sa, schedule::Schedule,
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
/// Its methods are of four kinds:
/// - getters ([`port`](Self::port), [`groups`](Self::groups), ...),
/// - what people and programs do to it ([`add_node`](Self::add_node), [`send_datagram`](Self::send_datagram), ...),
/// - [`handle_timeout`](Self::handle_timeout), due at [`poll_timeout`](Self::poll_timeout),
/// - [`poll_event`](Self::poll_event), to be called to `None` after each of the two.
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
    /// When the last datagram of a link with jitter arrives: later ones stay behind it.
    pub(super) last_arrival: BTreeMap<(PortId, PortId), Duration>,
    pub(super) sa: Sa,
    pub(super) requests: BTreeMap<RequestId, Request>,
    pub(super) requests_made: u64,
    pub(super) schedule: Schedule<Due>,
    pub(super) events: VecDeque<Event>,
    /// `None` if nobody watches.
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
            crossings: None,
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

    /// The administrator forgets a port's memberships, and the port is not told. Groups without members go, and who
    /// subscribed to that hears of it.
    pub fn forget_memberships(&mut self, port: PortId) {
        for mgid in self.sa.forget(port) {
            self.notice(TrapNumber::MGID_DESTROYED, mgid);
        }
    }

    /// The administrator deletes a group.
    pub fn delete_group(&mut self, mgid: Gid) {
        if self.sa.groups.remove(&mgid).is_some() {
            self.notice(TrapNumber::MGID_DESTROYED, mgid);
        }
    }

    /// A report of the administrator outside comes to a port.
    pub fn report(&mut self, now: Duration, port: PortId, slid: Lid, mad: &SaMad) {
        self.advance(now);
        if self.port(port).is_some() {
            self.report_delivered(port, slid, mad);
            self.events.push_back(Event::Report { port, slid, qpn: Qpn::GSI, mad: Box::new(*mad) });
        }
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
                Due::Report(port, mad) => self.report_arrives(port, mad),
                Due::ReportAgain(report) => self.send_report(report),
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

    /// The group with this multicast GID; `None` if there is none.
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

    pub(crate) fn sa(&self) -> &Sa {
        &self.sa
    }

    pub(crate) fn schedule_due(&mut self, after: Duration, due: Due) {
        self.schedule.add(self.now + after, due);
    }

    pub(crate) fn tell_event(&mut self, event: Event) {
        self.events.push_back(event);
    }

    /// Whether a management datagram is lost on its way.
    pub(crate) fn loses_mad(&mut self) -> bool {
        let lost = self.settings.sa.loss.happens(&mut self.rng);
        self.counters.sa_lost += u64::from(lost);
        lost
    }

    pub(crate) fn sa_mut(&mut self) -> &mut Sa {
        &mut self.sa
    }

    pub(super) fn tell(&mut self, port: PortId, change: PortChange) {
        self.events.push_back(Event::Port { port, change });
    }

    pub(super) fn advance(&mut self, now: Duration) {
        debug_assert!(now >= self.now, "time went back from {:?} to {now:?}", self.now);
        self.now = now;
    }
}
