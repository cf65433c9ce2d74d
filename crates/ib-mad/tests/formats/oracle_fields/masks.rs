//! Comparison of component mask bits with those of OpenSM.
use super::{
    names::{names, structure_of, structures},
    tables::{oracle, plain, rows},
};
use ib_mad::{
    sa::{Component, SaAttribute},
    wire::find,
};
use std::collections::BTreeMap;

/// Each component mask bit stands for the field at its position in mad-fields.tsv.
#[test]
fn component_mask_bits_are_opensms() {
    let (names, all) = (names(), structures());
    let records = sa_components();
    let mut bits_seen: BTreeMap<(&str, u32), ()> = BTreeMap::new();
    let mut wrong = Vec::new();
    for row in rows().iter().filter(|row| row.class == "SubnAdm") {
        let Some(bit) = row.notes.split("component mask bit ").nth(1) else { continue };
        // The service id of PathRecord is one field with two bits.
        let bit: u32 = bit.split(',').next().unwrap().parse().unwrap();
        let (structure, _) = structure_of(row, &names, &all).unwrap();
        let components = records[structure.name];
        let Some(component) = components.iter().find(|component| component.mask >> bit & 1 == 1) else {
            wrong.push(format!("{} bit {bit} ({}) has no name", structure.name, row.field));
            continue;
        };
        let (mut offset, mut width) = find(structure.fields, component.field).unwrap();
        let bits = component.mask.count_ones();
        // Either one bit for each element of an array, or bits for parts of one field, as the service id of PathRecord.
        if structure.fields.iter().any(|field| field.name == component.field && field.count == bits) && bits > 1 {
            width /= bits;
            offset += (bit - component.mask.trailing_zeros()) * width;
        }
        if row.offset < offset || row.offset + row.bits > offset + width || (bits == 1 && width != row.bits) {
            wrong.push(format!("{} bit {bit}: {} is not {}", structure.name, component.field, row.field));
        }
        bits_seen.insert((structure.name, bit), ());
    }
    // Every named bit of OpenSM has a component, and no reserved bit has one.
    for line in oracle("compmask.tsv").lines().skip(1) {
        let column: Vec<&str> = line.split('\t').collect();
        let record = all.keys().copied().find(|name| plain(name) == plain(column[0])).unwrap();
        let bit: u32 = column[1].parse().unwrap();
        let reserved = ["RESV", "RESERVED", "RES1"].iter().any(|name| column[2].starts_with(name));
        if reserved == records[record].iter().any(|component| component.mask >> bit & 1 == 1) {
            wrong.push(format!("{record} bit {bit} {}", column[2]));
        }
    }
    // Bits are in the order of the fields, so that offsets ascend with them. PortInfoRecord has only this check.
    for (record, components) in &records {
        let places: Vec<u32> =
            components.iter().map(|component| find(all[record].fields, component.field).unwrap().0).collect();
        let ascending = components.windows(2).all(|two| two[0].mask < two[1].mask);
        assert!(ascending && places.is_sorted(), "{record}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(bits_seen.len(), 144);
}

fn sa_components() -> BTreeMap<&'static str, &'static [Component]> {
    SaAttribute::COMPONENTS.iter().copied().collect()
}
