//! How fast a daemon answers from its cache over the unix socket: C ibacm, acm-mio and an echo server in one run, by
//! turns. `cargo bench -p acm-tests --bench cached`; as root, and with Debian's `ibacm` installed, C takes part.
//!
//! Each connection has a thread of its own with one request open at a time, as librdmacm has, and asks again as soon
//! as it is answered: no client waits for another. The echo server is the least that a server on a socket can do with
//! the same bytes (160 in, 88 out). A server runs on the first processor and the clients on the others: whether the
//! system puts two programs that wake each other on one or on two is worth more than what either does, and is another
//! in each run. What counts are the ratios: they hold on another machine, the rates do not.
//!
//! Further arguments are numbers of connections; `rounds=N`; `record`: then a daemon that records takes part, and the
//! same that does not; and `before=FILE`: then another build of acm-mio takes part, to see what a change is worth.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
mod echo;
mod load;
mod processors;

use acm_tests::{Kind, Lab, LabNode, Node};
use acm_wire::Address;
use core::time::Duration;
use load::{Load, Measured};
use nix::unistd::Pid;
use std::path::{Path, PathBuf};

const CONNECTIONS: [usize; 4] = [1, 16, 128, 512];
/// Rounds of which the middle one counts. All servers have a turn in each, so that they see the same machine.
const ROUNDS: usize = 31;
const TIME: Duration = Duration::from_millis(250);

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let Some(place) = args.iter().position(|arg| arg == "--echo") {
        return echo::serve(Path::new(&args[place + 1]));
    }
    let chosen = |what: &str| args.iter().find_map(|arg| arg.strip_prefix(what)?.parse().ok());
    // `cargo test --benches` only wants to see that it runs.
    let (rounds, time) = match args.iter().any(|arg| arg == "--bench") {
        true => (chosen("rounds=").unwrap_or(ROUNDS), TIME),
        false => (1, Duration::from_millis(20)),
    };
    let servers = Servers::start();
    let apart = processors::set_apart(servers.all.iter().map(|(_, load)| load.server()));
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

fn median(turns: &[Measured], of: impl Fn(&Measured) -> f64) -> f64 {
    let mut values: Vec<f64> = turns.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// How many times the other's rate ours is.
struct Ratio {
    median: f64,
    /// Its interval of confidence, 95 %, by the ranks that the binomial distribution gives, whatever the rates' own is.
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

/// What is measured, in the order of its turns: C first.
struct Servers {
    all: Vec<(&'static str, Load)>,
    _processes: Processes,
}

/// They end with this.
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
    /// So many rounds with so many connections: the turns of each server.
    fn measure(&self, connections: usize, rounds: usize, time: Duration) -> Vec<Vec<Measured>> {
        let mut turns = vec![Vec::new(); self.all.len()];
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        for _ in 0..rounds {
            for &place in &order {
                turns[place].push(self.all[place].1.measure(connections, time));
            }
            // What a turn leaves behind is not always the same one's to bear.
            order.reverse();
        }
        turns
    }

    fn start() -> Self {
        let echo = echo::Echo::start();
        let (mut all, daemons) = if can_run_c() { both() } else { ours() };
        all.push(("echo", load("node1", echo.socket(), echo.id())));
        let recorded = std::env::args().any(|arg| arg == "record").then(|| {
            let folder = tempfile::tempdir().unwrap();
            let record = format!("--record={}", folder.path().join("trace").display());
            // Beside the same daemon that does not record: the others are on real device files.
            let plain = Node::embedded().option("log_level 1").join();
            all.push(("embedded", load("node1", plain.socket(), plain.process.id())));
            let node = Node::embedded().option("log_level 1").argument(&record).join();
            all.push(("recording", load("node1", node.socket(), node.process.id())));
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

/// Each resolves its own name, which it knows.
fn load(name: &str, socket: PathBuf, server: Pid) -> Load {
    Load::new(socket, &Address::from_text(name), server)
}

fn both() -> Started {
    let lab = Lab::new(3, &[]);
    let options = ["log_level 1"];
    let mut nodes = vec![("C ibacm", lab.start(1, Kind::C, &options)), (OURS, lab.start(2, Kind::Rust, &options))];
    if let Some(before) = std::env::args().find_map(|arg| arg.strip_prefix("before=").map(PathBuf::from)) {
        nodes.push(("before", lab.start_build(3, &before, &options)));
    }
    let load_of = |node: &LabNode| load(&format!("node{}", node.number), node.socket(), node.process.id());
    let loads = nodes.iter().map(|(name, node)| (*name, load_of(node))).collect();
    let nodes = nodes.into_iter().map(|(_, node)| node).collect();
    (loads, Daemons::Both(nodes, lab))
}

fn ours() -> Started {
    let node = Node::embedded().option("log_level 1").join();
    (vec![(OURS, load("node1", node.socket(), node.process.id()))], Daemons::Ours(node))
}
