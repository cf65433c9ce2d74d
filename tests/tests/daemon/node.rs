//! Typical cluster nodes: two devices with two ports each, one port on Ethernet, one port without a subnet manager,
//! `P_Key` and GID tables whose first entry is not the used one, and two LIDs per port.
//!
//! The tests compare the paths of `ib_acme` and the packets with the subnet: source, destination, service level,
//! partition and static rate.
use acm_tests::{Connection, Kind, Lab, LabNode, Packet, Path, Port, Received, until};
use acm_wire::client::{ClientStatus, EpHead, ep_request};
use ib_mad::{
    Lid, Method, Mtu, PacketLifeTime, Pkey, Rate, ServiceLevel, Wire,
    sa::{McMemberRecord, PathRecord, SaMad},
};

/// Commands that differ from the defaults, for host N. The first port of the first device has its GID at index 1. The
/// second port of the second device has the default partition at index 1.
const SETUP: [&str; 8] = [
    "ethernet nodeN 2",
    "init nodeN:1 1",
    "pkeys nodeN:1 2 8001,ffff",
    "gid nodeN 1 1 fe80::77:N",
    "gid nodeN 1 2 fe80::88:N",
    "gid nodeN 1 0 ::",
    "smsl nodeN 1 2",
    "smsl nodeN:1 2 2",
];

const ADDRESSES: &str = "\
nodeN ibsim0 1 8001
10.77.0.N ibsim0 1 8001
fd00::N ibsim0 1 8001
ethN ibsim0 2 default
lateN ibsim1 1 default
railN ibsim1 2 ffff
10.78.0.N ibsim1 2 ffff
fd01::N ibsim1 2 ffff
";

const LIMITED: Pkey = Pkey::new(0x8001);

struct Two {
    lab: Lab,
    nodes: [LabNode; 2],
}

/// Names of one kind with their device, port and partition.
struct Side {
    kind: &'static str,
    device: &'static str,
    port: u8,
    pkey: Pkey,
    ip: [&'static str; 2],
}

const SIDES: [Side; 2] = [
    Side { kind: "node", device: "", port: 1, pkey: LIMITED, ip: ["10.77.0.", "fd00::"] },
    Side { kind: "rail", device: ":1", port: 2, pkey: Pkey::DEFAULT_FULL, ip: ["10.78.0.", "fd01::"] },
];

fn lab() -> Lab {
    let options = ["--ports", "2", "--lmc", "1", "--pkeys", "ffff,8001", "--subnet-timeout", "19"];
    let lab = Lab::with_nodes(&["node1", "node1:1", "node2", "node2:1"], &options);
    for host in [1, 2] {
        for command in SETUP {
            set(&lab, &command.replace('N', &host.to_string()));
        }
        lab.write(host, "ibacm_addr.cfg", &ADDRESSES.replace('N', &host.to_string()));
    }
    lab
}

fn set(lab: &Lab, command: &str) {
    assert_eq!(lab.fabric.control(command), "ok\n", "{command}");
}

impl Two {
    /// Starts both hosts and waits until both endpoints have joined all groups.
    fn start(option: &str) -> Self {
        let lab = lab();
        let groups = if option == "route_prot acm" { 4 } else { 2 };
        let start = |host| {
            // No request is repeated, however busy this machine is.
            let node = lab.start(host, Kind::Rust, &[option, "timeout 60000"]);
            node.wait_for("join successful", groups);
            node
        };
        let nodes = [start(1), start(2)];
        for setting in ["pr_sl 3", "pr_rate 20", "pr_life 14", "pr_path_bits 1"] {
            set(&lab, &format!("set {setting}"));
        }
        Self { lab, nodes }
    }

    /// Returns the ports of both hosts.
    fn ports(&self, side: &Side) -> [Port; 2] {
        ["node1", "node2"].map(|host| self.lab.fabric.port_of(&format!("{host}{}", side.device), side.port))
    }

    fn path(&self, kind: &str, source: &str, dest: &str) -> Path {
        let acme = self.nodes[0].acme(&["-f", kind, "-s", source, "-d", dest]);
        assert_eq!(acme.finished.code, Some(0), "-f {kind} -s {source} -d {dest}: {}", acme.finished);
        acme.path()
    }

    /// Resolves each kind of address at host 1. Returns the paths by names and IP addresses, then those by LID and GID.
    fn resolves(&self, side: &Side) -> [Vec<Path>; 2] {
        let [from, to] = self.ports(side);
        let named = ["n", "i", "i"].into_iter().zip([side.kind, side.ip[0], side.ip[1]]);
        let named = named.map(|(kind, name)| self.path(kind, &format!("{name}1"), &format!("{name}2")));
        let lids = (second_lid(&from).to_string(), second_lid(&to).to_string());
        let numbered = [self.path("l", &lids.0, &lids.1), self.path("g", &from.gid.to_string(), &to.gid.to_string())];
        [named.collect(), numbered.to_vec()]
    }

    /// Returns the datagrams to groups and the datagrams to single ports.
    fn datagrams(&self) -> [Vec<Packet>; 2] {
        let datagrams = self.lab.packets().into_iter().filter(|packet| packet.kind == "datagram");
        let (groups, ports) = datagrams.partition(|packet| packet.dlid.is_multicast());
        [groups, ports]
    }
}

/// Returns the second LID of a port.
fn second_lid(port: &Port) -> Lid {
    Lid::new(port.lid.get() + 1)
}

/// Returns the path of subnet administration.
fn sa_path([from, to]: &[Port; 2], side: &Side) -> Path {
    Path {
        dgid: to.gid,
        sgid: from.gid,
        dlid: second_lid(to),
        slid: second_lid(from),
        flow_label: 0,
        hop_limit: 0,
        traffic_class: 0,
        reversible: true,
        pkey: side.pkey,
        sl: ServiceLevel::of::<3>(),
        mtu: Mtu::B4096,
        rate: Rate::GBPS_20,
        packet_life_time: PacketLifeTime::of::<14>(),
    }
}

/// Returns the path with the parameters of the faster group of the partition.
fn group_path([from, to]: &[Port; 2], side: &Side) -> Path {
    Path {
        dlid: to.lid,
        slid: from.lid,
        sl: ServiceLevel::ZERO,
        rate: from.rate,
        packet_life_time: PacketLifeTime::of::<18>(),
        ..sa_path(&[from.clone(), to.clone()], side)
    }
}

/// Returns `NODE/PORT` of each host's port. The hosts' devices are nodes 1 to 4.
fn port_names(side: &Side) -> [String; 2] {
    let second = u8::from(!side.device.is_empty());
    [1, 3].map(|first| format!("{}/{}", first + second, side.port))
}

/// Checks that packets leave from the correct port, in its partition and with its GID.
fn assert_source(two: &Two, packets: &[Packet]) {
    for side in &SIDES {
        for (name, port) in port_names(side).iter().zip(two.ports(side)) {
            for packet in packets.iter().filter(|packet| packet.port == *name) {
                assert_eq!((packet.pkey, packet.sgid), (side.pkey, port.gid), "{packet:?}");
            }
        }
    }
    let expected: Vec<String> = SIDES.iter().flat_map(port_names).collect();
    let unexpected = packets.iter().find(|packet| !expected.contains(&packet.port));
    assert!(unexpected.is_none(), "{unexpected:?}");
}

/// Checks that requests to subnet administration leave from the port in the request, in the default partition.
fn assert_requests(two: &Two) {
    let packets = two.lab.packets();
    let mads: Vec<&Packet> = packets.iter().filter(|packet| packet.kind == "mad").collect();
    for side in &SIDES {
        for (name, port) in port_names(side).iter().zip(two.ports(side)) {
            let mut kinds = [0, 0];
            for packet in mads.iter().filter(|packet| packet.port == *name) {
                let mad = SaMad::parse(&packet.bytes).unwrap();
                let from = match (mad.record::<McMemberRecord>(), mad.record::<PathRecord>()) {
                    (Ok(member), _) => {
                        kinds[0] += 1;
                        member.port_gid
                    }
                    (_, Ok(path)) if !path.sgid.is_zero() => {
                        kinds[1] += 1;
                        path.sgid
                    }
                    _ => port.gid,
                };
                assert_eq!(from, port.gid, "{packet:?}");
                let headers = (packet.pkey, packet.sl, packet.slid);
                assert_eq!(headers, (Pkey::DEFAULT_FULL, ServiceLevel::of::<2>(), port.lid), "{packet:?}");
            }
            assert!(kinds.iter().all(|count| *count > 0), "{name}: {kinds:?} joins and paths");
        }
    }
    assert!(mads.iter().all(|packet| SIDES.iter().any(|side| port_names(side).contains(&packet.port))), "{mads:?}");
    assert!(mads.iter().any(|packet| SaMad::parse(&packet.bytes).unwrap().header.method == Method::SET));
}

#[test]
fn paths_and_packets_match_the_sa_with_route_prot_sa() {
    let two = Two::start("route_prot sa");
    for side in &SIDES {
        let ports = two.ports(side);
        for path in two.resolves(side).concat() {
            assert_eq!(path, sa_path(&ports, side), "{}", side.kind);
        }
    }
    assert_requests(&two);
    let [to_groups, to_ports] = two.datagrams();
    assert_source(&two, &to_groups);
    assert_source(&two, &to_ports);
    // Multicast requests have the parameters of the group.
    for packet in &to_groups {
        assert_eq!((packet.sl, packet.rate), (ServiceLevel::ZERO, Rate::GBPS_10), "{packet:?}");
    }
    // Host 2 responds on the path of subnet administration.
    for side in &SIDES {
        let [to, from] = two.ports(side);
        let responses = to_ports.iter().filter(|packet| packet.port == port_names(side)[1]);
        let responses: Vec<_> = responses.map(|packet| (packet.slid, packet.dlid, packet.sl, packet.rate)).collect();
        let expected = (second_lid(&from), second_lid(&to), ServiceLevel::of::<3>(), Rate::GBPS_20);
        assert_eq!(responses, [expected; 3], "{}", side.kind);
    }
}

#[test]
fn paths_and_packets_match_the_group_with_route_prot_acm() {
    let two = Two::start("route_prot acm");
    for side in &SIDES {
        let ports = two.ports(side);
        let [named, numbered] = two.resolves(side);
        assert_eq!(named, vec![group_path(&ports, side); 3], "{}", side.kind);
        assert_eq!(numbered, vec![sa_path(&ports, side); 2], "{}", side.kind);
    }
    let [to_groups, to_ports] = two.datagrams();
    assert_source(&two, &to_groups);
    assert_source(&two, &to_ports);
    for side in &SIDES {
        let [to, from] = two.ports(side);
        let responses = to_ports.iter().filter(|packet| packet.port == port_names(side)[1]);
        let responses: Vec<_> = responses.map(|packet| (packet.slid, packet.dlid, packet.rate)).collect();
        assert_eq!(responses, [(from.lid, to.lid, from.rate); 3], "{}", side.kind);
    }
}

/// Returns the daemon's endpoints with their first addresses.
fn endpoints(node: &LabNode) -> Vec<(EpHead, String)> {
    let mut connection = Connection::open(&node.socket());
    let mut found = Vec::new();
    for index in 1.. {
        connection.send(&ep_request(index, 0, [0; 8]));
        let Received::Response { status, body, .. } = connection.receive() else { panic!("no response") };
        if status != ClientStatus::SUCCESS {
            break;
        }
        let (head, addresses) = EpHead::parse_prefix(&body).unwrap();
        let first: Vec<u8> = addresses.iter().copied().take_while(|byte| *byte != 0).collect();
        found.push((*head, String::from_utf8(first).unwrap()));
    }
    found
}

#[test]
fn only_active_infiniband_ports_are_served() {
    let lab = lab();
    let nodes = [1, 2].map(|host| lab.start(host, Kind::Rust, &[]));
    nodes.iter().for_each(|node| node.wait_for("join successful", 2));
    let node = &nodes[0];
    let guid = |text: &str| lab.fabric.control("nodes").lines().any(|line| line.contains(text));
    let served = || {
        let row = |(head, first): (EpHead, String)| {
            assert!(guid(&head.device_guid.to_string()), "{head:?}");
            (first, head.port, head.port_count, head.pkey)
        };
        endpoints(node).into_iter().map(row).collect::<Vec<_>>()
    };
    let at_first = [("node1".to_owned(), 1, 2, LIMITED), ("rail1".to_owned(), 2, 2, Pkey::DEFAULT_FULL)];
    assert_eq!(served(), at_first);
    let fails = |name: &str| {
        let acme = node.acme(&["-f", "n", "-s", &format!("{name}1"), "-d", &format!("{name}2")]);
        assert_eq!(acme.failure(), "ib_acm_resolve_name failed: Cannot assign requested address", "{name}");
    };
    fails("eth");
    fails("late");
    assert!(!node.log().contains("ibsim1 port 1 is active") && !node.log().contains("ibsim0 port 2 is"));
    // The subnet manager activates the port.
    for host in ["node1:1", "node2:1"] {
        set(&lab, &format!("up {host} 1"));
    }
    nodes.iter().for_each(|node| node.wait_for("join successful", 3));
    let late = ("late1".to_owned(), 1, 2, Pkey::DEFAULT_FULL);
    assert_eq!(served(), [at_first[0].clone(), late, at_first[1].clone()]);
    let _ = node.acme(&["-f", "n", "-s", "late1", "-d", "late2"]).path();
    // The port returns to the state INIT.
    set(&lab, "init node1:1 1");
    node.wait_for("ibsim1 port 1 is down", 1);
    fails("late");
    assert_eq!(served(), at_first);
    assert!(!node.log().contains("ibsim0 port 2 is"));
}

#[test]
fn preloaded_path_has_the_packet_lifetime_of_the_subnet() {
    let lab = lab();
    let [from, to] = ["node1:1", "node2:1"].map(|name| lab.fabric.port_of(name, 2));
    let section = |port: &Port| {
        let (guid, lid) = (port.gid.interface_id(), port.lid);
        let to = to.lid.get();
        format!("Channel Adapter {guid}, base LID {lid}, \"host\", port 2\n{to:#06x} : 4 : 5 : 16\n")
    };
    let dump = [&from, &to].map(section).concat();
    lab.write(1, "routes", &dump);
    let node = lab.start(1, Kind::Rust, &["route_preload full_opensm_v1", "route_data_file /etc/rdma/routes"]);
    node.wait_for("route preload: loaded", 1);
    let path = until("a path of the file", || {
        let acme = node.acme(&["-f", "l", "-s", &from.lid.to_string(), "-d", &to.lid.to_string()]);
        Some(acme.path()).filter(|path| path.sl.get() == 4)
    });
    assert_eq!((path.packet_life_time.get(), path.slid, path.dlid), (19, from.lid, to.lid));
}
