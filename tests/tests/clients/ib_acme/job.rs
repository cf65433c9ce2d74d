//! The start of an MPI job, which `storm --ranks` plays: how much less is asked with a daemon at each node.
use acm_tests::{OpenSm, example, run};

/// The value of each of a document's fields with this name.
fn values(json: &str, name: &str) -> Vec<u64> {
    let start = format!("\"{name}\": ");
    let values = json.lines().filter_map(|line| line.trim().strip_prefix(&start));
    values.map(|value| value.trim_end_matches(',').parse().unwrap()).collect()
}

fn play(ranks: u32, nodes: u32, more: &[&str]) -> String {
    let (ranks, nodes) = (ranks.to_string(), nodes.to_string());
    run(example("storm"), &[&["--ranks", &ranks, "--nodes", &nodes, "--json"], more].concat()).success()
}

/// Each rank asks for those of other nodes; a daemon asks once for each other node.
#[test]
fn a_daemon_asks_once_for_each_node() {
    let json = play(12, 3, &[]);
    assert_eq!(values(&json, "found"), [12 * 8, 12 * 8], "{json}");
    assert_eq!(values(&json, "missing"), [0, 0], "{json}");
    assert_eq!(values(&json, "sa_queries"), [12 * 8, 3 * 2], "{json}");
    let datagrams = values(&json, "datagrams");
    assert!(datagrams[0] >= 2 * 12 * 8 && datagrams[1] < datagrams[0], "{json}");
    assert!(json.contains("\"sa\": \"ib-sim's own\""), "{json}");
}

#[test]
fn with_opensm_too() {
    let opensm = OpenSm::start();
    let json = play(8, 4, &["--ibsim", opensm.name()]);
    assert_eq!(values(&json, "found"), [8 * 6, 8 * 6], "{json}");
    assert_eq!(values(&json, "sa_queries"), [8 * 6, 4 * 3], "{json}");
    assert!(json.contains("the subnet manager on ibsim "), "{json}");
}
