//! What changes in a subnet: each daemon has the right path to each other one again, without a restart, and those that
//! had a path before do not use it any more. Each change is seen to have been noticed before paths are asked for.
//! `-- --nocapture` prints how long that took. With OpenSM: `recovery_opensm.rs`.
use acm_tests::{Daemons, Kind, Lab, LabNode, Sign, moves, renews, until};
use ib_mad::{Lid, Pkey};

const NODES: [(&str, Pkey); 1] = [("node", Pkey::DEFAULT_FULL)];
const OTHERS: [(&str, Pkey); 2] = [("node", Pkey::DEFAULT_FULL), ("other", Pkey::new(0x8001))];

struct Subnet {
    lab: Lab,
    daemons: Daemons<LabNode>,
}

impl Subnet {
    /// Three daemons, each with a path to each other one in its cache. Partition 0x8001 is not there yet.
    fn start() -> Self {
        let lab = Lab::new(3, &[]);
        let other = |number| format!("other{number} ibsim0 1 8001\n");
        let nodes = (1..=3).map(|number| lab.start_with(number, Kind::Rust, &[], &other(number)));
        let daemons = Daemons(nodes.collect());
        daemons.0.iter().for_each(|node| node.wait_for("subscribed to notices", 1));
        let subnet = Self { lab, daemons };
        subnet.daemons.until_right(&NODES, || subnet.lids());
        subnet
    }

    fn lids(&self) -> Vec<Lid> {
        (1..=3).map(|number| self.lab.fabric.port(number).lid).collect()
    }

    /// Gives the fabric commands, and asks for paths when all daemons have seen them.
    fn recovers(&self, what: &str, commands: &[&str], signs: &[Sign], names: &[(&str, Pkey)]) {
        self.daemons.recover(
            what,
            signs,
            names,
            || self.lids(),
            || {
                for command in commands {
                    assert_eq!(self.lab.fabric.control(command), "ok\n", "{command}");
                }
            },
        );
    }
}

/// The port of this node has this LID now.
fn has(number: usize, lid: u16) -> Sign {
    Sign::Says(number, format!("port 1 is active, LID {lid}"))
}

/// From the port itself, or from subnet administration, whoever is first.
fn sees(from: usize, to: usize) -> Sign {
    Sign::Any(vec![moves(from, to), renews(from, to)])
}

fn joins(number: usize) -> Sign {
    Sign::Says(number, "join successful".to_owned())
}

/// The daemon forgets paths to a port that came or went.
fn forgets(number: usize) -> Sign {
    Sign::Counts(number, "destinations_left")
}

#[test]
fn a_peer_gets_another_lid() {
    let subnet = Subnet::start();
    let signs = [has(2, 99), renews(2, 1), renews(2, 3), moves(1, 2), moves(3, 2)];
    subnet.recovers("a LID changes", &["lid node2 1 99"], &signs, &NODES);
    // What they know of each other may be gone before it could be asked for anew.
    let own = [has(2, 98), has(3, 99), renews(2, 1), renews(3, 1)];
    let signs = [&own[..], &[moves(1, 2), moves(1, 3)]].concat();
    subnet.recovers("two LIDs change", &["lid node2 1 98", "lid node3 1 99"], &signs, &NODES);
}

#[test]
fn a_link_goes_down_and_up() {
    let subnet = Subnet::start();
    let lid = subnet.lids()[1].get();
    let signs = [has(2, lid), joins(2), renews(2, 1), renews(2, 3), forgets(1), forgets(3)];
    subnet.recovers("a link flaps", &["down node2 1", "up node2 1"], &signs, &NODES);
    let signs = [has(2, 99), joins(2), renews(2, 1), renews(2, 3), forgets(1), forgets(3)];
    let changes = ["down node2 1", "lid node2 1 99", "up node2 1"];
    subnet.recovers("a link flaps and its LID changes", &changes, &signs, &NODES);
}

#[test]
fn the_subnet_manager_starts_anew() {
    let subnet = Subnet::start();
    let all = [subnet.daemons.each_says("join successful"), subnet.daemons.all_renew()].concat();
    subnet.recovers("the subnet manager forgets", &["smrestart"], &all, &NODES);
    let changes = ["smrestart 0xc123", "lid node3 1 77"];
    let joined = subnet.daemons.each_says("join successful");
    let moved = [has(3, 77), sees(1, 3), sees(2, 3)];
    let stays = [(1, 2), (2, 1), (3, 1), (3, 2)].map(|(from, to)| renews(from, to));
    let signs = [&joined[..], &moved, &stays].concat();
    subnet.recovers("the subnet manager forgets, and gives another LID", &changes, &signs, &NODES);
    until("all are in the new group", || {
        let group = subnet.lab.fabric.groups().into_iter().find(|group| group.mlid.get() == 0xc123)?;
        (group.members.len() == 3).then_some(())
    });
}

#[test]
fn a_partition_comes_and_goes() {
    let subnet = Subnet::start();
    let added = [subnet.daemons.each_says("pkey 0x8001 opened"), subnet.daemons.each_says("join successful")].concat();
    subnet.recovers("a partition is added", &["pkeys all 1 ffff,8001"], &added, &OTHERS);
    let signs = ["pkey 0x8001 closed", "pkey 0x8001 opened"].map(|text| Sign::Says(2, text.to_owned()));
    let signs = [&signs[..], &[joins(2)]].concat();
    subnet.recovers("its place changes", &["pkeys node2 1 ffff,0,8001"], &signs, &OTHERS);
    let closed = subnet.daemons.each_says("pkey 0x8001 closed");
    subnet.recovers("it is removed", &["pkeys all 1 ffff"], &closed, &NODES);
    for (from, to) in subnet.daemons.pairs() {
        let words = ["-f", "n", "-s", &format!("other{from}"), "-d", &format!("other{to}")];
        assert_ne!(subnet.daemons.0[from - 1].acme(&words).finished.code, Some(0), "{words:?}");
    }
}
