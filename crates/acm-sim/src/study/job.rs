//! A job starts: each rank resolves its peers, one after the other, or each node all of them at once.
use super::{
    Options, Report,
    lab::{Lab, Random, latencies, slow_sa},
    other::{self, Program},
};
use crate::{Client, name};
use acm_sansio::Input;
use acm_wire::client::{EntryFlags, resolve_request};
use core::time::Duration;
use std::collections::BTreeMap;

/// Ranks of a node.
pub(super) const RANKS: u32 = 4;

pub(super) fn run(options: Options) -> Report {
    let mut report = Report::default();
    other::start(options, Program::None, peers(options, true), "no daemon, shifted", &mut report);
    other::start(options, Program::Ibacm, peers(options, true), "model of C ibacm, shifted", &mut report);
    other::start(options, Program::Ibacm, peers(options, false), "model of C ibacm, random", &mut report);
    start(options, peers(options, true), false, "shifted", &mut report);
    start(options, peers(options, false), false, "random", &mut report);
    start(options, all_at_once(options), false, "all at once", &mut report);
    start(options, peers(options, true), true, "hosts preloaded, shifted", &mut report);
    report
}

/// Returns the peers of each rank: the next nodes, in an order that is shifted from rank to rank, or any nodes.
fn peers(options: Options, shifted: bool) -> Vec<Vec<u32>> {
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
fn all_at_once(options: Options) -> Vec<Vec<u32>> {
    let count = options.per_node.unwrap_or(16).min(options.nodes - 1);
    (0..options.nodes).flat_map(|node| (1..=count).map(move |step| vec![(node + step) % options.nodes])).collect()
}

/// The responses to all ranks.
#[derive(Debug, Default)]
pub(super) struct Answers {
    times: Vec<Duration>,
    failed: u64,
    last: Duration,
}

impl Answers {
    pub(super) fn add(&mut self, latency: Duration, since_start: Duration, is_ok: bool) {
        self.times.push(latency);
        self.failed += u64::from(!is_ok);
        self.last = since_start;
    }

    pub(super) fn report(self, report: &mut Report, event: &str) {
        report.count(format!("{event}: requests"), self.times.len() as u64);
        report.count(format!("{event}: failed requests"), self.failed);
        report.seconds(&format!("{event}: last answer after"), self.last);
        latencies(report, &format!("{event}: answer"), self.times);
    }
}

/// Runs a job on nodes with this project's daemon.
fn start(options: Options, peers: Vec<Vec<u32>>, preloaded: bool, event: &str, report: &mut Report) {
    let mut lab = Lab::new(options, slow_sa());
    lab.run_for(Duration::from_secs(10));
    if preloaded {
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
