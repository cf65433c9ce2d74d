//! A job starts: each rank resolves its peers, one after the other, or each node all of them at once.
use super::{
    Options, Report,
    answers::{Answers, RANKS},
    lab::{Lab, Random},
    other::{self, Program},
};
use crate::{Client, name};
use acm_sansio::{Config, Input, config::Prefetch};
use acm_wire::client::{EntryFlags, resolve_request};
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
}

/// All runs: name, policy and order.
const RUNS: [(&str, Policy, Order); 9] = [
    ("no daemon, shifted", Policy::Other(Program::None), Order::Shifted),
    ("model of C ibacm, shifted", Policy::Other(Program::Ibacm), Order::Shifted),
    ("model of C ibacm, random", Policy::Other(Program::Ibacm), Order::Random),
    ("shifted", Policy::Daemon(Prefetch::Off), Order::Shifted),
    ("random", Policy::Daemon(Prefetch::Off), Order::Random),
    ("all at once", Policy::Daemon(Prefetch::Off), Order::AtOnce),
    ("hosts preloaded, shifted", Policy::Preloaded, Order::Shifted),
    ("prefetch auto, random", Policy::Daemon(Prefetch::Auto), Order::Random),
    ("prefetch on, random", Policy::Daemon(Prefetch::On), Order::Random),
];

pub(super) fn run(options: &Options) -> Report {
    let mut report = Report::default();
    for (name, policy, order) in RUNS {
        if options.only.is_some_and(|only| only != name) {
            continue;
        }
        let peers = match order {
            Order::Shifted => peers(options, true),
            Order::Random => peers(options, false),
            Order::AtOnce => all_at_once(options),
        };
        match policy {
            Policy::Other(program) => other::start(options, program, peers, name, &mut report),
            _ => start(options, peers, policy, name, &mut report),
        }
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

/// Runs a job on nodes with this project's daemon.
fn start(options: &Options, peers: Vec<Vec<u32>>, policy: Policy, event: &str, report: &mut Report) {
    let prefetch = if let Policy::Daemon(prefetch) = policy { prefetch } else { Prefetch::Off };
    let mut lab = Lab::with(options, Config { prefetch, ..Config::default() });
    // The tables of all nodes are spread over 100 s, or 3 us x the square of the number of nodes.
    let tables = Duration::from_micros(3) * options.nodes * options.nodes;
    let calm =
        if prefetch == Prefetch::On { Duration::from_secs(110).max(tables * 2) } else { Duration::from_secs(10) };
    lab.run_for(calm);
    if prefetch == Prefetch::On {
        lab.report(report, &format!("{event}, before the job"));
    }
    if let Policy::Preloaded = policy {
        let hosts = lab.world.host_table();
        for node in 0..options.nodes as usize {
            lab.world.input(node, Input::Preloaded(hosts.clone()));
        }
    }
    let ranks = peers.len() / options.nodes as usize;
    let peers = peers.into_iter().enumerate();
    let mut left: BTreeMap<Client, Vec<u32>> =
        peers.map(|(rank, peers)| (lab.connect((rank / ranks) as u32), peers)).collect();
    lab.mark();
    for client in left.keys().copied().collect::<Vec<_>>() {
        resolve_next(&mut lab, client, &mut left);
    }
    let (end, mut answers) = (lab.world.now() + Duration::from_secs(600), Answers::default());
    loop {
        let replies = lab.replies(end);
        if replies.is_empty() {
            break;
        }
        for reply in replies {
            let is_ok = matches!(lab.world.path(reply.client), Some(Ok(_)));
            answers.add(reply.latency, lab.elapsed(), is_ok);
            resolve_next(&mut lab, reply.client, &mut left);
        }
        // The job is over. Later requests to the SA confirm paths in use.
        if !lab.has_open() {
            break;
        }
    }
    answers.report(report, event);
    lab.report(report, event);
}

fn resolve_next(lab: &mut Lab, client: Client, left: &mut BTreeMap<Client, Vec<u32>>) {
    if let Some(dest) = left.get_mut(&client).and_then(Vec::pop) {
        let source = name(client.node as u32);
        lab.send(client, &resolve_request(Some(&source), &name(dest), EntryFlags::empty(), [1; 8]));
    }
}
