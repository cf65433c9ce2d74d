//! Tests of classes and attributes in captures.
use crate::common::{mad, packets};
use core::net::IpAddr;
use ib_mad::{AttributeRef, Gid, MgmtClass, cm::CmReq};
use std::collections::BTreeMap;

#[test]
fn every_captured_datagram_has_a_known_class_and_attribute() {
    let mut unknown = BTreeMap::new();
    let mut seen = 0;
    for file in ["mads-erf.pcap.gz", "records-erf.pcap.gz", "rmpp-roce.pcap.gz", "cm-roce.pcap.gz"] {
        let (link_type, packets) = packets(file);
        for packet in &packets {
            let Some(mad) = mad(link_type, packet) else { continue };
            seen += 1;
            let attribute = mad.attribute().unwrap();
            if matches!(attribute, AttributeRef::Unknown(_)) && mad.rmpp().is_none_or(|rmpp| !rmpp.flags.active()) {
                *unknown.entry((mad.class(), mad.header().attribute_id.get())).or_insert(0) += 1;
            }
        }
    }
    // Wireshark finds the same number.
    assert_eq!(seen, 4254);
    // Vendor classes and device administration have no attributes here, a request for a log has no type, and version 1
    // of subnet administration is not supported.
    let expected = [((0x03, 0x11), 2), ((0x0a, 1), 3), ((0x21, 0x13), 3), ((0x32, 0), 3), ((0x33, 0x10), 1)];
    assert_eq!(unknown, expected.map(|((class, id), count)| ((MgmtClass::new(class), id), count)).into());
}

/// The private data of librdmacm have the addresses that are also in the GIDs of the paths; on `RoCE` both are the
/// same.
#[test]
fn cma_addresses_are_those_of_the_paths() {
    let (link_type, packets) = packets("cm-roce.pcap.gz");
    let mut seen = 0;
    for packet in &packets {
        let Some(mad) = mad(link_type, packet) else { continue };
        let Ok(request) = mad.attribute_as::<CmReq>() else { continue };
        let Some(cma) = request.cma() else { continue };
        let gids = (Some(request.primary_local_port_gid), Some(request.primary_remote_port_gid));
        let gid = |address| match address {
            IpAddr::V4(own) => Gid::from(own.to_ipv6_mapped()),
            IpAddr::V6(own) => own.into(),
        };
        let source = cma.source().filter(|source| source.port() != 0);
        assert_eq!((source.map(|it| gid(it.ip())), cma.destination().map(gid)), gids);
        seen += 1;
    }
    assert!(seen >= 3, "{seen}");
}
