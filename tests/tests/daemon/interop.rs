//! C ibacm and acm-mio on one fabric through device files: all kinds of addresses, all directions, both route
//! protocols, and restarts on either side.
use acm_tests::{Kind, Lab, LabNode};
use ib_mad::{Mtu, Rate};

/// Starts nodes of alternating kinds.
fn mixed(lab: &Lab, nodes: u32, option: &str) -> Vec<LabNode> {
    (1..=nodes).map(|number| lab.start(number, if number % 2 == 1 { Kind::C } else { Kind::Rust }, &[option])).collect()
}

fn resolve_in_each_direction(nodes: u32, option: &str) {
    let lab = Lab::new(nodes, &[]);
    let all = mixed(&lab, nodes, option);
    for from in &all {
        for to in all.iter().filter(|to| to.number != from.number) {
            from.resolves_every_way(&lab, to);
        }
    }
    // All nodes share one base group.
    let groups = lab.fabric.groups();
    assert!(groups.iter().all(|group| group.members.len() == nodes as usize), "{groups:?}");
}

#[test]
fn four_mixed_nodes_resolve_each_other_with_route_prot_sa() {
    resolve_in_each_direction(4, "route_prot sa");
}

#[test]
fn four_mixed_nodes_resolve_each_other_with_route_prot_acm() {
    resolve_in_each_direction(4, "route_prot acm");
}

#[test]
fn twenty_four_mixed_nodes_resolve_each_other_by_name() {
    let lab = Lab::new(24, &[]);
    let all = mixed(&lab, 24, "route_prot sa");
    for from in &all {
        for to in all.iter().filter(|to| to.number != from.number) {
            let names = [format!("node{}", from.number), format!("node{}", to.number)];
            let path = from.acme(&["-f", "n", "-s", &names[0], "-d", &names[1]]).path();
            assert_eq!(path.dlid, lab.fabric.port(to.number).lid, "{names:?}");
        }
    }
}

#[test]
fn restarted_daemon_is_found_in_both_directions() {
    let lab = Lab::new(2, &[]);
    for (first, second) in [(Kind::C, Kind::Rust), (Kind::Rust, Kind::C)] {
        let stays = lab.start(1, first, &[]);
        let restarted = lab.start(2, second, &[]);
        stays.resolves_every_way(&lab, &restarted);
        drop(restarted);
        // The restarted daemon has another queue pair.
        let back = lab.start(2, second, &[]);
        back.resolves_every_way(&lab, &stays);
        stays.resolves_every_way(&lab, &back);
    }
}

/// A fast node with six groups and a slower node with C ibacm share the group of the slower port.
#[test]
fn fast_node_reaches_a_slower_c_ibacm_at_its_rate() {
    let lab = Lab::new(2, &[]);
    lab.fabric.control("rate 1 1 200");
    let nodes = [lab.start(1, Kind::Rust, &["route_prot acm", "groups 6"]), lab.start(2, Kind::C, &["route_prot acm"])];
    // The base group and the groups from 20 to 200 Gb/s.
    nodes[0].wait_for("join successful", 6);
    nodes[1].wait_for("join successful", 2);
    for (from, to) in [(0, 1), (1, 0)] {
        let names = [from, to].map(|node: usize| format!("node{}", node + 1));
        let path = nodes[from].acme(&["-f", "n", "-s", &names[0], "-d", &names[1]]).path();
        assert_eq!((path.rate, path.mtu), (Rate::GBPS_100, Mtu::B4096), "{names:?}");
    }
}
