//! What changes in a subnet: each daemon has the right path to each other one again, without a restart, and those that
//! had a path before forget it. `-- --nocapture` prints how long that took.
#![expect(clippy::disallowed_methods, reason = "how long it takes is printed")]
use acm_tests::{Kind, Lab, LabNode, until};
use std::time::Instant;

struct Subnet {
    lab: Lab,
    nodes: Vec<LabNode>,
}

impl Subnet {
    /// Three daemons, each with a path to each other one in its cache.
    fn start() -> Self {
        let lab = Lab::new(3, &[]);
        let nodes: Vec<LabNode> = (1..=3).map(|number| lab.start(number, Kind::Rust, &[])).collect();
        nodes.iter().for_each(|node| node.wait_for("subscribed to notices", 1));
        let subnet = Self { lab, nodes };
        until("all have the right paths", || subnet.is_right().then_some(()));
        subnet
    }

    /// Whether each path leads from where its asker is to where its destination is.
    fn is_right(&self) -> bool {
        let lid = |number| self.lab.fabric.port(number).lid;
        (1..).zip(&self.nodes).all(|(from, node)| {
            (1..=3).filter(|to| *to != from).all(|to| {
                let asked = node.acme(&["-f", "n", "-s", &format!("node{from}"), "-d", &format!("node{to}")]);
                if asked.finished.code != Some(0) {
                    return false;
                }
                let path = asked.path();
                (path.slid, path.dlid) == (lid(from), lid(to))
            })
        })
    }

    /// Changes something, and waits until all paths are right.
    fn recovers(&self, what: &str, commands: &[&str]) {
        for command in commands {
            assert_eq!(self.lab.fabric.control(command), "ok\n", "{command}");
        }
        let start = Instant::now();
        until(what, || self.is_right().then_some(()));
        eprintln!("{what}: right after {} ms", start.elapsed().as_millis());
    }
}

#[test]
fn a_peer_gets_another_lid() {
    let subnet = Subnet::start();
    subnet.recovers("a LID changes", &["lid node2 1 99"]);
    subnet.recovers("two LIDs change", &["lid node2 1 98", "lid node3 1 99"]);
}

#[test]
fn a_link_goes_down_and_up() {
    let subnet = Subnet::start();
    subnet.recovers("a link flaps", &["down node2 1", "up node2 1"]);
    subnet.recovers("a link flaps and its LID changes", &["down node2 1", "lid node2 1 99", "up node2 1"]);
}

#[test]
fn the_subnet_manager_starts_anew() {
    let subnet = Subnet::start();
    subnet.recovers("the subnet manager forgets", &["smrestart"]);
    let changes = ["smrestart 0xc123", "lid node3 1 77"];
    subnet.recovers("the subnet manager forgets, and gives another LID", &changes);
    until("all are in the new group", || {
        let group = subnet.lab.fabric.groups().into_iter().find(|group| group.mlid.get() == 0xc123)?;
        (group.members.len() == 3).then_some(())
    });
}

#[test]
fn a_partition_comes_and_goes() {
    let subnet = Subnet::start();
    subnet.recovers("a partition is added", &["pkeys all 1 ffff,8001"]);
    subnet.recovers("its place changes", &["pkeys node2 1 ffff,0,8001"]);
    subnet.recovers("it is removed", &["pkeys all 1 ffff"]);
}
