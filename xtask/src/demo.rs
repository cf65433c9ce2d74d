//! The task `demo`: daemons on a simulated fabric, and a node resolved five ways.
mod client;
mod daemon;
mod error;
mod interrupt;
mod node;
mod report;
mod resolve;
mod table;

pub(crate) use error::DemoError;

use crate::{built, command, stopwatch::Stopwatch};
use acm_client::Counters;
use client::Client;
use daemon::Daemon;
use interrupt::Interrupt;
use node::Node;
use std::{
    env,
    path::{Path, PathBuf},
};

/// So many nodes have a line each.
const SHOWN: usize = 8;

/// How it is to be shown.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Demo {
    /// How many nodes, each with a daemon: up to the embedded fabric's 64.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(2..=64))]
    nodes: u8,
    /// Leave the fabric and the daemons running, and say what to try, until Ctrl-C.
    #[arg(long)]
    keep: bool,
}

/// The task. Whatever happens, the daemons and their files are gone at the end.
pub(crate) fn run(demo: Demo) -> Result<(), DemoError> {
    let interrupt = Interrupt::install()?;
    let program = build()?;
    interrupt.check()?;
    let watch = Stopwatch::start();
    let home = tempfile::Builder::new().prefix("acm-demo-").tempdir()?;
    let nodes: Vec<Node> = (1..=demo.nodes).map(Node::new).collect();

    println!("{} daemons on a simulated InfiniBand fabric (files in {}):", nodes.len(), home.path().display());
    let (mut daemons, mut clients) = start(&program, home.path(), &nodes, &interrupt)?;
    show(&mut clients, &nodes, &interrupt)?;
    let shown = watch.elapsed();
    if demo.keep {
        wait_for_ctrl_c(&program, &daemons, &interrupt);
    }

    // The host of the fabric last.
    while let Some(daemon) = daemons.pop() {
        daemon.stop()?;
    }
    home.close()?;
    let seconds = shown.as_secs_f64();
    println!(
        "Done in {seconds:.1} s: all five ways lead to one port; the daemons ended when asked to; no file is left."
    );
    println!("Next: `cargo xtask demo --keep` to try more; `cargo xtask test` checks all of it against ib_acme and");
    println!("OpenSM; README.md has the way from here.");
    Ok(())
}

/// Starts a daemon for each node. The first one hosts the fabric, so it is up before the others.
fn start(
    program: &Path,
    home: &Path,
    nodes: &[Node],
    interrupt: &Interrupt,
) -> Result<(Vec<Daemon>, Vec<Client>), DemoError> {
    let (mut daemons, mut clients): (Vec<Daemon>, Vec<Client>) = Default::default();
    for node in nodes {
        let fabric = match daemons.first() {
            None => "embedded".to_owned(),
            Some(host) => format!("sim:{}?node={}", host.folder().join("fabric.sock").display(), node.name),
        };
        let mut daemon = Daemon::start(program, home.join(&node.name), node.clone(), &fabric)?;
        clients.push(daemon.connect(interrupt)?);
        interrupt.check()?;
        daemons.push(daemon);
        if daemons.len() <= SHOWN {
            println!("  {}  {}  {}", node.name, node.ipv4, node.ipv6);
        }
    }
    if let Some(more) = nodes.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        println!("  and {more} more");
    }
    Ok((daemons, clients))
}

/// Asks, and says what came.
fn show(clients: &mut [Client], nodes: &[Node], interrupt: &Interrupt) -> Result<(), DemoError> {
    let ([client, ..], [first, second, ..]) = (&mut *clients, nodes) else { return Err(DemoError::TooFew) };
    let ways = resolve::five_ways(client, first, second, interrupt)?;
    println!("\n{} asks for {} five ways, and once more:\n", first.name, second.name);
    println!("{}", report::ways(&ways));
    if let Some(way) = ways.first() {
        println!("Each is a path {}.", report::path(&way.first.path));
    }
    println!("The first time the multicast group and subnet administration were asked, then nobody: it was cached.\n");

    let [before, after] =
        [resolve::everybody(clients, nodes, interrupt)?, resolve::everybody(clients, nodes, interrupt)?];
    let paths = nodes.len() * (nodes.len() - 1);
    let [before, after] = [before, after].map(report::ms);
    println!("All {} ask for each other by name: {paths} paths in {before}, once more in {after}.\n", nodes.len());

    println!("Counters of the daemons:\n");
    let counters = clients.iter_mut().map(Client::counters).collect::<Result<Vec<Counters>, _>>()?;
    println!("{}", report::counters(nodes, &counters));
    Ok(())
}

/// Says what there is to try, and waits.
fn wait_for_ctrl_c(program: &Path, daemons: &[Daemon], interrupt: &Interrupt) {
    let [first, .., last] = daemons else { return };
    let (program, node) = (program.display(), &last.node);
    let (here, there) = (first.folder().display(), last.folder().display());
    println!("The daemons go on until Ctrl-C. To try, in another terminal:\n");
    println!("  {program} --status --run-dir {here}");
    println!("  ib_acme -f n -s node1 -d {} -v -S {here}/ibacm-unix.sock    # Debian's ibacm has it", node.name);
    println!("  ib_acme -P -S {here}/ibacm-unix.sock");
    println!("  tail -f {there}/log");
    println!();
    while interrupt.pause().is_ok() {}
}

/// Builds the daemon and says where it is.
fn build() -> Result<PathBuf, DemoError> {
    // Without its default features the daemon takes no C library: the demonstration needs no Debian package.
    let mut cargo = command::cargo(&["build", "-p", "acm-mio", "--bin", "acm-mio", "--no-default-features"]);
    // In a place of its own: a daemon that finds no device must not lie where others are looked for.
    cargo.arg("--target-dir").arg(own_target()?);
    built::program(&mut cargo).map_err(DemoError::Build)?.ok_or(DemoError::NotBuilt)
}

/// `demo` beside the folder of the profile that this program was built with.
fn own_target() -> Result<PathBuf, DemoError> {
    let program = env::current_exe()?;
    let target = program.ancestors().nth(2).unwrap_or(command::root());
    // Cargo runs in the workspace's folder: as short as one would type it there.
    Ok(target.strip_prefix(command::root()).unwrap_or(target).join("demo"))
}
