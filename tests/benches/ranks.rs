//! Measures the ranks of a node: 200 processes that resolve 100,000 peers each, from the memory of the daemon
//! (`shared_cache`), over its socket, and over C ibacm's socket. `cargo bench -p acm-tests --bench ranks`, as root with
//! Debian's `ibacm` installed. Arguments: `ranks=N`, `peers=N`, `rounds=N`, and `only=WORD` for
//! the ways with this word.
//!
//! All processes wait for one start. The time of a way ends with the last process. The ways take turns in each round.
//! Before, one process has resolved every peer, as another job of the node would have.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
use acm_client::{Address, Client, Options, Service};
use acm_tests::{Kind, Lab};
use core::{fmt::Write as _, net::Ipv4Addr};
use std::{
    env,
    io::{self, Read, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
    time::Instant,
};

/// Nodes of the fabric. Peers have several addresses, as virtual machines on their nodes.
const NODES: u32 = 1000;

/// A way to resolve all peers.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    kind: Kind,
    /// The argument of the process.
    how: &'static str,
}

const WAYS: [Way; 5] = [
    Way { name: "C ibacm, one by one", kind: Kind::C, how: "socket-single" },
    Way { name: "acm-mio, one by one", kind: Kind::Rust, how: "socket-single" },
    Way { name: "acm-mio, resolve_all", kind: Kind::Rust, how: "socket-all" },
    Way { name: "memory, one by one", kind: Kind::Rust, how: "memory-single" },
    Way { name: "memory, resolve_all", kind: Kind::Rust, how: "memory-all" },
];

fn peer(number: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(0x0a80_0000 + number)
}

/// The part of a rank: resolves all peers after a byte on standard input, and prints the number of paths.
fn rank(how: &str, socket: &str, source: &str, peers: u32) {
    let options = Options::default().with_shared_cache(how.starts_with("memory"));
    let mut client = Client::with_options(Service::Unix(socket.into()), options).unwrap();
    let source = Address::from_text(source);
    let peers: Vec<Address> = (0..peers).map(|number| Address::Ip4(peer(number))).collect();
    println!("ready");
    io::stdin().read_exact(&mut [0]).unwrap();
    let found = if how.ends_with("all") {
        // A vector of all responses would have 14 MB, in 200 processes: the benchmark would measure page faults.
        let mut found = 0;
        for peers in peers.chunks(1000) {
            let paths = client.resolve_all(Some(&source), peers);
            found += paths.iter().flatten().count();
        }
        found
    } else {
        peers.iter().filter(|peer| client.resolve(Some(&source), peer).is_ok()).count()
    };
    println!("{found}");
}

/// Returns the seconds that `ranks` processes need.
fn seconds(way: &Way, socket: &Path, source: &str, [ranks, peers]: [u32; 2]) -> f64 {
    let start = |_| {
        let words = ["rank", way.how, socket.to_str().unwrap(), source, &peers.to_string()];
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
    };
    let mut all: Vec<Child> = (0..ranks).map(start).collect();
    for child in &mut all {
        child.stdout.as_mut().unwrap().read_exact(&mut [0; 6]).unwrap();
    }
    let start = Instant::now();
    all.iter_mut().for_each(|child| child.stdin.as_mut().unwrap().write_all(b"x").unwrap());
    for child in all {
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), peers.to_string(), "{}", way.name);
    }
    start.elapsed().as_secs_f64()
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [first, how, socket, source, peers] = &arguments[..]
        && first == "rank"
    {
        return rank(how, socket, source, peers.parse().unwrap());
    }
    let is_bench = arguments.iter().any(|word| word == "--bench");
    let number = |name: &str, default: u32| {
        let value = arguments.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        value.map_or(default, |value| value.parse().unwrap())
    };
    // `cargo test --benches` runs a short version.
    let [ranks, peers, rounds] = if is_bench { [200, 100_000, 3] } else { [3, 100, 1] };
    let [ranks, peers, rounds] = [number("ranks", ranks), number("peers", peers), number("rounds", rounds)];
    let lab = Lab::new(NODES, &[]);
    let gids: Vec<_> = (3..=NODES).map(|number| lab.fabric.port(number).gid).collect();
    let hosts = (0..peers).zip(gids.iter().cycle()).fold(String::new(), |mut text, (number, gid)| {
        writeln!(text, "{} {gid}", peer(number)).unwrap();
        text
    });
    [1, 2].iter().for_each(|number| lab.write(*number, "hosts", &hosts));
    let options = ["addr_preload acm_hosts", "addr_data_file /etc/rdma/hosts", "sa_depth 32", "log_level 1"];
    let c = lab.start(1, Kind::C, &options);
    let ours = lab.start(2, Kind::Rust, &[&options[..], &["shared_cache on"]].concat());
    let mut times = vec![Vec::new(); WAYS.len()];
    for way in &WAYS[..2] {
        let node = if matches!(way.kind, Kind::C) { &c } else { &ours };
        let source = if matches!(way.kind, Kind::C) { "10.77.0.1" } else { "10.77.0.2" };
        println!("{}: first paths {:.1} s", way.name, seconds(way, &node.socket(), source, [1, peers]));
    }
    let only = arguments.iter().find_map(|word| word.strip_prefix("only=")).unwrap_or_default();
    for _ in 0..rounds {
        for (way, times) in WAYS.iter().zip(&mut times).filter(|(way, _)| way.name.contains(only)) {
            let node = if matches!(way.kind, Kind::C) { &c } else { &ours };
            let source = if matches!(way.kind, Kind::C) { "10.77.0.1" } else { "10.77.0.2" };
            times.push(seconds(way, &node.socket(), source, [ranks, peers]));
        }
    }
    println!("{ranks} processes x {peers} peers, seconds until the last has all paths, {rounds} rounds: median, all");
    for (way, mut times) in WAYS.iter().zip(times).filter(|(way, _)| way.name.contains(only)) {
        times.sort_by(f64::total_cmp);
        let median = times[times.len() / 2];
        let rate = f64::from(ranks) * f64::from(peers) / median;
        println!("{:>22} {median:>8.2} {rate:>12.0} paths/s  {times:.2?}", way.name);
    }
}
