//! Debian's `ib_acme` with daemons on a simulated fabric: all kinds of addresses, counters, endpoints.
use acm_tests::{Fabric, Node, Path, until};
use ib_mad::{Mtu, PacketLifeTime, Rate, ServiceLevel};

/// Three nodes. The tests use the daemon of node1.
struct Three {
    fabric: Fabric,
    node: Node,
    _others: [Node; 2],
}

impl Three {
    /// Starts the daemons with further options. No request is repeated, however busy this machine is.
    fn start(options: &str) -> Self {
        let fabric = Fabric::serve(3, &[]);
        let start = |number| Node::at(&fabric, number).option("timeout 60000").option(options).join();
        let (node, _others) = (start(1), [start(2), start(3)]);
        Self { fabric, node, _others }
    }

    /// Returns the path by the fabric's ports and settings. Both route protocols give it if all ports are alike.
    fn path(&self, from: u32, to: u32) -> Path {
        let [source, dest] = [from, to].map(|number| self.fabric.port(number));
        Path {
            dgid: dest.gid,
            sgid: source.gid,
            dlid: dest.lid,
            slid: source.lid,
            flow_label: 0,
            hop_limit: 0,
            traffic_class: 0,
            reversible: true,
            pkey: source.pkeys[0],
            sl: ServiceLevel::ZERO,
            mtu: source.mtu,
            rate: source.rate,
            packet_life_time: PacketLifeTime::masked(if from == to { 0 } else { 18 }),
        }
    }

    /// Returns the path of `ib_acme`, verified with subnet administration.
    fn verified(&self, arguments: &str) -> Path {
        self.node.acme(&format!("{arguments} -v").split(' ').collect::<Vec<_>>()).verified()
    }
}

fn resolve_each_kind_of_address(three: &Three) {
    let dest = three.fabric.port(2);
    for arguments in [
        "-f n -s node1 -d node2".to_owned(),
        "-f i -s 10.77.0.1 -d 10.77.0.2".to_owned(),
        "-f i -s fd00::1 -d fd00::2".to_owned(),
        format!("-f l -d {}", dest.lid),
        format!("-f g -d {}", dest.gid),
        format!("-f l -s {} -d {}", three.fabric.port(1).lid, dest.lid),
    ] {
        assert_eq!(three.verified(&arguments), three.path(1, 2), "{arguments}");
    }
    assert_eq!(three.verified("-f n -s node1 -d node3"), three.path(1, 3));
    assert_eq!(three.verified("-f n -s node1 -d node1"), three.path(1, 1));
}

#[test]
fn each_kind_of_address_is_resolved_with_route_prot_sa() {
    resolve_each_kind_of_address(&Three::start("route_prot sa"));
}

#[test]
fn each_kind_of_address_is_resolved_with_route_prot_acm() {
    resolve_each_kind_of_address(&Three::start("route_prot acm"));
}

/// Sets path parameters of subnet administration that differ from the groups' parameters.
fn change_paths(fabric: &Fabric) {
    for setting in ["pr_mtu 1024", "pr_rate 20", "pr_sl 3", "pr_life 14"] {
        assert_eq!(fabric.control(&format!("set {setting}")), "ok\n");
    }
}

#[test]
fn path_with_route_prot_sa_has_the_parameters_of_the_sa() {
    let three = Three::start("route_prot sa");
    change_paths(&three.fabric);
    let expected = Path {
        mtu: Mtu::B1024,
        rate: Rate::GBPS_20,
        sl: ServiceLevel::of::<3>(),
        packet_life_time: PacketLifeTime::of::<14>(),
        ..three.path(1, 2)
    };
    assert_eq!(three.verified("-f n -s node1 -d node2"), expected);
}

#[test]
fn path_with_route_prot_acm_has_the_parameters_of_the_group() {
    let three = Three::start("route_prot acm");
    let groups = three.fabric.groups();
    change_paths(&three.fabric);
    assert_eq!(groups.len(), 2, "{groups:?}");
    let best = &groups[1];
    assert_eq!((groups[0].mtu, groups[0].rate), (Mtu::B2048, Rate::GBPS_10), "the base group");
    let queries = three.fabric.statistic("sa_path_queries");
    let path = three.node.acme(&["-f", "n", "-s", "node1", "-d", "node2"]).path();
    assert_eq!(path, Path { mtu: best.mtu, rate: best.rate, ..three.path(1, 2) });
    // The daemon compares its first path with that of the SA.
    until("the comparison", || three.node.status().contains("paths_compared: 1").then_some(()));
    assert_eq!(three.fabric.statistic("sa_path_queries"), queries + 1, "the lookup had no path query");
}

#[test]
fn option_c_fails_at_once_and_starts_a_lookup() {
    let three = Three::start("route_prot sa");
    let cached = || three.node.acme(&["-f", "n", "-s", "node1", "-d", "node2", "-c"]);
    assert_eq!(cached().failure(), "ib_acm_resolve_name failed: No data available");
    // The request has started a lookup.
    let found = until("a cached path", || Some(cached()).filter(|acme| acme.finished.code == Some(0)));
    assert_eq!(found.path(), three.path(1, 2));
}

#[test]
fn several_destinations_are_resolved_in_one_run() {
    let three = Three::start("route_prot sa");
    let results = three.node.acme(&["-f", "n", "-s", "node1", "-d", "node[2-3]"]).results();
    let got: Vec<_> = results.into_iter().map(|result| (result.destination, result.path.unwrap())).collect();
    assert_eq!(got, [("node2".to_owned(), three.path(1, 2)), ("node3".to_owned(), three.path(1, 3))]);
}

#[test]
fn thousand_requests_cause_one_lookup() {
    let three = Three::start("route_prot sa");
    let before = three.fabric.statistic("sa_path_queries");
    assert_eq!(three.node.acme(&["-f", "n", "-s", "node1", "-d", "node2", "-C", "1000"]).path(), three.path(1, 2));
    let counters = &three.node.acme(&["-P"]).counters()[0];
    assert_eq!(counters.get("Resolve Count"), 1000);
    assert_eq!(counters.get("Addr Query Count"), 1);
    assert_eq!(counters.get("Route Query Count"), 1);
    assert_eq!(counters.get("Route Cache Count"), 999);
    assert_eq!(counters.get("Error Count"), 0);
    // One query by node1, and one by node2 for its response. A query may be repeated.
    assert!(three.fabric.statistic("sa_path_queries") >= before + 2);
}

#[test]
fn counters_of_the_daemon_and_of_an_endpoint_are_listed() {
    let three = Three::start("route_prot sa");
    let _ = three.verified("-f n -s node1 -d node2");
    let _ = three.node.acme(&["-f", "n", "-s", "node1", "-d", "node2"]).path();
    let _ = three.node.acme(&["-f", "n", "-s", "node1", "-d", "nobody", "-c"]).failure();
    let _ = three.node.acme(&["-f", "n", "-s", "nobody", "-d", "node2"]).failure();
    let total = three.node.acme(&["-P"]).counters();
    assert_eq!(total.len(), 1);
    // The verification and the request with an unknown source are requests, too. The latter belongs to no endpoint.
    for (name, of_all, of_endpoint) in [
        ("Error Count", 1, 0),
        ("Resolve Count", 5, 3),
        ("No Data", 1, 1),
        ("Route Query Count", 2, 2),
        ("Route Cache Count", 1, 1),
    ] {
        assert_eq!(total[0].get(name), of_all, "{name}: {total:?}");
        for which in [&["-P", "all"][..], &["-P", "1"], &["-P", "s", "-f", "n", "-s", "node1"]] {
            let rows = three.node.acme(which).counters();
            assert_eq!(rows.len(), 1, "{which:?}");
            assert_eq!(rows[0].get(name), of_endpoint, "{name} {which:?}: {rows:?}");
        }
    }
    assert_eq!(three.node.acme(&["-P", "col"]).counter_column(), total[0]);
    let none = three.node.acme(&["-P", "2"]).finished.success();
    assert!(none.contains("Failed to query perf data: Cannot assign requested address"), "{none}");
}

#[test]
fn endpoints_are_listed() {
    let three = Three::start("route_prot sa");
    for all_or_first in [&["-e"][..], &["-e", "1"]] {
        let rows = three.node.acme(all_or_first).endpoints();
        assert_eq!(rows.len(), 1, "{rows:?}");
        let row = &rows[0];
        assert_eq!((row.port, row.index, row.pkey), (1, 1, three.fabric.port(1).pkeys[0]));
        assert!(three.fabric.control("nodes").contains(&row.guid), "{row:?}");
        assert_eq!((row.provider.as_str(), row.addresses.join(" ")), ("ibacmp", "node1 10.77.0.1 fd00::1".to_owned()));
    }
    let none = three.node.acme(&["-e", "5"]).finished.success();
    assert!(none.contains("Endpoint 5 is not available"), "{none}");
}

#[test]
fn failed_requests_have_the_error_of_c_ibacm() {
    let three = Three::start("timeout 200\nretries 1");
    let failure = |arguments: &str| three.node.acme(&arguments.split(' ').collect::<Vec<_>>()).failure();
    assert_eq!(failure("-f n -s node1 -d nobody"), "ib_acm_resolve_name failed: Connection timed out");
    assert_eq!(failure("-f i -s 10.77.0.1 -d 10.77.0.99"), "ib_acm_resolve_ip failed: Connection timed out");
    assert_eq!(failure("-f n -s nobody -d node2"), "ib_acm_resolve_name failed: Cannot assign requested address");
    assert_eq!(failure("-f l -d 4711"), "ib_acm_resolve_path failed: No data available");
    assert_eq!(failure("-f g -d fe80::1234"), "ib_acm_resolve_path failed: No data available");
}
