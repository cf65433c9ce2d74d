//! Recovery from changes of a subnet: each daemon gets the correct path to each other daemon without a restart, and
//! none uses an old path. Each test waits for the signs of a change before it requests paths. `-- --nocapture` prints
//! the times. `recovery_opensm.rs` does the same with OpenSM.
use acm_tests::{Daemons, Kind, Lab, LabNode, Sign, moves, refreshes, until};
use ib_mad::{Lid, Pkey};

const NODES: [(&str, Pkey); 1] = [("node", Pkey::DEFAULT_FULL)];
const OTHERS: [(&str, Pkey); 2] = [("node", Pkey::DEFAULT_FULL), ("other", Pkey::new(0x8001))];

struct Subnet {
    lab: Lab,
    daemons: Daemons<LabNode>,
}

impl Subnet {
    /// Starts three daemons and fills their caches with the paths to each other. Partition 0x8001 does not exist yet.
    fn start() -> Self {
        let lab = Lab::new(3, &[]);
        let other = |number| format!("other{number} ibsim0 1 8001\n");
        let nodes = (1..=3).map(|number| lab.start_with(number, Kind::Rust, &[], &other(number)));
        let daemons = Daemons(nodes.collect());
        daemons.0.iter().for_each(|node| node.wait_for("subscribed to notices", 1));
        let subnet = Self { lab, daemons };
        subnet.daemons.until_correct(&NODES, || subnet.lids());
        subnet
    }

    fn lids(&self) -> Vec<Lid> {
        (1..=3).map(|number| self.lab.fabric.port(number).lid).collect()
    }

    /// Sends commands to the fabric, waits for the signs at all daemons, and checks the paths.
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

/// Returns the sign that a daemon's port has this LID.
fn has_lid(number: usize, lid: u16) -> Sign {
    Sign::Logs(number, format!("port 1 is active, LID {lid}"))
}

/// Returns the sign that a daemon has noticed a moved peer, from the peer or from subnet administration.
fn notices(from: usize, to: usize) -> Sign {
    Sign::Any(vec![moves(from, to), refreshes(from, to)])
}

fn joins(number: usize) -> Sign {
    Sign::Logs(number, "join successful".to_owned())
}

/// Returns the sign that a daemon has handled a notice about a port.
fn handles_notice(number: usize) -> Sign {
    Sign::Counts(number, "destinations_left")
}

#[test]
fn paths_recover_from_lid_changes() {
    let subnet = Subnet::start();
    let signs = [has_lid(2, 99), refreshes(2, 1), refreshes(2, 3), moves(1, 2), moves(3, 2)];
    subnet.recovers("a LID changes", &["lid node2 1 99"], &signs, &NODES);
    // Their paths to each other may be removed before they are refreshed.
    let local = [has_lid(2, 98), has_lid(3, 99), refreshes(2, 1), refreshes(3, 1)];
    let signs = [&local[..], &[moves(1, 2), moves(1, 3)]].concat();
    subnet.recovers("two LIDs change", &["lid node2 1 98", "lid node3 1 99"], &signs, &NODES);
}

#[test]
fn paths_recover_from_a_link_that_goes_down_and_up() {
    let subnet = Subnet::start();
    let lid = subnet.lids()[1].get();
    let signs = [has_lid(2, lid), joins(2), refreshes(2, 1), refreshes(2, 3), handles_notice(1), handles_notice(3)];
    subnet.recovers("a link flaps", &["down node2 1", "up node2 1"], &signs, &NODES);
    let signs = [has_lid(2, 99), joins(2), refreshes(2, 1), refreshes(2, 3), handles_notice(1), handles_notice(3)];
    let changes = ["down node2 1", "lid node2 1 99", "up node2 1"];
    subnet.recovers("a link flaps and its LID changes", &changes, &signs, &NODES);
}

#[test]
fn paths_recover_from_a_subnet_manager_restart() {
    let subnet = Subnet::start();
    let all = [subnet.daemons.each_logs("join successful"), subnet.daemons.all_refresh()].concat();
    subnet.recovers("the subnet manager restarts", &["smrestart"], &all, &NODES);
    let changes = ["smrestart 0xc123", "lid node3 1 77"];
    let joined = subnet.daemons.each_logs("join successful");
    let moved = [has_lid(3, 77), notices(1, 3), notices(2, 3)];
    let stays = [(1, 2), (2, 1), (3, 1), (3, 2)].map(|(from, to)| refreshes(from, to));
    let signs = [&joined[..], &moved, &stays].concat();
    subnet.recovers("the subnet manager restarts, and a LID changes", &changes, &signs, &NODES);
    until("all are in the new group", || {
        let group = subnet.lab.fabric.groups().into_iter().find(|group| group.mlid.get() == 0xc123)?;
        (group.members.len() == 3).then_some(())
    });
}

#[test]
fn paths_recover_from_partition_changes() {
    let subnet = Subnet::start();
    let added = [subnet.daemons.each_logs("pkey 0x8001 opened"), subnet.daemons.each_logs("join successful")].concat();
    subnet.recovers("a partition is added", &["pkeys all 1 ffff,8001"], &added, &OTHERS);
    let signs = ["pkey 0x8001 closed", "pkey 0x8001 opened"].map(|text| Sign::Logs(2, text.to_owned()));
    let signs = [&signs[..], &[joins(2)]].concat();
    subnet.recovers("its index changes", &["pkeys node2 1 ffff,0,8001"], &signs, &OTHERS);
    let closed = subnet.daemons.each_logs("pkey 0x8001 closed");
    subnet.recovers("it is removed", &["pkeys all 1 ffff"], &closed, &NODES);
    for (from, to) in subnet.daemons.pairs() {
        let words = ["-f", "n", "-s", &format!("other{from}"), "-d", &format!("other{to}")];
        assert_ne!(subnet.daemons.0[from - 1].acme(&words).finished.code, Some(0), "{words:?}");
    }
}
