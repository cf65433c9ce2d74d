//! What changes in a subnet that Debian's OpenSM administers, on ibsim: each daemon has the right path to each other one
//! again, without a restart, and those that had a path before do not use it any more. Time counts from the end of
//! OpenSM's sweep; `-- --nocapture` prints it.
use acm_tests::{Daemons, Fabric, Node, OpenSm, Sign, moves, renews, until};
use ib_mad::{Gid, Guid, Lid, Pkey};
use nix::sys::signal::Signal;

const NODES: [(&str, Pkey); 1] = [("node", Pkey::DEFAULT_FULL)];
const OTHERS: [(&str, Pkey); 2] = [("node", Pkey::DEFAULT_FULL), ("other", Pkey::new(0x8001))];
const DEFAULT_PARTITION: &str = "Default=0x7fff,ipoib:ALL=full;\n";
const TWO_PARTITIONS: &str = "Default=0x7fff,ipoib:ALL=full;\nOther=0x1:ALL=full;\n";

struct Subnet {
    // Ends first, and says last what it had to say.
    daemons: Daemons<Node>,
    fabric: Fabric,
    opensm: OpenSm,
}

impl Subnet {
    /// Four daemons, each with a path to each other one in its cache. Partition 0x8001 is not there yet.
    fn start() -> Self {
        let opensm = OpenSm::start_with_partitions(DEFAULT_PARTITION);
        let fabric = opensm.fabric();
        let addresses = |number| format!("node{number} sim0 1 default\nother{number} sim0 1 8001\n");
        let nodes = (1..=4).map(|number| Node::at(&fabric, number).addresses(&addresses(number)).spawn());
        let mut daemons = Daemons(nodes.collect());
        daemons.0.iter_mut().for_each(|node| node.process.wait_for("subscribed to notices", 1));
        daemons.until_right(&NODES, || lids(&fabric));
        Self { daemons, fabric, opensm }
    }

    /// Changes something, and asks for paths when all daemons have seen it. OpenSM has the same paths.
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

    /// `OpenSM` knows all daemons as members of their group.
    fn is_joined(&self) {
        let mgid: Gid = "ff15:4001:ffff:3:400::".parse().unwrap();
        for number in 1..=4 {
            let gid = self.fabric.port(number).gid.to_string();
            let members = self.opensm.saquery(&["MCMemberRecord", "--gid", &gid]);
            assert!(members.iter().any(|record| record.get("MGID").parse() == Ok(mgid)), "node{number}: {members:?}");
        }
    }

    /// Every daemon joins and subscribes again, and asks anew for what it knows.
    fn all_register(&self) -> Vec<Sign> {
        let [joined, subscribed] =
            ["join successful", "subscribed to notices"].map(|text| self.daemons.each_says(text));
        [joined, subscribed].concat()
    }
}

fn lids(fabric: &Fabric) -> Vec<Lid> {
    (1..=4).map(|number| fabric.port(number).lid).collect()
}

/// The port of this node has this LID now.
fn has(number: usize, lid: Lid) -> Sign {
    Sign::Says(number, format!("port 1 is active, LID {lid}"))
}

/// It has no memory of its own: LIDs are those that the ports have.
#[test]
fn opensm_starts_anew() {
    let mut subnet = Subnet::start();
    let signs = [subnet.all_register(), subnet.daemons.all_renew()].concat();
    for (what, signal) in
        [("OpenSM ends and starts", Signal::SIGTERM), ("OpenSM is killed and starts", Signal::SIGKILL)]
    {
        subnet.recovers(what, &signs, &NODES, |opensm, _| {
            opensm.stop(signal);
            opensm.forget();
            opensm.start_again();
        });
        subnet.is_joined();
    }
}

#[test]
fn lids_change_with_opensm() {
    let mut subnet = Subnet::start();
    let before = lids(&subnet.fabric);
    // Two exchange theirs, so that whoever believes the old one reaches somebody else.
    let after = [before[0], before[2], before[1], Lid::new(0x44)];
    // Whoever has another LID has no path left that began at the old one; node1 hears of the others from them or from
    // OpenSM, whoever is first.
    let moved = [2, 3, 4].map(|to| Sign::Any(vec![moves(1, to), renews(1, to)]));
    let own = [2, 3, 4].map(|number| has(number, after[number - 1]));
    let signs = [&subnet.all_register()[..], &moved, &own].concat();
    subnet.recovers("OpenSM starts and gives other LIDs", &signs, &NODES, |opensm, fabric| {
        opensm.stop(Signal::SIGTERM);
        let guid = |number| fabric.port(number).gid.interface_id();
        let lids: Vec<(Guid, Lid)> = (1..=4).map(guid).zip(after).collect();
        opensm.set_lids(&lids);
        opensm.start_again();
    });
    assert_eq!(lids(&subnet.fabric), after);
    subnet.is_joined();
}

/// `OpenSM` gives it the old one again.
#[test]
fn a_port_loses_its_lid() {
    let mut subnet = Subnet::start();
    let lid = lids(&subnet.fabric)[1];
    let signs = [&[has(2, Lid::new(99)), has(2, lid)][..], &[1, 3, 4].map(|to| renews(2, to))].concat();
    subnet.recovers("a port has another LID for a while", &signs, &NODES, |opensm, fabric| {
        opensm.console("Baselid \"node2\"[1] 99");
        until("node2 has LID 99", || (fabric.port(2).lid == Lid::new(99)).then_some(()));
        opensm.sweep();
    });
    assert_eq!(lids(&subnet.fabric)[1], lid);
}

#[test]
fn a_link_goes_down_and_up() {
    let mut subnet = Subnet::start();
    let lid = lids(&subnet.fabric)[1];
    let own = ["port 1 is down", "join successful", "subscribed to notices"].map(|text| Sign::Says(2, text.to_owned()));
    let own_paths = [1, 3, 4].map(|to| renews(2, to));
    let others = [1, 3, 4].map(|number| Sign::Counts(number, "destinations_left"));
    let signs = [&own[..], &[has(2, lid)], &own_paths, &others].concat();
    subnet.recovers("a link flaps", &signs, &NODES, |opensm, fabric| {
        let sweeps = opensm.sweeps();
        opensm.console("Unlink \"node2\"");
        until("node2 is down", || (fabric.port(2).state == "down").then_some(()));
        opensm.wait_for_sweep(sweeps);
        let sweeps = opensm.sweeps();
        opensm.console("ReLink \"node2\"");
        opensm.wait_for_sweep(sweeps);
    });
    subnet.is_joined();
}

#[test]
fn a_partition_comes_and_goes() {
    let mut subnet = Subnet::start();
    let added = ["pkey 0x8001 opened", "join successful"].map(|text| subnet.daemons.each_says(text)).concat();
    subnet.recovers("a partition is added", &added, &OTHERS, |opensm, _| {
        opensm.set_partitions(TWO_PARTITIONS);
        opensm.sweep();
    });
    let closed = subnet.daemons.each_says("pkey 0x8001 closed");
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
