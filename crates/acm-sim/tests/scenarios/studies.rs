//! Small versions of the studies, with bounds on counts.
use acm_sim::study::{Options, Report, STUDIES, table};

fn study(name: &str, nodes: u32) -> Report {
    run(name, nodes, None)
}

/// Runs a study, or one of its runs only.
fn run(name: &str, nodes: u32, only: Option<&'static str>) -> Report {
    run_with(name, &Options { only, ..Options::new(nodes) })
}

fn run_with(name: &str, options: &Options) -> Report {
    let study = STUDIES.iter().find(|study| study.name == name).expect("the study exists");
    (study.run)(options)
}

/// Returns the options of a study in which the SA has these settings.
fn hard_sa(nodes: u32, settings: &[(&str, &str)]) -> Options {
    let mut options = Options::new(nodes);
    settings.iter().for_each(|(name, value)| options.settings.set(name, value).unwrap());
    options
}

/// Asserts that a number of a report is at most `most`.
fn at_most(report: &Report, name: &str, most: f64) {
    let value = report.value(name).unwrap_or_else(|| panic!("no {name:?} in {report:?}"));
    assert!(value <= most, "{name}: {value}, {most} allowed\n{}", table(&[(1, report.clone())]));
}

#[test]
fn claim_of_an_address_in_use_misleads_no_node() {
    let report = study("claim", 100);
    at_most(&report, "forged claim: nodes with another path", 0.0);
    at_most(&report, "forged claim: multicasts", 2.0);
    at_most(&report, "failover: multicasts", 25.0);
    at_most(&report, "failover: nodes without the right path at the end", 0.0);
    at_most(&report, "failover: right path everywhere after (s)", 5.0);
}

#[test]
fn new_lid_of_a_peer_reaches_all_nodes() {
    let report = study("move", 100);
    at_most(&report, "new LID: nodes without the right path at the end", 0.0);
    at_most(&report, "new LID: right path everywhere after (s)", 15.0);
    // One for each node, and two confirmations of the path in use.
    at_most(&report, "new LID: path queries", 300.0);
}

#[test]
fn nodes_join_again_within_a_second_after_an_sm_restart() {
    let report = study("sm-restart", 50);
    at_most(&report, "restart: all nodes joined after (s)", 1.0);
    // One at once, and one every 90 s in ten minutes.
    at_most(&report, "restart: joins", 420.0);
    at_most(&report, "restart: refreshes in the first second", 100.0);
}

/// Joins, subscriptions and refreshes leave the SA so much free time that a client's request waits for few of them.
#[test]
fn client_waits_at_most_twice_as_long_during_an_sm_restart() {
    let report = run_with("sm-restart", &Options { per_node: Some(30), ..Options::new(300) });
    let calm = report.value("calm: path from the SA, p99 (ms)").expect("the calm latency");
    assert!(calm > 0.0, "{calm}");
    at_most(&report, "restart: path from the SA, longest (ms)", 2.0 * calm);
    at_most(&report, "restart: failed requests", 0.0);
}

/// One request or response in a hundred is lost. A client waits for the time-out of 2 s, and no node sends a storm.
#[test]
fn nodes_join_again_after_an_sm_restart_although_the_sa_loses_requests() {
    let options = Options { per_node: Some(20), ..hard_sa(100, &[("sa_loss", "1%")]) };
    let report = run_with("sm-restart", &options);
    at_most(&report, "restart: all nodes joined after (s)", 7.5);
    at_most(&report, "restart: failed requests", 0.0);
    at_most(&report, "restart: joins", 850.0);
    at_most(&report, "restart: subscriptions", 440.0);
    // 3,000 of the client and 2,000 refreshes.
    at_most(&report, "restart: path queries", 5200.0);
}

/// Each node proves the address and the path: requests to the server, and a query. Silence proves nothing.
#[test]
fn users_of_one_server_prove_its_path_after_an_sm_restart_without_a_storm() {
    let report = run_with("server", &Options { witness: true, ..Options::new(100) });
    for event in ["restart", "server silent"] {
        for count in
            ["nodes with another path", "failed requests", "multicasts", "datagrams lost at full receive queues"]
        {
            at_most(&report, &format!("{event}: {count}"), 0.0);
        }
        at_most(&report, &format!("{event}: unicasts to another node, most"), 5.0);
    }
    // Proofs after the restart, before the confirmation, and of the silent host, of three requests each.
    at_most(&report, "server silent: unicasts to the host", 1500.0);
    at_most(&report, "server silent: path queries", 500.0);
    assert_eq!(report.value("restart: nodes that queried a path"), Some(100.0));
    at_most(&report, "restart: first query of the last of them after (s)", 2.0);
    at_most(&report, "restart: unicasts to the host", 300.0);
    at_most(&report, "restart: path queries", 200.0);
}

/// The figures contain one confirmation of each path in use: a unicast to the host, and a query.
#[test]
fn burst_of_forged_witnesses_misleads_no_node() {
    let report = study("witnesses", 100);
    for event in ["addresses of one host", "addresses of all hosts", "GID and addresses of one host"] {
        at_most(&report, &format!("{event}: nodes with another path"), 0.0);
        at_most(&report, &format!("{event}: failed requests"), 0.0);
        // At most one check within each `timeout`, of two requests.
        at_most(&report, &format!("{event}: unicasts to the host"), 400.0);
        at_most(&report, &format!("{event}: unicasts to another node, most"), 10.0);
        at_most(&report, &format!("{event}: path queries"), 200.0);
        // One defence of each address that is claimed.
        let most = if event == "addresses of all hosts" { 2.0 * 100.0 } else { 5.0 };
        at_most(&report, &format!("{event}: multicasts"), most);
    }
}

#[test]
fn nodes_that_boot_at_once_get_paths_from_an_sa_that_is_busy_or_loses_requests() {
    let (small, busy) = (("sa_queue", "64"), ("sa_busy_when_full", "on"));
    // 6,300 requests are needed. BUSY causes more requests than a loss, but shorter pauses.
    for (settings, most, longest) in
        [(&[small, busy][..], 15_000.0, 1000.0), (&[small], 8000.0, 3000.0), (&[("sa_loss", "1%")], 6600.0, 7500.0)]
    {
        let report = run_with("boot", &hard_sa(300, settings));
        assert_eq!(report.value("cluster: first paths"), Some(4800.0));
        at_most(&report, "cluster: failed requests", 0.0);
        at_most(&report, "cluster: first path, longest (ms)", longest);
        at_most(&report, "cluster: SA requests", most);
        for event in ["cluster", "rack"] {
            assert_eq!(report.value(&format!("{event}: members of the group at the end")), Some(300.0));
        }
    }
}

/// An address that is present at the start is not announced.
#[test]
fn address_that_all_nodes_get_at_once_is_announced_without_a_loss() {
    let report = study("addresses", 100);
    at_most(&report, "start: multicasts", 0.0);
    // The name and three IP addresses of each node.
    assert_eq!(report.value("another address: multicasts"), Some(400.0));
    at_most(&report, "another address: multicasts in 10 ms, most", 40.0);
    at_most(&report, "another address: SA requests", 0.0);
    at_most(&report, "another address: datagrams lost at full receive queues", 0.0);
    assert_eq!(report.value("first lookups: paths"), Some(100.0));
    at_most(&report, "first lookups: multicasts", 0.0);
}

#[test]
fn nodes_that_boot_at_once_join_and_get_paths() {
    let report = study("boot", 300);
    at_most(&report, "cluster: last join after (s)", 0.1);
    at_most(&report, "cluster: joins", 300.0);
    at_most(&report, "cluster: SA backlog in requests, most", 1024.0);
    at_most(&report, "cluster: path queries", 4800.0);
    at_most(&report, "cluster: first path, longest (ms)", 150.0);
    // Those of the rack, and of each node within 90 s.
    at_most(&report, "rack: joins", 250.0);
    assert_eq!(report.value("cluster: requests lost at the SA's full queue"), None);
    assert_eq!(report.value("cluster: first paths"), Some(4800.0));
    assert_eq!(report.value("rack: members of the group at the end"), Some(300.0));
}

#[test]
fn live_names_resolve_beside_dead_ones() {
    let report = study("dead", 50);
    at_most(&report, "a tenth dead: live names that failed", 0.0);
    at_most(&report, "a tenth dead: live name, longest (ms)", 100.0);
}

#[test]
fn job_resolves_all_peers() {
    let report = study("job", 50);
    assert_eq!(report.value("no daemon, shifted: SA requests"), Some(3200.0));
    at_most(&report, "hosts preloaded, shifted: SA requests", 800.0);
    for event in ["no daemon, shifted", "model of C ibacm, shifted", "shifted", "random", "hosts preloaded, shifted"] {
        at_most(&report, &format!("{event}: failed requests"), 0.0);
        at_most(&report, &format!("{event}: multicasts"), 200.0);
    }
    for event in ["beside the model, shifted", "beside the model, random"] {
        for program in ["this daemon", "the model"] {
            assert_eq!(report.value(&format!("{event}, {program}: requests")), Some(1600.0));
            at_most(&report, &format!("{event}, {program}: failed requests"), 0.0);
            at_most(&report, &format!("{event}, {program}: last answer after (s)"), 0.2);
        }
        at_most(&report, &format!("{event}: multicasts"), 250.0);
        at_most(&report, &format!("{event}: datagrams lost at full receive queues"), 0.0);
    }
    at_most(&report, "all at once: failed requests", 0.0);
    at_most(&report, "all at once: multicasts", 150.0);
}

/// As many nodes as before lost requests at the SA and datagrams at each other.
#[test]
fn job_of_300_nodes_loses_nothing() {
    let report = run("job", 300, Some("shifted"));
    at_most(&report, "shifted: failed requests", 0.0);
    at_most(&report, "shifted: multicasts", 300.0);
    at_most(&report, "shifted: SA requests", 5100.0);
    at_most(&report, "shifted: SA backlog in requests, most", 1024.0);
    at_most(&report, "shifted: datagrams lost at full receive queues", 0.0);
    at_most(&report, "shifted: last answer after (s)", 0.15);
    assert_eq!(report.value("shifted: requests lost at the SA's full queue"), None);
}

#[test]
fn job_after_a_prefetch_sends_no_path_query() {
    let report = run("job", 50, Some("prefetch on, random"));
    at_most(&report, "prefetch on, random: failed requests", 0.0);
    at_most(&report, "prefetch on, random: multicasts", 50.0);
    at_most(&report, "prefetch on, random: SA requests", 0.0);
}

/// Witnesses have shown all addresses of all nodes.
#[test]
fn job_by_address_after_witnesses_sends_no_multicast() {
    let event = "addresses, shifted";
    let report = run_with("job", &Options { only: Some(event), witness: true, ..Options::new(50) });
    at_most(&report, &format!("{event}: failed requests"), 0.0);
    at_most(&report, &format!("{event}: multicasts"), 0.0);
    // A request and a response for each pair of nodes.
    at_most(&report, &format!("{event}: unicasts"), 1600.0);
}

#[test]
fn job_of_all_to_all_after_a_prefetch_sends_no_path_query() {
    let event = "prefetch on, all to all";
    let report = run_with("job", &Options { only: Some(event), witness: true, ..Options::new(30) });
    assert_eq!(report.value(&format!("{event}: requests")), Some(30.0 * 29.0));
    for none in ["failed requests", "multicasts", "SA requests"] {
        at_most(&report, &format!("{event}: {none}"), 0.0);
    }
}

#[test]
fn same_seed_gives_the_same_report() {
    assert_eq!(study("move", 30), study("move", 30));
}
