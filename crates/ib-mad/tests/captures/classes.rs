//! Classes and attributes.
use super::common::{headers, packets};
use ib_mad::{AttributeRef, MadRef, MgmtClass};
use std::collections::BTreeMap;

/// Every datagram is one of a known class whose attribute has a type.
#[test]
fn every_datagram_is_known() {
    let mut unknown = BTreeMap::new();
    let mut seen = 0;
    for file in ["mads-erf.pcap.gz", "records-erf.pcap.gz", "rmpp-roce.pcap.gz", "cm-roce.pcap.gz"] {
        let (link_type, packets) = packets(file);
        for packet in &packets {
            let Some(headers) = headers(link_type, packet) else { continue };
            let Ok(mad) = MadRef::new(headers.payload) else { continue };
            seen += 1;
            let attribute = mad.attribute().unwrap();
            if matches!(attribute, AttributeRef::Unknown(_)) && mad.rmpp().is_none_or(|rmpp| !rmpp.flags.active()) {
                *unknown.entry((mad.class(), mad.header().attribute_id.get())).or_insert(0) += 1;
            }
        }
    }
    assert_eq!(seen, 4254);
    // Vendors' classes and device administration have no attributes of ours, a request for a log no type yet, and version
    // 1 of subnet administration is not known.
    let expected = [((0x03, 0x11), 2), ((0x0a, 1), 3), ((0x21, 0x13), 3), ((0x32, 0), 3), ((0x33, 0x10), 1)];
    assert_eq!(unknown, expected.map(|((class, id), count)| ((MgmtClass::new(class), id), count)).into());
}
