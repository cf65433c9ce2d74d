//! The start of an MPI job, simulated by `storm --ranks`: the number of queries with and without a daemon on each node.
use acm_tests::{OpenSm, example, run};

/// Returns the values of all fields of a JSON document with this name.
fn values(json: &str, name: &str) -> Vec<u64> {
    let start = format!("\"{name}\": ");
    let values = json.lines().filter_map(|line| line.trim().strip_prefix(&start));
    values.map(|value| value.trim_end_matches(',').parse().unwrap()).collect()
}

fn run_job(ranks: u32, nodes: u32, more: &[&str]) -> String {
    let (ranks, nodes) = (ranks.to_string(), nodes.to_string());
    run(example("storm"), &[&["--ranks", &ranks, "--nodes", &nodes, "--json"], more].concat()).success()
}

/// Without daemons, each rank queries the paths to all ranks of other nodes.
#[test]
fn daemon_queries_each_node_once() {
    let json = run_job(12, 3, &[]);
    assert_eq!(values(&json, "found"), [12 * 8, 12 * 8], "{json}");
    assert_eq!(values(&json, "missing"), [0, 0], "{json}");
    assert_eq!(values(&json, "sa_queries"), [12 * 8, 3 * 2], "{json}");
    let datagrams = values(&json, "datagrams");
    assert!(datagrams[0] >= 2 * 12 * 8 && datagrams[1] < datagrams[0], "{json}");
    assert!(json.contains("\"sa\": \"ib-sim's own\""), "{json}");
}

#[test]
fn daemon_queries_each_node_once_under_opensm() {
    let opensm = OpenSm::start();
    let json = run_job(8, 4, &["--ibsim", opensm.name()]);
    assert_eq!(values(&json, "found"), [8 * 6, 8 * 6], "{json}");
    assert_eq!(values(&json, "sa_queries"), [8 * 6, 4 * 3], "{json}");
    assert!(json.contains("the subnet manager on ibsim "), "{json}");
}
