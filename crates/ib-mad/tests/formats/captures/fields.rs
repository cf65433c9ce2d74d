//! Test of field tables by rebuilding captured attributes.
use crate::common::{mad, packets};
use ib_mad::{
    attribute::Structure,
    wire::{Field, read_bits, write_bits},
};
use std::collections::BTreeMap;

/// Writes the value of each field, read through the field table, into zeroed bytes. Reserved bytes are copied. Reserved
/// bits of a packed word have no field and stay zero.
fn write_fields(fields: &[Field], start: u32, from: &[u8], to: &mut [u8]) {
    for field in fields {
        let width = field.bits / field.count;
        for at in (0..field.count).map(|index| start + field.bit_offset + index * width) {
            if !field.parts.is_empty() {
                write_fields(field.parts, at, from, to);
                continue;
            }
            // Octets, text and reserved bytes are wider than 64 bits.
            for (at, width) in (0..width.div_ceil(64)).map(|word| (at + word * 64, 64.min(width - word * 64))) {
                write_bits(to, at, width, read_bits(from, at, width).unwrap()).unwrap();
            }
        }
    }
}

/// Returns a field without its parts if they are bits of a word; fields of a nested structure stay.
fn as_whole(field: &Field) -> Vec<Field> {
    if field.parts.iter().any(|part| part.access.is_none()) {
        let width = field.bits / field.count;
        let parts: Vec<Field> = field.parts.iter().flat_map(as_whole).collect();
        let places = (0..field.count).map(|index| field.bit_offset + index * width);
        return places
            .flat_map(|start| parts.iter().map(move |part| Field { bit_offset: start + part.bit_offset, ..*part }))
            .collect();
    }
    vec![Field { parts: &[], ..*field }]
}

/// Returns the reserved bits of packed words, which have no field.
fn holes(structure: Structure) -> Vec<u8> {
    let ones = vec![0xff; structure.size];
    let (mut named, mut whole) = (vec![0; structure.size], vec![0; structure.size]);
    write_fields(structure.fields, 0, &ones, &mut named);
    let fields: Vec<Field> = structure.fields.iter().flat_map(as_whole).collect();
    write_fields(&fields, 0, &ones, &mut whole);
    assert_eq!(whole, ones, "{}: bits that are in no field", structure.name);
    named.iter().map(|byte| !byte).collect()
}

#[test]
fn captured_attributes_are_rebuilt_from_their_fields() {
    let mut built: BTreeMap<&str, usize> = BTreeMap::new();
    for capture in ["mads-erf.pcap.gz", "records-erf.pcap.gz", "rmpp-roce.pcap.gz", "cm-roce.pcap.gz"] {
        let (link_type, packets) = packets(capture);
        for packet in &packets {
            let Some(mad) = mad(link_type, packet) else { continue };
            let header = Structure::of::<ib_mad::MadHeader>();
            let attribute = mad.attribute().ok().and_then(|own| Some((own.structure()?, own.as_bytes())));
            for (structure, bytes) in [(header, &mad.as_bytes()[..24])].into_iter().chain(attribute) {
                let mut rebuilt = vec![0; structure.size];
                write_fields(structure.fields, 0, bytes, &mut rebuilt);
                // Reserved bits have the sender's values.
                let hole = bytes.iter().zip(holes(structure)).map(|(byte, hole)| byte & hole);
                rebuilt.iter_mut().zip(hole).for_each(|(byte, hole)| *byte |= hole);
                assert_eq!(rebuilt, bytes, "{}", structure.name);
                *built.entry(structure.name).or_default() += 1;
            }
        }
    }
    let all: usize = built.values().sum();
    assert_eq!((built.len(), all), (72, 6890), "{built:?}");
}
