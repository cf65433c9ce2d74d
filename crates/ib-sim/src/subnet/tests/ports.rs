//! Nodes, ports and their events.
use super::*;
use alloc::collections::BTreeMap;

fn changes(subnet: &mut Subnet) -> Vec<(u32, PortChange)> {
    run(subnet)
        .into_iter()
        .filter_map(|(_, event)| match event {
            Event::Port { port, change } => Some((port.node.get(), change)),
            _ => None,
        })
        .collect()
}

#[test]
fn nodes_are_numbered_as_documented() {
    let subnet = subnet_of(3, SubnetConfig { ports_per_node: 2, ..SubnetConfig::default() });
    let node = subnet.node(crate::id::NodeId::new(3)).unwrap();
    assert_eq!((node.name.as_str(), node.guid.get()), ("node3", 0x0002_c903_0000_0030));
    let second = subnet.port(PortId::new(3, 2)).unwrap();
    assert_eq!((second.guid.get(), second.lid), (0x0002_c903_0000_0032, Lid::new(3 * 2 + 2 - 1 + 15)));
    assert_eq!(second.gids, ["fe80::2:c903:0:32".parse().unwrap()]);
    assert_eq!((second.mtu, second.rate, second.width_and_speed()), (Mtu::B4096, Rate::GBPS_100, (2, 32)));
    assert_eq!((second.sm_lid, second.subnet_timeout), (Lid::new(1), 18));
    assert_eq!(subnet.port_by_lid(second.lid), Some(PortId::new(3, 2)));
    assert_eq!(subnet.port_by_gid(second.gids[0]), Some(PortId::new(3, 2)));
    assert_eq!(subnet.node_by_name("node3"), Some(crate::id::NodeId::new(3)));
    assert_eq!(
        (subnet.port(PortId::new(3, 3)), subnet.port(PortId::new(0, 1)), subnet.port(PortId::new(1, 0))),
        (None, None, None)
    );
}

#[test]
fn lid_of_a_node_with_one_port_is_its_number_plus_15() {
    let subnet = subnet(2);
    assert_eq!((lid(&subnet, 1), lid(&subnet, 2)), (Lid::new(16), Lid::new(17)));
}

#[test]
fn lid_of_another_port_is_refused() {
    let mut subnet = subnet(2);
    let one = subnet.port(port(1)).unwrap().clone();
    let taken = lid(&subnet, 2);
    assert_eq!(subnet.set_port(port(1), Port { lid: taken, ..one.clone() }), Err(Error::LidTaken(taken)));
    assert_eq!(subnet.port(port(1)), Some(&one));
    let config = SubnetConfig { lmc: ib_mad::id::Lmc::of::<7>(), ..SubnetConfig::default() };
    assert_eq!(config.node(1000), Err(Error::Exhausted("LID")));
    let twice = crate::port::Node { ports: vec![one.clone(), one], ..SubnetConfig::default().node(9).unwrap() };
    assert!(matches!(subnet.add_node_with(twice), Err(Error::LidTaken(_))));
    assert_eq!(subnet.node_count(), 2);
}

#[test]
fn ports_exchange_lids_together_or_keep_them() {
    let mut subnet = subnet(3);
    let [one, two, three] = [1, 2, 3].map(|node| subnet.port(port(node)).unwrap().clone());
    let with = |port: &Port, lid| Port { lid, ..port.clone() };
    let twice = BTreeMap::from([(port(1), with(&one, Lid::new(99))), (port(2), with(&two, Lid::new(99)))]);
    assert_eq!(subnet.set_ports(&twice), Err(Error::LidTaken(Lid::new(99))));
    let others = BTreeMap::from([(port(1), with(&one, two.lid)), (port(2), with(&two, three.lid))]);
    assert_eq!(subnet.set_ports(&others), Err(Error::LidTaken(three.lid)));
    assert_eq!((lid(&subnet, 1), lid(&subnet, 2), changes(&mut subnet)), (one.lid, two.lid, Vec::new()));
    let exchanged = BTreeMap::from([(port(1), with(&one, two.lid)), (port(2), with(&two, one.lid))]);
    assert_eq!(subnet.set_ports(&exchanged), Ok(()));
    assert_eq!((subnet.port_by_lid(one.lid), subnet.port_by_lid(two.lid)), (Some(port(2)), Some(port(1))));
    assert_eq!(changes(&mut subnet), [(1, PortChange::Lid), (2, PortChange::Lid)]);
}

#[test]
fn every_change_of_a_port_is_an_event() {
    let mut subnet = subnet(2);
    let old = subnet.port(port(1)).unwrap().clone();
    let new = Port {
        lid: Lid::new(99),
        sm_lid: Lid::new(5),
        pkeys: vec![Pkey::DEFAULT_FULL, Pkey::new(0x8001)],
        gids: vec![old.gids[0], "fe80::1".parse().unwrap()],
        ..old.clone()
    };
    subnet.set_port(port(1), new.clone()).unwrap();
    let expected = [PortChange::Lid, PortChange::Sm, PortChange::Pkey, PortChange::Gid];
    assert_eq!(changes(&mut subnet), expected.map(|change| (1, change)));
    assert_eq!((subnet.port_by_lid(old.lid), subnet.port_by_lid(Lid::new(99))), (None, Some(port(1))));
    assert_eq!(subnet.port_by_gid("fe80::1".parse().unwrap()), Some(port(1)));
    subnet.set_port(port(1), new).unwrap();
    assert_eq!(changes(&mut subnet), []);
    subnet.reregister(port(2)).unwrap();
    assert_eq!(changes(&mut subnet), [(2, PortChange::ClientReregister)]);
    for change in PortChange::ALL {
        assert_eq!(PortChange::from_code(change.code()), Some(change));
    }
}

#[test]
fn port_that_goes_down_leaves_its_groups_and_receives_nothing() {
    let mut subnet = subnet(2);
    join_all(&mut subnet);
    let (from, to) = (qp(&mut subnet, 1), qp(&mut subnet, 2));
    subnet.settings_mut().faults.delay = ms(1);
    let dlid = lid(&subnet, 2);
    subnet.send_datagram(T0, from, &Datagram::unicast(dlid, to.qpn, QKEY, b"x")).unwrap();
    subnet.set_port_state(port(2), PortState::DOWN).unwrap();
    assert_eq!(changes(&mut subnet), [(2, PortChange::Down)]);
    assert_eq!(subnet.counters().ud_port_down, 1);
    assert_eq!(subnet.group(mgid()).unwrap().members.len(), 1);
    subnet.send_datagram(ms(1), to, &Datagram::unicast(lid(&subnet, 1), from.qpn, QKEY, b"x")).unwrap();
    assert_eq!(subnet.counters().ud_port_down, 2);
    subnet.set_port_state(port(2), PortState::ACTIVE).unwrap();
    assert_eq!(changes(&mut subnet), [(2, PortChange::Active)]);
    subnet.set_port_state(port(1), PortState::DOWN).unwrap();
    assert!(subnet.group(mgid()).is_none());
}

#[test]
fn queue_pair_numbers_are_unique_in_a_node_and_not_reused_at_once() {
    let mut subnet = subnet(2);
    let (one, two) = (qp(&mut subnet, 1), qp(&mut subnet, 2));
    assert_eq!(one.qpn, two.qpn);
    subnet.destroy_qp(one).unwrap();
    assert_ne!(qp(&mut subnet, 1).qpn, one.qpn);
    assert_eq!(subnet.create_qp_numbered(two, QKEY, 0), Err(Error::QpnTaken(two)));
    for reserved in [Qpn::SMI, Qpn::GSI, Qpn::MULTICAST] {
        let qp = QpId { port: port(1), qpn: reserved };
        assert_eq!(subnet.create_qp_numbered(qp, QKEY, 0), Err(Error::QpnTaken(qp)));
    }
    assert_eq!(subnet.create_qp(port(1), QKEY, 1), Err(Error::NoSuchPkey { port: port(1), index: 1 }));
    assert_eq!(subnet.qps().count(), 2);
}
