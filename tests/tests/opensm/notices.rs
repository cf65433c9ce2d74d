//! Notices about ports that leave and return, from OpenSM and from the simulated subnet administration through umad.
use acm_tests::{Daemon, Kind, Lab, Node, OpenSm, until};
use ib_mad::Lid;

const SUBSCRIBED: &str = "subscribed to notices of subnet administration";

#[test]
fn relinked_node_is_found_after_notices_of_opensm() {
    let opensm = OpenSm::start();
    let fabric = opensm.fabric();
    let mut nodes: Vec<Node> = (1..=2).map(|number| Node::at(&fabric, number).spawn()).collect();
    for node in &mut nodes {
        node.process.wait_for(SUBSCRIBED, 1);
    }
    let arguments = ["-f", "n", "-s", "node1", "-d", "node2", "-v"];
    let path = nodes[0].acme(&arguments).verified();
    assert_eq!(path.dlid, fabric.port(2).lid);
    opensm.console("Unlink \"node2\"");
    until("node2 is down", || (fabric.port(2).state == "down").then_some(()));
    until("node1 gets a notice that node2 left", || (nodes[0].counter("destinations_left") > 0).then_some(()));
    let notices = nodes[0].counter("notices");
    opensm.console("ReLink \"node2\"");
    until("node2 is active", || (fabric.port(2).state == "active").then_some(()));
    until("node1 gets a notice that node2 returned", || (nodes[0].counter("notices") > notices).then_some(()));
    nodes[1].process.wait_for(SUBSCRIBED, 2);
    let path = nodes[0].acme(&arguments).verified();
    assert_eq!(path.dlid, fabric.port(2).lid);
    assert_eq!(nodes[0].counter("reports_not_believed"), 0);
}

/// Through device files: umad's method mask delivers the reports, and the daemons acknowledge them.
#[test]
fn node_that_returns_with_a_new_lid_is_found_after_notices_through_umad() {
    let lab = Lab::new(2, &[]);
    let nodes = [1, 2].map(|number| lab.start(number, Kind::Rust, &[]));
    nodes.iter().for_each(|node| node.wait_for(SUBSCRIBED, 1));
    let arguments = ["-f", "n", "-s", "node1", "-d", "node2", "-v"];
    let before = nodes[0].acme(&arguments).verified().dlid;
    lab.fabric.control("down 2 1");
    lab.fabric.control("lid 2 1 99");
    lab.fabric.control("up 2 1");
    nodes[1].wait_for("join successful", 2);
    until("all reports are acknowledged", || {
        let [sent, acknowledged] = ["sa_reports", "sa_reports_answered"].map(|name| lab.fabric.statistic(name));
        (sent > 0 && sent == acknowledged).then_some(())
    });
    let after = nodes[0].acme(&arguments).verified().dlid;
    assert_eq!((before == Lid::new(99), after), (false, Lid::new(99)));
}
