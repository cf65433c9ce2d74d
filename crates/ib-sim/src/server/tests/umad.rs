//! Management datagrams in frames, as the kernel has them.
use super::*;
use ib_mad::{
    Method,
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
    let socket = served.raw();
    socket.send(as_bytes(&Hello::new(proto::Role::UMAD, 1, "node2"))).unwrap();
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
