//! Management datagrams in frames, as the kernel has them.
use super::*;
use crate::client::serve_umad_agent;
use ib_mad::{
    Mad, Method, MgmtClass,
    perf::PortCounters,
    sa::{NodeRecord, SaRecord},
    smp::{NodeInfo, Smp},
};

#[test]
fn a_umad_device_carries_frames() {
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
    let mad = Query::<PathRecord>::new().dlid(Lid::new(16)).get(TransactionId::new(0xdead_0000_0042));
    let frame = [as_bytes(&header), as_bytes(&mad)].concat();
    for short in [1, 63, 64, 87] {
        socket.send(&frame[..short]).unwrap();
    }
    socket.send(&frame).unwrap();
    let answer = read(&socket);
    let (told, rest) = UmadHeader::parse_prefix(&answer).unwrap();
    assert_eq!((told.id.get(), told.status.get(), told.length.get(), told.lid), (3, 0, 320, Lid::new(1)));
    let got = SaMad::parse(rest).unwrap();
    let tid = got.header.transaction_id.get();
    assert_eq!((got.header.status, tid & 0xffff_ffff), (Status::OK, 0x42));
    assert!(![0, 0xdead].contains(&(tid >> 32)), "the upper half is the device's: {tid:#x}");
    assert_eq!(got.record::<PathRecord>().unwrap().slid, Lid::new(17));

    served.control("set sa_loss 1");
    socket.send(&frame).unwrap();
    let back = read(&socket);
    let (told, rest) = UmadHeader::parse_prefix(&back).unwrap();
    assert_eq!((told.id.get(), told.status.get(), told.length.get(), rest.len()), (3, 110, 88, 24));
}

/// A program at node2's umad device.
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
fn tools_are_answered_where_they_ask_right() {
    let served = Served::start(2);
    let socket = tool(&served);
    let ask = |lid, qpn, timeout_ms, mad: &[u8]| {
        let header = UmadHeader {
            id: Host32::new(3),
            timeout_ms: Host32::new(timeout_ms),
            qpn: Be32::new(qpn),
            lid: Lid::new(lid),
            ..UmadHeader::default()
        };
        socket.send(&[as_bytes(&header), mad].concat()).unwrap();
    };
    // The status, 110 being a time-out, and what comes with it.
    let answer = || {
        let frame = read(&socket);
        let (header, rest) = UmadHeader::parse_prefix(&frame).unwrap();
        (header.status.get(), rest.to_vec())
    };
    let info = Smp::get::<NodeInfo>(0, TransactionId::new(1));
    let table = SaMad::request(Method::GET_TABLE, NodeRecord::ID, TransactionId::new(2));
    // One that wants no answer has none: what comes next is the next one's.
    ask(17, 0, 0, as_bytes(&info));
    ask(17, 0, 10, as_bytes(&info));
    let (status, mad) = answer();
    let smp = Smp::parse(&mad).unwrap();
    assert_eq!((status, smp.header.method, smp.header.status), (0, Method::GET_RESP, Status::OK));
    assert_eq!(NodeInfo::parse_prefix(&smp.data.0).unwrap().0.node_guid, 0x0002_c903_0000_0020.into());
    // Subnet management has queue pair 0.
    ask(17, 1, 10, as_bytes(&info));
    assert_eq!(answer().0, 110);
    ask(1, 1, 10, as_bytes(&table));
    let (status, records) = answer();
    assert_eq!((status, records.len()), (0, 56 + 2 * 112));
    // Nobody administers the subnet there, or through a port without a link.
    ask(16, 1, 10, as_bytes(&table));
    assert_eq!(answer().0, 110);
    served.control("down node2 1");
    ask(1, 1, 10, as_bytes(&table));
    assert_eq!(answer().0, 110);
}

#[test]
fn programs_answer_each_other() {
    let served = Served::start(2);
    let (asker, other) = (tool_at(&served, "node1"), tool(&served));
    let gets = [1 << Method::GET.get(), 0];
    serve_umad_agent(other.as_fd(), 5, MgmtClass::PERF, 1, gets).unwrap();
    // The server has heard of the agent when it says the next thing.
    served.control("stats");
    let ask = |lid, qpn, mad: &Mad| {
        let header = UmadHeader {
            id: Host32::new(3),
            timeout_ms: Host32::new(20),
            qpn: Be32::new(qpn),
            lid: Lid::new(lid),
            ..UmadHeader::default()
        };
        asker.send(&[as_bytes(&header), as_bytes(mad)].concat()).unwrap();
    };
    let counters = PortCounters { port_select: 1, ..PortCounters::default() };
    let mad = Mad::request(Method::GET, 0, TransactionId::new(7), &counters);
    ask(17, 1, &mad);
    let frame = read(&other);
    let (header, rest) = UmadHeader::parse_prefix(&frame).unwrap();
    assert_eq!((header.id.get(), header.status.get(), header.lid, rest.len()), (5, 0, Lid::new(16), 256));
    let asked = *Mad::parse(rest).unwrap();
    assert_eq!((asked.header.method, asked.attribute_as()), (Method::GET, Ok(&counters)));
    // An answer to somebody else, and then the right one, of any length; one more is nobody's.
    let answer = asked.answer_with(&PortCounters { port_rcv_pkts: 9.into(), ..counters }).unwrap();
    for lid in [17, 16, 16] {
        let to = UmadHeader { id: Host32::new(5), timeout_ms: Host32::new(0), lid: Lid::new(lid), ..*header };
        other.send(&[as_bytes(&to), as_bytes(&answer), &[9; 300]].concat()).unwrap();
    }
    let frame = read(&asker);
    let (header, rest) = UmadHeader::parse_prefix(&frame).unwrap();
    assert_eq!((header.id.get(), header.status.get(), header.lid), (3, 0, Lid::new(17)));
    assert_eq!((&rest[..256], &rest[256..]), (as_bytes(&answer), &[9; 300][..]));
    // What the agent does not take in comes back, and so does what it does not answer.
    let set = Mad::set(0, TransactionId::new(8), &counters);
    for (lid, qpn, mad) in [(17, 1, &set), (17, 0, &mad), (16, 1, &mad), (17, 1, &mad)] {
        ask(lid, qpn, mad);
        let frame = read(&asker);
        let (header, _) = UmadHeader::parse_prefix(&frame).unwrap();
        assert_eq!((header.id.get(), header.status.get()), (3, 110), "{lid} {qpn}");
    }
    // It heard the last one; behind a port that is down it hears nothing.
    assert_eq!(read(&other).len(), 320);
    served.control("down node2 1");
    ask(17, 1, &mad);
    assert_eq!(UmadHeader::parse_prefix(&read(&asker)).unwrap().0.status.get(), 110);
    other.set_nonblocking(true).unwrap();
    assert_eq!((&other).read(&mut [0; 400]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
}
