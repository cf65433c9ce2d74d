//! Measures responses from the cache over the unix socket: C ibacm, acm-mio and an echo server, alternating in one run.
//! `cargo bench -p acm-tests --bench cached`. C ibacm takes part if the benchmark runs as root with Debian's `ibacm`
//! installed.
//!
//! Each connection has its own thread with one pending request at a time, as in librdmacm, and sends the next request
//! right after the response. The echo server is the lower bound of a socket server with the same sizes (160 bytes in,
//! 88 bytes out). The server runs on the first processor and the clients on the others, because the scheduler's
//! placement of the processes would otherwise dominate the result and vary between runs. Compare the ratios, which hold
//! on other machines; the rates do not.
//!
//! Further arguments: numbers of connections; `rounds=N`; `record`, which adds a daemon that records and the same
//! daemon without recording; `before=FILE`, which adds another build of acm-mio to measure a change; `busy=N`, which
//! measures only the time of a user's request beside one and beside N busy connections of another user, as root.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
mod echo;
mod load;
mod processors;

use acm_tests::{Kind, Lab, LabNode, Node};
use core::time::Duration;
use load::{Load, Measured};
use std::path::{Path, PathBuf};

const CONNECTIONS: [usize; 4] = [1, 16, 128, 512];
/// Number of rounds; the results are medians. Each round measures all servers, so that they run under the same load.
const ROUNDS: usize = 31;
const TIME: Duration = Duration::from_millis(250);

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let Some(index) = args.iter().position(|arg| arg == "--echo") {
        return echo::serve(Path::new(&args[index + 1]));
    }
    let chosen = |what: &str| args.iter().find_map(|arg| arg.strip_prefix(what)?.parse().ok());
    // `cargo test --benches` runs a short version.
    let (rounds, time): (usize, _) = match args.iter().any(|arg| arg == "--bench") {
        true => (chosen("rounds=").unwrap_or(ROUNDS), TIME),
        false => (1, Duration::from_millis(20)),
    };
    let servers = Servers::start();
    let apart = processors::set_apart(servers.all.iter().map(|(_, load)| load.server()));
    if let Some(busy) = chosen("busy=") {
        return servers.print_beside(busy, rounds, 4 * time);
    }
    let names: Vec<&str> = servers.all.iter().map(|(name, _)| *name).collect();
    println!("{}", if apart { "each server has the first processor, its clients the others" } else { "one processor" });
    println!(
        "requests/s and the server's own us of CPU for each, medians of {rounds} x {time:?}; acm-mio's ratios to each"
    );
    println!("in the same round: the median, and its interval of confidence (95 %)");
    print!("{:>11}", "connections");
    names.iter().for_each(|name| print!("  {:>17}", format!("{name} (us)")));
    names.iter().filter(|name| **name != OURS).for_each(|name| print!("  {:>17}", format!("to {name}")));
    println!();
    let chosen: Vec<usize> = args.iter().filter_map(|arg| arg.parse().ok()).collect();
    for connections in if chosen.is_empty() { CONNECTIONS.to_vec() } else { chosen } {
        let turns = servers.measure(connections, rounds, time);
        print!("{connections:>11}");
        for turns in &turns {
            print!("  {:>9.0} ({:>5.2})", median(turns, |turn| turn.rate), median(turns, |turn| turn.cpu_us));
        }
        let ours = &turns[names.iter().position(|name| *name == OURS).unwrap()];
        for (theirs, _) in turns.iter().zip(&names).filter(|(_, name)| **name != OURS) {
            let Ratio { median, low, high } = Ratio::of(ours, theirs);
            print!("  {:>17}", format!("{median:.2} ({low:.2}-{high:.2})"));
        }
        println!();
    }
}

fn median<T>(turns: &[T], of: impl Fn(&T) -> f64) -> f64 {
    let mut values: Vec<f64> = turns.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Ratio of acm-mio's rate to another server's rate.
struct Ratio {
    median: f64,
    /// The 95 % confidence interval of the median, by ranks of the binomial distribution. It needs no assumption about
    /// the distribution of the rates.
    low: f64,
    high: f64,
}

impl Ratio {
    fn of(ours: &[Measured], theirs: &[Measured]) -> Self {
        let mut ratios: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| ours.rate / theirs.rate).collect();
        ratios.sort_by(f64::total_cmp);
        let (last, half_width) = (ratios.len() - 1, (0.98 * (ratios.len() as f64).sqrt()).ceil() as usize);
        let middle = ratios.len() / 2;
        Self {
            median: ratios[middle],
            low: ratios[middle.saturating_sub(half_width)],
            high: ratios[(middle + half_width).min(last)],
        }
    }
}

const OURS: &str = "acm-mio";

/// The measured servers in order, C ibacm first.
struct Servers {
    all: Vec<(&'static str, Load)>,
    _processes: Processes,
}

/// The processes of the servers, which end when this value is dropped.
struct Processes {
    _echo: echo::Echo,
    _daemons: Daemons,
    _recorded: Option<(Node, Node, tempfile::TempDir)>,
}

#[expect(dead_code, reason = "held until the end")]
enum Daemons {
    Both(Vec<LabNode>, Lab),
    Ours(Node),
}

impl Servers {
    /// Measures `rounds` rounds with `connections` connections and returns the results of each server.
    fn measure(&self, connections: usize, rounds: usize, time: Duration) -> Vec<Vec<Measured>> {
        let mut turns = vec![Vec::new(); self.all.len()];
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        for _ in 0..rounds {
            for &index in &order {
                turns[index].push(self.all[index].1.measure(connections, time));
            }
            // Alternates the order, so that no server always follows the same one.
            order.reverse();
        }
        turns
    }

    /// Prints the time of a user's request beside one and beside `busy` busy connections of another user.
    fn print_beside(&self, busy: usize, rounds: usize, time: Duration) {
        println!("us of a request beside 1 and beside {busy} busy connections, medians of {rounds} x {time:?}");
        println!("{:>11}  {:>17}  {:>17}  {:>17}", "", "p50", "p99", "ratio of p99");
        // C ibacm and the echo server have no accounts.
        for (name, load) in self.all.iter().filter(|(name, _)| [OURS, "before"].contains(name)) {
            let times: Vec<_> = (0..rounds).map(|_| [1, busy].map(|busy| load.measure_beside(busy, time))).collect();
            let of = |busy: usize, percentile: usize| median(&times, |times| times[busy][percentile]);
            let [p50, p99] = [0, 1].map(|percentile| format!("{:.0} {:.0}", of(0, percentile), of(1, percentile)));
            println!("{name:>11}  {p50:>17}  {p99:>17}  {:>17.2}", median(&times, |times| times[1][1] / times[0][1]));
        }
    }

    fn start() -> Self {
        let echo = echo::Echo::start();
        let (mut all, daemons) = if can_run_c() { both() } else { ours() };
        all.push(("echo", Load::new("node1", echo.socket(), echo.id())));
        let recorded = std::env::args().any(|arg| arg == "record").then(|| {
            let folder = tempfile::tempdir().unwrap();
            let record = format!("--record={}", folder.path().join("trace").display());
            // The same daemon without recording, because the other daemons use device files.
            let plain = Node::embedded().option("log_level 1").join();
            all.push(("embedded", Load::new("node1", plain.socket(), plain.process.id())));
            let node = Node::embedded().option("log_level 1").argument(&record).join();
            all.push(("recording", Load::new("node1", node.socket(), node.process.id())));
            (plain, node, folder)
        });
        Self { all, _processes: Processes { _echo: echo, _daemons: daemons, _recorded: recorded } }
    }
}

fn can_run_c() -> bool {
    let installed = ["/usr/sbin/ibacm", "/usr/bin/ibacm"].iter().any(|path| Path::new(path).is_file());
    if !installed {
        println!("no C ibacm: install the Debian package ibacm");
    } else if !nix::unistd::geteuid().is_root() {
        println!("no C ibacm: it needs root, for namespaces");
    }
    installed && nix::unistd::geteuid().is_root()
}

type Started = (Vec<(&'static str, Load)>, Daemons);

fn both() -> Started {
    let lab = Lab::new(3, &[]);
    let options = ["log_level 1"];
    let mut nodes = vec![("C ibacm", lab.start(1, Kind::C, &options)), (OURS, lab.start(2, Kind::Rust, &options))];
    if let Some(before) = std::env::args().find_map(|arg| arg.strip_prefix("before=").map(PathBuf::from)) {
        nodes.push(("before", lab.start_build(3, &before, &options)));
    }
    let load_of = |node: &LabNode| Load::new(&format!("node{}", node.number), node.socket(), node.process.id());
    let loads = nodes.iter().map(|(name, node)| (*name, load_of(node))).collect();
    let nodes = nodes.into_iter().map(|(_, node)| node).collect();
    (loads, Daemons::Both(nodes, lab))
}

fn ours() -> Started {
    let node = Node::embedded().option("log_level 1").join();
    (vec![(OURS, Load::new("node1", node.socket(), node.process.id()))], Daemons::Ours(node))
}
