//! Ports, addresses and endpoints together.
use super::{LocalAddress, Ports, plan::Plan};
use crate::api::{
    ProviderId,
    id::PortId,
    port::{InterfaceAddress, PortAttributes},
};
use acm_wire::Address;
use alloc::{vec, vec::Vec};
use ib_mad::{Lid, Pkey, sa::PathRecord};

fn attributes(pkeys: &[u16]) -> PortAttributes {
    PortAttributes {
        lid: Lid::new(16),
        gids: vec!["fe80::1".parse().unwrap()],
        pkeys: pkeys.iter().copied().map(Pkey::new).collect(),
        ..PortAttributes::default()
    }
}
fn apply(ports: &mut Ports, port: PortId) -> Plan {
    let plan = ports.plan(port, Some(ProviderId::BUILT_IN));
    for id in &plan.close {
        ports.close(*id);
    }
    for (index, pkey, provider, addresses) in &plan.open {
        let id = ports.open(port, *index, *pkey, *provider);
        ports.endpoint_mut(id).unwrap().addresses.clone_from(addresses);
    }
    for (id, address) in &plan.add {
        ports.endpoint_mut(*id).unwrap().addresses.push(*address);
    }
    ports.index_addresses();
    plan
}

// docs/deviations.md: full-member
#[test]
fn full_membership_is_preferred_and_default_is_the_first_partition() {
    let (mut ports, port) = (Ports::new(1), PortId(0));
    let (a, b) = (Address::from_text("a"), Address::from_text("b"));
    ports.add_address(LocalAddress { port, pkey: None, address: a });
    ports.add_address(LocalAddress { port, pkey: Some(Pkey::new(0x0001)), address: b });
    assert!(ports.up(port, &attributes(&[0x7fff, 0x8001, 0, 0x8000, 0xffff])).came_up);
    let plan = apply(&mut ports, port);
    let opened: Vec<_> = plan.open.iter().map(|(index, pkey, ..)| (*index, pkey.get())).collect();
    assert_eq!(opened, [(1, 0x8001), (4, 0xffff)]);
    // The same partitions at other indexes of the table.
    let change = ports.up(port, &attributes(&[0x8001, 0xffff]));
    assert!(!change.came_up && !change.moved && !change.other_manager && !change.other_link);
    let plan = apply(&mut ports, port);
    assert_eq!((plan.close.len(), plan.open.len()), (2, 1), "`default` is 0x8001 now, so both are there");
    assert_eq!(ports.by_address(&a), ports.by_address(&b));
    ports.down(port);
    assert_eq!(ports.by_address(&a), None);
}

/// Scripts take the first address of `ib_acme -e` for the node's IP address.
#[test]
fn addresses_of_interfaces_come_before_names_as_in_ibacm() {
    let (mut ports, port) = (Ports::new(1), PortId(0));
    ports.add_address(LocalAddress { port, pkey: None, address: Address::from_text("a") });
    let address = "10.0.0.1".parse().unwrap();
    ports.set_interfaces(&[InterfaceAddress { gid: "fe80::1".parse().unwrap(), pkey: None, address }]);
    ports.up(port, &attributes(&[0xffff]));
    let plan = apply(&mut ports, port);
    assert_eq!(plan.open[0].3, [Address::from_text("10.0.0.1"), Address::from_text("a")]);
}

// docs/deviations.md: device-order
#[test]
fn path_without_a_source_begins_at_the_first_port() {
    let mut ports = Ports::new(1);
    for port in [PortId(0), PortId(1)] {
        ports.add_address(LocalAddress { port, pkey: None, address: Address::from_text("a") });
        ports.up(port, &attributes(&[0xffff]));
        apply(&mut ports, port);
    }
    let path = PathRecord { dlid: Lid::new(9), ..PathRecord::default() };
    assert_eq!(ports.by_path(None, &path).map(|id| ports.endpoint(id).unwrap().port), Some(PortId(0)));
}

// docs/deviations.md: default-partition
#[test]
fn path_finds_its_endpoint() {
    let (mut ports, port) = (Ports::new(1), PortId(0));
    for (name, pkey) in [("a", 0x8001), ("b", 0xffff)] {
        ports.add_address(LocalAddress { port, pkey: Some(Pkey::new(pkey)), address: Address::from_text(name) });
    }
    ports.up(port, &attributes(&[0x8001, 0xffff]));
    apply(&mut ports, port);
    let pkey = |path: &PathRecord| ports.by_path(None, path).map(|id| ports.endpoint(id).unwrap().pkey.get());
    let to = PathRecord { dlid: Lid::new(9), ..PathRecord::default() };
    assert_eq!(pkey(&to), Some(0xffff), "the default partition, at any position of the table");
    assert_eq!(pkey(&PathRecord { pkey: Pkey::new(1), ..to }), Some(0x8001));
    assert_eq!(pkey(&PathRecord { pkey: Pkey::new(2), ..to }), None);
    assert_eq!(pkey(&PathRecord { sgid: "fe80::2".parse().unwrap(), ..to }), None);
    assert_eq!(pkey(&PathRecord { slid: Lid::new(16), ..to }), Some(0xffff));
    assert_eq!(pkey(&PathRecord { slid: Lid::new(17), ..to }), None);
    assert_eq!(pkey(&PathRecord { dgid: "fec0::2".parse().unwrap(), ..to }), None, "another subnet's prefix");
    // Without the default partition, the first partition of the table.
    ports.up(port, &attributes(&[0x8001, 0x8002, 0x8003]));
    for (name, pkey) in [("c", 0x8003), ("d", 0x8002)] {
        ports.add_address(LocalAddress { port, pkey: Some(Pkey::new(pkey)), address: Address::from_text(name) });
    }
    apply(&mut ports, port);
    let pkey = |path: &PathRecord| ports.by_path(None, path).map(|id| ports.endpoint(id).unwrap().pkey.get());
    assert_eq!((ports.all_endpoints().count(), pkey(&to)), (3, Some(0x8001)));
}

#[test]
fn port_number_selects_endpoints_and_0_selects_all_active_ports() {
    let mut ports = Ports::new(1);
    let ids = [1, 2, 3].map(|number: u8| {
        let port = PortId(u32::from(number));
        ports.up(port, &PortAttributes { port_number: number, ..attributes(&[0xffff]) });
        ports.open(port, 0, Pkey::DEFAULT_FULL, ProviderId::BUILT_IN)
    });
    ports.down(PortId(3));
    let active = |number| ports.active(number).map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!([0, 1, 2, 3, 4].map(active), [vec![ids[0], ids[1]], vec![ids[0]], vec![ids[1]], vec![], vec![]]);
}

#[test]
fn address_on_two_ports_is_a_duplicate() {
    use super::Added;
    let mut ports = Ports::new(1);
    let local = |port, name| LocalAddress { port: PortId(port), pkey: None, address: Address::from_text(name) };
    assert_eq!(ports.add_address(local(0, "a")), Added::New { duplicate: false });
    assert_eq!(ports.add_address(local(0, "b")), Added::New { duplicate: false });
    assert_eq!(ports.add_address(local(0, "a")), Added::Unchanged);
    assert_eq!(ports.add_address(local(1, "A")), Added::New { duplicate: true });
    assert!(ports.remove_address(&local(1, "A")) && !ports.remove_address(&local(1, "A")));
}

#[test]
fn closed_endpoint_is_not_listed() {
    let mut ports = Ports::new(1);
    let [old, other] = [0, 1].map(|index| ports.open(PortId(0), index, Pkey::DEFAULT_FULL, ProviderId::BUILT_IN));
    // Another endpoint now has its index.
    let new = ports.open(PortId(0), 0, Pkey::DEFAULT_FULL, ProviderId::BUILT_IN);
    assert!(ports.close(old).is_some() && ports.close(old).is_none());
    let all = |ports: &Ports| ports.all_endpoints().map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!(all(&ports), [new, other]);
    ports.close(new);
    assert_eq!(all(&ports), [other]);
}

#[test]
fn gauges_show_active_ports_and_open_endpoints() {
    use crate::api::GaugeScope;
    let mut ports = Ports::new(1);
    ports.up(PortId(0), &attributes(&[0xffff]));
    ports.up(PortId(1), &attributes(&[0xffff]));
    assert!(ports.down(PortId(1)) && !ports.down(PortId(1)), "it was active once");
    assert!(ports.down(PortId(2)) && !ports.down(PortId(2)), "it is new once");
    assert_eq!([0, 1, 2, 3].map(|port| ports.was_active(PortId(port))), [true, true, false, false]);
    let [open, _] = [0, 1].map(|port| ports.open(PortId(port), 0, Pkey::DEFAULT_FULL, ProviderId::BUILT_IN));
    ports.endpoint_mut(open).unwrap().opened(None);
    let mut seen = Vec::new();
    ports.each_gauge(&mut |name, of, value| seen.push((name, of, value)));
    let endpoint = |port| GaugeScope::Endpoint(PortId(port), Pkey::DEFAULT_FULL);
    let expected = [
        ("port_active", GaugeScope::Port(PortId(0)), 1),
        ("port_active", GaugeScope::Port(PortId(1)), 0),
        ("port_active", GaugeScope::Port(PortId(2)), 0),
        ("addresses_served", GaugeScope::Daemon, 0),
        ("endpoint_open", endpoint(0), 1),
        ("endpoint_open", endpoint(1), 0),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn counter_of_a_removed_endpoint_is_ignored() {
    use acm_wire::client::Counter;
    let mut ports = Ports::new(1);
    let id = ports.open(PortId(0), 0, Pkey::DEFAULT_FULL, ProviderId::BUILT_IN);
    ports.count(id, Counter::Error);
    assert_eq!(ports.endpoint(id).unwrap().counters.get(Counter::Error), 1);
    ports.close(id);
    ports.count(id, Counter::Error);
    assert!(ports.endpoint(id).is_none());
}
