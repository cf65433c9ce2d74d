//! Resolves 10,000 paths that are not cached, through subnet administration with `sa_depth 32`: C ibacm and acm-mio on
//! one fabric in the same run, through umad. `cargo bench -p acm-tests --bench cold`, as root.
//!
//! Each round restarts both daemons, which empties their caches. The daemons alternate in being first.
use acm_tests::{Kind, Lab};
use acm_wire::client::{ClientStatus, EntryFlags, next_response, path_request};
use ib_mad::{Lid, sa::PathRecord};
use std::{
    io::{Read, Write},
    os::unix::net::UnixStream,
    path::Path,
    thread,
    time::Instant,
};

const ROUNDS: usize = 5;
const CONNECTIONS: usize = 64;
/// Number of nodes: 82 ports with 128 LIDs each, and the ports of the two daemons.
const NODES: u32 = 84;
const RESOLVES: usize = 10_000;

fn main() {
    // `cargo test --benches` runs a short version.
    let (rounds, resolves) = if std::env::args().any(|arg| arg == "--bench") { (ROUNDS, RESOLVES) } else { (1, 500) };
    let lab = Lab::new(NODES, &["--lmc", "7"]);
    let lids: Vec<Lid> = (3..=NODES)
        .flat_map(|node| {
            let base = lab.fabric.port(node).lid.get();
            (base..base + 128).map(Lid::new)
        })
        .take(resolves)
        .collect();
    let mut rates = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        let mut kinds = [(0, Kind::C), (1, Kind::Rust)];
        kinds.rotate_left(round % 2);
        for (index, kind) in kinds {
            let node = lab.start(u32::try_from(index).unwrap() + 1, kind, &["sa_depth 32", "log_level 1"]);
            rates[index].push(rate(&node.socket(), &lids));
        }
    }
    let [c, ours] = rates.map(|mut rates: Vec<f64>| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    });
    println!("{} cold resolves, {CONNECTIONS} connections, sa_depth 32, median of {rounds}:", lids.len());
    println!("  C ibacm {c:.0}/s, acm-mio {ours:.0}/s, ratio {:.2}", ours / c);
}

/// Returns the number of resolved paths per second.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn rate(socket: &Path, lids: &[Lid]) -> f64 {
    let start = Instant::now();
    thread::scope(|scope| {
        for part in lids.chunks(lids.len().div_ceil(CONNECTIONS)) {
            scope.spawn(|| resolve(socket, part));
        }
    });
    f64::from(u32::try_from(lids.len()).unwrap()) / start.elapsed().as_secs_f64()
}

fn resolve(socket: &Path, lids: &[Lid]) {
    let mut stream = UnixStream::connect(socket).unwrap();
    let mut response = [0; 88];
    for dlid in lids {
        let record = PathRecord { dlid: *dlid, ..PathRecord::default() };
        stream.write_all(&path_request(&record, EntryFlags::empty(), [1; 8])).unwrap();
        stream.read_exact(&mut response).unwrap();
        let frame = next_response(&response).unwrap().unwrap();
        assert_eq!(frame.header.status, ClientStatus::SUCCESS, "LID {dlid}");
    }
}
