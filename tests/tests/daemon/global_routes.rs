//! Ports that send nothing without a global route, such as virtual functions that share a LID.
use acm_tests::{Binary, Kind, Lab, binary, until};

/// Joins, subscriptions, responses to reports, path queries, and datagrams in both directions.
#[test]
fn port_that_requires_a_global_route_is_served() {
    let lab = Lab::new(4, &[]);
    assert_eq!(lab.fabric.control("grh all 1"), "ok\n");
    let nodes = [1, 2].map(|number| lab.start(number, Kind::Rust, &[]));
    let _without_group = lab.start_until(3, Kind::C, &[], "acmp_join_group: Error - Failed to send sa mad");
    nodes[0].resolves_every_way(&lab, &nodes[1]);
    nodes[1].resolves_every_way(&lab, &nodes[0]);
    nodes.iter().for_each(|node| node.wait_for("subscribed to notices", 1));
    lab.fabric.control("down 4 1");
    until("all reports are acknowledged", || {
        let [sent, acknowledged] = ["sa_reports", "sa_reports_answered"].map(|name| lab.fabric.statistic(name));
        (sent > 0 && sent == acknowledged).then_some(())
    });
    let groups = lab.run(1, &binary(Binary::IbAcme), &["groups", "--group", "acm"]);
    assert!(groups.success().contains("ff15:4001:ffff:3:400::"), "tools query the SA, too");
}
