//! Measures a rank of a job that resolves its peers: over the socket, and from the memory of the daemon
//! (`shared_cache`). `cargo bench -p acm-tests --bench shared`. C ibacm takes part if the benchmark runs as root with
//! Debian's `ibacm` installed. `--bench c` measures C programs only: libibacm's blocking functions
//! and connections.
//!
//! All ways take turns in each round. The results are medians and quartiles over the rounds, in paths per second. Each
//! request to C ibacm is for the same path, because its cache is filled by names only.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
use acm_client::{Address, Client, Options, Service};
use acm_tests::{Fabric, Kind, Lab, Node, Process, interfaces, until};
use core::time::Duration;
use std::{env, path::Path, process::Command, thread, time::Instant};

const PEERS: u32 = 1000;
const ROUNDS: usize = 15;
const TIME: Duration = Duration::from_millis(200);

/// A way to resolve paths, which returns the number of paths.
type Way<'a> = &'a (dyn Fn(&mut Client) -> usize + Sync);

fn client(socket: &Path, shared: bool) -> Client {
    Client::with_options(Service::Unix(socket.to_owned()), Options::default().with_shared_cache(shared)).unwrap()
}

/// Returns the number of paths per second with a number of threads, each with a client of its own.
fn rate(threads: usize, time: Duration, socket: &Path, shared: bool, way: Way<'_>) -> f64 {
    thread::scope(|scope| {
        let run = || {
            let mut client = client(socket, shared);
            // The client learns of the memory by its first response.
            way(&mut client);
            let (start, mut paths) = (Instant::now(), 0);
            while start.elapsed() < time {
                paths += way(&mut client);
            }
            paths as f64 / start.elapsed().as_secs_f64()
        };
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

/// Returns the first quartile, the median and the third quartile.
fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[values.len() * quarter / 4])
}

/// Returns the numbers that a C program prints.
fn rates_of(command: &mut Command) -> Vec<f64> {
    let output = Process::start(command).wait().success();
    output.lines().map(|line| line.parse().unwrap()).collect()
}

/// Measures C programs with a daemon with the memory, and with another one without it.
fn c_programs(rounds: usize, time: Duration) {
    let fabric = Fabric::serve(2, &[]);
    let node = |number, option: &str| Node::at(&fabric, number).option(option).option("log_level 1").join();
    let sockets = [node(1, "shared_cache off"), node(2, "shared_cache off")];
    let other = Fabric::serve(2, &[]);
    let node = |number, option: &str| Node::at(&other, number).option(option).option("log_level 1").join();
    let memory = [node(1, "shared_cache on"), node(2, "shared_cache on")];
    let time = time.as_millis().to_string();
    let mut rates = vec![Vec::new(); 4];
    for _ in 0..rounds {
        let mut next = rates.iter_mut();
        let mut add = |values: Vec<f64>| values.into_iter().for_each(|rate| next.next().unwrap().push(rate));
        for nodes in [&sockets, &memory] {
            add(rates_of(interfaces().arg("rate").arg(nodes[0].socket()).arg(&time)));
        }
    }
    let names = [
        "libibacm, socket, blocking",
        "libibacm, socket, 64 at a time",
        "libibacm, memory, blocking",
        "libibacm, memory, 64 at a time",
    ];
    let mut first = None;
    for (name, rates) in names.into_iter().zip(rates) {
        let [low, rate, high] = quartiles(rates);
        println!("{name:>38} {rate:>12.0} {low:>12.0} .. {high:>12.0} {:>8.1}", rate / *first.get_or_insert(rate));
    }
}

fn main() {
    let (rounds, time) = match env::args().any(|arg| arg == "--bench") {
        true => (ROUNDS, TIME),
        false => (1, Duration::from_millis(20)),
    };
    if env::args().any(|arg| arg == "c") {
        return c_programs(rounds, time);
    }
    let fabric = Fabric::start(&["--nodes", &PEERS.to_string()]);
    let node = Node::at(&fabric, 1).option("shared_cache on").option("log_level 0").option("prefetch on").serve();
    let peers: Vec<Address> = (1..=PEERS).map(|number| Address::Lid(fabric.port(number).lid)).collect();
    let one_by_one = |client: &mut Client| peers.iter().filter(|peer| client.resolve(None, peer).is_ok()).count();
    let batch = |client: &mut Client| client.resolve_all(None, &peers).iter().flatten().count();
    until("all paths", || (one_by_one(&mut client(&node.socket(), false)) == peers.len()).then_some(()));
    let lab = nix::unistd::geteuid().is_root().then(|| Lab::new(2, &[]));
    let ibacm = lab.as_ref().map(|lab| [1, 2].map(|number| lab.start(number, Kind::C, &[])));
    let name = |number: u32| Address::from_text(&format!("node{number}"));
    let of_c = |client: &mut Client| (0..100).filter(|_| client.resolve(Some(&name(1)), &name(2)).is_ok()).count();
    let socket = node.socket();
    let ways: [(&str, usize, bool, Way<'_>); 7] = [
        ("socket, one by one", 1, false, &one_by_one),
        ("socket, one by one, 2 threads", 2, false, &one_by_one),
        ("socket, 64 in flight", 1, false, &batch),
        ("memory, one by one", 1, true, &one_by_one),
        ("memory, resolve_all", 1, true, &batch),
        ("memory, one by one, 2 threads", 2, true, &one_by_one),
        ("memory, resolve_all, 2 threads", 2, true, &batch),
    ];
    let mut rates = vec![Vec::new(); ways.len() + 1];
    for _ in 0..rounds {
        for ((_, threads, shared, way), rates) in ways.iter().zip(&mut rates) {
            rates.push(rate(*threads, time, &socket, *shared, *way));
        }
        if let Some([first, _]) = &ibacm {
            rates[ways.len()].push(rate(1, time, &first.socket(), false, &of_c));
        }
    }
    println!("paths per second of {rounds} x {time:?}: median, quartiles, ratio to the first line");
    let names = ways.iter().map(|(name, ..)| *name).chain(["C ibacm, one by one"]);
    let mut first = None;
    for (name, rates) in names.zip(rates).filter(|(_, rates)| !rates.is_empty()) {
        let [low, rate, high] = quartiles(rates);
        println!("{name:>32} {rate:>12.0} {low:>12.0} .. {high:>12.0} {:>8.1}", rate / *first.get_or_insert(rate));
    }
    let mut client = client(&socket, true);
    one_by_one(&mut client);
    let mut times: Vec<u128> = peers
        .iter()
        .cycle()
        .take(100_000)
        .map(|peer| {
            let start = Instant::now();
            assert!(client.resolve(None, peer).is_ok());
            start.elapsed().as_nanos()
        })
        .collect();
    times.sort_unstable();
    let at = |percent: usize| times[times.len() * percent / 100];
    println!("memory, each of 100,000 lookups with two readings of the clock: p50 {} ns, p99 {} ns", at(50), at(99));
}
