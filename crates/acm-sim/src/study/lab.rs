//! The world of a study, and what is counted in it.
use super::{
    Options, Report, Series,
    counts::{Counts, SA_TIME},
};
use crate::{Client, Handling, World, WorldConfig};
use acm_sansio::{Account, Config, Output, Time};
use core::{ops::Deref, time::Duration};
use ib_sim::{SaSettings, Settings, Tree};
use std::collections::BTreeMap;

/// Requests that wait for the administrator at most; more are lost.
const SA_QUEUE: u32 = 2048;
/// Time of a request and its response in the subnet: all nodes are five switches away from the administrator.
const SA_WAY: Duration = Duration::from_micros(2 * 6);
/// Time of the administrator for each record of a table.
const SA_RECORD: Duration = Duration::from_micros(1);
/// Nodes of a leaf switch, and leaf switches of a pod.
pub(super) const RACK: u32 = 36;

/// The response to a request of [`Lab::send`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Reply {
    pub(super) client: Client,
    /// Time since the request.
    pub(super) latency: Duration,
    /// True if the response has a path.
    pub(super) is_ok: bool,
}

/// The world of a study, and what is counted in it since the last [`Lab::mark`].
pub(super) struct Lab {
    pub(super) world: World,
    pub(super) counts: Counts,
    /// Datagrams that the nodes lost before the measurement.
    lost: u64,
    open: BTreeMap<Client, Time>,
}

impl Lab {
    /// Creates a world with the default options of the daemon.
    pub(super) fn new(options: &Options) -> Self {
        Self::with(options, Config::default())
    }

    /// Creates a world.
    pub(super) fn with(options: &Options, core: Config) -> Self {
        let world = World::new(WorldConfig {
            core,
            nodes: options.nodes,
            handling: Some(handling()),
            settings: options.settings.clone(),
            seed: options.seed,
            witness: options.witness,
            ..WorldConfig::default()
        });
        let counts = Counts::new(world.now(), &world.subnet);
        let mut lab = Self { world, counts, lost: 0, open: BTreeMap::new() };
        lab.collect();
        lab
    }

    /// Starts a measurement: all counts are zero.
    pub(super) fn mark(&mut self) {
        self.collect();
        self.counts = Counts::new(self.world.now(), &self.world.subnet);
        self.lost = self.world.all_lost();
    }

    /// Returns the time since the start of the measurement.
    pub(super) fn elapsed(&self) -> Duration {
        self.counts.since_start(self.world.now())
    }

    pub(super) fn connect(&mut self, node: u32) -> Client {
        self.world.connect(node as usize, Account::User(0))
    }

    /// Sends a request on a connection that has none open.
    pub(super) fn send(&mut self, client: Client, message: &impl Deref<Target = [u8]>) {
        self.open.insert(client, self.world.now());
        self.world.send(client, message);
    }

    /// True if a request is open on this connection.
    pub(super) fn is_open(&self, client: Client) -> bool {
        self.open.contains_key(&client)
    }

    /// True if a request is open on any connection.
    pub(super) fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Runs until the next responses, at most until `end`. An empty list means that the time is over.
    pub(super) fn replies(&mut self, end: Time) -> Vec<Reply> {
        loop {
            let replies = self.collect();
            if !replies.is_empty() {
                return replies;
            }
            if self.world.next_time().is_none_or(|next| next > end) {
                self.world.run_until(end);
                return Vec::new();
            }
            self.world.step();
        }
    }

    /// Runs for some time. Responses are dropped.
    pub(super) fn run_for(&mut self, time: Duration) {
        let end = self.world.now() + time;
        while !self.replies(end).is_empty() {}
    }

    /// Counts the outputs of the nodes since the last call, and returns the responses among them.
    pub(super) fn collect(&mut self) -> Vec<Reply> {
        let mut replies = Vec::new();
        let mut outputs = core::mem::take(&mut self.world.transcript);
        for (at, node, output) in outputs.drain(..) {
            match output {
                Output::Send { to, mad, .. } => self.counts.add_datagram(at, &to, &mad),
                Output::SaSend(send) => self.counts.add_request(at, node, &send.mad),
                Output::Reply { client: id, .. } => {
                    let client = Client { node, id };
                    if let Some(since) = self.open.remove(&client) {
                        let is_ok = matches!(self.world.path(client), Some(Ok(_)));
                        replies.push(Reply { client, latency: at.since(since), is_ok });
                    }
                }
                _ => {}
            }
        }
        self.world.transcript = outputs;
        self.counts.read(self.world.now(), &self.world.subnet);
        replies
    }

    /// Returns the counts of a kind of datagram.
    pub(super) fn series(&self, name: &'static str) -> Series {
        self.counts.series(name)
    }

    /// Reports the counts of all kinds, with their pictures.
    pub(super) fn report(&mut self, report: &mut Report, event: &str) {
        self.collect();
        let lost = self.world.all_lost() - self.lost;
        self.counts.report(report, event, lost);
    }
}

/// The subnet of all studies: a fat tree with 1 us from switch to switch, and an administrator that handles one request
/// at a time and loses requests when its queue is full.
pub(super) fn fabric() -> Settings {
    let tree = Tree { leaf: RACK, pod: RACK, hop_delay: Duration::from_micros(1) };
    let sa = SaSettings {
        delay: SA_WAY,
        service_time: SA_TIME,
        record_time: SA_RECORD,
        queue: SA_QUEUE,
        ..SaSettings::default()
    };
    Settings { tree, sa, ..Settings::default() }
}

/// The speed of the nodes in all studies: 5 us for each event, and receive queues of 1,024 datagrams.
pub(super) fn handling() -> Handling {
    Handling { cost: Duration::from_micros(5), receive_depth: 1024 }
}

/// Reports how long requests took.
pub(super) fn latencies(report: &mut Report, name: &str, mut times: Vec<Duration>) {
    times.sort();
    let part = |percent: usize| times.get((times.len() * percent / 100).min(times.len().saturating_sub(1))).copied();
    for (part, time) in [("p50", part(50)), ("p99", part(99)), ("longest", times.last().copied())] {
        report.milliseconds(&format!("{name}, {part}"), time.unwrap_or_default());
    }
}
