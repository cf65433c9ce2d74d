//! What the demonstration asks, and how long each answer took.
use super::{DemoError, client::Client, interrupt::Interrupt, node::Node};
use crate::stopwatch::Stopwatch;
use acm_client::{Address, Counters};
use core::time::Duration;
use ib_mad::sa::PathRecord;

/// How long the nodes may take to join their multicast groups, as seen by the first question.
const READY_S: u64 = 8;
/// Of [`Counters`]: questions to the group and to subnet administration.
const QUERIES: [&str; 2] = ["Addr Query Count", "Route Query Count"];

/// An answer, and how long it took.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) path: PathRecord,
    pub(super) took: Duration,
}

/// One of the ways to ask for a node, asked twice.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) by: &'static str,
    pub(super) dest: Address,
    pub(super) first: Found,
    pub(super) again: Duration,
}

/// The node's name, IPv4, IPv6, LID and GID, and the path that each gave. LID and GID are those of the first path; all
/// must lead to the same port, and the second time nobody but the daemon may be asked.
pub(super) fn five_ways(
    client: &mut Client,
    from: &Node,
    to: &Node,
    interrupt: &Interrupt,
) -> Result<Vec<Way>, DemoError> {
    let first = by_name(client, from, to, interrupt)?;
    let (here, there) = (first.path.sgid, (first.path.dgid, first.path.dlid));
    let ways = [
        ("IPv4", Address::from_text(&from.ipv4), Address::from_text(&to.ipv4)),
        ("IPv6", Address::from_text(&from.ipv6), Address::from_text(&to.ipv6)),
        ("LID", Address::Lid(first.path.slid), Address::Lid(there.1)),
        ("GID", Address::Gid(here), Address::Gid(there.0)),
    ];
    let (own_name, name) = (Address::from_text(&from.name), Address::from_text(&to.name));
    let mut found = vec![("name", own_name, name, first)];
    for (by, source, dest) in ways {
        let answer = timed(client, &source, &dest).map_err(|problem| unresolved(from, &dest, problem))?;
        if (answer.path.dgid, answer.path.dlid) != there {
            return Err(DemoError::OtherPort { from: from.name.clone(), what: dest.to_string() });
        }
        found.push((by, source, dest, answer));
    }
    let before = queries(&client.counters()?);
    let mut twice = Vec::new();
    for (by, source, dest, first) in found {
        let again = timed(client, &source, &dest).map_err(|problem| unresolved(from, &dest, problem))?;
        twice.push(Way { by, dest, first, again: again.took });
    }
    match queries(&client.counters()?) - before {
        0 => Ok(twice),
        more => Err(DemoError::NotCached { from: from.name.clone(), queries: more }),
    }
}

/// Every node asks for each other one by its name; how long all of it took.
pub(super) fn everybody(clients: &mut [Client], nodes: &[Node], interrupt: &Interrupt) -> Result<Duration, DemoError> {
    let watch = Stopwatch::start();
    for (client, from) in clients.iter_mut().zip(nodes) {
        for to in nodes.iter().filter(|to| *to != from) {
            by_name(client, from, to, interrupt)?;
        }
    }
    Ok(watch.elapsed())
}

/// The path to the node of that name, asked for again while the nodes join their groups.
fn by_name(client: &mut Client, from: &Node, to: &Node, interrupt: &Interrupt) -> Result<Found, DemoError> {
    let (source, dest) = (Address::from_text(&from.name), Address::from_text(&to.name));
    let watch = Stopwatch::start();
    loop {
        match timed(client, &source, &dest) {
            Err(DemoError::Refused(_)) if watch.elapsed().as_secs() < READY_S => interrupt.pause()?,
            answer => return answer.map_err(|problem| unresolved(from, &dest, problem)),
        }
    }
}

fn timed(client: &mut Client, source: &Address, dest: &Address) -> Result<Found, DemoError> {
    let watch = Stopwatch::start();
    let path = client.resolve(source, dest)?;
    Ok(Found { path, took: watch.elapsed() })
}

fn queries(counters: &Counters) -> u64 {
    let named = Counters::NAMES.iter().zip(counters.0);
    named.filter(|(name, _)| QUERIES.contains(name)).map(|(_, count)| count).sum()
}

fn unresolved(from: &Node, dest: &Address, problem: DemoError) -> DemoError {
    match problem {
        DemoError::Interrupted => problem,
        problem => {
            DemoError::Unresolved { from: from.name.clone(), what: dest.to_string(), problem: Box::new(problem) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_those_of_both_protocols() {
        let numbered = Counters([1, 2, 4, 8, 16, 32, 64]);
        let wanted = Counters::NAMES.iter().zip(numbered.0).filter(|(name, _)| name.contains("Query"));
        assert_eq!((queries(&numbered), QUERIES.len()), (wanted.map(|(_, count)| count).sum(), 2));
        assert_eq!(queries(&numbered), 8 + 32);
    }
}
