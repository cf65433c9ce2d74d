//! What loss costs: a table of loss and nodes, kept in `testdata/loss.txt`. A change of it is a change of the protocol's
//! price, to be looked at; `ACM_UPDATE=1` writes it anew.
use acm_sansio::Output;
use acm_sim::{World, WorldConfig};
use acm_wire::client::{ClientStatus, EntryFlags, resolve_request};
use core::{fmt::Write, time::Duration};
use ib_mad::AttributeId;
use ib_sim::{Faults, Probability};
use std::{collections::BTreeSet, path::Path};

/// Each node asks for the names of the nodes so many places on, all at once.
const STEPS: [u32; 4] = [1, 2, 5, 11];

/// What was counted.
#[derive(Default)]
struct Counts {
    requests: u32,
    resolved: u32,
    timed_out: u32,
    datagrams: u32,
    queries: u32,
}

/// One world: every node asks for up to four others while so many in a hundred datagrams are lost.
fn play(counts: &mut Counts, loss: u32, nodes: u32, seed: u32) {
    let seed = u64::from(seed) * 100 + u64::from(loss) + 1;
    let mut world = World::new(WorldConfig { nodes, seed, ..WorldConfig::default() });
    world.run_for(Duration::from_secs(1));
    world.subnet.settings_mut().faults = Faults { loss: Probability::percent(loss), ..Faults::default() };
    let before = world.transcript.len();
    let mut asks = Vec::new();
    for node in 0..nodes {
        let others = STEPS.iter().map(|step| (node + step) % nodes).filter(|other| *other != node);
        for other in others.collect::<BTreeSet<u32>>() {
            let [source, dest] = [node, other].map(|node| World::addresses(node)[0]);
            let message = resolve_request(Some(&source), &dest, EntryFlags::empty(), [1; 8]);
            asks.push((other, world.ask(node as usize, &message)));
        }
    }
    for (other, ask) in asks {
        counts.requests += 1;
        match world.wait(ask) {
            Ok(path) => {
                assert_eq!(path.dlid, world.port(other as usize).lid, "{loss} % of {nodes}");
                counts.resolved += 1;
            }
            Err(status) => {
                assert_eq!(status, ClientStatus::ETIMEDOUT, "{loss} % of {nodes}");
                counts.timed_out += 1;
            }
        }
    }
    for (.., output) in world.transcript.iter().skip(before) {
        match output {
            Output::Send { .. } => counts.datagrams += 1,
            Output::SaSend(send) if send.mad.header.attribute_id == AttributeId::PATH_RECORD => counts.queries += 1,
            _ => {}
        }
    }
}

/// One line: as many worlds as 64 nodes make.
fn line(loss: u32, nodes: u32) -> String {
    let mut counts = Counts::default();
    (0..(64 / nodes).max(1)).for_each(|seed| play(&mut counts, loss, nodes, seed));
    let Counts { requests, resolved, timed_out, datagrams, queries } = counts;
    let [datagrams, queries] = [datagrams, queries].map(|count| f64::from(count) / f64::from(requests));
    format!("{loss:6} {nodes:6} {requests:9} {resolved:9} {timed_out:9} {datagrams:10.2} {queries:8.2}")
}

#[test]
fn what_loss_costs() {
    let mut table = String::from("loss/%  nodes  requests  resolved timed out  datagrams  queries of each request\n");
    for loss in [0, 10, 20, 30, 40, 50] {
        for nodes in [2, 4, 8, 16, 32, 64] {
            writeln!(table, "{}", line(loss, nodes)).unwrap();
        }
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/loss.txt");
    if std::env::var_os("ACM_UPDATE").is_some() {
        std::fs::write(&file, &table).unwrap();
    }
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(known == table, "{} says otherwise (ACM_UPDATE=1 writes it anew):\n{table}", file.display());
}
