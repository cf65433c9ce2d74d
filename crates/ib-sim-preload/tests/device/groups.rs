//! Groups, partitions, and the addresses of received datagrams.
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
fn multicast_is_received_while_the_queue_pair_is_attached() {
    if at_node("groups::multicast_is_received_while_the_queue_pair_is_attached").is_none() {
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
    let mut send = |path: &AddressVector, qpn, payload: &[u8]| {
        while one.poll().unwrap().is_some() {}
        one.send(path, qpn, Qkey::GSI, payload).unwrap().get()
    };
    // Sends a datagram to the group and one to the queue pair. Returns true if the first is received.
    let mut is_received = |other: &mut UdQueuePair| {
        let first = send(&group, Qpn::MULTICAST, b"group");
        assert_ne!(send(&here(&port), to, b"after"), first);
        let (payload, gid) = datagram(&context, other);
        if payload == b"group" {
            assert_eq!((gid, datagram(&context, other).0), (Some(mgid), b"after".to_vec()));
        }
        payload == b"group"
    };
    assert!(!is_received(&mut other));
    other.attach(mgid, mlid).unwrap();
    other.attach(mgid, mlid).unwrap();
    assert!(is_received(&mut other));
    other.detach("ff12::99".parse().unwrap()).unwrap();
    assert!(is_received(&mut other), "another group was detached");
    other.detach(mgid).unwrap();
    other.detach(mgid).unwrap();
    assert!(!is_received(&mut other));
    assert!(matches!(other.attach(port.gids[0].gid, Lid::new(0xc000)), Err(Error::Call { .. })));
}

#[test]
fn received_datagram_has_the_address_of_its_sender() {
    let Some(socket) = at_node("groups::received_datagram_has_the_address_of_its_sender") else { return };
    // Four LIDs, from 64.
    for command in ["lid node1 1 64", "lmc node1 1 2"] {
        assert_eq!(control(&socket, command).unwrap(), "ok\n");
    }
    let (context, port) = opened();
    let mut pair = UdQueuePair::new(&context, CONFIG).unwrap();
    let (qpn, gid) = (pair.qpn(), port.gids[0].gid);
    let grh = GlobalRoute { dgid: gid, hop_limit: 1, ..GlobalRoute::default() };
    let global = here(&port).with_grh(grh);
    let paths = [here(&port), global, AddressVector { path_bits: 3, ..global }];
    for (path, (source, slid)) in paths.into_iter().zip([(None, 64), (Some(gid), 64), (Some(gid), 67)]) {
        pair.send(&path, qpn, Qkey::GSI, b"x").unwrap();
        loop {
            match pair.poll().unwrap() {
                Some(Completion::Received(datagram)) => {
                    let sender = (datagram.source_gid(), datagram.slid.get(), datagram.src_qpn);
                    assert_eq!(sender, (source, slid, qpn));
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
fn new_pkey_index_is_used_for_sends_and_receives() {
    let Some(socket) = at_node("groups::new_pkey_index_is_used_for_sends_and_receives") else { return };
    let (context, port) = opened();
    assert_eq!(control(Path::new(&socket), "pkeys node1 1 ffff,8003").unwrap(), "ok\n");
    event(&context);
    let mut one = UdQueuePair::new(&context, CONFIG).unwrap();
    let mut other = UdQueuePair::new(&context, CONFIG).unwrap();
    let to = other.qpn();
    // The same index keeps datagrams on their way.
    one.send(&here(&port), to, Qkey::GSI, b"stays").unwrap();
    other.set_pkey_index(0).unwrap();
    assert_eq!(datagram(&context, &mut other).0, b"stays");
    other.set_pkey_index(1).unwrap();
    assert_eq!(other.config().pkey_index, 1);
    one.send(&here(&port), to, Qkey::GSI, b"lost").unwrap();
    one.set_pkey_index(1).unwrap();
    one.send(&here(&port), to, Qkey::GSI, b"arrives").unwrap();
    assert_eq!(datagram(&context, &mut other).0, b"arrives");
    assert!(one.set_pkey_index(9).is_err(), "no such index");
}

// docs/deadlines.md: received
#[test]
fn unread_datagrams_beyond_the_receive_buffers_are_dropped() {
    if at_node("groups::unread_datagrams_beyond_the_receive_buffers_are_dropped").is_none() {
        return;
    }
    let (context, port) = opened();
    for depth in [1, 4] {
        let mut ring = UdQueuePair::new(&context, UdConfig { recv_depth: depth, ..CONFIG }).unwrap();
        let mut last = UdQueuePair::new(&context, CONFIG).unwrap();
        for _ in 0..=depth {
            last.send(&here(&port), ring.qpn(), Qkey::GSI, b"x").unwrap();
        }
        let qpn = last.qpn();
        last.send(&here(&port), qpn, Qkey::GSI, b"last").unwrap();
        assert_eq!(datagram(&context, &mut last).0, b"last");
        let mut received = 0;
        while let Some(completion) = ring.poll().unwrap() {
            received += u32::from(matches!(completion, Completion::Received(_)));
        }
        assert_eq!(received, depth, "the device drops the others");
    }
}
