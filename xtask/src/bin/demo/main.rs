//! The demonstration: daemons on a simulated fabric, and a node resolved five ways. `cargo xtask demo` builds this
//! program together with the daemon, and runs it.
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
mod daemon;
mod error;
mod report;
mod resolve;
mod stop;

use clap::Parser;
use daemon::{Daemon, Home, Node};
use error::DemoError;
use std::{path::PathBuf, process::ExitCode};
use stop::{Stop, now};

/// Nodes that have a line or a column of their own.
const SHOWN: usize = 6;

#[derive(Debug, Parser)]
#[command(name = "demo")]
struct Demo {
    /// The daemon: acm-mio.
    daemon: PathBuf,
    /// The number of nodes, each with a daemon: up to the embedded fabric's 64.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(2..=64))]
    nodes: u8,
    /// Leave the fabric and the daemons running until Ctrl-C, and show commands to try.
    #[arg(long)]
    keep: bool,
}

fn main() -> ExitCode {
    match run(&Demo::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("demo: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the demonstration. The daemons and their files are removed at the end, also after an error or a signal.
fn run(demo: &Demo) -> Result<(), DemoError> {
    let stop = Stop::on_signals()?;
    let start = now();
    let home = Home::create()?;
    println!("{} daemons on a simulated InfiniBand fabric (files in {}):", demo.nodes, home.path().display());
    let mut daemons = start_all(demo, &home, &stop)?;
    let [first, second, ..] = daemons.as_mut_slice() else { return Ok(()) };

    let ways = resolve::five_ways(first, &second.node, &stop)?;
    println!("\n{} resolves {} five ways, twice:\n", first.node.name, second.node.name);
    print!("{}", report::ways(&ways));
    if let Some(way) = ways.first() {
        println!("\nEach is a path {}.", report::path(&way.path));
    }
    println!(
        "The first time the daemon asks the multicast group and subnet administration; then it has cached the path."
    );

    let first = resolve::all_pairs(&mut daemons, &stop)?;
    let second = resolve::all_pairs(&mut daemons, &stop)?;
    let paths = daemons.len() * (daemons.len() - 1);
    let [first, second] = [first, second].map(report::milliseconds);
    println!("\nEvery node resolves every other node by name: {paths} paths in {first}, the second time in {second}.");

    println!("\nCounters of the daemons:\n\n{}", report::counters(&mut daemons)?);
    let seconds = start.elapsed().as_secs_f64();
    if demo.keep {
        keep(demo, &daemons, &stop);
    }
    // The first daemon hosts the fabric: it ends last.
    while let Some(daemon) = daemons.pop() {
        daemon.end()?;
    }
    drop(home);
    println!("Done in {seconds:.1} s: all five ways lead to one port; the daemons have ended; no file is left.");
    println!(
        "Next: `cargo xtask demo --keep` to try more; `cargo xtask test` runs the tests, with ib_acme and OpenSM."
    );
    Ok(())
}

/// Starts a daemon for each node. The first daemon hosts the fabric.
fn start_all(demo: &Demo, home: &Home, stop: &Stop) -> Result<Vec<Daemon>, DemoError> {
    let mut daemons: Vec<Daemon> = Vec::new();
    for node in (1..=demo.nodes).map(Node::new) {
        let fabric = match daemons.first() {
            None => "embedded".to_owned(),
            Some(host) => format!("sim:{}?node={}", host.folder.join("fabric.sock").display(), node.name),
        };
        if daemons.len() < SHOWN {
            println!("  {}  {}  {}", node.name, node.ipv4, node.ipv6);
        }
        daemons.push(Daemon::start(&demo.daemon, home, node, &fabric, stop)?);
    }
    if let Some(more) = daemons.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        println!("  and {more} more");
    }
    Ok(daemons)
}

/// Shows commands to try, and waits for a signal.
fn keep(demo: &Demo, daemons: &[Daemon], stop: &Stop) {
    let [first, .., last] = daemons else { return };
    let node = &last.node.name;
    let (here, there) = (first.folder.display(), last.folder.display());
    println!("The daemons run until Ctrl-C. To try, in another terminal:\n");
    println!("  {} status --all --run-dir {here}", demo.daemon.with_file_name("acmctl").display());
    println!("  ib_acme -f n -s node1 -d {node} -v -S {here}/ibacm-unix.sock    # Debian's ibacm has it");
    println!("  ib_acme -P -S {here}/ibacm-unix.sock");
    println!("  tail -f {there}/log\n");
    while stop.pause().is_ok() {}
}
