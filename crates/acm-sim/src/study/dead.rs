//! Some nodes resolve many names at once, and a tenth of the names does not answer.
use super::{
    Options, Report,
    lab::{Lab, latencies},
};
use crate::name;
use acm_wire::{
    Address,
    client::{EntryFlags, resolve_request},
};
use core::time::Duration;
use std::collections::BTreeSet;

/// Nodes that resolve names.
const ASKING: u32 = 4;

pub(super) fn run(options: &Options) -> Report {
    let mut report = Report::default();
    for (every, event) in [(u32::MAX, "all names live"), (10, "a tenth dead")] {
        resolve(options, every, event, &mut report);
    }
    report
}

/// Resolves names at once. Each `every`th name is dead.
fn resolve(options: &Options, every: u32, event: &str, report: &mut Report) {
    let mut lab = Lab::new(options);
    lab.run_for(Duration::from_secs(10));
    let names = options.per_node.unwrap_or(500).min(options.nodes - ASKING);
    lab.mark();
    let mut live = BTreeSet::new();
    for node in 0..ASKING {
        for number in 0..names {
            let client = lab.connect(node);
            let dest = if number % every == every - 1 {
                Address::from_text(&format!("dead{number}"))
            } else {
                live.insert(client);
                name(ASKING + (node * names + number) % (options.nodes - ASKING))
            };
            lab.send(client, &resolve_request(Some(&name(node)), &dest, EntryFlags::empty(), [1; 8]));
        }
    }
    let (end, mut times, mut failed) = (lab.world.now() + Duration::from_secs(600), Vec::new(), 0);
    loop {
        let replies = lab.replies(end);
        if replies.is_empty() {
            break;
        }
        for reply in replies.iter().filter(|reply| live.contains(&reply.client)) {
            times.push(reply.latency);
            failed += u64::from(!reply.is_ok);
        }
    }
    report.count(format!("{event}: live names"), live.len() as u64);
    report.count(format!("{event}: live names that failed"), failed);
    latencies(report, &format!("{event}: live name"), times);
    lab.report(report, event);
}
