//! What it takes to load a path dump and a file of hosts: `cargo bench -p acm-mio --bench preload`. It makes the files,
//! of 3,000 nodes (200 MB) or of so many as `-- --nodes 10000` says (2.2 GB), in the folder for temporary files, and
//! removes them.
use acm_sansio::preload::{Hosts, Routes};
use ib_mad::{Gid, Guid};
use nix::sys::resource::{UsageWho, getrusage};
use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
    time::Instant,
};

// The daemon has no library; this file of it needs nothing of the daemon.
#[path = "../src/preload/read.rs"]
mod read;

const ROUNDS: usize = 5;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let nodes = arguments.iter().position(|word| word == "--nodes").and_then(|place| arguments.get(place + 1));
    let nodes = match nodes {
        Some(number) => number.parse().map_err(io::Error::other)?,
        // `cargo test --benches` only wants to see that it runs.
        None if !arguments.iter().any(|word| word == "--bench") => 100,
        None => 3000,
    };
    let dir = tempfile::tempdir()?;
    let (routes, hosts) = (dir.path().join("routes"), dir.path().join("hosts"));
    write_routes(&routes, nodes)?;
    write_hosts(&hosts, nodes)?;
    // The section in the middle.
    let ours = guid(nodes / 2);
    let read_routes =
        |faults: &mut read::Faults| read::routes(open(&routes), |guid| guid == ours, faults).expect("routes");
    let read_hosts = |faults: &mut read::Faults| read::hosts(open(&hosts), faults).expect("hosts");
    println!("{nodes} nodes, the best of {ROUNDS} readings of cached files, on one core:");
    let (routes_kept, table) = measure("routes", &routes, read_routes);
    assert_eq!(Routes::counts(&table).routes, usize::from(nodes));
    let (hosts_kept, table) = measure("hosts", &hosts, read_hosts);
    assert_eq!(Hosts::len(&table), 3 * usize::from(nodes));
    let kept = routes_kept + hosts_kept;
    println!(
        "  kept: {} bytes for each destination with its name (63 bytes), IPv4, IPv6, GID, LID",
        kept / u64::from(nodes)
    );
    Ok(())
}

fn open(path: &Path) -> File {
    File::open(path).expect("a file of this benchmark")
}

/// Reads a file some times; bytes that stay, and the table.
#[expect(clippy::disallowed_methods, reason = "it measures time")]
fn measure<T>(name: &str, path: &Path, read: impl Fn(&mut read::Faults) -> T) -> (u64, T) {
    let bytes = open(path).metadata().map_or(0, |file| file.len());
    let (mut wall, mut cpu, mut kept, mut most, mut table) = (f64::MAX, f64::MAX, 0, 0, None);
    // The first one fills the page cache.
    for _ in 0..=ROUNDS {
        table = None;
        let mut faults = read::Faults::default();
        let (start, used) = (Instant::now(), cpu_seconds());
        let seen = allocation_counter::measure(|| table = Some(read(&mut faults)));
        (wall, cpu) = (wall.min(start.elapsed().as_secs_f64()), cpu.min(cpu_seconds() - used));
        (kept, most) = (u64::try_from(seen.bytes_current).unwrap_or(0), seen.bytes_max);
        assert_eq!((faults.count, faults.too_long, faults.said.len()), (0, 0, 0));
    }
    println!(
        "  {name}: {bytes} bytes in {wall:.3} s, {:.2} GB/s; of CPU time {cpu:.3} s, {:.2} GB/s; memory at most {most} bytes",
        rate(bytes, wall),
        rate(bytes, cpu)
    );
    (kept, table.expect("a reading"))
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn rate(bytes: u64, seconds: f64) -> f64 {
    bytes as f64 / seconds / 1e9
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn cpu_seconds() -> f64 {
    let used = getrusage(UsageWho::RUSAGE_THREAD).expect("the thread's CPU time");
    [used.user_time(), used.system_time()].iter().map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6).sum()
}

fn guid(node: u16) -> Guid {
    Guid::new(0x0002_c903_0000_0000 + u64::from(node))
}

/// As OpenSM writes it: a section for each node, a line in it for each node.
fn write_routes(path: &Path, nodes: u16) -> io::Result<()> {
    let mut lines = b"# LID  : SL : MTU : RATE\n".to_vec();
    for to in 1..=nodes {
        writeln!(lines, "0x{to:04X} : {:<2} : 4   : 16  ", to % 3)?;
    }
    let mut file = BufWriter::new(File::create(path)?);
    for node in 1..=nodes {
        writeln!(file, "Channel Adapter {}, base LID {node}, \"node{node} mlx5_0\", port 1", guid(node))?;
        file.write_all(&lines)?;
        file.write_all(b"\n")?;
    }
    file.flush()
}

/// Three addresses for each node, names as long as they may be.
fn write_hosts(path: &Path, nodes: u16) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for node in 1..=nodes {
        let gid = Gid::from_parts(Gid::DEFAULT_PREFIX, guid(node));
        let [high, low] = node.to_be_bytes();
        writeln!(file, "n{node:0>62} {gid}\n10.0.{high}.{low} {gid}\nfd00::{node:x} {gid}")?;
    }
    file.flush()
}
