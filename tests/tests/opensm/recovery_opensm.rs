//! Recovery from changes of a subnet with Debian's OpenSM on ibsim: each daemon gets the correct path to each other
//! daemon without a restart, and none uses an old path. `-- --nocapture` prints the times from the end of OpenSM's
//! sweep.
use acm_tests::{Daemons, Fabric, Node, OpenSm, Sign, moves, refreshes, until};
use ib_mad::{Gid, Guid, Lid, Pkey};
use nix::sys::signal::Signal;

const NODES: [(&str, Pkey); 1] = [("node", Pkey::DEFAULT_FULL)];
const OTHERS: [(&str, Pkey); 2] = [("node", Pkey::DEFAULT_FULL), ("other", Pkey::new(0x8001))];
const DEFAULT_PARTITION: &str = "Default=0x7fff,ipoib:ALL=full;\n";
const TWO_PARTITIONS: &str = "Default=0x7fff,ipoib:ALL=full;\nOther=0x1:ALL=full;\n";

struct Subnet {
    // Dropped first, which prints its output last.
    daemons: Daemons<Node>,
    fabric: Fabric,
    opensm: OpenSm,
}

impl Subnet {
    /// Starts four daemons and fills their caches with the paths to each other. Partition 0x8001 does not exist yet.
    fn start() -> Self {
        let opensm = OpenSm::start_with_partitions(DEFAULT_PARTITION);
        let fabric = opensm.fabric();
        let addresses = |number| format!("node{number} sim0 1 default\nother{number} sim0 1 8001\n");
        let nodes = (1..=4).map(|number| Node::at(&fabric, number).addresses(&addresses(number)).spawn());
        let mut daemons = Daemons(nodes.collect());
        daemons.0.iter_mut().for_each(|node| node.process.wait_for("subscribed to notices", 1));
        daemons.until_correct(&NODES, || lids(&fabric));
        Self { daemons, fabric, opensm }
    }

    /// Makes a change, waits for its signs, and compares all paths with those of OpenSM.
    fn recovers(
        &mut self,
        what: &str,
        signs: &[Sign],
        names: &[(&str, Pkey)],
        change: impl FnOnce(&mut OpenSm, &Fabric),
    ) {
        let Self { daemons, fabric, opensm } = self;
        daemons.recover(what, signs, names, || lids(fabric), || change(opensm, fabric));
        let port = |number: usize| fabric.port(number.try_into().unwrap());
        for (from, to) in daemons.pairs() {
            let (from, to) = (port(from), port(to));
            let records = opensm.saquery(&["-p", "--sgid-to-dgid", &format!("{}-{}", from.gid, to.gid)]);
            let lids: Vec<_> = records.iter().map(|record| (record.number("slid"), record.number("dlid"))).collect();
            assert_eq!(lids, [(from.lid.get().into(), to.lid.get().into())], "{what}: {records:?}");
        }
    }

    /// Checks that all daemons are members of their group in `OpenSM`.
    fn assert_joined(&self) {
        let mgid: Gid = "ff15:4001:ffff:3:400::".parse().unwrap();
        for number in 1..=4 {
            let gid = self.fabric.port(number).gid.to_string();
            let members = self.opensm.saquery(&["MCMemberRecord", "--gid", &gid]);
            assert!(members.iter().any(|record| record.get("MGID").parse() == Ok(mgid)), "node{number}: {members:?}");
        }
    }

    /// Returns the signs that each daemon has joined and subscribed again.
    fn all_register(&self) -> Vec<Sign> {
        let [joined, subscribed] =
            ["join successful", "subscribed to notices"].map(|text| self.daemons.each_logs(text));
        [joined, subscribed].concat()
    }
}

fn lids(fabric: &Fabric) -> Vec<Lid> {
    (1..=4).map(|number| fabric.port(number).lid).collect()
}

/// Returns the sign that a daemon's port has this LID.
fn has_lid(number: usize, lid: Lid) -> Sign {
    Sign::Logs(number, format!("port 1 is active, LID {lid}"))
}

/// Without persistent state, OpenSM keeps the LIDs of the ports.
#[test]
fn paths_recover_from_a_restart_of_opensm() {
    let mut subnet = Subnet::start();
    let signs = [subnet.all_register(), subnet.daemons.all_refresh()].concat();
    for (what, signal) in
        [("OpenSM ends and starts", Signal::SIGTERM), ("OpenSM is killed and starts", Signal::SIGKILL)]
    {
        subnet.recovers(what, &signs, &NODES, |opensm, _| {
            opensm.stop(signal);
            opensm.remove_state();
            opensm.restart();
        });
        subnet.assert_joined();
    }
}

#[test]
fn paths_recover_from_new_lids_of_opensm() {
    let mut subnet = Subnet::start();
    let before = lids(&subnet.fabric);
    // Two nodes exchange their LIDs, so that an old LID belongs to another node.
    let after = [before[0], before[2], before[1], Lid::new(0x44)];
    // Nodes with a new LID drop the paths from their old LID. node1 notices the new LIDs from the peers or from OpenSM.
    let moved = [2, 3, 4].map(|to| Sign::Any(vec![moves(1, to), refreshes(1, to)]));
    let local = [2, 3, 4].map(|number| has_lid(number, after[number - 1]));
    let signs = [&subnet.all_register()[..], &moved, &local].concat();
    subnet.recovers("OpenSM restarts and assigns other LIDs", &signs, &NODES, |opensm, fabric| {
        opensm.stop(Signal::SIGTERM);
        let guid = |number| fabric.port(number).gid.interface_id();
        let lids: Vec<(Guid, Lid)> = (1..=4).map(guid).zip(after).collect();
        opensm.set_lids(&lids);
        opensm.restart();
    });
    assert_eq!(lids(&subnet.fabric), after);
    subnet.assert_joined();
}

/// `OpenSM` restores the old LID.
#[test]
fn paths_recover_from_a_temporary_lid() {
    let mut subnet = Subnet::start();
    let lid = lids(&subnet.fabric)[1];
    let signs = [&[has_lid(2, Lid::new(99)), has_lid(2, lid)][..], &[1, 3, 4].map(|to| refreshes(2, to))].concat();
    subnet.recovers("a port has another LID for a while", &signs, &NODES, |opensm, fabric| {
        opensm.console("Baselid \"node2\"[1] 99");
        until("node2 has LID 99", || (fabric.port(2).lid == Lid::new(99)).then_some(()));
        opensm.sweep();
    });
    assert_eq!(lids(&subnet.fabric)[1], lid);
}

#[test]
fn paths_recover_from_a_link_that_goes_down_and_up() {
    let mut subnet = Subnet::start();
    let lid = lids(&subnet.fabric)[1];
    let local =
        ["port 1 is down", "join successful", "subscribed to notices"].map(|text| Sign::Logs(2, text.to_owned()));
    let local_paths = [1, 3, 4].map(|to| refreshes(2, to));
    let others = [1, 3, 4].map(|number| Sign::Counts(number, "destinations_left"));
    let signs = [&local[..], &[has_lid(2, lid)], &local_paths, &others].concat();
    subnet.recovers("a link flaps", &signs, &NODES, |opensm, fabric| {
        let sweeps = opensm.sweeps();
        opensm.console("Unlink \"node2\"");
        until("node2 is down", || (fabric.port(2).state == "down").then_some(()));
        opensm.wait_for_sweep(sweeps);
        let sweeps = opensm.sweeps();
        opensm.console("ReLink \"node2\"");
        opensm.wait_for_sweep(sweeps);
    });
    subnet.assert_joined();
}

#[test]
fn paths_recover_from_partition_changes() {
    let mut subnet = Subnet::start();
    let added = ["pkey 0x8001 opened", "join successful"].map(|text| subnet.daemons.each_logs(text)).concat();
    subnet.recovers("a partition is added", &added, &OTHERS, |opensm, _| {
        opensm.set_partitions(TWO_PARTITIONS);
        opensm.sweep();
    });
    let closed = subnet.daemons.each_logs("pkey 0x8001 closed");
    subnet.recovers("a partition is removed", &closed, &NODES, |opensm, _| {
        opensm.set_partitions(DEFAULT_PARTITION);
        opensm.sweep();
    });
    for (from, to) in subnet.daemons.pairs() {
        let words = ["-f", "n", "-s", &format!("other{from}"), "-d", &format!("other{to}")];
        assert_ne!(subnet.daemons.0[from - 1].acme(&words).finished.code, Some(0), "{words:?}");
    }
    subnet.recovers("a partition is added again", &added, &OTHERS, |opensm, _| {
        opensm.set_partitions(TWO_PARTITIONS);
        opensm.sweep();
    });
}
