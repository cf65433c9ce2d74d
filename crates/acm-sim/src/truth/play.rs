//! Plays a sequence and compares each answer with the truth.
use super::{
    c_nodes::CNodes,
    model::{NOBODY, Place, Truth},
    step::{Sequence, Target, What},
};
use crate::{Client, World, WorldConfig, name};
use acm_sansio::{
    Config, Output, Time,
    config::{Prefetch, RouteProt},
};
use acm_wire::{
    Address,
    client::{EntryFlags, path_request, resolve_request},
};
use core::{fmt, time::Duration};
use ib_mad::{Pkey, sa::PathRecord};
use ib_sim::{Faults, PortId, Probability};
use std::collections::{BTreeMap, VecDeque};

/// The time in which an answer may have the place that its destination had before: three intervals of witnesses.
const LATE: Duration = Duration::from_secs(15);
/// The same while datagrams are lost.
const LATE_WITH_LOSS: Duration = Duration::from_secs(30);
/// The time without events before all destinations are used.
const CALM: Duration = Duration::from_secs(180);
/// The time from this use to the last one, whose answers have to be right.
const HEALED: Duration = Duration::from_secs(90);
/// The time for the last answers.
const LAST: Duration = Duration::from_secs(30);
/// The longest time for which a datagram is held back.
const HELD_BACK: Duration = Duration::from_secs(1);

/// A kind of [`Finding`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// An answer is wrong after the calm, a use, and more calm.
    Wrong,
    /// A lookup fails then.
    Unreachable,
    /// An answer has a place that its destination had not within the last 15 s, or 30 s while datagrams are lost.
    Late,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Wrong, Self::Unreachable, Self::Late];
}

/// A difference from the truth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind.
    pub kind: Kind,
    /// The time of the answer.
    pub at: Time,
    /// The node that answered.
    pub node: usize,
    /// The destination.
    pub target: Target,
    /// The difference.
    pub difference: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, at, node, target, difference } = self;
        write!(f, "{kind:?} at {at}: node {} looks up {target}: {difference}", node + 1)
    }
}

/// The end of an event that lasts.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    Up(usize),
    Answering,
    Hearing(usize),
    Member(usize),
    Noticing,
    Running(usize),
}

/// A request without a response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) client: Client,
    target: Target,
    /// The place of the node that had the destination at the start, at the time of the request.
    asked: Place,
}

pub(super) struct Player<'a> {
    pub(super) sequence: &'a Sequence,
    pub(super) world: World,
    pub(super) c_nodes: CNodes,
    pub(super) truth: Truth,
    pub(super) requests: VecDeque<Request>,
    pub(super) ends: BTreeMap<(Time, usize), End>,
    /// Addresses that stopped daemons will notice: that the node has them, or not.
    pub(super) unseen: BTreeMap<usize, Vec<(Address, bool)>>,
    /// The ends of the last stops of daemons.
    pub(super) stopped: BTreeMap<usize, Time>,
    /// Number of events so far.
    pub(super) events: usize,
    /// True when answers have to be right at once.
    is_last: bool,
    findings: Vec<Finding>,
}

/// Plays a sequence and returns the differences from the truth.
#[must_use]
pub fn play(sequence: &Sequence) -> Vec<Finding> {
    let route_prot = if sequence.acm { RouteProt::Acm } else { RouteProt::Sa };
    let prefetch = if sequence.prefetch { Prefetch::On } else { Prefetch::Off };
    let core = Config { route_prot, prefetch, ..Config::default() };
    let c_nodes = sequence.c_nodes.min(sequence.nodes - 1);
    let mut world = World::new(WorldConfig {
        nodes: sequence.nodes - c_nodes,
        core,
        seed: sequence.seed,
        witness: !sequence.no_witness,
        ..WorldConfig::default()
    });
    let c_nodes = CNodes::new(&mut world, c_nodes, sequence.acm);
    let (truth, requests) = (Truth::default(), VecDeque::new());
    let mut player = Player {
        sequence,
        world,
        c_nodes,
        truth,
        requests,
        ends: BTreeMap::new(),
        unseen: BTreeMap::new(),
        stopped: BTreeMap::new(),
        events: 0,
        is_last: false,
        findings: Vec::new(),
    };
    player.play();
    player.findings
}

impl Player<'_> {
    fn play(&mut self) {
        self.note_places();
        self.lose(self.sequence.loss);
        for step in &self.sequence.steps {
            self.run_for(Duration::from_millis(step.after_ms.into()));
            self.act(step.act);
        }
        while let Some((time, _)) = self.ends.keys().next().copied() {
            self.run_until(time);
        }
        self.lose(0);
        self.run_for(CALM);
        self.look_at_all();
        self.run_for(HEALED);
        self.requests.clear();
        self.is_last = true;
        self.look_at_all();
        self.run_for(LAST);
        for request in core::mem::take(&mut self.requests) {
            if self.is_reachable(&request) {
                self.find(Kind::Unreachable, self.world.now(), &request, "no response".into());
            }
        }
    }

    pub(super) fn ports(&self) -> impl Iterator<Item = PortId> + use<> {
        (0..self.sequence.nodes as usize).map(World::port_id)
    }

    /// Sets the loss of datagrams on all links.
    fn lose(&mut self, percent: u32) {
        let loss = Probability::percent(percent);
        let settings = self.world.subnet.settings_mut();
        let (delay, jitter) = (Duration::from_micros(10), Duration::from_micros(5));
        settings.faults = Faults {
            loss,
            duplicate: loss,
            reorder: loss,
            reorder_hold: HELD_BACK,
            delay,
            jitter,
            ..Faults::default()
        };
        (settings.sa.loss, settings.sa.delay) = (loss, Duration::from_micros(100));
    }

    fn run_for(&mut self, time: Duration) {
        self.run_until(self.world.now() + time);
    }

    /// Advances to a time, with the ends of events before it.
    fn run_until(&mut self, time: Time) {
        while let Some(end) = self.ends.first_entry().filter(|end| end.key().0 <= time) {
            let ((at, _), end) = end.remove_entry();
            self.advance(at);
            self.end(end);
            self.judge();
        }
        self.advance(time);
        self.judge();
    }

    fn advance(&mut self, time: Time) {
        self.c_nodes.run(&mut self.world);
        while self.sequence.c_nodes > 0 && self.world.next_time().is_some_and(|next| next <= time) {
            self.world.step();
            self.c_nodes.run(&mut self.world);
        }
        self.world.run_until(time);
    }

    pub(super) fn note_places(&mut self) {
        let is_member = |place: Place| place != Place::default();
        let places = self.ports().map(|id| (self.port_of(id), is_member(self.place_of(id)))).collect::<Vec<_>>();
        self.truth.note_places(self.world.now(), places.into_iter());
    }

    fn port_of(&self, id: PortId) -> Place {
        self.world.subnet.port(id).map(|port| (port.gid(), port.lid)).unwrap_or_default()
    }

    /// Returns the place at which other nodes reach a port: none outside of their partition.
    fn place_of(&self, id: PortId) -> Place {
        let port = self.world.subnet.port(id).filter(|port| port.pkeys.contains(&Pkey::DEFAULT_FULL));
        port.map(|port| (port.gid(), port.lid)).unwrap_or_default()
    }

    pub(super) fn end_after(&mut self, ms: u32, end: End) {
        let at = self.world.now() + Duration::from_millis(ms.into());
        self.ends.insert((at, self.events), end);
    }

    fn look_at_all(&mut self) {
        for node in 0..self.sequence.nodes as usize {
            for of in 0..self.sequence.nodes as usize {
                What::ALL.into_iter().for_each(|what| self.look(node, Target { what, of }));
            }
        }
        self.judge();
    }

    pub(super) fn look(&mut self, node: usize, target: Target) {
        if self.c_nodes.has(node) || self.world.is_stopped(node) {
            return;
        }
        let asked = self.place_of(World::port_id(target.of));
        let flags = EntryFlags::empty();
        let message = match (target.what, target.address()) {
            (What::Lid, _) => path_request(&PathRecord { dlid: asked.1, ..PathRecord::default() }, flags, [7; 8]),
            (_, None) => path_request(&PathRecord { dgid: asked.0, ..PathRecord::default() }, flags, [7; 8]),
            (_, Some(address)) => resolve_request(Some(&name(node as u32)), &address, flags, [7; 8]),
        };
        let client = self.world.request(node, &message);
        self.requests.push_back(Request { client, target, asked });
    }

    /// Compares the answers since the last call with the truth.
    pub(super) fn judge(&mut self) {
        for (at, node, output) in core::mem::take(&mut self.world.transcript) {
            let Output::Reply { client, .. } = output else { continue };
            let client = Client { node, id: client };
            let Some(index) = self.requests.iter().position(|request| request.client == client) else { continue };
            let (Some(request), Some(result)) = (self.requests.remove(index), self.world.path(client)) else {
                continue;
            };
            self.world.disconnect(client);
            match result {
                Ok(path) => self.compare(at, &request, &path),
                Err(status) if self.is_last && self.is_reachable(&request) => {
                    self.find(Kind::Unreachable, at, &request, status.to_string())
                }
                Err(_) => {}
            }
        }
    }

    /// Reports whether a node has the destination of a request now, and may respond. C ibacm responds to the place at which
    /// it has cached the requester first.
    fn is_reachable(&self, request: &Request) -> bool {
        let owner = self.truth.owner(request.target, self.world.now());
        owner != NOBODY && !(self.c_nodes.has(owner) && self.truth.has_moved(request.client.node))
    }

    fn compare(&mut self, at: Time, request: &Request, path: &PathRecord) {
        let Request { client, target, asked } = *request;
        let late = match self.sequence.loss {
            _ if self.is_last => Duration::ZERO,
            0 => LATE,
            _ => LATE_WITH_LOSS,
        };
        let since = Time::from_nanos(at.as_nanos().saturating_sub(late.as_nanos() as u64));
        let (from, to) = ((path.sgid, path.slid), (path.dgid, path.dlid));
        let seat = |place: Place| (place, path.pkey.same_partition(Pkey::DEFAULT_FULL));
        let is_asked = match target.what {
            What::Gid => to.0 == asked.0,
            What::Lid => to.1 == asked.1,
            _ => true,
        };
        let is_own = from == to && self.truth.is_own(client.node, target, to, since, at);
        let is_right = is_asked
            && (is_own
                || self.truth.ends_at(target, seat(to), since, at)
                    && self.truth.was_at(client.node, seat(from), since, at));
        // C ibacm announces nothing. A path to it is right after the next confirmation.
        let is_at_c = |node| self.c_nodes.has(node) && self.truth.was_at(node, seat(to), Time::ZERO, at);
        // Without witnesses, a missed event is made good by the next confirmation.
        let may_be_late = self.sequence.no_witness || (0..self.sequence.nodes as usize).any(is_at_c);
        // A daemon that stops before it can tell that its address is gone refuses it when it runs again. Until then its
        // silence is like that of a daemon that restarts, whose paths are served.
        let stops = |node| {
            let is_late = self.stopped.get(&node).is_some_and(|end| *end >= since);
            is_late
                && self.truth.was_at(node, seat(to), since, at)
                && self.truth.owners_of(target).any(|owner| owner == node)
        };
        let is_gone = self.truth.owner(target, at) == NOBODY && (0..self.sequence.nodes as usize).any(stops);
        let is_excused = !self.is_last && (may_be_late || is_gone);
        if !is_right && !is_excused {
            let end = self.truth.place(self.truth.owner(target, at), at);
            let here = self.truth.place(client.node, at);
            let difference =
                format!("from LID {} to {} LID {}, not from {} to {} LID {}", from.1, to.0, to.1, here.1, end.0, end.1);
            self.find(if self.is_last { Kind::Wrong } else { Kind::Late }, at, request, difference);
        }
    }

    fn find(&mut self, kind: Kind, at: Time, request: &Request, difference: String) {
        let Request { client, target, .. } = *request;
        self.findings.push(Finding { kind, at, node: client.node, target, difference });
    }
}
