//! A node as clusters have them: two devices of two ports, one of these on Ethernet and one that the subnet manager has
//! not come to, tables of `P_Key`s and GIDs whose first entry is another one, two LIDs for each port.
//!
//! What `ib_acme` gets is compared with the subnet, and so is what went over it: source and destination, service level,
//! partition and static rate of each packet.
use acm_tests::{Connection, Kind, Lab, LabNode, Packet, Path, Port, Received, until};
use acm_wire::client::{ClientStatus, EpHead, ep_request};
use ib_mad::{
    Lid, Method, Mtu, PacketLifeTime, Pkey, Rate, ServiceLevel, Wire,
    sa::{McMemberRecord, PathRecord, SaMad},
};

/// What is not as by itself, of host N. The first device's first port has the GID that it is known by in the second
/// place; the second device's second port has the default partition there.
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

/// Where the names of one kind are: at which device and port, and in which partition.
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
    /// Both hosts in all groups of both endpoints.
    fn start(option: &str) -> Self {
        let lab = lab();
        let groups = if option == "route_prot acm" { 4 } else { 2 };
        let start = |host| {
            let node = lab.start(host, Kind::Rust, &[option]);
            node.wait_for("join successful", groups);
            node
        };
        let nodes = [start(1), start(2)];
        for setting in ["pr_sl 3", "pr_rate 20", "pr_life 14", "pr_path_bits 1"] {
            set(&lab, &format!("set {setting}"));
        }
        Self { lab, nodes }
    }

    /// The ports of both hosts.
    fn ports(&self, side: &Side) -> [Port; 2] {
        ["node1", "node2"].map(|host| self.lab.fabric.port_of(&format!("{host}{}", side.device), side.port))
    }

    fn ask(&self, kind: &str, source: &str, dest: &str) -> Path {
        let acme = self.nodes[0].acme(&["-f", kind, "-s", source, "-d", dest]);
        assert_eq!(acme.finished.code, Some(0), "-f {kind} -s {source} -d {dest}: {}", acme.finished);
        acme.path()
    }

    /// What each kind of address gives, asked at host 1: names and IP addresses, then LIDs and GIDs.
    fn resolves(&self, side: &Side) -> [Vec<Path>; 2] {
        let [from, to] = self.ports(side);
        let named = ["n", "i", "i"].into_iter().zip([side.kind, side.ip[0], side.ip[1]]);
        let named = named.map(|(kind, name)| self.ask(kind, &format!("{name}1"), &format!("{name}2")));
        let lids = (other(&from).to_string(), other(&to).to_string());
        let numbered = [self.ask("l", &lids.0, &lids.1), self.ask("g", &from.gid.to_string(), &to.gid.to_string())];
        [named.collect(), numbered.to_vec()]
    }

    /// Datagrams, but for announcements: to groups, and to single ports.
    fn datagrams(&self) -> [Vec<Packet>; 2] {
        let datagrams = self.lab.packets().into_iter().filter(|packet| packet.kind == "datagram");
        let (groups, ports) = datagrams.partition(|packet| packet.dlid.is_multicast());
        [groups, ports]
    }
}

/// The second LID of a port.
fn other(port: &Port) -> Lid {
    Lid::new(port.lid.get() + 1)
}

/// The path that subnet administration gives.
fn of_administration([from, to]: &[Port; 2], side: &Side) -> Path {
    Path {
        dgid: to.gid,
        sgid: from.gid,
        dlid: other(to),
        slid: other(from),
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

/// The path of the better group of the partition.
fn of_the_group([from, to]: &[Port; 2], side: &Side) -> Path {
    Path {
        dlid: to.lid,
        slid: from.lid,
        sl: ServiceLevel::ZERO,
        rate: from.rate,
        packet_life_time: PacketLifeTime::of::<18>(),
        ..of_administration(&[from.clone(), to.clone()], side)
    }
}

/// `NODE/PORT` of each host's port; hosts' devices are nodes 1 to 4.
fn places(side: &Side) -> [String; 2] {
    let second = u8::from(!side.device.is_empty());
    [1, 3].map(|first| format!("{}/{}", first + second, side.port))
}

/// The node's packets leave from the right port, in its partition and with its GID.
fn assert_source(two: &Two, packets: &[Packet]) {
    for side in &SIDES {
        for (place, port) in places(side).iter().zip(two.ports(side)) {
            for packet in packets.iter().filter(|packet| packet.port == *place) {
                assert_eq!((packet.pkey, packet.sgid), (side.pkey, port.gid), "{packet:?}");
            }
        }
    }
    let known: Vec<String> = SIDES.iter().flat_map(places).collect();
    let stranger = packets.iter().find(|packet| !known.contains(&packet.port));
    assert!(stranger.is_none(), "{stranger:?}");
}

/// Requests to subnet administration leave from the port that they are about, in the default partition.
fn assert_requests(two: &Two) {
    let packets = two.lab.packets();
    let mads: Vec<&Packet> = packets.iter().filter(|packet| packet.kind == "mad").collect();
    for side in &SIDES {
        for (place, port) in places(side).iter().zip(two.ports(side)) {
            let mut kinds = [0, 0];
            for packet in mads.iter().filter(|packet| packet.port == *place) {
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
            assert!(kinds.iter().all(|count| *count > 0), "{place}: {kinds:?} joins and paths");
        }
    }
    assert!(mads.iter().all(|packet| SIDES.iter().any(|side| places(side).contains(&packet.port))), "{mads:?}");
    assert!(mads.iter().any(|packet| SaMad::parse(&packet.bytes).unwrap().header.method == Method::SET));
}

#[test]
fn routes_of_subnet_administration() {
    let two = Two::start("route_prot sa");
    for side in &SIDES {
        let ports = two.ports(side);
        for path in two.resolves(side).concat() {
            assert_eq!(path, of_administration(&ports, side), "{}", side.kind);
        }
    }
    assert_requests(&two);
    let [to_groups, to_ports] = two.datagrams();
    assert_source(&two, &to_groups);
    assert_source(&two, &to_ports);
    // Those of the group: whoever asks knows nothing else.
    for packet in &to_groups {
        assert_eq!((packet.sl, packet.rate), (ServiceLevel::ZERO, Rate::GBPS_10), "{packet:?}");
    }
    // Host 2 responds on the way that it was given.
    for side in &SIDES {
        let [to, from] = two.ports(side);
        let responses = to_ports.iter().filter(|packet| packet.port == places(side)[1]);
        let responses: Vec<_> = responses.map(|packet| (packet.slid, packet.dlid, packet.sl, packet.rate)).collect();
        let expected = (other(&from), other(&to), ServiceLevel::of::<3>(), Rate::GBPS_20);
        assert_eq!(responses, [expected; 3], "{}", side.kind);
    }
}

#[test]
fn routes_of_the_group() {
    let two = Two::start("route_prot acm");
    for side in &SIDES {
        let ports = two.ports(side);
        let [named, numbered] = two.resolves(side);
        assert_eq!(named, vec![of_the_group(&ports, side); 3], "{}", side.kind);
        assert_eq!(numbered, vec![of_administration(&ports, side); 2], "{}", side.kind);
    }
    let [to_groups, to_ports] = two.datagrams();
    assert_source(&two, &to_groups);
    assert_source(&two, &to_ports);
    for side in &SIDES {
        let [to, from] = two.ports(side);
        let responses = to_ports.iter().filter(|packet| packet.port == places(side)[1]);
        let responses: Vec<_> = responses.map(|packet| (packet.slid, packet.dlid, packet.rate)).collect();
        assert_eq!(responses, [(from.lid, to.lid, from.rate); 3], "{}", side.kind);
    }
}

/// What the daemon says of its endpoints.
fn endpoints(node: &LabNode) -> Vec<(EpHead, String)> {
    let mut connection = Connection::open(&node.socket());
    let mut found = Vec::new();
    for index in 1.. {
        connection.send(&ep_request(index, 0, [0; 8]));
        let Received::Answer { status, body, .. } = connection.receive() else { panic!("no answer") };
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
fn only_active_ports_of_the_subnet_are_served() {
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
    // The subnet manager comes.
    for host in ["node1:1", "node2:1"] {
        set(&lab, &format!("up {host} 1"));
    }
    nodes.iter().for_each(|node| node.wait_for("join successful", 3));
    let late = ("late1".to_owned(), 1, 2, Pkey::DEFAULT_FULL);
    assert_eq!(served(), [at_first[0].clone(), late, at_first[1].clone()]);
    let _ = node.acme(&["-f", "n", "-s", "late1", "-d", "late2"]).path();
    // It goes back before the link is lost.
    set(&lab, "init node1:1 1");
    node.wait_for("ibsim1 port 1 is down", 1);
    fails("late");
    assert_eq!(served(), at_first);
    assert!(!node.log().contains("ibsim0 port 2 is"));
}

#[test]
fn a_path_of_a_file_lives_as_long_as_the_subnet_says() {
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
        let asked = node.acme(&["-f", "l", "-s", &from.lid.to_string(), "-d", &to.lid.to_string()]);
        Some(asked.path()).filter(|path| path.sl.get() == 4)
    });
    assert_eq!((path.packet_life_time.get(), path.slid, path.dlid), (19, from.lid, to.lid));
}
