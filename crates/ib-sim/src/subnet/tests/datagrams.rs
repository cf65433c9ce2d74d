//! UD delivery and the faults of links.
use super::*;
use crate::datagram::Source;
use ib_mad::{AddressVector, GlobalRoute, Method, as_bytes, packet::Grh};

#[test]
fn unicast_has_the_address_of_its_sender() {
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
fn global_route_becomes_a_global_route_header() {
    let mut subnet = subnet(2);
    let (from, to) = (qp(&mut subnet, 1), qp(&mut subnet, 2));
    let dgid = gid(&subnet, 2);
    let route =
        GlobalRoute { dgid, sgid_index: 0, hop_limit: 63, traffic_class: 0xab, flow_label: FlowLabel::of::<0x12345>() };
    let path = AddressVector::local(lid(&subnet, 2), ServiceLevel::default());
    let datagram = |route| Datagram { to: path.with_grh(route), qpn: to.qpn, qkey: QKEY, payload: &[0; 256] };
    subnet.send_datagram(T0, from, &datagram(route)).unwrap();
    let Some(Event::Datagram { grh: Some(grh), .. }) = subnet.poll_event() else { panic!() };
    // Version 6, class 0xab, flow 0x12345; 256 + 24 bytes; 0x1b; hop limit 63 (IBTA 8.3).
    assert_eq!(as_bytes(&grh)[..8], [0x6a, 0xb1, 0x23, 0x45, 0x01, 0x18, 0x1b, 63]);
    assert_eq!((grh.sgid, grh.dgid, grh.next_header), (gid(&subnet, 1), dgid, Grh::NEXT_HEADER_IBA));
    let bad = datagram(GlobalRoute { sgid_index: 1, ..route });
    assert_eq!(subnet.send_datagram(T0, from, &bad), Err(Error::NoSuchGid { port: port(1), index: 1 }));
    let strict = Port { grh_required: true, ..subnet.port(port(1)).unwrap().clone() };
    subnet.set_port(port(1), strict).unwrap();
    let local = Datagram { to: path, ..datagram(route) };
    assert_eq!(subnet.send_datagram(T0, from, &local), Err(Error::NoRoute(port(1))));
    assert_eq!(subnet.send_datagram(T0, from, &datagram(route)), Ok(()));
}

#[test]
fn datagram_with_wrong_qkey_or_pkey_is_dropped() {
    let limited = Pkey::new(0x0001);
    let config =
        SubnetConfig { pkeys: vec![Pkey::DEFAULT_FULL, limited, Pkey::new(0x8001)], ..SubnetConfig::default() };
    let mut subnet = subnet_of(2, config);
    let dlid = lid(&subnet, 2);
    let qkey = Qkey::new(0x1234);
    let from = [0, 1, 2].map(|index| subnet.create_qp(port(1), qkey, index).unwrap());
    let to = [0, 1, 2].map(|index| subnet.create_qp(port(2), qkey, index).unwrap());
    let mut passes = |from: QpId, to: QpId, qkey| {
        subnet.send_datagram(T0, from, &Datagram::unicast(dlid, to.qpn, qkey, b"x")).unwrap();
        subnet.poll_event().is_some()
    };
    assert!(passes(from[0], to[0], qkey));
    assert!(!passes(from[0], to[0], Qkey::new(1)));
    // A controlled key is replaced by the sender's own key.
    assert!(passes(from[0], to[0], QKEY));
    assert!(!passes(from[0], to[1], qkey));
    assert!(!passes(from[1], to[1], qkey));
    assert!(passes(from[1], to[2], qkey) && passes(from[2], to[1], qkey) && passes(from[2], to[2], qkey));
    let counters = subnet.counters();
    assert_eq!((counters.ud_unicast, counters.ud_delivered), (8, 5));
    assert_eq!((counters.ud_qkey_mismatch, counters.ud_pkey_mismatch), (1, 2));
}

#[test]
fn datagram_without_destination_is_counted_and_too_long_one_is_refused() {
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
fn multicast_reaches_members_that_are_attached() {
    let mut subnet = subnet(4);
    let qps: Vec<QpId> = (1..=4).map(|node| qp(&mut subnet, node)).collect();
    // Node 2 is attached but has not joined. Node 3 has joined but is not attached.
    for member in [1, 3, 4] {
        let query = join(gid(&subnet, member)).request(Method::SET, tid());
        assert_eq!(request(&mut subnet, member, &query).header.status, Status::OK);
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
fn multicast_needs_the_groups_partition_and_a_valid_source_gid() {
    let other = Pkey::new(0x8001);
    let mut subnet = subnet_of(2, SubnetConfig { pkeys: vec![Pkey::DEFAULT_FULL, other], ..SubnetConfig::default() });
    let (wrong, right) = (subnet.create_qp(port(1), QKEY, 0).unwrap(), subnet.create_qp(port(1), QKEY, 1).unwrap());
    // A receiver in the wrong partition, too.
    let (wrong_receiver, to) =
        (subnet.create_qp(port(2), QKEY, 0).unwrap(), subnet.create_qp(port(2), QKEY, 1).unwrap());
    for node in [1, 2] {
        let query = join(gid(&subnet, node)).pkey(other).request(Method::SET, tid());
        assert_eq!(request(&mut subnet, node, &query).header.status, Status::OK);
    }
    subnet.attach(wrong_receiver, mgid()).unwrap();
    subnet.attach(to, mgid()).unwrap();
    let mut datagram = Datagram::multicast(subnet.group(mgid()).unwrap().mlid, mgid(), QKEY, b"x");
    subnet.send_datagram(T0, wrong, &datagram).unwrap();
    assert_eq!((subnet.poll_event(), subnet.counters().ud_pkey_mismatch), (None, 1));
    subnet.send_datagram(T0, right, &datagram).unwrap();
    assert!(matches!(subnet.poll_event(), Some(Event::Datagram { .. })));
    // The GID moves to index 1.
    let old = subnet.port(port(1)).unwrap().clone();
    let sgid = old.gid();
    subnet.set_port(port(1), Port { gids: vec![Gid::ZERO, sgid], ..old }).unwrap();
    assert_eq!((subnet.port_by_gid(sgid), subnet.port(port(1)).unwrap().gid()), (Some(port(1)), sgid));
    while subnet.poll_event().is_some() {}
    let sent = subnet.send_datagram(T0, right, &datagram);
    assert_eq!(sent, Err(Error::NoSuchGid { port: port(1), index: 0 }));
    datagram.to.grh.as_mut().unwrap().sgid_index = 1;
    subnet.send_datagram(T0, right, &datagram).unwrap();
    assert!(matches!(subnet.poll_event(), Some(Event::Datagram { grh: Some(grh), .. }) if grh.sgid == sgid));
}

#[test]
fn multicast_to_a_former_group_lid_is_dropped() {
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

/// Sends 200 numbered datagrams over a link with faults, 1 ms apart. Returns the received numbers with their times.
fn numbered(seed: u64, faults: Faults) -> (Vec<(Duration, u8)>, crate::counters::Counters) {
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
fn loss_depends_on_the_seed_only() {
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
fn duplicated_datagrams_are_received_twice() {
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
fn reordered_datagrams_are_overtaken_and_not_lost() {
    let faults = Faults { reorder: Probability::percent(20), reorder_hold: ms(10), ..Faults::default() };
    let (seen, counters) = numbered(5, faults);
    let mut numbers: Vec<u8> = seen.iter().map(|(_, number)| *number).collect();
    assert!(!numbers.is_sorted() && counters.ud_reordered > 20, "{counters:?}");
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..200));
}

#[test]
fn faults_of_a_link_replace_the_general_ones() {
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
