//! All nodes start at the same instant; later a rack of them loses its link and gets it back.
use super::{
    Options, Report,
    counts::{JOINS, PATH_QUERIES, SA_CAPACITY, SA_REQUESTS, SUBSCRIPTIONS},
    lab::{Lab, RACK, latencies},
};
use crate::{Client, World};
use acm_wire::client::{EntryFlags, path_request};
use core::time::Duration;
use ib_mad::{PortState, sa::PathRecord};

pub(super) fn run(options: &Options) -> Report {
    let nodes = options.nodes;
    let mut report = Report::default();
    let mut lab = Lab::new(options);
    // Each node requests paths as soon as it has started.
    let lookups = options.per_node.unwrap_or(16).min(nodes - 1);
    let (mut times, mut failed) = (Vec::new(), 0);
    for node in 0..nodes {
        for other in 1..=lookups {
            let client = lab.connect(node);
            request_path(&mut lab, client, (node + other) % nodes);
        }
    }
    let end = lab.world.now() + Duration::from_secs(60);
    loop {
        let replies = lab.replies(end);
        if replies.is_empty() {
            break;
        }
        times.extend(replies.iter().map(|reply| reply.latency));
        failed += replies.iter().filter(|reply| !reply.is_ok).count() as u64;
    }
    report.count("cluster: first paths", times.len() as u64);
    report.count("cluster: failed requests", failed);
    latencies(&mut report, "cluster: first path", times);
    storm(&mut lab, &mut report, "cluster");

    let rack = nodes.saturating_sub(RACK)..nodes;
    for node in rack.clone() {
        set_state(&mut lab, node, PortState::DOWN);
    }
    lab.run_for(Duration::from_secs(60));
    lab.mark();
    for node in rack {
        set_state(&mut lab, node, PortState::ACTIVE);
    }
    lab.run_for(Duration::from_secs(60));
    storm(&mut lab, &mut report, "rack");
    report
}

fn storm(lab: &mut Lab, report: &mut Report, event: &str) {
    report.seconds(&format!("{event}: last join after"), lab.series(JOINS).end());
    report.seconds(&format!("{event}: last subscription after"), lab.series(SUBSCRIPTIONS).end());
    report.seconds(&format!("{event}: last path query after"), lab.series(PATH_QUERIES).end());
    report.seconds(&format!("{event}: SA above its capacity for"), lab.series(SA_REQUESTS).above(SA_CAPACITY));
    let members = lab.world.subnet.groups().map(|group| group.members.len()).max();
    report.count(format!("{event}: members of the group at the end"), members.unwrap_or(0) as u64);
    lab.report(report, event);
}

fn set_state(lab: &mut Lab, node: u32, state: PortState) {
    lab.world.subnet.set_port_state(World::port_id(node as usize), state).expect("the node exists");
}

fn request_path(lab: &mut Lab, client: Client, node: u32) {
    let path = PathRecord { dgid: lab.world.port(node as usize).gid(), ..PathRecord::default() };
    lab.send(client, &path_request(&path, EntryFlags::empty(), [1; 8]));
}
