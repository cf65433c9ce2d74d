//! Fabrics that lose datagrams, stop and change.
use acm_tests::{Acme, Daemon, Fabric, Node, Path, until};
use ib_mad::Lid;

/// Option of a subnet with a time-out of 1 ms, which keeps the tests short.
const FAST: [&str; 2] = ["--subnet-timeout", "8"];

fn two(fabric: &Fabric, option: &str) -> [Node; 2] {
    [1, 2].map(|number| Node::at(fabric, number).option(option).join())
}

/// Returns the path of a destination that exists. Retries, because a busy machine may cause a time-out.
fn path(node: &Node, arguments: &[&str]) -> Path {
    until("a path", || {
        let acme = node.acme(arguments);
        (acme.finished.code == Some(0)).then(|| acme.path())
    })
}

fn path_to(node: &Node, name: &str) -> Path {
    path(node, &["-f", "n", "-s", "node1", "-d", name])
}

fn resolve(node: &Node, name: &str) -> Acme {
    node.acme(&["-f", "n", "-s", "node1", "-d", name])
}

#[test]
fn names_are_resolved_by_retries_on_a_lossy_fabric() {
    let fabric = Fabric::serve(2, &FAST);
    // A request and its response arrive with probability 0.49, so that all of 26 attempts fail once in 40 million runs.
    // There are more attempts than necessary, for busy machines.
    let [node, _other] = two(&fabric, "timeout 200\nretries 25");
    for loss in ["set ud_loss 30%", "set sa_loss 20%"] {
        assert_eq!(fabric.control(loss), "ok\n");
    }
    for source_and_dest in [["node1", "node2"], ["10.77.0.1", "10.77.0.2"], ["fd00::1", "fd00::2"]] {
        let [source, dest] = source_and_dest;
        let format = if source == "node1" { "n" } else { "i" };
        let path = node.acme(&["-f", format, "-s", source, "-d", dest]).path();
        assert_eq!(path.dlid, fabric.port(2).lid);
    }
}

#[test]
fn lookup_fails_without_connectivity_and_succeeds_afterwards() {
    let fabric = Fabric::serve(2, &FAST);
    let [node, _other] = two(&fabric, "timeout 50\nretries 2\nnegative_timeout 0");
    fabric.control("set ud_loss 100%");
    assert_eq!(resolve(&node, "node2").failure(), "ib_acm_resolve_name failed: Connection timed out");
    assert_eq!(node.counter("requests_repeated"), 2, "one request and two retries");
    fabric.control("set ud_loss 0");
    assert_eq!(path_to(&node, "node2").dlid, fabric.port(2).lid);
}

#[test]
fn path_query_fails_while_the_sa_is_silent() {
    let fabric = Fabric::serve(2, &FAST);
    let [node, _other] = two(&fabric, "timeout 50\nretries 1");
    fabric.control("set sa_mute on");
    let lid = fabric.port(2).lid.to_string();
    let route = ["-f", "l", "-d", &lid];
    assert_eq!(node.acme(&route).failure(), "ib_acm_resolve_path failed: Connection timed out");
    fabric.control("set sa_mute off");
    assert_eq!(path(&node, &route).dlid, fabric.port(2).lid);
}

#[test]
fn join_is_retried_if_the_sa_is_silent_at_the_start() {
    let fabric = Fabric::serve(1, &FAST);
    fabric.control("set sa_mute on");
    let mut node = Node::at(&fabric, 1).option("timeout 50\nretries 1").serve();
    node.process.wait_for("join failed", 1);
    assert_eq!(resolve(&node, "node2").failure(), "ib_acm_resolve_name failed: No data available");
    fabric.control("set sa_mute off");
    node.process.wait_for("join successful", 1);
    assert_eq!(fabric.groups()[0].members, ["1/1"]);
}

/// The subnet administrator has granted the membership, and the queue pair is not attached to the group yet.
#[test]
fn join_is_reported_when_peers_reach_the_node() {
    let fabric = Fabric::serve(2, &FAST);
    fabric.control("hold node1 attach");
    let mut node = Node::at(&fabric, 1).serve();
    fabric.wait_for_held("1 attach 1");
    assert!(node.status().contains(" groups 0 of 1 "), "{}", node.status());
    assert!(!node.log().contains("join successful"), "{}", node.log());
    assert_eq!(fabric.groups()[0].members, ["1/1"]);
    fabric.control("release node1");
    node.process.wait_for("join successful", 1);
    // The first multicast request is answered: a repetition would come after a minute.
    let other = Node::at(&fabric, 2).option("timeout 60000").join();
    assert_eq!(other.acme(&["-f", "n", "-s", "node2", "-d", "node1"]).path().dlid, fabric.port(1).lid);
    // A page is reused for 100 ms.
    until("the status has the group", || node.status().contains(" groups 1 of 1 ").then_some(()));
}

#[test]
fn daemons_end_with_their_fabric() {
    let mut fabric = Fabric::serve(2, &FAST);
    let nodes = two(&fabric, "timeout 200");
    fabric.stop();
    for mut node in nodes {
        let finished = node.process.wait();
        assert_eq!(finished.code, Some(1), "{finished}");
        let last = finished.stderr.lines().find(|line| line.starts_with("acm-mio: ")).expect("a last line");
        let socket = fabric.socket().display().to_string();
        assert!(last.contains(&socket) && last.contains("start the fabric"), "{last}");
        assert!(node.client_files().is_empty(), "{:?}", node.client_files());
    }
    // New daemons work on the new fabric.
    fabric.restart(&["--nodes", "2"]);
    let [node, _other] = two(&fabric, "timeout 200");
    assert_eq!(path_to(&node, "node2").dlid, fabric.port(2).lid);
}

#[test]
fn port_is_not_served_while_it_is_down() {
    let fabric = Fabric::serve(2, &FAST);
    let [mut node, _other] = two(&fabric, "timeout 100");
    assert_eq!(path_to(&node, "node2").dlid, fabric.port(2).lid);
    fabric.control("down node1 1");
    node.process.wait_for("sim0 port 1 is down", 1);
    assert_eq!(resolve(&node, "node2").failure(), "ib_acm_resolve_name failed: Cannot assign requested address");
    let rows = node.acme(&["-e"]).finished.success();
    assert!(!rows.contains("node1"), "{rows}");
    fabric.control("up node1 1");
    node.process.wait_for("join successful", 2);
    assert_eq!(path_to(&node, "node2").dlid, fabric.port(2).lid);
}

#[test]
fn peer_that_returns_with_a_new_lid_is_found() {
    let fabric = Fabric::serve(2, &FAST);
    let [node, mut other] = two(&fabric, "timeout 50\nretries 1\nnegative_timeout 0");
    fabric.control("down node2 1");
    other.process.wait_for("sim0 port 1 is down", 1);
    assert_eq!(resolve(&node, "node2").failure(), "ib_acm_resolve_name failed: Connection timed out");
    fabric.control("lid node2 1 99");
    fabric.control("up node2 1");
    other.process.wait_for("join successful", 2);
    assert_eq!(path_to(&node, "node2").dlid, Lid::new(99));
}

#[test]
fn new_lid_of_the_port_is_used() {
    let fabric = Fabric::serve(2, &FAST);
    let [node, _other] = two(&fabric, "timeout 100");
    assert_eq!(path_to(&node, "node2").slid, fabric.port(1).lid);
    fabric.control("lid node1 1 77");
    let path = until("a path from the new LID", || Some(path_to(&node, "node2")).filter(|path| path.slid.get() == 77));
    assert_eq!(path.dlid, fabric.port(2).lid);
    let path = node.acme(&["-f", "n", "-s", "node1", "-d", "node1"]).path();
    assert_eq!((path.slid, path.dlid), (Lid::new(77), Lid::new(77)));
}

#[test]
fn groups_are_rejoined_after_a_subnet_manager_restart() {
    let fabric = Fabric::serve(2, &FAST);
    let mut nodes = two(&fabric, "timeout 100");
    fabric.control("smrestart 0xc123");
    for node in &mut nodes {
        node.process.wait_for("join successful", 2);
    }
    let group = fabric.groups().remove(0);
    assert_eq!((group.mlid, group.members), (Lid::new(0xc123), vec!["1/1".to_owned(), "2/1".to_owned()]));
    assert_eq!(path_to(&nodes[0], "node2").dlid, fabric.port(2).lid);
}
