//! Resolves nodes, and measures the time of each response.
use super::{
    DemoError, Stop,
    daemon::{Daemon, Node, READY},
    now,
};
use acm_client::{Address, ClientError, Counters, PerfTarget, ib_mad::sa::PathRecord};
use core::time::Duration;

/// The names of [`Counters`] that count queries to the multicast group and to subnet administration.
const QUERIES: [&str; 2] = ["Addr Query Count", "Route Query Count"];

/// A kind of address, resolved twice.
pub(crate) struct Way {
    pub(crate) by: &'static str,
    pub(crate) dest: Address,
    pub(crate) path: PathRecord,
    pub(crate) first: Duration,
    pub(crate) again: Duration,
}

/// Resolves a node by name, IPv4, IPv6, LID and GID. LID and GID are those of the path by name.
///
/// # Errors
/// A path leads to another port, or the daemon sends a query for an address that it has resolved before.
pub(crate) fn five_ways(from: &mut Daemon, to: &Node, stop: &Stop) -> Result<Vec<Way>, DemoError> {
    let (node, text) = (from.node.clone(), |text: &String| Address::from_text(text));
    let (path, first) = by_name(from, to, stop)?;
    let mut ways = vec![("name", text(&node.name), text(&to.name), path, first)];
    for (by, source, dest) in [
        ("IPv4", text(&node.ipv4), text(&to.ipv4)),
        ("IPv6", text(&node.ipv6), text(&to.ipv6)),
        ("LID", Address::Lid(path.slid), Address::Lid(path.dlid)),
        ("GID", Address::Gid(path.sgid), Address::Gid(path.dgid)),
    ] {
        let (found, took) = timed(from, &source, &dest)?;
        if (found.dgid, found.dlid) != (path.dgid, path.dlid) {
            return Err(DemoError::OtherPort { node: node.name, dest: dest.to_string() });
        }
        ways.push((by, source, dest, found, took));
    }
    let before = queries(from)?;
    let mut twice = Vec::new();
    for (by, source, dest, path, first) in ways {
        let (_, again) = timed(from, &source, &dest)?;
        twice.push(Way { by, dest, path, first, again });
    }
    match queries(from)? - before {
        0 => Ok(twice),
        queries => Err(DemoError::NotCached { node: node.name, queries }),
    }
}

/// Resolves every other node at every node by name, and returns the time that this took.
pub(crate) fn all_pairs(daemons: &mut [Daemon], stop: &Stop) -> Result<Duration, DemoError> {
    let start = now();
    let nodes: Vec<Node> = daemons.iter().map(|daemon| daemon.node.clone()).collect();
    for (at, from) in daemons.iter_mut().enumerate() {
        for (_, to) in nodes.iter().enumerate().filter(|(number, _)| *number != at) {
            by_name(from, to, stop)?;
        }
    }
    Ok(start.elapsed())
}

/// Resolves a name. The daemon refuses requests until it has joined its multicast groups: repeats the request.
fn by_name(from: &mut Daemon, to: &Node, stop: &Stop) -> Result<(PathRecord, Duration), DemoError> {
    let (source, dest) = (Address::from_text(&from.node.name), Address::from_text(&to.name));
    let start = now();
    loop {
        stop.check()?;
        match timed(from, &source, &dest) {
            Err(DemoError::Unresolved { error: ClientError::Refused { .. }, .. }) if start.elapsed() < READY => {
                stop.pause()?;
            }
            result => return result,
        }
    }
}

fn timed(from: &mut Daemon, source: &Address, dest: &Address) -> Result<(PathRecord, Duration), DemoError> {
    let start = now();
    match from.client.resolve(Some(source), dest) {
        Ok(resolved) => Ok((resolved.path, start.elapsed())),
        Err(error) => Err(DemoError::Unresolved { node: from.node.name.clone(), dest: dest.to_string(), error }),
    }
}

/// The counters of a daemon.
pub(crate) fn counters(daemon: &mut Daemon) -> Result<Counters, DemoError> {
    let counters = daemon.client.counters(PerfTarget::Total);
    counters.map_err(|error| DemoError::Client { node: daemon.node.name.clone(), error })
}

fn queries(daemon: &mut Daemon) -> Result<u64, DemoError> {
    let counters = counters(daemon)?;
    let named = Counters::NAMES.iter().zip(counters.0);
    Ok(named.filter(|(name, _)| QUERIES.contains(name)).map(|(_, count)| count).sum())
}
