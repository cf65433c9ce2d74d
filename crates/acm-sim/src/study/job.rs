//! A job starts: each rank resolves its peers, one after the other, or each node all of them at once.
use super::{
    Options, Report,
    answers::{Answers, RANKS},
    lab::Lab,
    other::{Others, Program},
};
use crate::{Client, World, random::Random};
use acm_sansio::{Config, Input, config::Prefetch, retry};
use acm_wire::{
    Address,
    client::{EntryFlags, resolve_request},
};
use core::time::Duration;
use std::collections::BTreeMap;

/// A node's way to paths.
#[derive(Clone, Copy, Debug)]
enum Policy {
    /// Another program than this project's daemon.
    Other(Program),
    /// This daemon without preloaded hosts.
    Daemon(Prefetch),
    /// This daemon with all hosts preloaded.
    Preloaded,
    /// This daemon on every second node, and the model of C ibacm on the others.
    Beside,
}

impl Policy {
    /// Returns the number of nodes with this daemon.
    fn daemons(self, nodes: u32) -> u32 {
        match self {
            Self::Other(_) => 0,
            Self::Beside => nodes.div_ceil(2),
            Self::Daemon(_) | Self::Preloaded => nodes,
        }
    }

    /// Returns the number of a job's node in the subnet, where the nodes with this daemon are first.
    fn place(self, node: u32, nodes: u32) -> u32 {
        match self {
            Self::Beside => node / 2 + node % 2 * self.daemons(nodes),
            _ => node,
        }
    }
}

/// The peers of the ranks.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// The next nodes, each rank in another order, one after the other.
    Shifted,
    /// Any nodes, one after the other.
    Random,
    /// The next nodes, all in one instant.
    AtOnce,
    /// All other nodes: each rank of a node resolves its part of them.
    All,
}

/// The addresses by which the ranks resolve their peers.
#[derive(Clone, Copy, Debug)]
enum By {
    Name,
    Ip4,
}

impl By {
    fn address(self, node: u32) -> Address {
        let [name, ip4, _] = World::addresses(node);
        match self {
            Self::Name => name,
            Self::Ip4 => ip4,
        }
    }
}

/// A run of the study.
struct Run {
    name: &'static str,
    policy: Policy,
    order: Order,
    by: By,
}

const fn run_of(name: &'static str, policy: Policy, order: Order) -> Run {
    Run { name, policy, order, by: By::Name }
}

/// All runs.
const RUNS: [Run; 14] = [
    run_of("no daemon, shifted", Policy::Other(Program::None), Order::Shifted),
    run_of("model of C ibacm, shifted", Policy::Other(Program::Ibacm), Order::Shifted),
    run_of("model of C ibacm, random", Policy::Other(Program::Ibacm), Order::Random),
    run_of("shifted", Policy::Daemon(Prefetch::Off), Order::Shifted),
    run_of("random", Policy::Daemon(Prefetch::Off), Order::Random),
    Run { by: By::Ip4, ..run_of("addresses, shifted", Policy::Daemon(Prefetch::Off), Order::Shifted) },
    run_of("beside the model, shifted", Policy::Beside, Order::Shifted),
    run_of("beside the model, random", Policy::Beside, Order::Random),
    run_of("all at once", Policy::Daemon(Prefetch::Off), Order::AtOnce),
    run_of("hosts preloaded, shifted", Policy::Preloaded, Order::Shifted),
    run_of("prefetch auto, random", Policy::Daemon(Prefetch::Auto), Order::Random),
    run_of("prefetch on, random", Policy::Daemon(Prefetch::On), Order::Random),
    Run { by: By::Ip4, ..run_of("prefetch on, addresses, shifted", Policy::Daemon(Prefetch::On), Order::Shifted) },
    run_of("prefetch on, all to all", Policy::Daemon(Prefetch::On), Order::All),
];

pub(super) fn run(options: &Options) -> Report {
    let mut report = Report::default();
    for run in RUNS {
        // Each node resolves all others, which takes minutes with many of them.
        let is_long = matches!(run.order, Order::All);
        if options.only.map_or(is_long, |only| only != run.name) {
            continue;
        }
        let peers = match run.order {
            Order::Shifted => peers(options, true),
            Order::Random => peers(options, false),
            Order::AtOnce => all_at_once(options),
            Order::All => all_to_all(options),
        };
        start(options, peers, &run, &mut report);
    }
    report
}

/// Returns the peers of each rank: the next nodes, in an order that is shifted from rank to rank, or any nodes.
fn peers(options: &Options, shifted: bool) -> Vec<Vec<u32>> {
    let nodes = options.nodes;
    let count = options.per_node.unwrap_or(16).min(nodes - 1);
    let mut random = Random(options.seed);
    let mut peer = |rank: u32, number: u32| {
        let step = if shifted { (rank + number) % count } else { random.below(nodes - 1) };
        (rank / RANKS + 1 + step) % nodes
    };
    (0..nodes * RANKS).map(|rank| (0..count).map(|number| peer(rank, number)).collect()).collect()
}

/// Returns peers of many ranks with one peer each, so that each node resolves the next nodes at once.
fn all_at_once(options: &Options) -> Vec<Vec<u32>> {
    let count = options.per_node.unwrap_or(16).min(options.nodes - 1);
    (0..options.nodes).flat_map(|node| (1..=count).map(move |step| vec![(node + step) % options.nodes])).collect()
}

/// Returns the peers of each rank: its part of all other nodes, from the next one on.
fn all_to_all(options: &Options) -> Vec<Vec<u32>> {
    let nodes = options.nodes;
    let peer = |rank: u32, step: u32| (rank / RANKS + step) % nodes;
    let part = |rank: u32| (1 + rank % RANKS..nodes).step_by(RANKS as usize).rev().map(move |step| peer(rank, step));
    (0..nodes * RANKS).map(|rank| part(rank).collect()).collect()
}

/// Runs a job.
fn start(options: &Options, peers: Vec<Vec<u32>>, run: &Run, report: &mut Report) {
    let Run { name: event, policy, by, .. } = *run;
    let nodes = options.nodes;
    let daemons = policy.daemons(nodes);
    let prefetch = if let Policy::Daemon(prefetch) = policy { prefetch } else { Prefetch::Off };
    let mut lab = Lab::with(&Options { nodes: daemons, ..options.clone() }, Config { prefetch, ..Config::default() });
    // The tables of all nodes are spread over 100 s, or 3 us x the square of the number of nodes.
    let tables = Duration::from_micros(3) * nodes * nodes;
    let calm =
        if prefetch == Prefetch::On { Duration::from_secs(110).max(tables * 2) } else { Duration::from_secs(10) };
    // Witnesses show the three addresses of each node in turn.
    let shown = if options.witness { retry::WITNESS.below(nodes) * 4 } else { Duration::ZERO };
    lab.run_for(calm.max(shown));
    if prefetch == Prefetch::On {
        lab.report(report, &format!("{event}, before the job"));
    }
    if let Policy::Preloaded = policy {
        let hosts = lab.world.host_table();
        for node in 0..nodes as usize {
            lab.world.input(node, Input::Preloaded(hosts.clone()));
        }
    }
    let program = if let Policy::Other(program) = policy { program } else { Program::Ibacm };
    let mut others = Others::new(&mut lab, program, nodes - daemons);
    if daemons < nodes {
        // The daemons receive a notice for each node that was added, and drop what they have cached of it.
        lab.run_for(Duration::from_secs(10));
    }
    lab.mark();
    let ranks = peers.len() / nodes as usize;
    let mut left = BTreeMap::new();
    for (rank, peers) in peers.into_iter().enumerate() {
        let node = policy.place((rank / ranks) as u32, nodes);
        let peers = peers.into_iter().map(|peer| policy.place(peer, nodes)).collect();
        if node < daemons {
            left.insert(lab.connect(node), peers);
        } else {
            others.start(&mut lab, node, peers);
        }
    }
    for client in left.keys().copied().collect::<Vec<_>>() {
        resolve_next(&mut lab, client, by, &mut left);
    }
    let (end, mut answers) = (lab.world.now() + Duration::from_secs(600), Answers::default());
    // Later requests to the SA confirm paths in use.
    while lab.has_open() || others.has_open() {
        let replies = lab.collect();
        if replies.is_empty() {
            let next = [lab.world.next_time(), others.next_time()].into_iter().flatten().min();
            let Some(next) = next.filter(|next| *next <= end) else { break };
            lab.world.run_until(next);
            others.run(&mut lab);
        }
        for reply in replies {
            answers.add(reply.latency, lab.elapsed(), reply.is_ok);
            resolve_next(&mut lab, reply.client, by, &mut left);
        }
    }
    match policy {
        Policy::Other(_) => others.answers.report(report, event),
        Policy::Daemon(_) | Policy::Preloaded => answers.report(report, event),
        Policy::Beside => {
            answers.report(report, &format!("{event}, this daemon"));
            others.answers.report(report, &format!("{event}, the model"));
        }
    }
    lab.report(report, event);
}

fn resolve_next(lab: &mut Lab, client: Client, by: By, left: &mut BTreeMap<Client, Vec<u32>>) {
    if let Some(dest) = left.get_mut(&client).and_then(Vec::pop) {
        let source = by.address(client.node as u32);
        lab.send(client, &resolve_request(Some(&source), &by.address(dest), EntryFlags::empty(), [1; 8]));
    }
}
