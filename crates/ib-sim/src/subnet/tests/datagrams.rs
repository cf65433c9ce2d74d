//! UD delivery and the faults of links.
use super::*;
use crate::Source;
use ib_mad::{AddressVector, GlobalRoute, as_bytes, packet::Grh};

#[test]
fn unicast_says_where_it_came_from() {
    let mut subnet = subnet_of(2, SubnetConfig { lmc: ib_mad::id::Lmc::of::<2>(), ..SubnetConfig::default() });
    let (from, to) = (qp(&mut subnet, 1), qp(&mut subnet, 2));
    let (slid, dlid) = (lid(&subnet, 1), lid(&subnet, 2));
    let dlid = Lid::new(dlid.get() + 3);
    let mut datagram = Datagram::unicast(dlid, to.qpn, QKEY, b"x");
    datagram.to.path_bits = 1;
    subnet.send_datagram(T0, from, &datagram).unwrap();
    let Some(Event::Datagram { qp, source, grh, payload }) = subnet.poll_event() else { panic!() };
    let expected = Source {
        slid: Lid::new(slid.get() + 1),
        qpn: from.qpn,
        sl: ServiceLevel::default(),
        path_bits: 3,
        pkey_index: 0,
    };
    assert_eq!((qp, source, grh, &*payload), (to, expected, None, &b"x"[..]));
}

#[test]
fn a_global_route_becomes_a_header() {
    let mut subnet = subnet(2);
    let (from, to) = (qp(&mut subnet, 1), qp(&mut subnet, 2));
    let dgid = gid(&subnet, 2);
    let route =
        GlobalRoute { dgid, sgid_index: 0, hop_limit: 63, traffic_class: 0xab, flow_label: FlowLabel::of::<0x12345>() };
    let way = AddressVector::local(lid(&subnet, 2), ServiceLevel::default());
    let datagram = |route| Datagram { to: way.with_grh(route), qpn: to.qpn, qkey: QKEY, payload: &[0; 256] };
    subnet.send_datagram(T0, from, &datagram(route)).unwrap();
    let Some(Event::Datagram { grh: Some(grh), .. }) = subnet.poll_event() else { panic!() };
    // Version 6, class 0xab, flow 0x12345; 256 + 24 bytes; 0x1b; hop limit 63 (IBTA 8.3).
    assert_eq!(as_bytes(&grh)[..8], [0x6a, 0xb1, 0x23, 0x45, 0x01, 0x18, 0x1b, 63]);
    assert_eq!((grh.sgid, grh.dgid, grh.next_header), (gid(&subnet, 1), dgid, Grh::NEXT_HEADER_IBA));
    let bad = datagram(GlobalRoute { sgid_index: 1, ..route });
    assert_eq!(subnet.send_datagram(T0, from, &bad), Err(Error::NoSuchGid { port: port(1), index: 1 }));
}

#[test]
fn keys_keep_datagrams_out() {
    let limited = Pkey::new(0x0001);
    let config =
        SubnetConfig { pkeys: vec![Pkey::DEFAULT_FULL, limited, Pkey::new(0x8001)], ..SubnetConfig::default() };
    let mut subnet = subnet_of(2, config);
    let dlid = lid(&subnet, 2);
    let own = Qkey::new(0x1234);
    let from = [0, 1, 2].map(|index| subnet.create_qp(port(1), own, index).unwrap());
    let to = [0, 1, 2].map(|index| subnet.create_qp(port(2), own, index).unwrap());
    let mut passes = |from: QpId, to: QpId, qkey| {
        subnet.send_datagram(T0, from, &Datagram::unicast(dlid, to.qpn, qkey, b"x")).unwrap();
        subnet.poll_event().is_some()
    };
    assert!(passes(from[0], to[0], own));
    assert!(!passes(from[0], to[0], Qkey::new(1)));
    // A controlled key stands for the sender's own.
    assert!(passes(from[0], to[0], QKEY));
    assert!(!passes(from[0], to[1], own));
    assert!(!passes(from[1], to[1], own));
    assert!(passes(from[1], to[2], own) && passes(from[2], to[1], own) && passes(from[2], to[2], own));
    let counters = subnet.counters();
    assert_eq!((counters.ud_unicast, counters.ud_delivered), (8, 5));
    assert_eq!((counters.ud_qkey_mismatch, counters.ud_pkey_mismatch), (1, 2));
}

#[test]
fn nobody_there_is_counted() {
    let mut subnet = subnet(2);
    let (from, to) = (qp(&mut subnet, 1), qp(&mut subnet, 2));
    let dlid = lid(&subnet, 2);
    subnet.send_datagram(T0, from, &Datagram::unicast(Lid::new(999), to.qpn, QKEY, b"x")).unwrap();
    subnet.send_datagram(T0, from, &Datagram::unicast(dlid, Qpn::of::<0x999>(), QKEY, b"x")).unwrap();
    subnet.destroy_qp(to).unwrap();
    subnet.send_datagram(T0, from, &Datagram::unicast(dlid, to.qpn, QKEY, b"x")).unwrap();
    assert_eq!((subnet.poll_event(), subnet.counters().ud_no_destination), (None, 3));
    assert_eq!(subnet.destroy_qp(to), Err(Error::NoSuchQp(to)));
    let long = [0; 4097];
    let sent = subnet.send_datagram(T0, from, &Datagram::unicast(dlid, to.qpn, QKEY, &long));
    assert_eq!(sent, Err(Error::TooLong { got: 4097, mtu: 4096 }));
}

#[test]
fn multicast_goes_to_members_that_are_attached() {
    let mut subnet = subnet(4);
    let qps: Vec<QpId> = (1..=4).map(|node| qp(&mut subnet, node)).collect();
    // Node 2 is attached and has not joined, node 3 has joined and is not attached.
    for member in [1, 3, 4] {
        let query = join(gid(&subnet, member)).set(tid());
        assert_eq!(ask(&mut subnet, member, &query).header.status, Status::OK);
    }
    for index in [0, 1, 3] {
        subnet.attach(qps[index], mgid()).unwrap();
    }
    let mlid = subnet.group(mgid()).unwrap().mlid;
    let datagram = Datagram::multicast(mlid, mgid(), QKEY, b"x");
    subnet.send_datagram(T0, qps[0], &datagram).unwrap();
    let Some(Event::Datagram { qp, grh: Some(grh), .. }) = subnet.poll_event() else { panic!() };
    assert_eq!((qp, grh.dgid, grh.sgid), (qps[3], mgid(), gid(&subnet, 1)));
    assert_eq!((subnet.poll_event(), subnet.counters().ud_not_member), (None, 1));

    subnet.send_datagram(T0, qps[1], &datagram).unwrap();
    assert_eq!((subnet.poll_event(), subnet.counters().ud_not_member), (None, 2));

    subnet.settings_mut().strict_multicast = false;
    subnet.settings_mut().multicast_to_sender = true;
    subnet.send_datagram(T0, qps[0], &datagram).unwrap();
    let receivers: Vec<u32> = run(&mut subnet)
        .iter()
        .filter_map(|(_, event)| match event {
            Event::Datagram { qp, .. } => Some(qp.port.node.get()),
            _ => None,
        })
        .collect();
    assert_eq!(receivers, [1, 2, 4]);
    let mut no_group = datagram;
    no_group.to.grh = None;
    assert_eq!(subnet.send_datagram(T0, qps[0], &no_group), Err(Error::NoGroup));
    assert_eq!(subnet.attach(qps[0], Gid::ZERO), Err(Error::NotMulticast(Gid::ZERO)));
}

#[test]
fn a_group_is_of_one_partition_and_a_source_gid_is_there() {
    let other = Pkey::new(0x8001);
    let mut subnet = subnet_of(2, SubnetConfig { pkeys: vec![Pkey::DEFAULT_FULL, other], ..SubnetConfig::default() });
    let (wrong, right) = (subnet.create_qp(port(1), QKEY, 0).unwrap(), subnet.create_qp(port(1), QKEY, 1).unwrap());
    // One that would take what is sent in the wrong partition.
    let (also, to) = (subnet.create_qp(port(2), QKEY, 0).unwrap(), subnet.create_qp(port(2), QKEY, 1).unwrap());
    for node in [1, 2] {
        let query = join(gid(&subnet, node)).pkey(other).set(tid());
        assert_eq!(ask(&mut subnet, node, &query).header.status, Status::OK);
    }
    subnet.attach(also, mgid()).unwrap();
    subnet.attach(to, mgid()).unwrap();
    let mut datagram = Datagram::multicast(subnet.group(mgid()).unwrap().mlid, mgid(), QKEY, b"x");
    subnet.send_datagram(T0, wrong, &datagram).unwrap();
    assert_eq!((subnet.poll_event(), subnet.counters().ud_pkey_mismatch), (None, 1));
    subnet.send_datagram(T0, right, &datagram).unwrap();
    assert!(matches!(subnet.poll_event(), Some(Event::Datagram { .. })));
    // The GID moves to the second place.
    let old = subnet.port(port(1)).unwrap().clone();
    let own = old.gid();
    subnet.set_port(port(1), Port { gids: vec![Gid::ZERO, own], ..old }).unwrap();
    assert_eq!((subnet.port_by_gid(own), subnet.port(port(1)).unwrap().gid()), (Some(port(1)), own));
    while subnet.poll_event().is_some() {}
    let sent = subnet.send_datagram(T0, right, &datagram);
    assert_eq!(sent, Err(Error::NoSuchGid { port: port(1), index: 0 }));
    datagram.to.grh.as_mut().unwrap().sgid_index = 1;
    subnet.send_datagram(T0, right, &datagram).unwrap();
    assert!(matches!(subnet.poll_event(), Some(Event::Datagram { grh: Some(grh), .. }) if grh.sgid == own));
}

#[test]
fn an_old_group_lid_leads_nowhere() {
    let mut subnet = subnet(2);
    let (from, to) = (qp(&mut subnet, 1), qp(&mut subnet, 2));
    let old = join_all(&mut subnet);
    subnet.attach(to, mgid()).unwrap();
    subnet.restart_sm(Some(Lid::new(0xc100)));
    assert_eq!(run(&mut subnet).len(), 2);
    assert_eq!(join_all(&mut subnet), Lid::new(0xc100));
    subnet.send_datagram(T0, from, &Datagram::multicast(old, mgid(), QKEY, b"x")).unwrap();
    assert_eq!(subnet.poll_event(), None);
    subnet.send_datagram(T0, from, &Datagram::multicast(Lid::new(0xc100), mgid(), QKEY, b"x")).unwrap();
    assert!(matches!(subnet.poll_event(), Some(Event::Datagram { .. })));
}

/// Sends 200 datagrams, 1 ms apart, over a link with faults.
fn numbered(seed: u64, faults: Faults) -> (Vec<(Duration, u8)>, crate::Counters) {
    let mut subnet = Subnet::new(SubnetConfig::default(), seed);
    subnet.add_node().unwrap();
    subnet.add_node().unwrap();
    let (from, to) = (qp(&mut subnet, 1), qp(&mut subnet, 2));
    let dlid = lid(&subnet, 2);
    subnet.settings_mut().faults = faults;
    let mut seen = Vec::new();
    for number in 0..200 {
        let now = ms(number.into());
        while subnet.poll_timeout().is_some_and(|due| due <= now) {
            let due = subnet.poll_timeout().unwrap();
            subnet.handle_timeout(due);
            seen.extend(core::iter::from_fn(|| subnet.poll_event()).map(|event| (due, event)));
        }
        subnet.send_datagram(now, from, &Datagram::unicast(dlid, to.qpn, QKEY, &[number])).unwrap();
        seen.extend(core::iter::from_fn(|| subnet.poll_event()).map(|event| (now, event)));
    }
    seen.extend(run(&mut subnet));
    (payloads(&seen), subnet.counters())
}

#[test]
fn loss_follows_its_seed() {
    let faults = Faults { loss: Probability::percent(30), ..Faults::default() };
    let (seen, counters) = numbered(7, faults);
    assert_eq!((seen.clone(), counters), numbered(7, faults));
    assert_ne!(seen, numbered(8, faults).0);
    assert!((40..80).contains(&counters.ud_lost), "{counters:?}");
    assert_eq!(counters.ud_lost + counters.ud_delivered, 200);
    let (seen, _) = numbered(7, Faults { down: true, ..Faults::default() });
    assert!(seen.is_empty());
}

#[test]
fn duplicates_come_twice() {
    let (seen, counters) = numbered(1, Faults { duplicate: Probability::percent(50), ..Faults::default() });
    assert!((70..130).contains(&counters.ud_duplicated), "{counters:?}");
    assert_eq!(seen.len() as u64, 200 + counters.ud_duplicated);
}

#[test]
fn delay_and_jitter_keep_the_order() {
    let faults = Faults { delay: ms(5), jitter: ms(20), ..Faults::default() };
    let (seen, _) = numbered(3, faults);
    assert!(seen.iter().map(|(_, number)| *number).eq(0..200));
    assert!(seen.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    for (at, number) in seen {
        let took = at - ms(number.into());
        assert!(took > ms(5) && took <= ms(25), "{number} took {took:?}");
    }
}

#[test]
fn reordered_ones_are_overtaken_and_none_is_lost() {
    let faults = Faults { reorder: Probability::percent(20), reorder_hold: ms(10), ..Faults::default() };
    let (seen, counters) = numbered(5, faults);
    let mut numbers: Vec<u8> = seen.iter().map(|(_, number)| *number).collect();
    assert!(!numbers.is_sorted() && counters.ud_reordered > 20, "{counters:?}");
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..200));
}

#[test]
fn a_link_has_faults_of_its_own() {
    let mut subnet = subnet(3);
    let qps: Vec<QpId> = (1..=3).map(|node| qp(&mut subnet, node)).collect();
    subnet.set_link(port(1), port(2), Some(Faults { down: true, ..Faults::default() }));
    let passes = |subnet: &mut Subnet, from: usize, to: usize| {
        let dlid = lid(subnet, qps[to].port.node.get());
        subnet.send_datagram(T0, qps[from], &Datagram::unicast(dlid, qps[to].qpn, QKEY, b"x")).unwrap();
        subnet.poll_event().is_some()
    };
    assert!(!passes(&mut subnet, 0, 1));
    assert!(passes(&mut subnet, 1, 0) && passes(&mut subnet, 0, 2));
    subnet.set_link(port(1), port(2), None);
    assert!(passes(&mut subnet, 0, 1));
}
