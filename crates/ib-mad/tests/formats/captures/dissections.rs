//! Comparison of every field with Wireshark's dissections.
use super::wireshark::{FAULTS, NAMES};
use crate::common::{headers, lines, packets};
use ib_mad::{
    MadRef, MgmtClass, Wire, as_bytes,
    packet::{Aeth, Bth, Deth, Headers, Lrh, Reth, Transport},
    sa::SaMad,
    smp::{DrSmp, Smp},
    wire::{Field, read_bits},
};
use std::collections::{BTreeMap, BTreeSet};

fn leaves(fields: &[Field], start: u32, out: &mut BTreeMap<(u32, u32), Vec<&'static str>>) {
    for field in fields.iter().filter(|field| !field.reserved) {
        let width = field.bits / field.count;
        for index in 0..field.count {
            let at = start + field.bit_offset + index * width;
            out.entry((at, width)).or_default().push(field.name);
            leaves(field.parts, at, out);
        }
        if field.count > 1 && width == 8 {
            out.entry((start + field.bit_offset, field.bits)).or_default().push(field.name);
        }
        // Wireshark may show octets byte by byte.
        if field.parts.is_empty() && field.count == 1 && width > 64 {
            (0..width / 8)
                .for_each(|byte| out.entry((start + field.bit_offset + byte * 8, 8)).or_default().push(field.name));
        }
    }
}

fn plain(name: &str) -> String {
    name.chars().filter(|letter| letter.is_ascii_alphanumeric()).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Returns the named bits of a datagram, counted from its first bit. Headers before it have negative positions.
fn named_bits(mad: &MadRef<'_>) -> BTreeMap<(u32, u32), Vec<&'static str>> {
    let mut out = BTreeMap::new();
    match mad.class() {
        MgmtClass::SUBN_DIRECTED_ROUTE => leaves(DrSmp::FIELDS, 0, &mut out),
        MgmtClass::SUBN_LID_ROUTED => leaves(Smp::FIELDS, 0, &mut out),
        MgmtClass::SUBN_ADM => leaves(SaMad::FIELDS, 0, &mut out),
        _ => leaves(ib_mad::MadHeader::FIELDS, 0, &mut out),
    }
    // Wireshark shows the status of responses on directed routes as the whole word.
    leaves(ib_mad::MadHeader::FIELDS, 0, &mut out);
    if let Ok(attribute) = mad.attribute()
        && let Some(structure) = attribute.structure()
    {
        let start = attribute.as_bytes().as_ptr() as usize - mad.as_bytes().as_ptr() as usize;
        leaves(structure.fields, u32::try_from(start * 8).unwrap(), &mut out);
    }
    out
}

/// Returns the first bit of a part of a packet.
fn bit(packet: &[u8], part: &[u8]) -> u32 {
    u32::try_from((part.as_ptr() as usize - packet.as_ptr() as usize) * 8).unwrap()
}

/// Returns the named bits of a packet around its datagram, counted from its first bit.
fn named_around(packet: &[u8], headers: &Headers<'_>) -> BTreeMap<(u32, u32), Vec<&'static str>> {
    let mut out = BTreeMap::new();
    if let Some(lrh) = headers.lrh {
        leaves(Lrh::FIELDS, bit(packet, as_bytes(lrh)), &mut out);
    }
    leaves(Bth::FIELDS, bit(packet, as_bytes(headers.bth)), &mut out);
    let extended = bit(packet, headers.extended);
    let fields = match headers.transport {
        Transport::Datagram(_) => Deth::FIELDS,
        Transport::Rdma(_) => Reth::FIELDS,
        Transport::Ack(_) => Aeth::FIELDS,
        _ => &[],
    };
    leaves(fields, extended, &mut out);
    let payload = bit(packet, headers.payload);
    if headers.immediate.is_some() {
        out.insert((payload - 32, 32), vec!["immediate"]);
    }
    let end = payload + u32::try_from((headers.payload.len() + headers.padding.len()) * 8).unwrap();
    if headers.icrc.is_some() {
        out.insert((end, 32), vec!["icrc"]);
    }
    if headers.vcrc.is_some() {
        out.insert((end + 32, 16), vec!["vcrc"]);
    }
    out
}

fn fault(name: &str) -> bool {
    FAULTS.iter().any(|(fault, _)| name == *fault || (fault.ends_with('.') && name.starts_with(fault)))
}

/// Checks that each field of Wireshark's dissection is a field with the same bits, name and value.
fn compare(capture: &str, dissection: &str, expected: usize) {
    let (link_type, packets) = packets(capture);
    let dissected = lines(dissection);
    assert_eq!(packets.len(), dissected.len());
    let mut wrong = BTreeSet::new();
    let mut compared = 0;
    for (packet, fields) in packets.iter().zip(&dissected) {
        let Some(headers) = headers(link_type, packet) else { continue };
        let mad = headers.mad();
        let mut bits = named_around(packet, &headers);
        // Positions are counted from the datagram, or from the packet if it has none.
        let before = mad.map_or(0, |mad| bit(packet, mad.as_bytes()));
        for ((at, width), names) in mad.iter().flat_map(named_bits) {
            bits.entry((at + before, width)).or_default().extend(names);
        }
        // Wireshark dissects later segments of a message as the start of a record.
        let later = mad.is_some_and(|mad| mad.is_later_segment());
        for field in fields.split('\t').filter(|field| !field.is_empty()) {
            let (name, rest) = field.split_once('@').unwrap();
            let (place, value) = rest.split_once('=').unwrap();
            let (at, width) = place.split_once('+').unwrap();
            let (at, width): (i64, u32) = (at.parse().unwrap(), width.parse().unwrap());
            if fault(name) || width > 64 && value.len() > 32 {
                continue;
            }
            let at = u32::try_from(at + i64::from(before)).unwrap();
            // Wireshark ignores the version of the class.
            let is_sa = mad.is_some_and(|mad| mad.class() == MgmtClass::SUBN_ADM);
            let is_known = !is_sa || mad.is_some_and(|mad| mad.sa().is_some());
            if (later || !is_known) && at >= before + 56 * 8 && at < before + 256 * 8 {
                continue;
            }
            // Wireshark dissects every class with RMPP as subnet administration, with a header that is 8 bytes shorter
            // in a packet of an unknown type.
            let odd = mad.and_then(|mad| mad.rmpp()).is_some_and(|rmpp| rmpp.rmpp_type.name().is_none());
            if name.starts_with("sa.") && (!is_sa || odd) {
                continue;
            }
            let last = name.rsplit('.').next().unwrap();
            let ours = bits.get(&(at, width));
            let same = ours.is_some_and(|ours| {
                ours.iter().any(|our| {
                    plain(our) == plain(last)
                        || NAMES.iter().any(|(theirs, alias)| (*theirs == last || *theirs == name) && our == alias)
                })
            });
            if !same {
                wrong.insert(format!("{name}@{}+{width} is {ours:?}", i64::from(at) - i64::from(before)));
                continue;
            }
            let value_same = (0..width.div_ceil(64)).all(|word| {
                let step = 64.min(width - word * 64);
                let digits = usize::try_from(word * 16).unwrap();
                let hex = value.get(digits..(digits + 16).min(value.len())).unwrap_or(value);
                read_bits(packet, at + word * 64, step) == u64::from_str_radix(hex, 16).ok()
            });
            if !value_same {
                wrong.insert(format!("{name} = {value}"));
            }
            compared += 1;
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.into_iter().collect::<Vec<_>>().join("\n"));
    assert_eq!(compared, expected, "fields compared");
}

#[test]
fn management_packets_are_dissected_as_by_wireshark() {
    compare("mads-erf.pcap.gz", "mads.dissected.gz", 147_326);
}

#[test]
fn single_records_are_dissected_as_by_wireshark() {
    compare("records-erf.pcap.gz", "records.dissected.gz", 28_343);
}

#[test]
fn rmpp_segments_are_dissected_as_by_wireshark() {
    compare("rmpp-roce.pcap.gz", "rmpp-roce.dissected.gz", 20_329);
}

#[test]
fn connection_packets_are_dissected_as_by_wireshark() {
    compare("cm-roce.pcap.gz", "cm-roce.dissected.gz", 1_043);
}
