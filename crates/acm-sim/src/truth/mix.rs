//! Random sequences of some kinds of events.
use super::step::{Act, Sequence, Step, Target, What};
use crate::random::Random;

/// Events that random sequences contain.
#[derive(Clone, Copy, Debug)]
pub struct Events {
    /// The name on the command line.
    pub name: &'static str,
    /// Draws an event.
    draw: fn(&mut Draw<'_>) -> Act,
}

/// All kinds of events.
pub const EVENTS: &[Events] = &[
    Events { name: "moves", draw: |draw| Act::Move { target: draw.address(), to: draw.node() } },
    Events {
        name: "lids",
        draw: |draw| match draw.random.below(4) {
            0 => Act::Rotate {},
            _ => Act::Swap { one: draw.node(), other: draw.node() },
        },
    },
    Events { name: "bounces", draw: |draw| Act::Bounce { node: draw.node(), ms: draw.time() } },
    Events { name: "manager", draw: |_| Act::Manager {} },
    Events { name: "registers", draw: |draw| Act::Register { node: draw.node() } },
    Events { name: "deletes", draw: |_| Act::Delete {} },
    Events { name: "restarts", draw: |draw| Act::Restart { node: draw.node() } },
    Events { name: "guids", draw: |draw| Act::Guid { node: draw.node() } },
    Events { name: "mute", draw: |draw| Act::Mute { ms: draw.time() } },
    Events { name: "busy", draw: |draw| Act::Busy { ms: draw.time() } },
    Events { name: "lags", draw: |draw| Act::Lag { ms: draw.time(), by: draw.time() } },
    Events { name: "deaf", draw: |draw| Act::Deaf { node: draw.node(), ms: draw.time() } },
    Events { name: "devices", draw: |draw| Act::Device { node: draw.node() } },
    Events { name: "removals", draw: |draw| Act::Remove { target: draw.address() } },
    Events { name: "partitions", draw: |draw| Act::Leave { node: draw.node(), ms: draw.time() } },
    Events { name: "failovers", draw: |_| Act::Failover {} },
    Events { name: "quiet", draw: |draw| Act::Quiet { ms: draw.time() } },
    Events { name: "stops", draw: |draw| Act::Stop { node: draw.node(), ms: draw.time() } },
    Events { name: "reloads", draw: |draw| Act::Reload { node: draw.node() } },
];

/// Numbers for one sequence.
struct Draw<'a> {
    random: &'a mut Random,
    nodes: u32,
}

impl Draw<'_> {
    fn node(&mut self) -> usize {
        self.random.below(self.nodes) as usize
    }

    /// Draws an address that may move.
    fn address(&mut self) -> Target {
        let what = [What::Ip4, What::Ip6][self.random.below(2) as usize];
        Target { what, of: self.node() }
    }

    fn target(&mut self) -> Target {
        Target { what: What::ALL[self.random.below(5) as usize], of: self.node() }
    }

    /// Draws a time: some are within the checks of a claim, some longer.
    fn time(&mut self) -> u32 {
        let below = [2, 30, 400, 4000, 12_000][self.random.below(5) as usize];
        self.random.below(below)
    }
}

/// A mix of events.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    /// The name.
    pub name: &'static str,
    /// The names of [`EVENTS`].
    pub events: &'static [&'static str],
    /// True for `route_prot acm`.
    pub acm: bool,
    /// Datagrams, and requests to the SA, that are lost, in percent.
    pub loss: u32,
    /// True if some nodes answer as C ibacm does.
    pub beside_c: bool,
    /// True without the option `witness`.
    pub no_witness: bool,
    /// True for `prefetch on`.
    pub prefetch: bool,
}

const ALL: &[&str] = &["moves", "lids", "bounces", "manager", "registers", "deletes"];
const MORE: &[&str] = &[
    "moves",
    "lids",
    "bounces",
    "manager",
    "registers",
    "deletes",
    "restarts",
    "guids",
    "mute",
    "busy",
    "deaf",
    "devices",
];

const MOST: &[&str] = &[
    "moves",
    "lids",
    "bounces",
    "registers",
    "deletes",
    "devices",
    "removals",
    "partitions",
    "failovers",
    "quiet",
    "lags",
    "stops",
    "reloads",
];

/// C ibacm does not follow the other events.
const BESIDE_C: &[&str] = &["moves", "lids", "bounces", "restarts", "devices", "removals"];

/// The mixes of the tests.
pub const MIXES: &[Mix] = &[
    Mix { name: "LID changes", events: &["lids"], ..Mix::PLAIN },
    Mix { name: "addresses move, ports bounce", events: &["moves", "bounces"], ..Mix::PLAIN },
    Mix { name: "addresses move, SM restarts", events: &["moves", "manager"], ..Mix::PLAIN },
    Mix { name: "addresses move, memberships lost", events: &["moves", "registers"], ..Mix::PLAIN },
    Mix { name: "groups deleted", events: &["deletes"], ..Mix::PLAIN },
    Mix { name: "all of them", events: ALL, ..Mix::PLAIN },
    Mix { name: "all of them, with loss", events: ALL, loss: 10, ..Mix::PLAIN },
    Mix { name: "acm, LID changes, SM restarts", events: &["lids", "manager"], acm: true, ..Mix::PLAIN },
    Mix { name: "acm, all of them", events: ALL, acm: true, ..Mix::PLAIN },
    Mix { name: "more events", events: MORE, ..Mix::PLAIN },
    Mix { name: "acm, more events, with loss", events: MORE, acm: true, loss: 10, ..Mix::PLAIN },
    Mix { name: "addresses move, daemons stop", events: &["moves", "removals", "stops"], ..Mix::PLAIN },
    Mix { name: "most events", events: MOST, ..Mix::PLAIN },
    Mix { name: "acm, most events, with loss", events: MOST, acm: true, loss: 10, ..Mix::PLAIN },
    Mix { name: "beside C ibacm", events: BESIDE_C, beside_c: true, ..Mix::PLAIN },
    Mix { name: "acm, beside C ibacm", events: BESIDE_C, acm: true, beside_c: true, ..Mix::PLAIN },
    Mix { name: "without witnesses", events: ALL, no_witness: true, ..Mix::PLAIN },
    Mix { name: "more events, without witnesses", events: MORE, no_witness: true, ..Mix::PLAIN },
    Mix { name: "all of them, with tables", events: ALL, prefetch: true, ..Mix::PLAIN },
    Mix { name: "most events, with tables and loss", events: MOST, loss: 10, prefetch: true, ..Mix::PLAIN },
    Mix { name: "more events, with tables", events: MORE, prefetch: true, ..Mix::PLAIN },
];

impl Mix {
    /// No events, with the defaults of the daemon and without loss.
    pub const PLAIN: Self =
        Self { name: "", events: &[], acm: false, loss: 0, beside_c: false, no_witness: false, prefetch: false };

    /// Draws a sequence of this many steps. Equal seeds give equal sequences.
    ///
    /// # Panics
    /// If [`Mix::events`] has an unknown name.
    #[must_use]
    pub fn sequence(&self, seed: u64, steps: usize) -> Sequence {
        let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        // A short sequence in a large fabric would rarely use a destination that an event changed.
        let nodes = 3 + random.below((1 + steps as u32 / 40).min(6));
        let c_nodes = if self.beside_c { 1 + random.below(nodes - 2) } else { 0 };
        let events: Vec<&Events> = self.events.iter().map(|name| events(name).expect("the events exist")).collect();
        let steps = (0..steps).map(|_| {
            let mut draw = Draw { random: &mut random, nodes };
            let after_ms = draw.time();
            let act = match draw.random.below(3) {
                0 => (events[draw.random.below(events.len() as u32) as usize].draw)(&mut draw),
                _ => Act::Look { node: draw.node(), target: draw.target() },
            };
            Step { after_ms, act }
        });
        let steps = steps.collect();
        Sequence {
            nodes,
            c_nodes,
            seed: seed % 1_000_000_007,
            acm: self.acm,
            loss: self.loss,
            no_witness: self.no_witness,
            prefetch: self.prefetch,
            steps,
        }
    }
}

/// Returns the events with a name.
#[must_use]
pub fn events(name: &str) -> Option<&'static Events> {
    EVENTS.iter().find(|events| events.name == name)
}
