//! Groups, partitions, and what is known of a datagram.
use super::{at_node, control, datagram, event, umad, wait_for};
use ib_device::{
    Error,
    sysfs::{Port, Sysfs},
    verbs::{Completion, Context, UdConfig, UdQueuePair},
};
use ib_mad::{AddressVector, Gid, GlobalRoute, Lid, Qkey, Qpn, ServiceLevel};
use std::path::Path;

const CONFIG: UdConfig = UdConfig { recv_depth: 8, send_depth: 8, ..UdConfig::new(1, 0) };

fn opened() -> (Context, Port) {
    let mut device = Sysfs::default().scan().unwrap().devices.remove(0);
    (Context::open(&device.name).unwrap(), device.ports.remove(0))
}

fn here(port: &Port) -> AddressVector {
    AddressVector::local(port.lid, ServiceLevel::ZERO)
}

#[test]
fn a_group_is_received_as_long_as_it_is_attached() {
    if at_node("groups::a_group_is_received_as_long_as_it_is_attached").is_none() {
        return;
    }
    let (context, port) = opened();
    assert_eq!(context.name(), "ibsim0");
    let mut one = UdQueuePair::new(&context, CONFIG).unwrap();
    let mut other = UdQueuePair::new(&context, CONFIG).unwrap();
    let mgid: Gid = "ff12:401b:ffff::1".parse().unwrap();
    let mlid = umad::join(&port, mgid);
    let grh = GlobalRoute { dgid: mgid, hop_limit: 1, ..GlobalRoute::default() };
    let group = AddressVector { dlid: mlid, ..here(&port) }.with_grh(grh);
    let to = other.qpn();
    let mut send = |way: &AddressVector, qpn, payload: &[u8]| {
        while one.poll().unwrap().is_some() {}
        one.send(way, qpn, Qkey::GSI, payload).unwrap().get()
    };
    // What arrives next: a datagram to the group, or the one after it.
    let mut next = |other: &mut UdQueuePair| {
        let first = send(&group, Qpn::MULTICAST, b"group");
        assert_ne!(send(&here(&port), to, b"after"), first);
        let (payload, gid) = datagram(&context, other);
        if payload == b"group" {
            assert_eq!((gid, datagram(&context, other).0), (Some(mgid), b"after".to_vec()));
        }
        payload == b"group"
    };
    assert!(!next(&mut other));
    other.attach(mgid, mlid).unwrap();
    other.attach(mgid, mlid).unwrap();
    assert!(next(&mut other));
    other.detach("ff12::99".parse().unwrap()).unwrap();
    assert!(next(&mut other), "it was another group");
    other.detach(mgid).unwrap();
    other.detach(mgid).unwrap();
    assert!(!next(&mut other));
    assert!(matches!(other.attach(port.gids[0].gid, Lid::new(0xc000)), Err(Error::Call { .. })));
}

#[test]
fn who_sent_a_datagram_is_told_with_it() {
    if at_node("groups::who_sent_a_datagram_is_told_with_it").is_none() {
        return;
    }
    let (context, port) = opened();
    let mut pair = UdQueuePair::new(&context, CONFIG).unwrap();
    let (qpn, gid) = (pair.qpn(), port.gids[0].gid);
    let grh = GlobalRoute { dgid: gid, hop_limit: 1, ..GlobalRoute::default() };
    for (way, source) in [(here(&port), None), (here(&port).with_grh(grh), Some(gid))] {
        pair.send(&way, qpn, Qkey::GSI, b"x").unwrap();
        loop {
            match pair.poll().unwrap() {
                Some(Completion::Received(datagram)) => {
                    assert_eq!((datagram.source_gid(), datagram.slid, datagram.src_qpn), (source, port.lid, qpn));
                    break;
                }
                Some(_) => {}
                None => {
                    wait_for(context.completion_fd());
                    while context.next_completion().unwrap().is_some() {}
                }
            }
        }
    }
}

#[test]
fn another_partition_is_used_from_then_on() {
    let Some(socket) = at_node("groups::another_partition_is_used_from_then_on") else { return };
    let (context, port) = opened();
    assert_eq!(control(Path::new(&socket), "pkeys node1 1 ffff,8003").unwrap(), "ok\n");
    event(&context);
    let mut one = UdQueuePair::new(&context, CONFIG).unwrap();
    let mut other = UdQueuePair::new(&context, CONFIG).unwrap();
    let to = other.qpn();
    // What is under way stays where nothing changes.
    one.send(&here(&port), to, Qkey::GSI, b"stays").unwrap();
    other.set_pkey_index(0).unwrap();
    assert_eq!(datagram(&context, &mut other).0, b"stays");
    other.set_pkey_index(1).unwrap();
    assert_eq!(other.config().pkey_index, 1);
    one.send(&here(&port), to, Qkey::GSI, b"lost").unwrap();
    one.set_pkey_index(1).unwrap();
    one.send(&here(&port), to, Qkey::GSI, b"arrives").unwrap();
    assert_eq!(datagram(&context, &mut other).0, b"arrives");
    assert!(one.set_pkey_index(9).is_err(), "there is none");
}

#[test]
fn as_many_are_received_unread_as_there_are_buffers() {
    if at_node("groups::as_many_are_received_unread_as_there_are_buffers").is_none() {
        return;
    }
    let (context, port) = opened();
    for depth in [1, 4] {
        let mut ring = UdQueuePair::new(&context, UdConfig { recv_depth: depth, ..CONFIG }).unwrap();
        let mut last = UdQueuePair::new(&context, CONFIG).unwrap();
        for _ in 0..=depth {
            last.send(&here(&port), ring.qpn(), Qkey::GSI, b"x").unwrap();
        }
        let own = last.qpn();
        last.send(&here(&port), own, Qkey::GSI, b"last").unwrap();
        assert_eq!(datagram(&context, &mut last).0, b"last");
        let mut received = 0;
        while let Some(completion) = ring.poll().unwrap() {
            received += u32::from(matches!(completion, Completion::Received(_)));
        }
        assert_eq!(received, depth, "the device drops what is over it");
    }
}
