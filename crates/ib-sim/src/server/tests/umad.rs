//! Management datagrams in frames, as the kernel has them.
use super::*;

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
