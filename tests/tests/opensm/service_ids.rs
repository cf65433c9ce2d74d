//! `path_service_ids auto`, the default, with a real OpenSM: with QoS policies by service id, by port group and by
//! both, and without QoS.
use crate::opensm::record;
use acm_tests::{Node, OpenSm};
use acm_wire::client::EntryFlags;

const DEFAULT: u16 = 0xffff;
/// OpenSM has this partition only.
const PARTITIONS: &str = "Default=0x7fff,ipoib:ALL=full;\n";

/// Lustre has SL 1, but SL 4 at node2. Node3 has SL 3 for TCP port 1191, and SL 5 for every service. TCP ports 18515 to
/// 18520 have SL 2.
const POLICY: &str = "
port-groups
    port-group
        name: two
        port-guid: 0x0002c90300000021
    end-port-group
    port-group
        name: three
        port-guid: 0x0002c90300000031
    end-port-group
end-port-groups
qos-levels
    qos-level
        name: DEFAULT
        sl: 0
    end-qos-level
    qos-level
        name: one
        sl: 1
    end-qos-level
    qos-level
        name: two
        sl: 2
    end-qos-level
    qos-level
        name: three
        sl: 3
    end-qos-level
    qos-level
        name: four
        sl: 4
    end-qos-level
    qos-level
        name: five
        sl: 5
    end-qos-level
end-qos-levels
qos-match-rules
    qos-match-rule
        destination: two
        service-id: 0x00000000010603DB
        qos-level-name: four
    end-qos-match-rule
    qos-match-rule
        service-id: 0x00000000010603DB
        qos-level-name: one
    end-qos-match-rule
    qos-match-rule
        destination: three
        service-id: 0x00000000010604A7
        qos-level-name: three
    end-qos-match-rule
    qos-match-rule
        destination: three
        qos-level-name: five
    end-qos-match-rule
    qos-match-rule
        service-id: 0x0000000001064853-0x0000000001064858
        qos-level-name: two
    end-qos-match-rule
end-qos-match-rules
";

/// Returns the number of queries that a daemon sent to OpenSM for paths.
fn queries(node: &Node) -> usize {
    node.log().matches("asking the SA for the path to").count()
}

#[test]
fn each_service_gets_the_path_of_opensms_policy() {
    let opensm = OpenSm::start_with_policy(PARTITIONS, POLICY);
    let fabric = opensm.fabric();
    let mut node = Node::at(&fabric, 1).join();
    let (gids, mut connection) = ([2, 3, 4].map(|to| fabric.port(to).gid), node.connect());
    let mut level =
        |flags, to: usize, port| record(&mut connection, flags, gids[to - 2], DEFAULT, port).qos_sl.sl().get();
    let expected = [(2, [4, 0, 2, 0, 0]), (3, [1, 3, 5, 5, 5]), (4, [1, 0, 2, 0, 0])];
    for (to, levels) in expected {
        for (port, sl) in [987, 1191, 18_517, 3260, 40_000].into_iter().zip(levels) {
            assert_eq!(level(EntryFlags::QUERY_SA, to, port), sl, "OpenSM: node{to}, port {port}");
            let served = [(); 2].map(|()| level(EntryFlags::empty(), to, port));
            assert_eq!(served, [sl; 2], "daemon: node{to}, port {port}");
        }
    }
    assert_eq!(queries(&node), 15, "one for each pair");
    // 3,000 connections to three peers with 1,000 dynamic ports.
    for port in 40_000..41_000 {
        for (to, sl) in [(2, 0), (3, 5), (4, 0)] {
            assert_eq!(level(EntryFlags::empty(), to, port), sl, "node{to}, port {port}");
        }
    }
    // 33 ports of one peer would be enough; here three peers are compared.
    let used = queries(&node) - 15;
    assert!(used <= 32 + 2 * 3, "{used}");
    node.process.wait_for("the SA does not distinguish dynamic ports", 1);
    // To the subnet manager's port, only Lustre has another path.
    for (option, line) in [("auto", "; so does the daemon"), ("none", ", but the daemon SL 0: path_service_ids auto")] {
        let dir = tempfile::tempdir().unwrap();
        let checked = Node::at(&fabric, 2).option(&format!("path_service_ids {option}")).check(dir.path());
        let found = checked.stdout.lines().find(|line| line.contains("the SA gives")).unwrap_or_default();
        assert!(found.contains(" sim0 port 1: the SA gives lustre SL 1 P_Key 0xffff "), "{checked}");
        assert!(found.ends_with(line), "{checked}");
    }
}

#[test]
fn service_ids_cost_nothing_without_qos() {
    let opensm = OpenSm::start();
    let fabric = opensm.fabric();
    let mut node = Node::at(&fabric, 1).join();
    let (ports, mut connection) = ([2, 3, 4].map(|to| fabric.port(to)), node.connect());
    for port in 1000..2000 {
        for to in &ports {
            let path = record(&mut connection, EntryFlags::empty(), to.gid, DEFAULT, port);
            assert_eq!((path.dlid, path.qos_sl.sl().get()), (to.lid, 0));
        }
    }
    node.process.wait_for("the SA has no QoS", 1);
    // The queries for the first paths are sent together with the query for the capabilities.
    let used = queries(&node);
    assert!(used <= 4, "{used}");
}
