//! The task `demo`: three daemons on a simulated fabric, one node resolved five ways.
mod client;
mod daemon;
mod error;
mod interrupt;
mod table;

pub(crate) use error::DemoError;

use crate::{command, stopwatch::Stopwatch};
use acm_wire::{Address, client::Counters};
use cargo_metadata::Message;
use client::Client;
use daemon::{Daemon, Node};
use ib_mad::sa::PathRecord;
use interrupt::Interrupt;
use std::{env, io::BufReader, path::PathBuf, process::Stdio};
use table::Table;

const NODES: [Node; 3] = [
    Node { name: "node1", ipv4: "192.0.2.1", ipv6: "2001:db8::1" },
    Node { name: "node2", ipv4: "192.0.2.2", ipv6: "2001:db8::2" },
    Node { name: "node3", ipv4: "192.0.2.3", ipv6: "2001:db8::3" },
];

/// How long the nodes may take to join their multicast groups, as seen by the first question.
const READY_S: u64 = 8;

/// The task. Whatever happens, the daemons and their files are gone at the end.
pub(crate) fn run() -> Result<(), DemoError> {
    let interrupt = Interrupt::install()?;
    let program = build()?;
    interrupt.check()?;
    let watch = Stopwatch::start();
    let home = tempfile::Builder::new().prefix("acm-demo-").tempdir()?;
    let [first, second, third] = NODES;

    println!("Three daemons, one per node, on a simulated InfiniBand fabric (files in {}):", home.path().display());
    let socket = home.path().join(first.name).join("fabric.sock");
    let mut daemons = Vec::new();
    let mut clients = Vec::new();
    for node in NODES {
        // The first one hosts the fabric, so it must be up before the others.
        let fabric = match node.name {
            name if name == first.name => "embedded".to_owned(),
            name => format!("sim:{}?node={name}", socket.display()),
        };
        let mut daemon = Daemon::start(&program, home.path().join(node.name), node, &fabric)?;
        clients.push(daemon.connect(&interrupt)?);
        interrupt.check()?;
        daemons.push(daemon);
        println!("  {}  {}  {}", node.name, node.ipv4, node.ipv6);
    }

    let [client1, .., client3] = clients.as_mut_slice() else { return Err(DemoError::Closed) };
    let paths = five_ways(client1, first, second, &interrupt)?;
    println!("\n{} asks for {} five ways, {} once by name:\n", first.name, second.name, third.name);
    let mut table = path_table();
    for (way, dest, path) in &paths {
        table.row(path_row(first.name, way, dest, path));
    }
    let (name, path) = by_name(client3, third, second, &interrupt)?;
    table.row(path_row(third.name, "name", &name, &path));
    println!("{table}");

    println!("Counters of the daemons:\n");
    let mut counters = Vec::new();
    for client in &mut clients {
        counters.push(client.counters()?);
    }
    println!("{}", counter_table(&counters));

    // The host of the fabric last.
    while let Some(daemon) = daemons.pop() {
        daemon.stop()?;
    }
    home.close()?;
    let seconds = watch.elapsed().as_secs_f64();
    println!(
        "Done in {seconds:.1} s: all five ways lead to one port; the daemons ended when asked to; no file is left."
    );
    println!("Next: `cargo xtask test` checks all of it against ib_acme and OpenSM; README.md has the way from here.");
    Ok(())
}

/// Builds the daemon and says where it is.
fn build() -> Result<PathBuf, DemoError> {
    // Without its default features the daemon takes no C library: the demonstration needs no Debian package.
    let mut cargo = command::cargo(&["build", "-p", "acm-mio", "--bin", "acm-mio", "--no-default-features"]);
    // In a place of its own: a daemon that finds no device must not lie where others are looked for.
    cargo.arg("--target-dir").arg(own_target()?);
    println!("$ {}", command::line(&cargo));
    cargo.arg("--message-format=json-render-diagnostics");
    let mut build = cargo.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(DemoError::Build)?;
    let mut program = None;
    if let Some(messages) = build.stdout.take() {
        for message in Message::parse_stream(BufReader::new(messages)) {
            if let Message::CompilerArtifact(artifact) = message.map_err(DemoError::Build)?
                && let Some(executable) = artifact.executable
            {
                program = Some(executable.into());
            }
        }
    }
    let built = build.wait().map_err(DemoError::Build)?.success();
    program.filter(|_| built).ok_or(DemoError::NotBuilt)
}

/// `demo` beside the folder of the profile that this program was built with.
fn own_target() -> Result<PathBuf, DemoError> {
    let program = env::current_exe()?;
    let target = program.ancestors().nth(2).unwrap_or(command::root());
    Ok(target.join("demo"))
}

/// The node's name, IPv4, IPv6, LID and GID, and the path that each gave. LID and GID are those of the first path;
/// all must lead to the same port.
fn five_ways(
    client: &mut Client,
    from: Node,
    to: Node,
    interrupt: &Interrupt,
) -> Result<Vec<(&'static str, Address, PathRecord)>, DemoError> {
    let (name, to_port) = by_name(client, from, to, interrupt)?;
    let mut paths = vec![("name", name, to_port)];
    for (way, source, dest) in [
        ("IPv4", Address::from_text(from.ipv4), Address::from_text(to.ipv4)),
        ("IPv6", Address::from_text(from.ipv6), Address::from_text(to.ipv6)),
        ("LID", Address::Lid(to_port.slid), Address::Lid(to_port.dlid)),
        ("GID", Address::Gid(to_port.sgid), Address::Gid(to_port.dgid)),
    ] {
        let path = client.resolve(&source, &dest).map_err(|problem| unresolved(from, &dest, problem))?;
        if (path.dgid, path.dlid) != (to_port.dgid, to_port.dlid) {
            return Err(DemoError::OtherPort { from: from.name, what: dest.to_string() });
        }
        paths.push((way, dest, path));
    }
    Ok(paths)
}

/// The path to the node of that name, asked for again while the nodes join their groups.
fn by_name(
    client: &mut Client,
    from: Node,
    to: Node,
    interrupt: &Interrupt,
) -> Result<(Address, PathRecord), DemoError> {
    let (source, dest) = (Address::from_text(from.name), Address::from_text(to.name));
    let watch = Stopwatch::start();
    loop {
        match client.resolve(&source, &dest) {
            Ok(path) => return Ok((dest, path)),
            Err(DemoError::Refused(_)) if watch.elapsed().as_secs() < READY_S => interrupt.pause()?,
            Err(problem) => return Err(unresolved(from, &dest, problem)),
        }
    }
}

fn unresolved(from: Node, dest: &Address, problem: DemoError) -> DemoError {
    match problem {
        DemoError::Interrupted => problem,
        problem => DemoError::Unresolved { from: from.name, what: dest.to_string(), problem: Box::new(problem) },
    }
}

fn path_table() -> Table {
    Table::new(["asker", "by", "asked for", "DGID", "DLID", "SLID", "MTU", "rate", "SL", "pkey", "lifetime"])
}

fn path_row(asker: &str, way: &str, dest: &Address, path: &PathRecord) -> [String; 11] {
    let asked = match dest {
        Address::Lid(lid) => lid.to_string(),
        Address::Gid(gid) => gid.to_string(),
        other => other.to_string(),
    };
    [
        asker.to_owned(),
        way.to_owned(),
        asked,
        path.dgid.to_string(),
        path.dlid.to_string(),
        path.slid.to_string(),
        path.mtu.value().to_string(),
        path.rate.value().to_string(),
        path.qos_sl.sl().to_string(),
        path.pkey.to_string(),
        path.packet_life_time.value().to_string(),
    ]
}

fn counter_table(counters: &[Counters]) -> Table {
    let mut table = Table::new([""].into_iter().chain(NODES.iter().map(|node| node.name)));
    for (number, name) in Counters::NAMES.iter().enumerate() {
        let values = counters.iter().map(|of_one| of_one.0.get(number).copied().unwrap_or_default().to_string());
        table.row([(*name).to_owned()].into_iter().chain(values));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::{Lid, Mtu, Rate, Selected, Selector};

    #[test]
    fn a_path_as_a_row() {
        let path = PathRecord {
            dgid: "fe80::2".parse().unwrap(),
            dlid: Lid::new(2),
            slid: Lid::new(1),
            mtu: Selected::new(Selector::Exactly, Mtu::B2048),
            rate: Selected::new(Selector::Exactly, Rate::GBPS_100),
            ..PathRecord::default()
        };
        let row = path_row("node1", "LID", &Address::Lid(Lid::new(2)), &path);
        assert_eq!(row[..8], ["node1", "LID", "2", "fe80::2", "2", "1", "2048", "100 Gb/s"]);
    }

    #[test]
    fn counters_by_daemon() {
        let text = counter_table(&[Counters([1; 7]), Counters([20; 7]), Counters([3; 7])]).to_string();
        let rows: Vec<Vec<_>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["node1", "node2", "node3"]);
        assert_eq!(rows[2], ["Error", "Count", "1", "20", "3"]);
        assert_eq!(rows.len(), 2 + 7);
    }
}
