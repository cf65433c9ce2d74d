//! Measures loading of a path dump and a file of hosts: `cargo bench -p acm-mio --bench preload`. The files are created
//! in the directory for temporary files and removed. They have 3,000 nodes (200 MB), or the number of `-- --nodes
//! 10000` (2.2 GB).
use acm_sansio::preload::{Hosts, Routes};
use ib_mad::{Gid, Guid};
use nix::sys::resource::{UsageWho, getrusage};
use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
    time::Instant,
};

// The daemon has no library; this file needs nothing of the daemon.
#[path = "../src/preload/parse.rs"]
mod parse;

const ROUNDS: usize = 5;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let nodes = arguments.iter().position(|word| word == "--nodes").and_then(|index| arguments.get(index + 1));
    let nodes = match nodes {
        Some(number) => number.parse().map_err(io::Error::other)?,
        // `cargo test --benches` only checks that the benchmark runs.
        None if !arguments.iter().any(|word| word == "--bench") => 100,
        None => 3000,
    };
    let dir = tempfile::tempdir()?;
    let (routes, hosts) = (dir.path().join("routes"), dir.path().join("hosts"));
    write_routes(&routes, nodes)?;
    write_hosts(&hosts, nodes)?;
    // The section in the middle of the file.
    let ours = guid(nodes / 2);
    let read_routes =
        |faults: &mut parse::Faults| parse::routes(open(&routes), |guid| guid == ours, faults).expect("routes");
    let read_hosts = |faults: &mut parse::Faults| parse::hosts(open(&hosts), faults).expect("hosts");
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

/// Measures a number of readings. Returns the bytes that stay allocated, and the table.
#[expect(clippy::disallowed_methods, reason = "it measures time")]
fn measure<T>(name: &str, path: &Path, read: impl Fn(&mut parse::Faults) -> T) -> (u64, T) {
    let bytes = open(path).metadata().map_or(0, |file| file.len());
    let (mut wall, mut cpu, mut kept, mut most, mut table) = (f64::MAX, f64::MAX, 0, 0, None);
    // The first reading fills the page cache.
    for _ in 0..=ROUNDS {
        table = None;
        let mut faults = parse::Faults::default();
        let (start, used) = (Instant::now(), cpu_seconds());
        let seen = allocation_counter::measure(|| table = Some(read(&mut faults)));
        (wall, cpu) = (wall.min(start.elapsed().as_secs_f64()), cpu.min(cpu_seconds() - used));
        (kept, most) = (u64::try_from(seen.bytes_current).unwrap_or(0), seen.bytes_max);
        assert_eq!((faults.count, faults.too_long, faults.first.len()), (0, 0, 0));
        assert_eq!(faults.repeated_hosts(), None);
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

/// Writes a dump in OpenSM's format: a section for each node, with a line for each node.
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

/// Writes three addresses for each node; names have the maximum length.
fn write_hosts(path: &Path, nodes: u16) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for node in 1..=nodes {
        let gid = Gid::from_parts(Gid::DEFAULT_PREFIX, guid(node));
        let [high, low] = node.to_be_bytes();
        writeln!(file, "n{node:0>62} {gid}\n10.0.{high}.{low} {gid}\nfd00::{node:x} {gid}")?;
    }
    file.flush()
}
