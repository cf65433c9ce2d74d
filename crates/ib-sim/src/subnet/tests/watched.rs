//! Copies of packets for a watcher.
use super::*;
use crate::crossing::Crossing;
use ib_mad::{MadRef, Method};

fn crossings(subnet: &mut Subnet) -> Vec<Crossing> {
    core::iter::from_fn(|| subnet.poll_crossing()).collect()
}

#[test]
fn packets_are_not_kept_without_a_watcher() {
    let mut subnet = subnet(2);
    let (from, to) = (qp(&mut subnet, 1), qp(&mut subnet, 2));
    let dlid = lid(&subnet, 2);
    subnet.send_datagram(T0, from, &Datagram::unicast(dlid, to.qpn, QKEY, b"x")).unwrap();
    assert_eq!(crossings(&mut subnet), []);
    subnet.watch();
    assert_eq!(crossings(&mut subnet), []);
}

#[test]
fn datagram_is_kept_when_sent_and_when_received() {
    let mut subnet = subnet(2);
    subnet.watch();
    let (from, to) = (qp(&mut subnet, 1), qp(&mut subnet, 2));
    let (slid, dlid) = (lid(&subnet, 1), lid(&subnet, 2));
    subnet.settings_mut().faults.delay = ms(3);
    subnet.send_datagram(ms(1), from, &Datagram::unicast(dlid, to.qpn, QKEY, b"hello")).unwrap();
    subnet.handle_timeout(ms(4));
    let sent = Crossing {
        at: ms(1),
        delivered: false,
        port: port(1),
        slid,
        dlid,
        sl: ServiceLevel::default(),
        pkey: Pkey::DEFAULT_FULL,
        source: from.qpn,
        dest: to.qpn,
        qkey: QKEY,
        grh: None,
        payload: b"hello".as_slice().into(),
    };
    let received = Crossing { at: ms(4), delivered: true, port: port(2), ..sent.clone() };
    assert_eq!(crossings(&mut subnet), [sent, received]);
    subnet.settings_mut().faults.loss = Probability::ALWAYS;
    subnet.send_datagram(ms(5), from, &Datagram::unicast(dlid, to.qpn, QKEY, b"x")).unwrap();
    subnet.handle_timeout(ms(9));
    assert_eq!(crossings(&mut subnet).iter().map(|packet| packet.delivered).collect::<Vec<_>>(), [false]);
}

#[test]
fn multicast_is_kept_once_when_sent_and_once_per_receiver() {
    let mut subnet = subnet(3);
    let all: Vec<QpId> = (1..=3).map(|node| qp(&mut subnet, node)).collect();
    for qp in &all {
        let mad = join(gid(&subnet, qp.port.node.get())).request(Method::SET, tid());
        subnet.send_mad(T0, qp.port, to_sa(ms(100), 0), &mad).unwrap();
        subnet.attach(*qp, mgid()).unwrap();
    }
    let mlid = subnet.groups().next().unwrap().mlid;
    subnet.watch();
    subnet.send_datagram(T0, all[0], &Datagram::multicast(mlid, mgid(), QKEY, b"who")).unwrap();
    let seen: Vec<_> = crossings(&mut subnet)
        .into_iter()
        .map(|packet| (packet.delivered, packet.port, packet.dlid, packet.dest))
        .collect();
    let expected = |delivered, node| (delivered, port(node), mlid, Qpn::MULTICAST);
    assert_eq!(seen, [expected(false, 1), expected(true, 2), expected(true, 3)]);
}

#[test]
fn each_transmission_of_a_request_and_its_response_are_kept() {
    let mut subnet = subnet(2);
    subnet.watch();
    let mad = Query::<PathRecord>::new().dgid(gid(&subnet, 2)).sgid(gid(&subnet, 1)).request(Method::GET, tid());
    subnet.settings_mut().sa.loss = Probability::ALWAYS;
    subnet.send_mad(T0, port(1), to_sa(ms(100), 1), &mad).unwrap();
    subnet.settings_mut().sa.loss = Probability::percent(0);
    subnet.handle_timeout(ms(100));
    let (local, sm) = (lid(&subnet, 1), subnet.port(port(1)).unwrap().sm_lid);
    let seen: Vec<_> = crossings(&mut subnet)
        .into_iter()
        .map(|packet| (packet.at, MadRef::new(&packet.payload).unwrap().header().method, packet.slid, packet.dlid))
        .collect();
    assert_eq!(
        seen,
        [(T0, Method::GET, local, sm), (ms(100), Method::GET, local, sm), (ms(100), Method::GET_RESP, sm, local)]
    );
    let report = mad;
    subnet.report(ms(101), port(2), Lid::new(77), &report);
    let seen = crossings(&mut subnet);
    assert_eq!((seen.len(), seen[0].delivered, seen[0].port, seen[0].slid), (1, true, port(2), Lid::new(77)));
}
