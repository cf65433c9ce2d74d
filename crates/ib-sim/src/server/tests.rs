//! A served subnet and attached programs.
use super::{Server, Stopper};
use crate::{
    client::{Client, ClientError, Message, control},
    datagram::{Datagram, MadSend},
    id::{AgentId, NodeId},
    poll::{LIMIT, until},
    port::{PortChange, SubnetConfig},
    proto::{self, Hello, Kind, Refusal, Refused, Welcome},
    subnet::Subnet,
};
use alloc::{collections::BTreeSet, string::String, vec, vec::Vec};
use core::time::Duration;
use ib_mad::{
    FlowLabel, Gid, Lid, Method, Mtu, Pkey, Qkey, Qpn, Rate, Selector, ServiceLevel, Status, TransactionId, Wire,
    as_bytes,
    sa::{JoinState, McMemberRecord, PathRecord, Query, SaMad},
    umad::UmadHeader,
    wire::{Be16, Be32, Host32},
};
use proptest::prelude::*;
use socket2::{Domain, SockAddr, Socket, Type};
use std::{
    io::{self, Read},
    os::fd::AsFd,
    path::PathBuf,
    thread,
};

mod commands;
mod umad;

/// A server in a thread of this process. The thread ends with this value.
struct Served {
    path: PathBuf,
    stopper: Stopper,
    thread: Option<thread::JoinHandle<io::Result<()>>>,
    _folder: tempfile::TempDir,
}

impl Served {
    fn start(nodes: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fabric.sock");
        let mut subnet = Subnet::new(SubnetConfig::default(), 1);
        for _ in 0..nodes {
            subnet.add_node().unwrap();
        }
        let mut server = Server::bind(&path, subnet).unwrap();
        let stopper = server.stopper();
        let thread = Some(thread::spawn(move || server.run()));
        Self { path, stopper, thread, _folder: folder }
    }

    fn client(&self, node: &str) -> Client {
        Client::connect(&self.path, Some(node)).unwrap()
    }

    fn control(&self, command: &str) -> String {
        control(&self.path, command).unwrap()
    }

    fn statistic(&self, name: &str) -> u64 {
        let stats = self.control("stats");
        stats.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().parse().unwrap()
    }

    /// Opens a connection for arbitrary messages.
    fn raw(&self) -> Socket {
        let socket = Socket::new(Domain::UNIX, Type::SEQPACKET, None).unwrap();
        socket.connect(&SockAddr::unix(&self.path).unwrap()).unwrap();
        socket.set_read_timeout(Some(LIMIT)).unwrap();
        socket
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stopper.stop();
        self.thread.take().unwrap().join().unwrap().unwrap();
        assert!(!self.path.exists(), "the socket was not removed");
    }
}

/// Waits for a message and passes it to `check`.
fn wait<T>(client: &mut Client, mut check: impl FnMut(Message<'_>) -> T) -> T {
    until("a message", || client.receive().unwrap().map(&mut check))
}

fn read(mut socket: &Socket) -> Vec<u8> {
    let mut buffer = vec![0; proto::MAX_MESSAGE];
    let length = socket.read(&mut buffer).unwrap();
    buffer.truncate(length);
    buffer
}

fn mgid() -> Gid {
    "ff15:4001:ffff:3:400::".parse().unwrap()
}

fn to_sa(port: &crate::port::Port) -> MadSend {
    MadSend {
        agent: AgentId(5),
        dlid: port.sm_lid,
        qpn: Qpn::GSI,
        sl: port.sm_sl,
        pkey_index: 0,
        timeout: Duration::from_millis(500),
        retries: 2,
    }
}

fn join(client: &mut Client) -> Lid {
    let port = client.port(1).unwrap().clone();
    let query = Query::<McMemberRecord>::new()
        .mgid(mgid())
        .port_gid(port.gids[0])
        .qkey(Qkey::GSI)
        .mtu(Selector::Exactly, Mtu::B2048)
        .traffic_class(0)
        .pkey(Pkey::DEFAULT_FULL)
        .rate(Selector::Exactly, Rate::GBPS_10)
        .sl(ServiceLevel::ZERO)
        .flow_label(FlowLabel::ZERO)
        .join_state(JoinState::FULL_MEMBER);
    client.send_mad(1, &to_sa(&port), &query.request(Method::SET, TransactionId::new(3))).unwrap();
    wait(client, |message| match message {
        Message::Mad { port: 1, agent: AgentId(5), mad } => {
            let mad = SaMad::parse(mad).unwrap();
            assert_eq!((mad.header.status, mad.header.transaction_id), (Status::OK, TransactionId::new(3)));
            mad.record::<McMemberRecord>().unwrap().mlid
        }
        other => panic!("{other:?}"),
    })
}

#[test]
fn programs_exchange_datagrams_over_a_group() {
    let served = Served::start(2);
    let mut one = served.client("node1");
    let mut two = Client::connect(&served.path, None).unwrap();
    assert_eq!((two.node().name.as_str(), two.id()), ("node2", NodeId::new(2)));
    let [from, to] = [&mut one, &mut two].map(|client| {
        let qpn = client.open_qp(1, Qkey::GSI, 0).unwrap();
        client.attach(qpn, mgid(), Lid::new(0xc000)).unwrap();
        wait(client, |message| {
            assert_eq!(message, Message::Attached { qpn, mgid: mgid(), mlid: Lid::new(0xc000) });
        });
        let mlid = join(client);
        assert_eq!(mlid, Lid::new(0xc000));
        qpn
    });
    let payload = [7; 256];
    one.send_datagram(from, &Datagram::multicast(Lid::new(0xc000), mgid(), Qkey::GSI, &payload)).unwrap();
    let sgid = one.port(1).unwrap().gids[0];
    let source = wait(&mut two, |message| match message {
        Message::Datagram { qpn, source, grh: Some(grh), payload: received } => {
            assert_eq!((qpn, grh.sgid, grh.dgid, received), (to, sgid, mgid(), &payload[..]));
            source
        }
        other => panic!("{other:?}"),
    });
    two.send_datagram(to, &Datagram::unicast(source.slid, source.qpn, Qkey::GSI, b"reply")).unwrap();
    wait(&mut one, |message| assert!(matches!(message, Message::Datagram { payload: b"reply", grh: None, .. })));
    assert!(served.control("groups").contains("members 1/1:0x1 2/1:0x1"));
    assert_eq!(served.control("qps").lines().count(), 2);

    one.detach(from, mgid()).unwrap();
    one.close_qp(from).unwrap();
    one.send_datagram(from, &Datagram::unicast(source.slid, to, Qkey::GSI, b"x")).unwrap();
    wait(&mut one, |message| {
        let expected = Message::Refused { request: Kind::DATAGRAM_OUT, refusal: Refusal::NO_SUCH_QP, qpn: from };
        assert_eq!(message, expected);
    });
    drop(two);
    assert_eq!(served.control("qps"), "");
}

#[test]
fn client_receives_port_changes_and_has_the_new_attributes() {
    let served = Served::start(1);
    let mut client = served.client("1");
    for (command, change) in [
        ("lid node1 1 99", PortChange::Lid),
        ("smlid 1 1 7", PortChange::Sm),
        ("pkeys all 1 ffff,8001", PortChange::Pkey),
        ("gid 1 1 1 fe80::1", PortChange::Gid),
        ("rereg 1 1", PortChange::ClientReregister),
        ("down 1 1", PortChange::Down),
        ("up 1 1", PortChange::Active),
    ] {
        assert_eq!(served.control(command), "ok\n", "{command}");
        wait(&mut client, |message| assert_eq!(message, Message::Port { port: 1, change }, "{command}"));
    }
    let port = client.port(1).unwrap();
    assert_eq!((port.lid, port.sm_lid, port.pkeys.len(), port.gids.len()), (Lid::new(99), Lid::new(7), 2, 2));
}

#[test]
fn failed_command_returns_an_error_and_valid_one_does_not() {
    let served = Served::start(2);
    for command in [
        "nonsense",
        "set ud_loss 2",
        "set nothing 1",
        "lid 1 1 17",
        "lid 9 1 1",
        "down 1 2",
        "link 1/1 3/1 loss 1",
        "link 1 2 loss much",
        "gid 1 1 999999 ::1",
        "gid 1 1 0 x",
        "pkeys 1 1 zz",
        "smrestart x",
        "up 1 1 2 3",
    ] {
        assert!(served.control(command).starts_with("error: "), "{command}");
    }
    for command in [
        "help",
        "stats",
        "settings",
        "nodes",
        "ports",
        "link 1/1 2/1 loss 30%",
        "link 1 2 clear",
        "smrestart 0xc100",
        "leave 1 1",
        "stats reset",
    ] {
        assert!(!served.control(command).starts_with("error: "), "{command}");
    }
    assert_eq!(served.control("set sa_mute on"), "ok\n");
    assert!(served.control("settings").contains("sa_mute on\n"));
}

#[test]
fn request_without_response_times_out() {
    let served = Served::start(2);
    served.control("set sa_mute on");
    let mut client = served.client("node1");
    let port = client.port(1).unwrap().clone();
    let mad = Query::<PathRecord>::new().dgid(port.gids[0]).request(Method::GET, TransactionId::new(8));
    let send = MadSend { timeout: Duration::from_millis(20), retries: 1, ..to_sa(&port) };
    client.send_mad(1, &send, &mad).unwrap();
    wait(&mut client, |message| assert_eq!(message, Message::MadTimedOut { port: 1, agent: AgentId(5), mad: &mad }));
    assert_eq!((served.statistic("mad_retries"), served.statistic("mad_timeouts")), (1, 1));
}

#[test]
fn program_that_does_not_read_loses_datagrams_and_does_not_block_others() {
    let served = Served::start(3);
    let mut slow = served.client("node1");
    let mut fast = served.client("node2");
    let slow_qp = slow.open_qp(1, Qkey::GSI, 0).unwrap();
    let from = fast.open_qp(1, Qkey::GSI, 0).unwrap();
    let dlid = slow.port(1).unwrap().lid;
    let payload = [0; 4096];
    let mut sent = 0;
    while served.statistic("receiver_full") == 0 {
        for _ in 0..1000 {
            match fast.send_datagram(from, &Datagram::unicast(dlid, slow_qp, Qkey::GSI, &payload)) {
                Ok(()) => sent += 1,
                Err(ClientError::Full) => thread::yield_now(),
                Err(other) => panic!("{other}"),
            }
        }
        assert!(sent < 100_000, "no bound");
    }
    // Other programs are served.
    let mut third = served.client("node3");
    assert_eq!(join(&mut third), Lid::new(0xc000));
    let mut received = 0;
    while let Some(Message::Datagram { .. }) = slow.receive().unwrap() {
        received += 1;
    }
    assert!(received > 0 && received < sent, "{received} of {sent}");
}

#[test]
fn invalid_hello_is_refused_and_the_connection_closed() {
    let served = Served::start(1);
    let hello = Hello::new(proto::Role::NODE, 0, "node1");
    let cases = [
        (Hello { version: Be16::new(9), ..hello }, Refusal::BAD_VERSION),
        (Hello { magic: Be32::new(1), ..hello }, Refusal::BAD_MESSAGE),
        (Hello { role: proto::Role::new(77), ..hello }, Refusal::BAD_MESSAGE),
        (Hello::new(proto::Role::NODE, 0, "nobody"), Refusal::NO_SUCH_NODE),
        (Hello::new(proto::Role::UMAD, 2, "node1"), Refusal::NO_SUCH_PORT),
    ];
    for (hello, refusal) in cases {
        let socket = served.raw();
        socket.send(as_bytes(&hello)).unwrap();
        assert_eq!(Welcome::parse(&read(&socket)).unwrap().refusal, refusal);
        assert!(read(&socket).is_empty(), "the connection was not closed");
    }
    let first = served.client("node1");
    let none_free = Client::connect(&served.path, None);
    assert!(matches!(none_free, Err(ClientError::Refused(Refusal::NO_SUCH_NODE))));
    drop(first);
}

#[test]
fn queue_pair_number_belongs_to_its_connection() {
    let served = Served::start(1);
    let mut client = served.client("node1");
    let other = served.client("node1");
    assert!(matches!(client.open_qp(2, Qkey::GSI, 0), Err(ClientError::NoSuchPort(2))));
    assert!(matches!(client.open_qp(1, Qkey::GSI, 1), Err(ClientError::NoSuchPkey(1))));
    let all: BTreeSet<Qpn> = (0..256).map(|_| client.open_qp(1, Qkey::GSI, 0).unwrap()).collect();
    assert_eq!(all.len(), 256);
    assert!(matches!(client.open_qp(1, Qkey::GSI, 0), Err(ClientError::QpnsUsedUp)));
    let one = *all.first().unwrap();
    client.close_qp(one).unwrap();
    assert_eq!(client.open_qp(1, Qkey::GSI, 0).unwrap(), one);
    let mut intruder = other;
    intruder.attach(one, mgid(), Lid::NONE).unwrap();
    wait(&mut intruder, |message| {
        assert_eq!(message, Message::Refused { request: Kind::ATTACH, refusal: Refusal::NO_SUCH_QP, qpn: one });
    });
    let another = intruder.open_qp(1, Qkey::GSI, 0).unwrap();
    assert!(!all.contains(&another));
}

#[test]
fn unused_socket_is_replaced_and_a_served_one_is_not() {
    let served = Served::start(1);
    let second = Server::bind(&served.path, Subnet::new(SubnetConfig::default(), 1));
    assert_eq!(second.unwrap_err().kind(), io::ErrorKind::AddrInUse);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dead.sock");
    let dead = Socket::new(Domain::UNIX, Type::SEQPACKET, None).unwrap();
    dead.bind(&SockAddr::unix(&path).unwrap()).unwrap();
    drop(dead);
    drop(Server::bind(&path, Subnet::new(SubnetConfig::default(), 1)).unwrap());
    assert!(!path.exists());
    assert!(matches!(Client::connect(&path, None), Err(ClientError::Io(_))));
}

#[test]
fn arbitrary_messages_do_not_stop_the_server() {
    let served = Served::start(2);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig { cases: 200, ..ProptestConfig::default() });
    let message = (0_u16..15, proptest::collection::vec(any::<u8>(), 0..400), any::<bool>());
    let messages = proptest::collection::vec(message, 1..20);
    runner
        .run(&(0_u8..5, messages), |(role, messages)| {
            let socket = served.raw();
            if role > 0 {
                let name = if role % 2 == 0 { "node1" } else { "node2" };
                socket.send(as_bytes(&Hello::new(proto::Role::new(role), 1, name))).unwrap();
            }
            for (kind, bytes, with_kind) in messages {
                let bytes = if with_kind { [&kind.to_be_bytes()[..], &bytes].concat() } else { bytes };
                // The server may have closed the connection.
                let _ = socket.send(&bytes);
            }
            Ok(())
        })
        .unwrap();
    let mut client = served.client("node1");
    assert_eq!(join(&mut client), Lid::new(0xc000));
    let raw = served.raw();
    raw.send(as_bytes(&Hello::new(proto::Role::NODE, 0, "node1"))).unwrap();
    assert_eq!((read(&raw).len(), read(&raw).len()), (96, 32 + 16 + 2));
    raw.send(&[0, 99]).unwrap();
    let refused = *Refused::parse(&read(&raw)).unwrap();
    assert_eq!((refused.request, refused.refusal), (Kind::new(99), Refusal::BAD_MESSAGE));
}
