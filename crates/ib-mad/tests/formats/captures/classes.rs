//! Classes and attributes.
use crate::common::{mad, packets};
use core::net::IpAddr;
use ib_mad::{AttributeRef, Gid, MgmtClass, cm::CmReq};
use std::collections::BTreeMap;

/// Every datagram is one of a known class whose attribute has a type.
#[test]
fn every_datagram_is_known() {
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
    // As many as Wireshark sees.
    assert_eq!(seen, 4254);
    // Vendors' classes and device administration have no attributes of ours, a request for a log no type yet, and version
    // 1 of subnet administration is not known.
    let expected = [((0x03, 0x11), 2), ((0x0a, 1), 3), ((0x21, 0x13), 3), ((0x32, 0), 3), ((0x33, 0x10), 1)];
    assert_eq!(unknown, expected.map(|((class, id), count)| ((MgmtClass::new(class), id), count)).into());
}

/// Whom librdmacm connected stands in the private data of its requests, as in the GIDs of the paths (which of `RoCE` are
/// the same addresses).
#[test]
fn addresses_of_connections_are_those_of_their_paths() {
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
