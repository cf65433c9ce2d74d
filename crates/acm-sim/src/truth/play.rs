//! Plays a sequence and compares each answer with the truth.
use super::{
    model::{Place, Truth},
    step::{Act, Sequence, Target, What},
};
use crate::{Client, World, WorldConfig, name};
use acm_sansio::{Config, Output, Time, config::RouteProtocol};
use acm_wire::client::{EntryFlags, path_request, resolve_request};
use core::{fmt, time::Duration};
use ib_mad::{Gid, Guid, PortState, Status, sa::PathRecord};
use ib_sim::{Faults, PortId, Probability};
use std::collections::{BTreeMap, VecDeque};

/// The time in which an answer may have the place that its destination had before.
const LATE: Duration = Duration::from_secs(10);
/// The time without events before all destinations are used.
const CALM: Duration = Duration::from_secs(180);
/// The time from this use to the last one, whose answers have to be right.
const HEALED: Duration = Duration::from_secs(90);
/// The time for the last answers.
const LAST: Duration = Duration::from_secs(30);
/// The first of the GUIDs that [`Act::Guid`] assigns.
const GUIDS: u64 = 0x77_0000;

/// A kind of [`Finding`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// An answer is wrong after the calm, a use, and more calm.
    Wrong,
    /// A lookup fails then.
    Unreachable,
    /// An answer has a place that its destination had not within the last 10 s.
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
enum End {
    Up(usize),
    Answering,
    Hearing(usize),
}

/// A request without a response.
#[derive(Clone, Copy, Debug)]
struct Request {
    client: Client,
    target: Target,
    /// The place of the node that had the destination at the start, at the time of the request.
    asked: Place,
}

struct Player<'a> {
    sequence: &'a Sequence,
    world: World,
    truth: Truth,
    requests: VecDeque<Request>,
    ends: BTreeMap<(Time, usize), End>,
    /// Number of events so far.
    events: usize,
    /// True when answers have to be right at once.
    is_last: bool,
    findings: Vec<Finding>,
}

/// Plays a sequence and returns the differences from the truth.
#[must_use]
pub fn play(sequence: &Sequence) -> Vec<Finding> {
    let route_protocol = if sequence.acm { RouteProtocol::Acm } else { RouteProtocol::Sa };
    let core = Config { route_protocol, ..Config::default() };
    let world = World::new(WorldConfig { nodes: sequence.nodes, core, seed: sequence.seed, ..WorldConfig::default() });
    let (truth, requests) = (Truth::default(), VecDeque::new());
    let mut player = Player {
        sequence,
        world,
        truth,
        requests,
        ends: BTreeMap::new(),
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
            self.find(Kind::Unreachable, &request, "no response".into());
        }
    }

    fn ports(&self) -> impl Iterator<Item = PortId> + use<> {
        (0..self.sequence.nodes as usize).map(World::port_id)
    }

    /// Sets the loss of datagrams on all links.
    fn lose(&mut self, percent: u32) {
        let loss = Probability::percent(percent);
        let settings = self.world.subnet.settings_mut();
        let (delay, jitter) = (Duration::from_micros(10), Duration::from_micros(5));
        settings.faults = Faults { loss, delay, jitter, ..Faults::default() };
        (settings.sa.loss, settings.sa.delay) = (loss, Duration::from_micros(100));
    }

    fn run_for(&mut self, time: Duration) {
        self.run_until(self.world.now() + time);
    }

    /// Advances to a time, with the ends of events before it.
    fn run_until(&mut self, time: Time) {
        while let Some(end) = self.ends.first_entry().filter(|end| end.key().0 <= time) {
            let ((at, _), end) = end.remove_entry();
            self.world.run_until(at);
            self.end(end);
            self.judge();
        }
        self.world.run_until(time);
        self.judge();
    }

    fn note_places(&mut self) {
        let places: Vec<Place> = self.ports().map(|id| self.place_of(id)).collect();
        self.truth.note_places(self.world.now(), places.into_iter());
    }

    fn place_of(&self, id: PortId) -> Place {
        self.world.subnet.port(id).map(|port| (port.gid(), port.lid)).unwrap_or_default()
    }

    fn end_after(&mut self, ms: u32, end: End) {
        let at = self.world.now() + Duration::from_millis(ms.into());
        self.ends.insert((at, self.events), end);
    }

    fn end(&mut self, end: End) {
        match end {
            End::Up(node) => self.set_state(node, PortState::ACTIVE),
            End::Answering => {
                let sa = &mut self.world.subnet.settings_mut().sa;
                (sa.mute, sa.status) = (false, None);
            }
            End::Hearing(node) => {
                self.ports().for_each(|from| self.world.subnet.set_link(from, World::port_id(node), None))
            }
        }
        self.world.settle();
    }

    fn set_state(&mut self, node: usize, state: PortState) {
        let _ = self.world.subnet.set_port_state(World::port_id(node), state);
    }

    /// Carries out an act. An act that names a node that does not exist has no effect.
    fn act(&mut self, act: Act) {
        self.events += 1;
        let nodes = self.sequence.nodes as usize;
        match act {
            Act::Look { node, target } if node.max(target.of) < nodes => self.look(node, target),
            Act::Move { target, to } if target.of.max(to) < nodes => self.move_address(target, to),
            Act::Swap { one, other } if one.max(other) < nodes => self.exchange_lids(&[one, other]),
            Act::Rotate {} => self.exchange_lids(&(0..nodes).collect::<Vec<_>>()),
            Act::Bounce { node, ms } if node < nodes => {
                self.set_state(node, PortState::DOWN);
                self.end_after(ms, End::Up(node));
            }
            Act::Manager {} => self.world.subnet.restart_sm(None),
            Act::Register { node } if node < nodes => {
                self.world.subnet.drop_memberships(World::port_id(node));
                let _ = self.world.subnet.reregister(World::port_id(node));
            }
            Act::Delete {} => {
                let groups: Vec<Gid> = self.world.subnet.groups().map(|group| group.mgid).collect();
                groups.into_iter().for_each(|mgid| self.world.subnet.delete_group(mgid));
            }
            Act::Restart { node } if node < nodes => self.world.restart(node),
            Act::Guid { node } if node < nodes => {
                let guid = Guid::new(GUIDS + 16 * self.events as u64);
                let _ = self.world.subnet.set_node_guid(World::port_id(node).node, guid);
            }
            Act::Mute { ms } => {
                self.world.subnet.settings_mut().sa.mute = true;
                self.end_after(ms, End::Answering);
            }
            Act::Busy { ms } => {
                self.world.subnet.settings_mut().sa.status = Some(Status::BUSY);
                self.end_after(ms, End::Answering);
            }
            Act::Deaf { node, ms } if node < nodes => {
                let faults = Faults { loss: Probability::percent(50), ..self.world.subnet.settings().faults };
                self.ports().for_each(|from| self.world.subnet.set_link(from, World::port_id(node), Some(faults)));
                self.end_after(ms, End::Hearing(node));
            }
            Act::Device { node } if node < nodes => self.world.lose_endpoints(node),
            _ => {}
        }
        self.note_places();
        self.world.settle();
        self.judge();
    }

    fn move_address(&mut self, target: Target, to: usize) {
        let (now, Some(address)) = (self.world.now(), target.address()) else { return };
        let from = self.truth.owner(target, now);
        if from != to {
            self.world.remove_address(from, address);
            self.world.add_address(to, address);
            self.truth.note_owner(now, target, to);
        }
    }

    /// Gives each node the LID of the next one.
    fn exchange_lids(&mut self, nodes: &[usize]) {
        let lids: Vec<_> = nodes.iter().map(|node| self.world.port(*node).lid).collect();
        let next = lids.iter().cycle().skip(1);
        let ports = nodes
            .iter()
            .zip(next)
            .map(|(node, lid)| (World::port_id(*node), ib_sim::Port { lid: *lid, ..self.world.port(*node).clone() }));
        let ports: BTreeMap<_, _> = ports.collect();
        let _ = self.world.subnet.set_ports(&ports);
    }

    fn look_at_all(&mut self) {
        for node in 0..self.sequence.nodes as usize {
            for of in 0..self.sequence.nodes as usize {
                What::ALL.into_iter().for_each(|what| self.look(node, Target { what, of }));
            }
        }
        self.judge();
    }

    fn look(&mut self, node: usize, target: Target) {
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
    fn judge(&mut self) {
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
                Err(status) if self.is_last => self.find(Kind::Unreachable, &request, status.to_string()),
                Err(_) => {}
            }
        }
    }

    fn compare(&mut self, at: Time, request: &Request, path: &PathRecord) {
        let Request { client, target, asked } = *request;
        let since =
            if self.is_last { at } else { Time::from_nanos(at.as_nanos().saturating_sub(LATE.as_nanos() as u64)) };
        let (from, to) = ((path.sgid, path.slid), (path.dgid, path.dlid));
        let is_asked = match target.what {
            What::Gid => to.0 == asked.0,
            What::Lid => to.1 == asked.1,
            _ => true,
        };
        let is_right =
            is_asked && self.truth.ends_at(target, to, since, at) && self.truth.was_at(client.node, from, since, at);
        if !is_right {
            let end = self.truth.place(self.truth.owner(target, at), at);
            let here = self.truth.place(client.node, at);
            let difference =
                format!("from LID {} to {} LID {}, not from {} to {} LID {}", from.1, to.0, to.1, here.1, end.0, end.1);
            self.find(if self.is_last { Kind::Wrong } else { Kind::Late }, request, difference);
        }
    }

    fn find(&mut self, kind: Kind, request: &Request, difference: String) {
        let Request { client, target, .. } = *request;
        self.findings.push(Finding { kind, at: self.world.now(), node: client.node, target, difference });
    }
}
