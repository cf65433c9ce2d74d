//! Daemons on a fabric with a real `OpenSM`, which assigns LIDs, administers groups and serves path queries.
use acm_tests::{Binary, Connection, Fabric, Node, OpenSm, Path, Received, Record, binary, run};
use acm_wire::client::{ClientStatus, EntryFlags, path_request};
use ib_mad::{Gid, Mtu, Pkey, Rate, ServiceId, Wire, id::Lmc, sa::PathRecord};

/// Starts the daemons of all four nodes and waits until they have joined their group.
fn four(fabric: &Fabric, option: &str) -> Vec<Node> {
    let nodes = (1..=4).map(|number| Node::at(fabric, number).option(option).spawn()).collect();
    joined(nodes, 1)
}

fn joined(mut nodes: Vec<Node>, times: usize) -> Vec<Node> {
    for node in &mut nodes {
        node.process.wait_for("join successful", times);
    }
    nodes
}

/// Compares all fields that `ib_acme` prints with a record.
fn assert_same(path: &Path, record: &Record) {
    // In saquery's MTU, rate and lifetime, the two upper bits are the selector.
    let code = |name: &str| record.number(name) & 0x3f;
    assert_eq!(path.dgid, record.get("dgid").parse().unwrap());
    assert_eq!(path.sgid, record.get("sgid").parse().unwrap());
    assert_eq!(u64::from(path.dlid.get()), record.number("dlid"));
    assert_eq!(u64::from(path.slid.get()), record.number("slid"));
    let flow_hop = u64::from(path.flow_label) << 8 | u64::from(path.hop_limit);
    assert_eq!(flow_hop, record.number("hop_flow_raw"));
    assert_eq!(u64::from(path.traffic_class), record.number("tclass"));
    assert_eq!(path.reversible, record.number("num_path_revers") & 0x80 != 0);
    assert_eq!(u64::from(path.pkey.get()), record.number("pkey"));
    assert_eq!(u64::from(path.sl.get()), record.number("sl"));
    assert_eq!(u64::from(path.mtu.get()), code("mtu"));
    assert_eq!(u64::from(path.rate.get()), code("rate"));
    assert_eq!(u64::from(path.packet_life_time.get()), code("pkt_life"));
}

#[test]
fn all_nodes_resolve_each_other_with_opensms_paths() {
    let opensm = OpenSm::start();
    let fabric = opensm.fabric();
    let nodes = four(&fabric, "route_prot sa");
    for (from, node) in (1..).zip(&nodes) {
        for to in (1..=4).filter(|to| *to != from) {
            let path =
                node.acme(&["-f", "n", "-s", &format!("node{from}"), "-d", &format!("node{to}"), "-v"]).verified();
            let gids = format!("{}-{}", fabric.port(from).gid, fabric.port(to).gid);
            let records = opensm.saquery(&["-p", "--sgid-to-dgid", &gids]);
            assert_eq!(records.len(), 1, "{gids}: {records:?}");
            assert_same(&path, &records[0]);
        }
    }
}

#[test]
fn opensm_lists_the_group_and_its_members() {
    let opensm = OpenSm::start();
    let fabric = opensm.fabric();
    let nodes = four(&fabric, "route_prot sa");
    let mgid: Gid = "ff15:4001:ffff:3:400::".parse().unwrap();
    let groups = opensm.saquery(&["-g"]);
    let is_ours = |record: &&Record| record.get("MGID").parse() == Ok(mgid);
    let group = groups.iter().find(is_ours).unwrap_or_else(|| panic!("{groups:?}"));
    assert_eq!((group.number("pkey"), group.number("SL")), (0xffff, 0));
    // Exactly 2048 bytes and 10 Gb/s.
    assert_eq!((group.number("Mtu"), group.number("Rate")), (0x84, 0x83));
    assert_eq!(group.number("Mlid"), u64::from(fabric.groups()[0].mlid.get()));
    for number in 1..=4 {
        // One query per node, because ibsim forwards only the first segment of a response, which holds three members.
        let gid = fabric.port(number).gid.to_string();
        let members = opensm.saquery(&["MCMemberRecord", "--gid", &gid]);
        let member = members.iter().find(is_ours).unwrap_or_else(|| panic!("node{number}: {members:?}"));
        assert_eq!(member.get("PortGid"), gid);
        assert_eq!((member.number("Scope"), member.number("JoinState")), (5, 1), "site-local, full member");
        assert_eq!((member.number("pkey"), member.number("qkey")), (0xffff, 0x8001_0000));
    }
    // Daemons that end leave the group.
    for mut node in nodes {
        node.process.signal(nix::sys::signal::Signal::SIGTERM);
        assert_eq!(node.process.wait().code, Some(0));
    }
    let groups = opensm.saquery(&["-g"]);
    assert!(!groups.iter().any(|record| is_ours(&record)), "{groups:?}");
}

#[test]
fn path_with_route_prot_acm_has_the_parameters_of_the_faster_group() {
    let opensm = OpenSm::start();
    let fabric = opensm.fabric();
    // Below the ports' MTU and rate, so that there are two groups.
    let nodes = four(&fabric, "route_prot acm\nmin_mtu 1024\nmin_rate 5");
    let nodes = joined(nodes, 2);
    let path = nodes[0].acme(&["-f", "n", "-s", "node1", "-d", "node4", "-v"]).verified();
    let mut groups: Vec<_> = fabric.groups().into_iter().map(|group| (group.mtu, group.rate)).collect();
    groups.sort_unstable();
    let port = fabric.port(1);
    assert_eq!(groups, [(Mtu::B1024, Rate::GBPS_5), (port.mtu, port.rate)]);
    assert_eq!((path.mtu, path.rate), (port.mtu, port.rate), "the parameters of the faster group");
    assert_eq!(path.dlid, fabric.port(4).lid);
}

/// OpenSM has a path between each pair of LIDs.
#[test]
fn ports_with_four_lids_are_resolved() {
    let lmc = Lmc::of::<2>();
    let opensm = OpenSm::start_with_lmc(lmc);
    let fabric = opensm.fabric();
    let ports = [1, 2, 3, 4].map(|number| fabric.port(number));
    assert!(ports.iter().all(|port| port.lmc == lmc && port.lid == port.lid.base(lmc)), "{ports:?}");
    for option in ["route_prot sa", "route_prot acm"] {
        let nodes = four(&fabric, option);
        for (from, node) in (1..).zip(&nodes) {
            for (to, other) in (1..).zip(&ports).filter(|(to, _)| *to != from) {
                let source = &ports[from - 1];
                let path =
                    node.acme(&["-f", "n", "-s", &format!("node{from}"), "-d", &format!("node{to}"), "-v"]).verified();
                assert_eq!((path.slid.base(lmc), path.dlid.base(lmc)), (source.lid, other.lid), "{option}");
                // A path with the group's parameters has another lifetime.
                if option == "route_prot acm" {
                    continue;
                }
                let records = opensm.saquery(&["-p", "--sgid-to-dgid", &format!("{}-{}", source.gid, other.gid)]);
                let lids = [path.slid, path.dlid].map(|lid| u64::from(lid.get()));
                let record = records.iter().find(|record| ["slid", "dlid"].map(|name| record.number(name)) == lids);
                assert_same(&path, record.unwrap_or_else(|| panic!("no {path:?} in {records:?}")));
            }
        }
        // An alternate path for each further LID of both ports.
        let socket = nodes[0].socket();
        let options = ["-S", socket.to_str().unwrap(), "-f", "n", "-s", "node1", "-d", "node4", "--alternates"];
        let text = run(binary(Binary::IbAcme), &options).success();
        for (end, port) in [("  slid: ", &ports[0]), ("  dlid: ", &ports[3])] {
            let mut lids: Vec<u16> =
                text.lines().filter_map(|line| line.strip_prefix(end)).map(|lid| lid.parse().unwrap()).collect();
            lids.sort_unstable();
            assert!(lids.iter().copied().eq(port.lid.get()..port.lid.get() + 4), "{option}: {text}");
        }
        // The last LID of a port.
        let last = ports[3].lid.get() + 3;
        let path = nodes[0]
            .acme(&["-f", "l", "-s", &ports[0].lid.get().to_string(), "-d", &last.to_string(), "-v"])
            .verified();
        assert_eq!((path.dlid.get(), path.dgid), (last, ports[3].gid));
    }
}

const PARTITIONS: &str = "Default=0x7fff,ipoib:ALL=full;\nOther=0x1:ALL=full;\n";

/// TCP port 987 belongs to Lustre, 18515 to 18520 to an example program.
const POLICY: &str = "
qos-ulps
    default : 0
    any, service-id 0x00000000010603DB : 1
    any, service-id 0x0000000001064853-0x0000000001064858 : 2
end-qos-ulps
";

/// Returns the record for a TCP port in a partition: with no flags from the daemon, or directly from OpenSM.
pub(crate) fn record(connection: &mut Connection, flags: EntryFlags, dgid: Gid, pkey: u16, port: u64) -> PathRecord {
    try_record(connection, flags, dgid, pkey, port).unwrap_or_else(|status| panic!("{pkey:#x}, port {port}: {status}"))
}

/// Does the same, and returns the status of a failed request.
pub(crate) fn try_record(
    connection: &mut Connection,
    flags: EntryFlags,
    dgid: Gid,
    pkey: u16,
    port: u64,
) -> Result<PathRecord, ClientStatus> {
    let record = PathRecord {
        dgid,
        pkey: Pkey::new(pkey),
        service_id: ServiceId::new(0x0106_0000 + port),
        ..PathRecord::default()
    };
    connection.send(&path_request(&record, flags, [0; 8]));
    match connection.receive() {
        // Flags and kind of the entry, 8 bytes, come before the record.
        Received::Response { status: ClientStatus::SUCCESS, body, .. } => Ok(*PathRecord::parse(&body[8..72]).unwrap()),
        Received::Response { status, .. } => Err(status),
        other => panic!("{pkey:#x}, port {port}: {other:?}"),
    }
}

#[test]
fn service_ids_and_partitions_have_separate_records() {
    let opensm = OpenSm::start_with_policy(PARTITIONS, POLICY);
    let fabric = opensm.fabric();
    let node = Node::at(&fabric, 1)
        .addresses("node1 sim0 1 default\nother1 sim0 1 8001\n")
        .option("path_service_ids lustre,tcp:18515-18520");
    let node = joined(vec![node.spawn()], 2).remove(0);
    let (dgid, mut connection) = (fabric.port(2).gid, node.connect());
    // Lustre, two ports of one range, and a port without an option.
    let ports = [(987, 1), (18_517, 2), (18_515, 2), (4791, 0)];
    for pkey in [0xffff, 0x8001] {
        for (port, sl) in ports {
            let record = record(&mut connection, EntryFlags::empty(), dgid, pkey, port);
            assert_eq!((record.qos_sl.sl().get(), record.pkey.get()), (sl, pkey), "port {port}");
            assert_eq!(record.dlid, fabric.port(2).lid);
        }
    }
    // Three queries per partition, because the ports of one range share a record.
    for port in [18_520, 18_516, 5000] {
        record(&mut connection, EntryFlags::empty(), dgid, 0xffff, port);
    }
    let log = node.process.stderr();
    assert_eq!(log.matches("asking the SA for the path to").count(), 6, "{log}");
    // Both partitions have an address: without a P_Key, OpenSM chooses one, as for a query of the client.
    for (port, sl) in ports {
        let mut get = |flags| record(&mut connection, flags, dgid, 0, port);
        let (chosen, served) = (get(EntryFlags::QUERY_SA), [(); 2].map(|()| get(EntryFlags::empty())));
        assert_eq!((chosen.pkey.get(), chosen.qos_sl.sl().get()), (0x8001, sl), "port {port}: not the endpoint's");
        assert_eq!(served.map(|path| (path.pkey, path.qos_sl)), [(chosen.pkey, chosen.qos_sl); 2], "port {port}");
    }
}
