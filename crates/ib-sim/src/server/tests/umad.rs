//! Management datagrams in the kernel's frames.
use super::*;
use crate::client::register_umad_agent;
use ib_mad::{
    Mad, Method, MgmtClass,
    perf::PortCounters,
    sa::{NodeRecord, SaRecord},
    smp::{NodeInfo, Smp},
};

#[test]
fn umad_device_returns_responses_and_time_outs_as_frames() {
    let served = Served::start(2);
    let socket = served.raw();
    socket.send(as_bytes(&Hello::new(proto::Role::UMAD, 1, "node2"))).unwrap();
    assert_eq!(Welcome::parse(&read(&socket)).unwrap().refusal, Refusal::NONE);
    let header = UmadHeader {
        id: Host32::new(3),
        timeout_ms: Host32::new(10),
        retries: Host32::new(1),
        qpn: Be32::new(1),
        qkey: Qkey::GSI,
        lid: Lid::new(1),
        ..UmadHeader::default()
    };
    let mad = Query::<PathRecord>::new().dlid(Lid::new(16)).request(Method::GET, TransactionId::new(0xdead_0000_0042));
    let frame = [as_bytes(&header), as_bytes(&mad)].concat();
    for short in [1, 63, 64, 87] {
        socket.send(&frame[..short]).unwrap();
    }
    socket.send(&frame).unwrap();
    let response = read(&socket);
    let (header, rest) = UmadHeader::parse_prefix(&response).unwrap();
    assert_eq!((header.id.get(), header.status.get(), header.length.get(), header.lid), (3, 0, 320, Lid::new(1)));
    let mad = SaMad::parse(rest).unwrap();
    let tid = mad.header.transaction_id.get();
    assert_eq!((mad.header.status, tid & 0xffff_ffff), (Status::OK, 0x42));
    assert!(![0, 0xdead].contains(&(tid >> 32)), "the upper half is the device's: {tid:#x}");
    assert_eq!(mad.record::<PathRecord>().unwrap().slid, Lid::new(17));

    served.control("set sa_loss 1");
    socket.send(&frame).unwrap();
    let timed_out = read(&socket);
    let (header, rest) = UmadHeader::parse_prefix(&timed_out).unwrap();
    assert_eq!((header.id.get(), header.status.get(), header.length.get(), rest.len()), (3, 110, 88, 24));
}

/// Opens the umad device of node2.
fn tool(served: &Served) -> Socket {
    tool_at(served, "node2")
}

fn tool_at(served: &Served, node: &str) -> Socket {
    let socket = served.raw();
    socket.send(as_bytes(&Hello::new(proto::Role::UMAD, 1, node))).unwrap();
    assert_eq!(Welcome::parse(&read(&socket)).unwrap().refusal, Refusal::NONE);
    socket
}

#[test]
fn tools_get_responses_from_the_right_lid_and_queue_pair() {
    let served = Served::start(2);
    let socket = tool(&served);
    let send = |lid, qpn, timeout_ms, mad: &[u8]| {
        let header = UmadHeader {
            id: Host32::new(3),
            timeout_ms: Host32::new(timeout_ms),
            qpn: Be32::new(qpn),
            lid: Lid::new(lid),
            ..UmadHeader::default()
        };
        socket.send(&[as_bytes(&header), mad].concat()).unwrap();
    };
    // The status (110 for a time-out) and the MAD.
    let response = || {
        let frame = read(&socket);
        let (header, rest) = UmadHeader::parse_prefix(&frame).unwrap();
        (header.status.get(), rest.to_vec())
    };
    let info = Smp::request(Method::GET, 0, TransactionId::new(1), &NodeInfo::ZERO);
    let table = SaMad::request(Method::GET_TABLE, NodeRecord::ID, TransactionId::new(2));
    // A request without a time-out gets no response: the first response is to the second request.
    send(17, 0, 0, as_bytes(&info));
    send(17, 0, 10, as_bytes(&info));
    let (status, mad) = response();
    let smp = Smp::parse(&mad).unwrap();
    assert_eq!((status, smp.header.method, smp.header.status), (0, Method::GET_RESP, Status::OK));
    assert_eq!(NodeInfo::parse_prefix(&smp.data.0).unwrap().0.node_guid, 0x0002_c903_0000_0020.into());
    // Subnet management uses queue pair 0.
    send(17, 1, 10, as_bytes(&info));
    assert_eq!(response().0, 110);
    send(1, 1, 10, as_bytes(&table));
    let (status, records) = response();
    assert_eq!((status, records.len()), (0, 56 + 2 * 112));
    // There is no administrator at this LID, nor for a port that is down.
    send(16, 1, 10, as_bytes(&table));
    assert_eq!(response().0, 110);
    served.control("down node2 1");
    send(1, 1, 10, as_bytes(&table));
    assert_eq!(response().0, 110);
}

#[test]
fn requests_and_responses_pass_between_programs() {
    let served = Served::start(2);
    let (requester, other) = (tool_at(&served, "node1"), tool(&served));
    let gets = [1 << Method::GET.get(), 0];
    register_umad_agent(other.as_fd(), 5, MgmtClass::PERF, 1, gets).unwrap();
    // After this response the server has handled the registration.
    served.control("stats");
    let send = |lid, qpn, timeout_ms, mad: &Mad| {
        let header = UmadHeader {
            id: Host32::new(3),
            timeout_ms: Host32::new(timeout_ms),
            qpn: Be32::new(qpn),
            lid: Lid::new(lid),
            ..UmadHeader::default()
        };
        requester.send(&[as_bytes(&header), as_bytes(mad)].concat()).unwrap();
    };
    let counters = PortCounters { port_select: 1, ..PortCounters::default() };
    let mad = Mad::request(Method::GET, 0, TransactionId::new(7), &counters);
    // Longer than the programs of this test need.
    send(17, 1, 60_000, &mad);
    let frame = read(&other);
    let (header, rest) = UmadHeader::parse_prefix(&frame).unwrap();
    assert_eq!((header.id.get(), header.status.get(), header.lid, rest.len()), (5, 0, Lid::new(16), 256));
    let received = *Mad::parse(rest).unwrap();
    assert_eq!((received.header.method, received.attribute_as()), (Method::GET, Ok(&counters)));
    // A response to another LID, then the right one with additional bytes, then one more that is ignored.
    let response = received.answer_with(&PortCounters { port_rcv_pkts: 9.into(), ..counters }).unwrap();
    for lid in [17, 16, 16] {
        let to = UmadHeader { id: Host32::new(5), timeout_ms: Host32::new(0), lid: Lid::new(lid), ..*header };
        other.send(&[as_bytes(&to), as_bytes(&response), &[9; 300]].concat()).unwrap();
    }
    let frame = read(&requester);
    let (header, rest) = UmadHeader::parse_prefix(&frame).unwrap();
    assert_eq!((header.id.get(), header.status.get(), header.lid), (3, 0, Lid::new(17)));
    assert_eq!((&rest[..256], &rest[256..]), (as_bytes(&response), &[9; 300][..]));
    // Requests that the agent is not registered for time out. So does a request without its response.
    let set = Mad::request(Method::SET, 0, TransactionId::new(8), &counters);
    for (lid, qpn, mad) in [(17, 1, &set), (17, 0, &mad), (16, 1, &mad), (17, 1, &mad)] {
        send(lid, qpn, 20, mad);
        let frame = read(&requester);
        let (header, _) = UmadHeader::parse_prefix(&frame).unwrap();
        assert_eq!((header.id.get(), header.status.get()), (3, 110), "{lid} {qpn}");
    }
    // The agent received only the last request. If its port is down, it receives none.
    assert_eq!(read(&other).len(), 320);
    served.control("down node2 1");
    send(17, 1, 20, &mad);
    assert_eq!(UmadHeader::parse_prefix(&read(&requester)).unwrap().0.status.get(), 110);
    other.set_nonblocking(true).unwrap();
    assert_eq!((&other).read(&mut [0; 400]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
}
