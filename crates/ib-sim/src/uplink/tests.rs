//! Attachments to a stand-in for ibsim.
use super::*;
use crate::{
    datagram::MadSend,
    event::Event,
    id::AgentId,
    poll::LIMIT,
    port::{SaMode, SubnetConfig},
};
use alloc::borrow::ToOwned;
use core::sync::atomic::{AtomicU32, Ordering};
use ib_mad::{
    AttributeId, Method, SmState, Status,
    sa::{PathRecord, Query},
    smp::PriorityState,
};
use std::{
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixDatagram},
    },
    thread,
};

/// ibsim's ends of the sockets.
struct Ibsim {
    base: String,
    control: UnixDatagram,
    /// The data socket of each client.
    data: Vec<UnixDatagram>,
}

fn name(base: &str, name: &str) -> SocketAddr {
    SocketAddr::from_abstract_name(format!("{base}:{name}\0")).unwrap()
}

fn bound(base: &str, part: &str) -> UnixDatagram {
    let socket = UnixDatagram::bind_addr(&name(base, part)).unwrap();
    socket.set_read_timeout(Some(LIMIT)).unwrap();
    socket
}

impl Ibsim {
    fn start() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let base = format!("uplink-{}-{}", process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let control = bound(&base, "ctl");
        Self { base, control, data: Vec::new() }
    }

    /// Receives the next message, with the address of its client.
    fn receive(&self) -> (ControlMessage, SocketAddr) {
        let mut buffer = [0; size_of::<ControlMessage>()];
        let (length, from) = self.control.recv_from(&mut buffer).unwrap();
        let message = *ControlMessage::parse(&buffer[..length]).unwrap();
        assert_eq!(message.magic.get(), MAGIC);
        (message, from)
    }

    fn respond(&self, to: &SocketAddr, request: &ControlMessage, kind: u32, data: &[u8]) {
        let mut response = ControlMessage { kind: Host32::new(kind), ..*request };
        response.data.0[..data.len()].copy_from_slice(data);
        self.control.send_to_addr(as_bytes(&response), to).unwrap();
    }

    /// Accepts a client at a node with this GUID, and assigns this number to it.
    fn attach(&mut self, number: u32, node: &str, guid: u64) {
        let (request, from) = self.receive();
        let info = *ClientInfo::parse_prefix(&request.data.0).unwrap().0;
        assert_eq!((request.kind.get(), request.length.get()), (control::CONNECT, 44));
        assert_eq!((info.qp.get(), info.is_sm.get(), info.node), (1, 1, Text::new(node.as_bytes())));
        let data = bound(&self.base, &format!("out{number}"));
        data.connect_addr(&name(&self.base, &format!("in{}", info.id.get()))).unwrap();
        self.data.push(data);
        self.respond(&from, &request, control::CONNECT, as_bytes(&ClientInfo { id: Host32::new(number), ..info }));
        let (request, from) = self.receive();
        assert_eq!((request.kind.get(), request.client.get()), (control::GET_NODE_INFO, number));
        let node = NodeInfo { node_guid: Guid::new(guid), ..NodeInfo::default() };
        self.respond(&from, &request, control::GET_NODE_INFO, as_bytes(&node));
    }

    /// Receives a packet of a client.
    fn packet(&self, client: usize) -> Packet {
        let mut buffer = [0; size_of::<Packet>()];
        let length = self.data[client].recv(&mut buffer).unwrap();
        *Packet::parse(&buffer[..length]).unwrap()
    }

    fn is_silent(&self) -> bool {
        let silent = |socket: &UnixDatagram| {
            socket.set_nonblocking(true).unwrap();
            let nothing = socket.recv(&mut [0]).is_err();
            socket.set_nonblocking(false).unwrap();
            nothing
        };
        silent(&self.control) & self.data.iter().all(silent)
    }
}

/// Returns a subnet with two nodes, whose ports are active.
fn attached() -> (Ibsim, Uplink, Subnet) {
    let mut ibsim = Ibsim::start();
    let base = ibsim.base.clone();
    let names = ["H-1", "H-2"].map(ToOwned::to_owned);
    let attaching = thread::spawn(move || Uplink::attach(&base, &names));
    ibsim.attach(4, "H-1", 0x10);
    ibsim.attach(5, "H-2", 0x20);
    let (uplink, nodes) = attaching.join().unwrap().unwrap();
    let mut subnet = Subnet::new(SubnetConfig { sa: SaMode::External, ..SubnetConfig::default() }, 1);
    for (lid, node) in (7..).zip(nodes) {
        let [port] = &node.ports[..] else { panic!("{node:?}") };
        assert_eq!(port.guid.get(), node.guid.get() + 1);
        assert_eq!((port.state, port.lid, port.gid().interface_id()), (PortState::DOWN, Lid::NONE, port.guid));
        let up = Port { state: PortState::ACTIVE, lid: Lid::new(lid), sm_lid: Lid::new(9), ..port.clone() };
        subnet.add_node_with(Node { ports: [up].into(), ..node }).unwrap();
    }
    while subnet.poll_event().is_some() {}
    (ibsim, uplink, subnet)
}

#[test]
fn clients_attach_in_order_and_disconnect() {
    let (ibsim, uplink, subnet) = attached();
    let guids = [1, 2].map(|node| subnet.node(NodeId::new(node)).unwrap().guid.get());
    let names = [1, 2].map(|node| subnet.node(NodeId::new(node)).unwrap().name.clone());
    assert_eq!((guids, names), ([0x10, 0x20], ["H-1", "H-2"].map(ToOwned::to_owned)));
    assert_eq!(uplink.fds().count(), 4);
    drop(uplink);
    for client in [4, 5] {
        let (message, _) = ibsim.receive();
        assert_eq!((message.kind.get(), message.client.get()), (control::DISCONNECT, client));
    }
}

#[test]
fn refused_attachment_and_missing_ibsim_are_errors() {
    let ibsim = Ibsim::start();
    let base = ibsim.base.clone();
    let attaching = thread::spawn(move || Uplink::attach(&base, &["H-9".to_owned()]));
    let (request, from) = ibsim.receive();
    ibsim.respond(&from, &request, control::ERROR, &[]);
    assert!(matches!(attaching.join().unwrap(), Err(UplinkError::Refused { node }) if node == "H-9"));
    let missing = format!("{}-missing", ibsim.base);
    assert!(matches!(Uplink::attach(&missing, &["H-1".to_owned()]), Err(UplinkError::Io { .. })));
}

/// Sends a request from node 2's port and returns it as the subnet passes it on.
fn sa_request(subnet: &mut Subnet) -> (RequestId, PortId, SaMad) {
    let port = PortId::new(2, 1);
    let mad = Query::<PathRecord>::new().dlid(Lid::new(7)).request(Method::GET, TransactionId::new(0x77));
    let send = MadSend {
        agent: AgentId(3),
        dlid: Lid::new(9),
        qpn: Qpn::GSI,
        sl: ServiceLevel::ZERO,
        pkey_index: 0,
        timeout: Duration::from_secs(1),
        retries: 0,
    };
    subnet.send_mad(Duration::ZERO, port, send, &mad).unwrap();
    let Some(Event::SaRequest { request, port: requester, mad }) = subnet.poll_event() else { panic!("no request") };
    assert_eq!(requester, port);
    (request, port, *mad)
}

#[test]
fn request_is_forwarded_and_its_response_delivered() {
    let (ibsim, mut uplink, mut subnet) = attached();
    let (request, port, mad) = sa_request(&mut subnet);
    uplink.forward(request, port, Lid::new(9), &mad);
    let packet = ibsim.packet(1);
    assert_eq!((packet.dlid, packet.dqp.get(), packet.sqp.get(), packet.length.get()), (Lid::new(9), 1, 1, 256));
    let id = packet.mad.header.transaction_id.get();
    assert_eq!((id >> 48, packet.mad.data), (5, mad.data), "the upper bits are the client's number");
    assert_eq!(packet.mad.header.attribute_id, AttributeId::PATH_RECORD);
    // A response to a report keeps its transaction id.
    let mut response = mad;
    response.header.method = Method::REPORT_RESP;
    uplink.forward(request, port, Lid::new(9), &response);
    assert_eq!(ibsim.packet(1).mad.header.transaction_id, mad.header.transaction_id);
    uplink.forward(request, PortId::new(3, 1), Lid::new(9), &mad);
    assert!(ibsim.is_silent());

    // An undeliverable datagram is not a response.
    let mut response = packet;
    response.mad.header.method = Method::GET_RESP;
    ibsim.data[1].send(as_bytes(&Packet { status: Be32::new(110), ..response })).unwrap();
    uplink.receive(Duration::ZERO, 3, &mut subnet);
    assert_eq!(subnet.poll_event(), None);
    ibsim.data[1].send(as_bytes(&response)).unwrap();
    // The other sockets have no messages.
    for index in [0, 1, 2, 4] {
        uplink.receive(Duration::ZERO, index, &mut subnet);
    }
    assert_eq!(subnet.poll_event(), None);
    uplink.receive(Duration::ZERO, 3, &mut subnet);
    let Some(Event::Mad { port: receiver, agent: AgentId(3), mad }) = subnet.poll_event() else {
        panic!("no response")
    };
    assert_eq!((receiver, mad.header.transaction_id, mad.header.status), (port, TransactionId::new(0x77), Status::OK));
}

#[test]
fn reports_are_delivered_and_other_requests_ignored() {
    let (ibsim, mut uplink, mut subnet) = attached();
    for (method, reports) in [(Method::GET, 0), (Method::REPORT, 1)] {
        let mad = SaMad::request(method, AttributeId::NOTICE, TransactionId::new(1));
        let packet = Packet { slid: Lid::new(9), length: Be64::new(256), mad, ..Packet::default() };
        ibsim.data[0].send(as_bytes(&packet)).unwrap();
        uplink.receive(Duration::ZERO, 1, &mut subnet);
        let events: Vec<Event> = core::iter::from_fn(|| subnet.poll_event()).collect();
        assert_eq!(events.len(), reports, "{events:?}");
        let to_first = |event: &Event| matches!(event, Event::Report { port, slid, .. } if (port.node.get(), *slid) == (1, Lid::new(9)));
        assert!(events.iter().all(to_first), "{events:?}");
    }
}

#[test]
fn ports_are_queried_every_50_ms() {
    let (ibsim, mut uplink, mut subnet) = attached();
    let ms = Duration::from_millis;
    assert_eq!(uplink.due(), Duration::ZERO);
    uplink.tick(ms(20), &subnet);
    assert_eq!(uplink.due(), ms(70));
    for client in [4, 5] {
        let (request, _) = ibsim.receive();
        assert_eq!((request.kind.get(), request.client.get()), (control::GET_PORT_INFO, client));
        assert_eq!((request.length.get(), request.data.0[0]), (1, 1));
    }
    // The subnet manager of the first active port is polled.
    let poll = ibsim.packet(0);
    assert_eq!((poll.dlid, poll.length.get()), (Lid::new(9), 256));
    assert_eq!(poll.mad.header.mgmt_class, MgmtClass::SUBN_LID_ROUTED);
    assert_eq!(poll.mad.header.transaction_id.get() >> 48, 4);
    uplink.tick(ms(69), &subnet);
    assert!(ibsim.is_silent());
    uplink.tick(ms(70), &subnet);
    let (request, first) = ibsim.receive();

    let mut info = PortInfo::default();
    info.lid = Lid::new(0x44);
    info.master_sm_lid = Lid::new(9);
    info.speed_state = info.speed_state.with_port_state(PortState::ACTIVE);
    // P_Keys without a query are ignored.
    let mut pkeys = PkeyTable::default();
    pkeys.pkeys[0] = Pkey::new(0x8001);
    ibsim.respond(&first, &request, control::GET_PKEYS, as_bytes(&pkeys));
    ibsim.respond(&first, &request, control::GET_PORT_INFO, as_bytes(&info));
    uplink.receive(ms(71), 0, &mut subnet);
    let lid = |subnet: &Subnet| subnet.port(PortId::new(1, 1)).unwrap().lid;
    assert_eq!(lid(&subnet), Lid::new(7), "the P_Keys are missing");
    assert_eq!(ibsim.receive().0.client.get(), 5);
    let (request, from) = ibsim.receive();
    assert_eq!((request.kind.get(), request.client.get()), (control::GET_PKEYS, 4));
    ibsim.respond(&from, &request, control::GET_PKEYS, as_bytes(&pkeys));
    uplink.receive(ms(72), 0, &mut subnet);
    let port = subnet.port(PortId::new(1, 1)).unwrap();
    assert_eq!((port.lid, &port.pkeys[..]), (Lid::new(0x44), &[Pkey::new(0x8001)][..]));
}

#[test]
fn restart_of_the_subnet_manager_restarts_the_administrator() {
    let (ibsim, mut uplink, mut subnet) = attached();
    let restarts = |uplink: &mut Uplink, subnet: &mut Subnet, method, activity, status| {
        let priority_state = PriorityState::default().with_sm_state(SmState::MASTER);
        let info = SmInfo {
            guid: Guid::new(1),
            act_count: ib_mad::wire::Counter32::new(activity),
            priority_state,
            ..SmInfo::default()
        };
        let mut smp = Smp::request(Method::GET, 0, TransactionId::new(4 << REQUEST_BITS), &SmInfo::ZERO);
        smp.header.method = method;
        smp.data = Octets::of(&info);
        let mad = *<SaMad as Wire>::parse(as_bytes(&smp)).unwrap();
        let packet = Packet { status: Be32::new(status), length: Be64::new(256), mad, ..Packet::default() };
        ibsim.data[0].send(as_bytes(&packet)).unwrap();
        uplink.receive(Duration::ZERO, 1, subnet);
        // Every port has to register again after a restart.
        core::iter::from_fn(|| subnet.poll_event()).count() == 2
    };
    for (method, activity, status, expected) in [
        (Method::GET_RESP, 9, 0, false),
        (Method::GET_RESP, 10, 0, false),
        // A query of another subnet manager, not a response.
        (Method::GET, 3, 0, false),
        (Method::GET_RESP, 3, 0, true),
        // The poll was undeliverable.
        (Method::GET_RESP, 0, 110, false),
        (Method::GET_RESP, 4, 0, true),
    ] {
        assert_eq!(restarts(&mut uplink, &mut subnet, method, activity, status), expected, "{activity}");
    }
}
