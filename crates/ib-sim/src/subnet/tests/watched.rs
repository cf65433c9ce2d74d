//! What whoever watches hears.
use super::*;
use crate::Crossing;
use ib_mad::{MadRef, Method};

fn crossings(subnet: &mut Subnet) -> Vec<Crossing> {
    core::iter::from_fn(|| subnet.poll_crossing()).collect()
}

#[test]
fn nobody_watches_unless_asked_to() {
    let mut subnet = subnet(2);
    let (from, to) = (qp(&mut subnet, 1), qp(&mut subnet, 2));
    let dlid = lid(&subnet, 2);
    subnet.send_datagram(T0, from, &Datagram::unicast(dlid, to.qpn, QKEY, b"x")).unwrap();
    assert_eq!(crossings(&mut subnet), []);
    subnet.watch();
    assert_eq!(crossings(&mut subnet), []);
}

/// Sent by one and taken by the other, with the same headers; what is lost was sent only.
#[test]
fn a_datagram_crosses_two_links() {
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
    let taken = Crossing { at: ms(4), delivered: true, port: port(2), ..sent.clone() };
    assert_eq!(crossings(&mut subnet), [sent, taken]);
    subnet.settings_mut().faults.loss = Probability::ALWAYS;
    subnet.send_datagram(ms(5), from, &Datagram::unicast(dlid, to.qpn, QKEY, b"x")).unwrap();
    subnet.handle_timeout(ms(9));
    assert_eq!(crossings(&mut subnet).iter().map(|packet| packet.delivered).collect::<Vec<_>>(), [false]);
}

#[test]
fn a_multicast_is_sent_once_and_taken_by_all() {
    let mut subnet = subnet(3);
    let all: Vec<QpId> = (1..=3).map(|node| qp(&mut subnet, node)).collect();
    for qp in &all {
        let mad = join(gid(&subnet, qp.port.node.get())).set(tid());
        subnet.send_mad(T0, qp.port, to_sa(ms(100), 0), &mad).unwrap();
        subnet.attach(*qp, mgid()).unwrap();
    }
    let mlid = subnet.groups().next().unwrap().mlid;
    subnet.watch();
    subnet.send_datagram(T0, all[0], &Datagram::multicast(mlid, mgid(), QKEY, b"who")).unwrap();
    let seen: Vec<_> =
        crossings(&mut subnet).into_iter().map(|own| (own.delivered, own.port, own.dlid, own.dest)).collect();
    let of = |delivered, node| (delivered, port(node), mlid, Qpn::MULTICAST);
    assert_eq!(seen, [of(false, 1), of(true, 2), of(true, 3)]);
}

/// Each transmission, and the answer.
#[test]
fn questions_and_answers_of_administration() {
    let mut subnet = subnet(2);
    subnet.watch();
    let mad = Query::<PathRecord>::new().dgid(gid(&subnet, 2)).sgid(gid(&subnet, 1)).get(tid());
    subnet.settings_mut().sa.loss = Probability::ALWAYS;
    subnet.send_mad(T0, port(1), to_sa(ms(100), 1), &mad).unwrap();
    subnet.settings_mut().sa.loss = Probability::percent(0);
    subnet.handle_timeout(ms(100));
    let (own, sm) = (lid(&subnet, 1), subnet.port(port(1)).unwrap().sm_lid);
    let seen: Vec<_> = crossings(&mut subnet)
        .into_iter()
        .map(|packet| (packet.at, MadRef::new(&packet.payload).unwrap().header().method, packet.slid, packet.dlid))
        .collect();
    assert_eq!(
        seen,
        [(T0, Method::GET, own, sm), (ms(100), Method::GET, own, sm), (ms(100), Method::GET_RESP, sm, own)]
    );
    let report = mad;
    subnet.report(ms(101), port(2), Lid::new(77), &report);
    let seen = crossings(&mut subnet);
    assert_eq!((seen.len(), seen[0].delivered, seen[0].port, seen[0].slid), (1, true, port(2), Lid::new(77)));
}
