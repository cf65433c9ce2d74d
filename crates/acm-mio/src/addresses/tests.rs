//! From the kernel's bytes to addresses of ports.
use super::{
    dumps::Dumps,
    message::{Dump, Link, Notification, parse, request},
    partition::{Sysfs, from_alias},
    table::{Change, Table},
};
use crate::cli::InterfaceChoice;
use acm_sansio::{Time, port::InterfaceAddress};
use core::net::IpAddr;
use ib_mad::{Gid, Pkey};
use netlink_packet_core::{NetlinkMessage, NetlinkPayload};
use netlink_packet_route::{
    AddressFamily, RouteNetlinkMessage,
    address::{AddressAttribute, AddressMessage},
    link::{InfoData, InfoIpoib, InfoKind, LinkAttribute, LinkInfo, LinkLayerType, LinkMessage},
};
use proptest::prelude::*;
use std::{collections::BTreeMap, fs};

const CAPTURED: &str = include_str!("../../testdata/links.hex");
const GID: &str = "fe80::2:c903:0:1";

/// Returns the captured datagrams after each command, in order.
fn captured() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let mut steps: Vec<(&str, Vec<Vec<u8>>)> = Vec::new();
    for line in CAPTURED.lines() {
        match line.strip_prefix("# ") {
            Some(command) => steps.push((command, Vec::new())),
            None => {
                let byte = |index| u8::from_str_radix(&line[index..index + 2], 16).unwrap();
                steps.last_mut().unwrap().1.push((0..line.len()).step_by(2).map(byte).collect());
            }
        }
    }
    steps
}

fn table(choice: InterfaceChoice) -> Table {
    Table::new(choice, Sysfs::at("/nowhere".as_ref()), 100)
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn gid(text: &str) -> Gid {
    text.parse().unwrap()
}

fn served(table: &Table) -> Vec<(String, Option<u16>)> {
    let all = table.addresses();
    all.into_iter().map(|found| (found.address.to_string(), found.pkey.map(Pkey::get))).collect()
}

/// The effect of each captured `ip` command, for an interface whose alias names its port.
// docs/deviations.md: interfaces
#[test]
fn captured_changes_of_a_link_change_its_addresses() {
    let mut table = table(InterfaceChoice::Alias);
    let mut after = BTreeMap::new();
    for (command, datagrams) in captured() {
        for datagram in datagrams {
            let (notifications, whole) = parse(&datagram);
            assert!(whole, "{command}");
            for notification in notifications {
                table.apply(&notification);
            }
        }
        let served: Vec<String> = table.addresses().iter().map(|found| found.address.to_string()).collect();
        after.insert(command, served);
    }
    let after = |command: &str| after.get(command).unwrap_or_else(|| panic!("no {command}")).clone();
    // The kernel reports an alias with the next change of a link that is not up.
    assert!(after("ip addr add 10.0.0.1/24 dev ib0").is_empty());
    let link_local = &after("ip link set ib0 up")[..];
    assert!(link_local.len() == 1 && link_local[0].starts_with("fe80::"), "{link_local:?}");
    // Addresses from before the link was on a port come with a dump.
    let all = after("dump addresses 2");
    assert_eq!(all.len(), 5);
    for address in ["10.0.0.1", "10.9.0.1", "fd00::1", "fd00::2"] {
        assert!(all.contains(&address.to_owned()), "{address} of {all:?}");
    }
    assert!(!all.contains(&"10.9.0.2".to_owned()), "the address of the other end");
    assert_eq!(after("ip link set ib0 nomaster"), all, "the link has left its bridge and still exists");
    assert_eq!(after("ip link set ib0 down"), ["10.0.0.1", "10.9.0.1"], "IPv6 goes with the link");
    assert_eq!(after("ip link set ib0 name storage"), ["10.0.0.1", "10.9.0.1"]);
    assert_eq!(after("ip addr del 10.0.0.1/24 dev storage")[0], "10.9.0.1");
    assert_eq!(after("dump addresses 4"), [""; 0], "the link is in another namespace");
    assert_eq!((table.len(), table.refused()), ((0, 0), 0));
}

/// The kernel reports `ip -6 addr add` twice: as tentative, and after duplicate address detection.
// docs/deviations.md: interfaces
#[test]
fn tentative_address_is_not_served() {
    let steps = captured();
    let (_, datagrams) = steps.iter().find(|(command, _)| *command == "ip -6 addr add fd00::1/64 dev ib0").unwrap();
    let all: Vec<Notification> = datagrams.iter().flat_map(|datagram| parse(datagram).0).collect();
    assert!(
        matches!(all[..], [Notification::AddressRemoved(link, a), Notification::Address(other, b)] if a == b && link == other)
    );
}

#[test]
fn infiniband_link_without_a_hardware_address_is_on_no_port() {
    let steps = captured();
    let (_, datagrams) = steps.iter().find(|(command, _)| *command == "TUNSETLINK 32").unwrap();
    let (notifications, _) = parse(&datagrams[0]);
    let [Notification::Link(link)] = &notifications[..] else { panic!("{notifications:?}") };
    assert!(link.infiniband && link.gid.is_none() && link.name == "ib1");
    let mut table = table(InterfaceChoice::On);
    assert_eq!(table.apply(&notifications[0]), Change::NewLink);
    table.apply(&Notification::Address(link.index, ip("10.0.0.1")));
    assert!(table.addresses().is_empty());
    assert_eq!(table.without_port().collect::<Vec<_>>(), ["ib1"]);
}

/// Serializes a message with another implementation.
fn bytes(message: RouteNetlinkMessage) -> Vec<u8> {
    let mut message = NetlinkMessage::from(message);
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

/// Returns an IPoIB interface, or a part of a bond if `master` is given; without a P_Key, a bond.
fn ipoib(index: u32, name: &str, port: &str, pkey: Option<u16>, master: Option<u32>) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.header.index = index;
    message.header.link_layer_type = LinkLayerType::Infiniband;
    let hardware = [&[0x80, 0, 0, 0x48][..], &gid(port).get()].concat();
    message.attributes = vec![LinkAttribute::IfName(name.into()), LinkAttribute::Address(hardware)];
    message.attributes.extend(master.map(LinkAttribute::Controller));
    if let Some(pkey) = pkey {
        let info = vec![LinkInfo::Kind(InfoKind::Ipoib), LinkInfo::Data(InfoData::Ipoib(vec![InfoIpoib::Pkey(pkey)]))];
        message.attributes.push(LinkAttribute::LinkInfo(info));
    }
    message
}

fn apply(table: &mut Table, message: RouteNetlinkMessage) -> Change {
    let (notifications, whole) = parse(&bytes(message));
    assert!(whole && notifications.len() == 1, "{notifications:?}");
    table.apply(&notifications[0])
}

fn new_address(index: u32, text: &str) -> RouteNetlinkMessage {
    let mut message = AddressMessage::default();
    let ip = ip(text);
    message.header.index = index;
    message.header.family = if ip.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    message.attributes = vec![AddressAttribute::Address(ip)];
    RouteNetlinkMessage::NewAddress(message)
}

fn at(port: &str, pkey: u16, address: &str) -> InterfaceAddress {
    InterfaceAddress { gid: gid(port), pkey: Some(Pkey::new(pkey)), address: ip(address) }
}

// docs/deviations.md: kernel-ip
#[test]
fn interface_and_its_child_are_in_their_partitions() {
    let mut table = table(InterfaceChoice::On);
    for (index, name, pkey) in [(4, "ib0", 0xffff), (5, "ib0.8001", 0x8001)] {
        let message = ipoib(index, name, GID, Some(pkey), None);
        assert_eq!(apply(&mut table, RouteNetlinkMessage::NewLink(message)), Change::NewLink);
    }
    for (index, address) in [(4, "10.0.0.1"), (5, "10.1.0.1"), (4, GID), (5, GID), (6, "10.2.0.1")] {
        apply(&mut table, new_address(index, address));
    }
    let all = [at(GID, 0xffff, "10.0.0.1"), at(GID, 0xffff, GID), at(GID, 0x8001, "10.1.0.1"), at(GID, 0x8001, GID)];
    assert_eq!(table.addresses(), all);
    assert_eq!(table.link_local().collect::<Vec<_>>(), [4, 5]);
    assert_eq!(table.source_on(5, ip("10.1.0.9")), Some(ip("10.1.0.1")));
    assert_eq!(table.source_on(5, ip("fd00::1")), Some(ip(GID)), "of the same family");
    assert_eq!(table.source_on(7, ip("10.1.0.9")), None);
    // The subnet prefix changes, and with it the hardware address.
    let moved = ipoib(4, "ib0", "fec0::2:c903:0:1", Some(0xffff), None);
    assert_eq!(apply(&mut table, RouteNetlinkMessage::NewLink(moved.clone())), Change::Addresses);
    assert_eq!(apply(&mut table, RouteNetlinkMessage::NewLink(moved)), Change::Nothing, "the same message again");
    assert_eq!(table.addresses()[0], at("fec0::2:c903:0:1", 0xffff, "10.0.0.1"));
    let removed = ipoib(5, "ib0.8001", GID, None, None);
    assert_eq!(apply(&mut table, RouteNetlinkMessage::DelLink(removed)), Change::Addresses);
    assert_eq!(table.addresses().len(), 2);
}

#[test]
fn source_is_link_local_only_for_a_link_local_destination() {
    for addresses in [["fd00::1", "fe80::1"], ["fe80::1", "fd00::1"]] {
        let mut table = table(InterfaceChoice::On);
        apply(&mut table, RouteNetlinkMessage::NewLink(ipoib(4, "ib0", GID, Some(0xffff), None)));
        addresses.iter().for_each(|address| _ = apply(&mut table, new_address(4, address)));
        assert_eq!(table.source_on(4, ip("fd00::9")), Some(ip("fd00::1")), "{addresses:?}");
        assert_eq!(table.source_on(4, ip("fe80::9")), Some(ip("fe80::1")), "{addresses:?}");
    }
}

/// A missing attribute is no change of the link.
#[test]
fn message_without_attributes_of_its_link_changes_nothing() {
    let mut message = ipoib(4, "ib0", GID, Some(0xffff), None);
    message.attributes.clear();
    assert_eq!(parse(&bytes(RouteNetlinkMessage::NewLink(message))), (vec![], true));
}

/// A bond has the hardware address of its active part, and no P_Key of its own.
// docs/deviations.md: interfaces
#[test]
fn bond_is_on_the_port_and_partition_of_its_active_part() {
    let (first, second) = (GID, "fe80::2:c903:0:2");
    let mut table = table(InterfaceChoice::On);
    for (index, name, port, pkey) in [(4, "ib0", first, 0x8005), (5, "ib1", second, 0x8006)] {
        apply(&mut table, RouteNetlinkMessage::NewLink(ipoib(index, name, port, Some(pkey), Some(9))));
    }
    apply(&mut table, RouteNetlinkMessage::NewLink(ipoib(9, "bond0", first, None, None)));
    apply(&mut table, new_address(9, "10.0.0.1"));
    assert_eq!(table.addresses(), [at(first, 0x8005, "10.0.0.1")]);
    let failed_over = ipoib(9, "bond0", second, None, None);
    assert_eq!(apply(&mut table, RouteNetlinkMessage::NewLink(failed_over)), Change::Addresses);
    assert_eq!(table.addresses(), [at(second, 0x8006, "10.0.0.1")]);
    // The link layer of a bond is that of its parts; without a part it is Ethernet.
    let mut empty = ipoib(9, "bond0", second, None, None);
    empty.header.link_layer_type = LinkLayerType::Ether;
    assert_eq!(apply(&mut table, RouteNetlinkMessage::NewLink(empty)), Change::Addresses);
    assert!(table.addresses().is_empty());
    let again = ipoib(9, "bond0", first, None, None);
    assert_eq!(apply(&mut table, RouteNetlinkMessage::NewLink(again)), Change::NewLink, "it may have addresses");
}

#[test]
fn partition_is_read_from_sysfs_if_messages_do_not_have_it() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [("ib0", "0x8001\n"), ("ib1", "0x0000\n"), ("ib2", "what\n")] {
        fs::create_dir(dir.path().join(name)).unwrap();
        fs::write(dir.path().join(name).join("pkey"), text).unwrap();
    }
    let sysfs = Sysfs::at(dir.path());
    let pkey = |name| sysfs.pkey(name).map(Pkey::get);
    assert_eq!(["ib0", "ib1", "ib2", "ib3", "", "..", "../ib0", "x/ib0"].map(pkey)[0], Some(0x8001));
    assert_eq!(["ib1", "ib2", "ib3", "", ".", "./ib0", "ib1/../ib0"].map(pkey), [None; 7]);
    let mut table = Table::new(InterfaceChoice::On, Sysfs::at(dir.path()), 100);
    for (index, name) in [(4, "ib0"), (5, "ib2")] {
        apply(&mut table, RouteNetlinkMessage::NewLink(ipoib(index, name, GID, None, None)));
        apply(&mut table, new_address(index, &format!("10.0.0.{index}")));
    }
    assert_eq!(table.addresses(), [at(GID, 0x8001, "10.0.0.4")]);
    assert_eq!(table.without_port().collect::<Vec<_>>(), ["ib2"]);
}

fn link(index: u32) -> Notification {
    let (gid, pkey) = (Some(gid(GID)), Some(Pkey::new(0xffff)));
    Notification::Link(Link { index, infiniband: true, gid, pkey, ..Link::default() })
}

#[test]
fn entries_not_named_by_a_complete_dump_are_removed() {
    let mut table = table(InterfaceChoice::On);
    let address = |index, text| Notification::Address(index, ip(text));
    let before = [link(1), link(2), address(1, "10.0.0.1"), address(1, "10.0.0.2"), address(2, "10.0.0.3")];
    before.iter().for_each(|notification| _ = table.apply(notification));
    table.begin_round();
    // The dump has the second address; another one is added while the dump is made.
    for notification in [link(1), address(1, "10.0.0.2"), address(1, "10.0.0.4")] {
        table.apply(&notification);
    }
    assert_eq!(table.len(), (2, 4), "nothing is removed before the end");
    assert_eq!(table.sweep(), Change::Addresses);
    assert_eq!(served(&table).into_iter().map(|(ip, _)| ip).collect::<Vec<_>>(), ["10.0.0.2", "10.0.0.4"]);
    assert_eq!((table.len(), table.sweep()), ((1, 2), Change::Nothing));
}

// docs/deadlines.md: interfaces
#[test]
fn interfaces_and_addresses_are_bounded_and_counted() {
    let mut table = Table::new(InterfaceChoice::On, Sysfs::at("/nowhere".as_ref()), 2);
    for index in 1..=3 {
        table.apply(&link(index));
        table.apply(&Notification::Address(index, ip(&format!("10.0.0.{index}"))));
        table.apply(&Notification::Address(index, ip(&format!("10.0.1.{index}"))));
    }
    assert_eq!((table.len(), table.refused()), ((2, 2), 3));
    // A removal makes room.
    assert!(!table.has_room_again());
    table.apply(&Notification::AddressRemoved(1, ip("10.0.0.1")));
    assert_eq!(table.apply(&Notification::Address(2, ip("10.0.0.2"))), Change::Addresses);
    assert!(!table.has_room_again(), "the room is used again");
    table.apply(&Notification::LinkRemoved(1));
    assert!(table.has_room_again() && !table.has_room_again());
    assert_eq!(table.apply(&link(3)), Change::NewLink);
    assert_eq!(table.len(), (2, 1));
}

#[test]
fn alias_names_a_gid_and_perhaps_a_pkey() {
    assert_eq!(from_alias("infiniband fe80::1"), Some((gid("fe80::1"), None)));
    assert_eq!(from_alias("infiniband  fe80::1 0x8001"), Some((gid("fe80::1"), Some(Pkey::new(0x8001)))));
    for bad in ["", "infiniband", "infiniband ::", "infiniband x", "infiniband fe80::1 0", "ethernet fe80::1"] {
        assert_eq!(from_alias(bad), None, "{bad}");
    }
}

#[test]
fn nothing_is_kept_without_a_choice_of_interfaces() {
    let mut table = table(InterfaceChoice::Off);
    assert_eq!(
        apply(&mut table, RouteNetlinkMessage::NewLink(ipoib(4, "ib0", GID, Some(0xffff), None))),
        Change::Nothing
    );
    assert_eq!(table.len(), (0, 0));
}

#[test]
fn requests_for_dumps_have_the_form_that_the_kernel_expects() {
    let read = |dump| NetlinkMessage::<RouteNetlinkMessage>::deserialize(&request(dump, 7)).unwrap();
    let links = read(Dump::Links);
    assert_eq!((links.header.flags, links.header.sequence_number), (0x301, 7));
    assert!(matches!(links.payload, NetlinkPayload::InnerMessage(RouteNetlinkMessage::GetLink(_))));
    let NetlinkPayload::InnerMessage(RouteNetlinkMessage::GetAddress(addresses)) = read(Dump::Addresses).payload else {
        panic!("another message");
    };
    assert_eq!(addresses.header.family, AddressFamily::Unspec, "both families");
}

#[test]
fn ends_interruptions_and_losses_are_parsed() {
    let end = |kind: u16, flags: u16, code: i32| {
        let parts = [&20_u32.to_ne_bytes()[..], &kind.to_ne_bytes(), &flags.to_ne_bytes(), &7_u32.to_ne_bytes()];
        [&parts.concat(), &[0; 4][..], &code.to_ne_bytes()].concat()
    };
    let sequence = 7;
    assert_eq!(parse(&end(3, 2, 0)), (vec![Notification::Done { sequence, failed: false }], true));
    assert_eq!(parse(&end(3, 2, -16)), (vec![Notification::Done { sequence, failed: true }], true));
    assert_eq!(parse(&end(2, 0, -16)), (vec![Notification::Done { sequence, failed: true }], true));
    assert_eq!(
        parse(&end(3, 0x12, 0)),
        (vec![Notification::Interrupted { sequence }, Notification::Done { sequence, failed: false }], true)
    );
    assert_eq!(parse(&end(4, 0, 0)), (vec![Notification::Lost], true));
    assert_eq!(parse(&end(99, 0, 0)), (vec![], true), "unknown types are ignored");
}

proptest! {
    #[test]
    fn any_bytes_can_be_parsed(datagram in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&datagram);
    }

    /// Correct headers around arbitrary bytes, and captured datagrams with single bytes changed.
    #[test]
    fn damaged_messages_can_be_parsed_and_applied(
        which in any::<prop::sample::Index>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
        kind in prop::sample::select(vec![2_u16, 3, 4, 16, 17, 20, 21]),
        payload in proptest::collection::vec(any::<u8>(), 0..120),
    ) {
        let all: Vec<Vec<u8>> = captured().into_iter().flat_map(|(_, datagrams)| datagrams).collect();
        let mut datagram = all[which.index(all.len())].clone();
        for (index, value) in changes {
            let index = index.index(datagram.len());
            datagram[index] = value;
        }
        datagram.truncate(16 + cut.index(datagram.len()));
        let length = u32::try_from(16 + payload.len()).unwrap();
        let header = [&length.to_ne_bytes()[..], &kind.to_ne_bytes(), &[0; 10]].concat();
        let made = [header, payload].concat();
        let mut table = table(InterfaceChoice::On);
        let mut dumps = Dumps::default();
        dumps.start_due(Time::ZERO);
        for datagram in [datagram, made] {
            for notification in parse(&datagram).0 {
                if let Notification::Done { sequence, failed } = &notification {
                    dumps.done(Time::ZERO, *sequence, *failed);
                }
                table.apply(&notification);
            }
        }
        let _ = (table.addresses(), table.sweep());
    }
}
