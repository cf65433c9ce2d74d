//! The subnet manager restarts while all nodes have paths.
use super::{
    Options, Report,
    counts::{JOINS, PATH_QUERIES, SA_CAPACITY, SA_REQUESTS, SUBSCRIPTIONS},
    lab::{Lab, handling, latencies},
};
use crate::Client;
use acm_wire::client::{EntryFlags, path_request};
use core::time::Duration;
use ib_mad::sa::PathRecord;
use ib_sim::{SaSettings, Settings};

/// Time between two requests of the foreground.
const PERIOD: Duration = Duration::from_millis(10);

pub(super) fn run(options: &Options) -> Report {
    let nodes = options.nodes;
    let paths = options.per_node.unwrap_or(1000).min(nodes - 1);
    let mut report = Report::default();
    // Each node gets its paths from an administrator without delay, and uses each once more.
    let settings = Settings { sa: SaSettings::default(), ..options.settings.clone() };
    let mut lab = Lab::new(&Options { settings, ..options.clone() });
    lab.run_for(Duration::from_secs(10));
    lab.world.config.handling = None;
    for node in 0..nodes {
        let client = lab.connect(node);
        for other in (1..=paths).chain(1..=paths) {
            request_path(&mut lab, client, (node + other) % nodes, EntryFlags::empty());
        }
        lab.run_for(Duration::ZERO);
    }
    lab.world.config.handling = Some(handling());
    *lab.world.subnet.settings_mut() = options.settings.clone();

    let mut foreground = Foreground { nodes, sent: 0, failed: 0 };
    report.count("paths of a node", paths.into());
    lab.mark();
    let (calm, _) = foreground.run(&mut lab, Duration::from_secs(10));
    latencies(&mut report, "calm: path from the SA", calm);
    lab.run_for(Duration::from_secs(5));

    lab.mark();
    lab.world.subnet.restart_sm(None);
    let (times, joined) = foreground.run(&mut lab, Duration::from_secs(30));
    latencies(&mut report, "restart: path from the SA", times);
    report.seconds("restart: all nodes joined after", joined);
    report.count("restart: failed requests", foreground.failed);
    lab.run_for(Duration::from_secs(600));
    for (kind, name) in [(JOINS, "last join"), (SUBSCRIPTIONS, "last subscription"), (PATH_QUERIES, "last path query")]
    {
        report.seconds(&format!("restart: {name} after"), lab.series(kind).end());
    }
    let (requests, queries) = (lab.series(SA_REQUESTS), lab.series(PATH_QUERIES));
    report.count("restart: SA requests in the first second", requests.in_first_second());
    let foreground = Duration::from_secs(1).div_duration_f64(PERIOD);
    report.add("restart: refreshes in the first second", queries.in_first_second() as f64 - foreground);
    report.seconds("restart: SA above its capacity for", requests.above(SA_CAPACITY));
    lab.report(&mut report, "restart");
    report
}

fn request_path(lab: &mut Lab, client: Client, node: u32, flags: EntryFlags) {
    let path = PathRecord { dgid: lab.world.port(node as usize).gid(), ..PathRecord::default() };
    lab.send(client, &path_request(&path, flags, [1; 8]));
}

/// Requests of the nodes in turn that the administrator has to answer, one every 10 ms.
struct Foreground {
    nodes: u32,
    sent: u32,
    failed: u64,
}

impl Foreground {
    /// Runs for some time. Returns the times of the responses, and the time until all nodes are members of the group.
    fn run(&mut self, lab: &mut Lab, time: Duration) -> (Vec<Duration>, Duration) {
        let (end, mut times, mut joined) = (lab.world.now() + time, Vec::new(), None);
        while lab.world.now() < end {
            let client = lab.connect(self.sent % self.nodes);
            request_path(lab, client, (self.sent + 1) % self.nodes, EntryFlags::QUERY_SA);
            self.sent += 1;
            let next = lab.world.now() + PERIOD;
            loop {
                let replies = lab.replies(next);
                if replies.is_empty() {
                    break;
                }
                times.extend(replies.iter().map(|reply| reply.latency));
                self.failed += replies.iter().filter(|reply| !reply.is_ok).count() as u64;
            }
            if lab.world.subnet.groups().any(|group| group.members.len() == self.nodes as usize) {
                joined.get_or_insert(lab.elapsed());
            }
        }
        (times, joined.unwrap_or(Duration::MAX))
    }
}
