//! The cost of loss: a table of requests, datagrams and queries by loss and number of nodes, in `testdata/loss.txt`. A
//! change of the table is a change of the protocol's cost and needs a review. `ACM_UPDATE=1` writes the table again.
use acm_sansio::Output;
use acm_sim::{World, WorldConfig};
use acm_wire::client::{ClientStatus, EntryFlags, resolve_request};
use core::{fmt::Write, time::Duration};
use ib_mad::AttributeId;
use ib_sim::{Faults, Probability};
use std::{collections::BTreeSet, path::Path};

/// Each node resolves the nodes at these distances, all at once.
const STEPS: [u32; 4] = [1, 2, 5, 11];

/// Counts of one line of the table.
#[derive(Default)]
struct Counts {
    requests: u32,
    resolved: u32,
    timed_out: u32,
    datagrams: u32,
    queries: u32,
}

/// Adds the counts of one world, in which each node resolves up to four others while `loss` percent of the datagrams
/// are lost.
fn run(counts: &mut Counts, loss: u32, nodes: u32, seed: u32) {
    let seed = u64::from(seed) * 100 + u64::from(loss) + 1;
    let mut world = World::new(WorldConfig { nodes, seed, ..WorldConfig::default() });
    world.run_for(Duration::from_secs(1));
    world.subnet.settings_mut().faults = Faults { loss: Probability::percent(loss), ..Faults::default() };
    let before = world.transcript.len();
    let mut clients = Vec::new();
    for node in 0..nodes {
        let others = STEPS.iter().map(|step| (node + step) % nodes).filter(|other| *other != node);
        for other in others.collect::<BTreeSet<u32>>() {
            let [source, dest] = [node, other].map(|node| World::addresses(node)[0]);
            let message = resolve_request(Some(&source), &dest, EntryFlags::empty(), [1; 8]);
            clients.push((other, world.request(node as usize, &message)));
        }
    }
    for (other, client) in clients {
        counts.requests += 1;
        match world.wait(client) {
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

/// Returns one line of the table: the sum over 64 / `nodes` worlds.
fn line(loss: u32, nodes: u32) -> String {
    let mut counts = Counts::default();
    (0..(64 / nodes).max(1)).for_each(|seed| run(&mut counts, loss, nodes, seed));
    let Counts { requests, resolved, timed_out, datagrams, queries } = counts;
    let [datagrams, queries] = [datagrams, queries].map(|count| f64::from(count) / f64::from(requests));
    format!("{loss:6} {nodes:6} {requests:9} {resolved:9} {timed_out:9} {datagrams:10.2} {queries:8.2}")
}

#[test]
fn cost_of_loss_matches_the_recorded_table() {
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
    let recorded = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(recorded == table, "{} differs (ACM_UPDATE=1 writes it again):\n{table}", file.display());
}
