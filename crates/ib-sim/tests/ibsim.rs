//! A served subnet with a real OpenSM as subnet manager, on Debian's ibsim: 4 nodes on 2 switches.
use core::sync::atomic::{AtomicU32, Ordering};
use ib_mad::{
    FlowLabel, Gid, Lid, Method, Mtu, Pkey, PortState, Qkey, Qpn, Rate, Selector, ServiceLevel, Status, TransactionId,
    sa::{JoinState, McMemberRecord, PathRecord, Query, SaMad},
};
use ib_sim::{
    AgentId, Datagram, MadSend,
    client::{Client, Message, control},
};
use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

#[expect(unreachable_pub, reason = "a module of the end-to-end tests")]
#[path = "../src/poll.rs"]
mod poll;
use poll::{LIMIT, until};

const NET: &str = r#"
Switch 8 "Sw1"
[1] "node1"[1]
[2] "node2"[1]
[3] "smhost"[1]
[8] "Sw2"[8]

Switch 8 "Sw2"
[1] "node3"[1]
[2] "node4"[1]
[8] "Sw1"[8]

Hca 1 "node1"
[1] "Sw1"[1]

Hca 1 "node2"
[1] "Sw1"[2]

Hca 1 "node3"
[1] "Sw2"[1]

Hca 1 "node4"
[1] "Sw2"[2]

Hca 1 "smhost"
[1] "Sw1"[3]
"#;

/// A program that ends with the test.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the path of a program of Debian's `package`.
fn program(names: &[&str], package: &str) -> PathBuf {
    let found = names.iter().map(PathBuf::from).find(|path| path.exists());
    found.unwrap_or_else(|| panic!("{} is missing: install Debian's package {package}", names[0]))
}

fn umad2sim() -> PathBuf {
    let folders = fs::read_dir("/usr/lib").unwrap().map(|entry| entry.unwrap().path());
    folders
        .map(|folder| folder.join("umad2sim/libumad2sim.so"))
        .find(|path| path.exists())
        .unwrap_or_else(|| panic!("umad2sim/libumad2sim.so is missing: install Debian's package libumad2sim0"))
}

/// ibsim, OpenSM on it, and a served subnet under it. The server and OpenSM end first: OpenSM hangs without ibsim.
struct Fabric {
    _server: Program,
    _opensm: Program,
    _ibsim: Program,
    name: String,
    socket: PathBuf,
    folder: tempfile::TempDir,
}

impl Fabric {
    fn start() -> Self {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let name = format!("ib-sim-test-{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::SeqCst));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let net = path.join("net.txt");
        fs::write(&net, NET).unwrap();
        let ibsim = Command::new(program(&["/usr/bin/ibsim", "/usr/sbin/ibsim"], "ibsim-utils"))
            .args(["-s", "-n"])
            .arg(&net)
            .env("IBSIM_SOCKNAME", &name)
            .stdin(Stdio::null())
            .stdout(File::create(path.join("ibsim.log")).unwrap())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let ibsim = Program(ibsim);
        until("ibsim is ready", || {
            fs::read_to_string("/proc/net/unix").unwrap().contains(&format!("@{name}:out9")).then_some(())
        });
        let out = path.join("opensm.out");
        let opensm = Command::new(program(&["/usr/sbin/opensm", "/usr/bin/opensm"], "opensm"));
        let opensm = under_ibsim(opensm, &name, path)
            .env("LD_PRELOAD", umad2sim())
            .arg("-f")
            .arg(path.join("opensm.log"))
            .arg("-P")
            .arg(path.join("partitions.conf"))
            .env("OSM_TMP_DIR", path)
            .env("OSM_CACHE_DIR", path)
            .stdin(Stdio::null())
            .stdout(File::create(&out).unwrap())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let opensm = Program(opensm);
        until("OpenSM is master", || fs::read_to_string(&out).unwrap().contains("MASTER").then_some(()));
        let socket = path.join("fabric.sock");
        let mut server = Command::new(env!("CARGO_BIN_EXE_ib-sim"))
            .args(["serve", "--nodes", "4", "--socket"])
            .arg(&socket)
            .arg(format!("--ibsim={name}"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("ib-sim: 4 nodes"), "{line:?}");
        let server = Program(server);
        let fabric = Self { _server: server, _opensm: opensm, _ibsim: ibsim, name, socket, folder };
        until("four active ports", || (fabric.control("ports").matches(" active ").count() == 4).then_some(()));
        fabric
    }

    fn control(&self, command: &str) -> String {
        control(&self.socket, command).unwrap()
    }

    fn client(&self, node: &str) -> Client {
        Client::connect(&self.socket, Some(node)).unwrap()
    }

    /// Returns the output of saquery, which sends OpenSM's default SM_Key. Fails after 60 s: saquery waits forever
    /// without a fabric.
    fn saquery(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("timeout");
        command.args(["60", "env"]).arg(format!("LD_PRELOAD={}", umad2sim().display()));
        command.arg(program(&["/usr/sbin/saquery", "/usr/bin/saquery"], "infiniband-diags")).args(arguments);
        let output = under_ibsim(command, &self.name, self.folder.path()).output().unwrap();
        assert!(output.status.success(), "saquery {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Sets the environment of a program that uses ibsim's library. The library writes files to the current directory.
fn under_ibsim(mut command: Command, name: &str, folder: &Path) -> Command {
    command.current_dir(folder).env("IBSIM_SOCKNAME", name).env("SIM_HOST", "smhost");
    command
}

fn mgid() -> Gid {
    "ff15:4001:ffff:3:400::".parse().unwrap()
}

fn own_gid(client: &Client) -> Gid {
    client.port(1).unwrap().gids[0]
}

fn receive<T>(client: &mut Client, mut check: impl FnMut(Message<'_>) -> Option<T>) -> T {
    until("a message", || {
        while let Some(message) = client.receive().unwrap() {
            if let Some(found) = check(message) {
                return Some(found);
            }
        }
        None
    })
}

/// Sends a request to OpenSM and returns the response.
fn request(client: &mut Client, mad: &SaMad) -> SaMad {
    let port = client.port(1).unwrap();
    let send = MadSend {
        agent: AgentId(1),
        dlid: port.sm_lid,
        qpn: Qpn::GSI,
        sl: port.sm_sl,
        pkey_index: 0,
        timeout: LIMIT / 6,
        retries: 5,
    };
    client.send_mad(1, &send, mad).unwrap();
    receive(client, |message| match message {
        Message::Mad { mad: response, .. } => {
            let response = SaMad::parse(response).unwrap();
            assert_eq!(response.header.transaction_id, mad.header.transaction_id);
            Some(*response)
        }
        Message::MadTimedOut { .. } => panic!("no response of OpenSM"),
        _ => None,
    })
}

fn join(client: &mut Client) -> McMemberRecord {
    let query = Query::<McMemberRecord>::new()
        .mgid(mgid())
        .port_gid(own_gid(client))
        .qkey(Qkey::GSI)
        .mtu(Selector::Exactly, Mtu::B2048)
        .traffic_class(0)
        .pkey(Pkey::DEFAULT_FULL)
        .rate(Selector::Exactly, Rate::GBPS_10)
        .sl(ServiceLevel::ZERO)
        .flow_label(FlowLabel::ZERO)
        .scope(5)
        .join_state(JoinState::FULL_MEMBER);
    let response = request(client, &query.request(Method::SET, TransactionId::new(0x55)));
    assert_eq!(response.header.status, Status::OK);
    *response.record().unwrap()
}

/// Returns the value of a field in saquery's output, which pads names with dots.
fn field<'a>(text: &'a str, name: &str) -> &'a str {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(name).filter(|rest| rest.starts_with('.')));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).trim_start_matches('.')
}

#[test]
fn path_query_gets_the_path_that_saquery_shows() {
    let fabric = Fabric::start();
    let (mut one, four) = (fabric.client("node1"), fabric.client("node4"));
    let port = one.port(1).unwrap().clone();
    assert_eq!((port.state, port.pkeys[0]), (PortState::ACTIVE, Pkey::DEFAULT_FULL));
    assert!(port.lid.is_unicast() && port.sm_lid.is_unicast() && port.lid != port.sm_lid);

    let (sgid, dgid) = (own_gid(&one), own_gid(&four));
    let response = request(
        &mut one,
        &Query::<PathRecord>::new().sgid(sgid).dgid(dgid).request(Method::GET, TransactionId::new(7)),
    );
    let path = *response.record::<PathRecord>().unwrap();
    assert_eq!((response.header.status, path.sgid, path.dgid), (Status::OK, sgid, dgid));
    assert_eq!((path.slid, path.dlid), (port.lid, four.port(1).unwrap().lid));
    let output = fabric.saquery(&["-p", "--sgid-to-dgid", &format!("{sgid}-{dgid}")]);
    for (name, value) in [
        ("dlid", path.dlid.to_string()),
        ("slid", path.slid.to_string()),
        ("pkey", format!("0x{:X}", path.pkey.get())),
        ("sl", format!("0x{:X}", path.qos_sl.sl().get())),
        ("mtu", format!("0x{:X}", 0x80 | path.mtu.value().get())),
        ("rate", format!("0x{:X}", 0x80 | path.rate.value().get())),
        ("pkt_life", format!("0x{:X}", 0x80 | path.packet_life_time.value().get())),
    ] {
        assert_eq!(field(&output, name), value, "{name} in {output}");
    }

    let unknown: Gid = "fe80::9999".parse().unwrap();
    let response = request(
        &mut one,
        &Query::<PathRecord>::new().sgid(sgid).dgid(unknown).request(Method::GET, TransactionId::new(8)),
    );
    assert_eq!(response.header.status, Status::SA_NO_RECORDS);
}

#[test]
fn join_at_opensm_makes_the_group_receive_until_the_leave() {
    let fabric = Fabric::start();
    let (mut one, mut four) = (fabric.client("node1"), fabric.client("node4"));
    let from = one.open_qp(1, Qkey::GSI, 0).unwrap();
    let to = four.open_qp(1, Qkey::GSI, 0).unwrap();
    four.attach(to, mgid(), Lid::NONE).unwrap();
    let group = join(&mut one);
    assert!(group.mlid.is_multicast(), "{group:?}");
    assert_eq!(join(&mut four).mlid, group.mlid);

    let groups = fabric.saquery(&["-g"]);
    let entry = groups.split("MCMemberRecord group dump").find(|entry| entry.contains("ff15:4001:ffff:3:400::"));
    let entry = entry.unwrap_or_else(|| panic!("{groups}"));
    assert_eq!(field(entry, "Mlid"), format!("0x{:X}", group.mlid.get()));
    let members = fabric.saquery(&["--smkey", "1", "-m"]);
    for node in [&one, &four] {
        assert!(members.contains(&own_gid(node).to_string()), "{members}");
    }

    let datagram = Datagram::multicast(group.mlid, mgid(), Qkey::GSI, b"hello");
    one.send_datagram(from, &datagram).unwrap();
    let slid = one.port(1).unwrap().lid;
    receive(&mut four, |message| match message {
        Message::Datagram { qpn, source, payload: b"hello", .. } => {
            assert_eq!((qpn, source.slid, source.qpn), (to, slid, from));
            Some(())
        }
        _ => None,
    });

    let leave = Query::<McMemberRecord>::new().mgid(mgid()).port_gid(own_gid(&four)).join_state(JoinState::FULL_MEMBER);
    assert_eq!(request(&mut four, &leave.request(Method::DELETE, TransactionId::new(9))).header.status, Status::OK);
    assert!(!fabric.saquery(&["--smkey", "1", "-m"]).contains(&own_gid(&four).to_string()));
    assert!(fabric.control("groups").contains("members 1/1:0x1\n"), "{}", fabric.control("groups"));
    one.send_datagram(from, &datagram).unwrap();
    until("the datagram is dropped", || {
        fabric.control("stats").lines().find(|line| *line == "ud_not_member 1").map(|_| ())
    });
    assert_eq!(four.receive().unwrap(), None);
}

#[test]
fn serve_without_ibsim_fails_and_names_the_socket() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_ib-sim"))
        .args(["serve", "--ibsim=no-such-ibsim", "--socket"])
        .arg(folder.path().join("s"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && text.contains("no-such-ibsim:ctl"), "{text}");
}
