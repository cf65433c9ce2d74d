//! Comparison of field positions with those of other programs.
use super::{
    names::{Names, locate, names, paths, structure_of, structures},
    tables::rows,
};
use ib_mad::{attribute::Structure, wire::find};
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn every_field_of_other_programs_is_at_the_same_position() {
    let (names, all) = (names(), structures());
    let mut lacking = Vec::new();
    let mut seen: BTreeMap<&str, BTreeSet<(u32, u32)>> = BTreeMap::new();
    for row in rows() {
        let Some((structure, base)) = structure_of(&row, &names, &all) else {
            lacking.push(format!("{} {}: no structure", row.class, row.attribute));
            continue;
        };
        if row.bits == 0 {
            assert_eq!(structure.size, 0, "{}", row.attribute);
            continue;
        }
        if names.past.contains(&format!("{}.{}", structure.name, row.field)) {
            let end = u32::try_from(structure.size).unwrap() * 8;
            assert!(row.offset + base + row.bits > end, "{} is in the structure", row.field);
            continue;
        }
        let mut own_paths = Vec::new();
        paths(structure.fields, "", &mut own_paths);
        match locate(structure, &names, &own_paths, &row.field) {
            Err(why) => lacking.push(format!("{}: {} @{}+{}: {why}", structure.name, row.field, row.offset, row.bits)),
            Ok((offset, bits, path)) => {
                if (offset, bits) != (row.offset + base, row.bits) {
                    lacking.push(format!(
                        "{}: {} @{}+{} is {path} @{}+{bits}",
                        structure.name,
                        row.field,
                        row.offset,
                        row.bits,
                        i64::from(offset) - i64::from(base),
                    ));
                }
                let host_order = structure.fields.iter().any(|field| {
                    field.name == path.split('[').next().unwrap() && field.order == ib_mad::wire::ByteOrder::Host
                });
                if row.bits > 8 && row.class == "umad" && host_order != row.host_order {
                    lacking.push(format!("{}: {}: byte order", structure.name, row.field));
                }
                seen.entry(structure.name).or_default().insert((offset, bits));
            }
        }
    }
    assert!(lacking.is_empty(), "{} lacking:\n{}", lacking.len(), lacking.join("\n"));
    only_ours(&names, &all, &seen);
}

/// Checks that every field without a row has a line with its source.
fn only_ours(names: &Names, all: &BTreeMap<&str, Structure>, seen: &BTreeMap<&str, BTreeSet<(u32, u32)>>) {
    let mut unlisted = Vec::new();
    // A structure without any row exists only in this crate.
    for structure in all.values().filter(|structure| seen.contains_key(structure.name)) {
        let mut own_paths = Vec::new();
        paths(structure.fields, "", &mut own_paths);
        for path in &own_paths {
            let inner = own_paths.iter().any(|other| {
                other.len() > path.len()
                    && other.starts_with(path.as_str())
                    && !other[path.len()..].starts_with('_')
                    && ['.', '['].contains(&char::from(other.as_bytes()[path.len()]))
            });
            let (offset, bits) = find(structure.fields, path).unwrap();
            let theirs = seen.get(structure.name).is_some_and(|seen| {
                // A row has the field, its parts, or a field that contains it.
                let covered: u32 = seen
                    .iter()
                    .filter(|(from, width)| *from >= offset && from + width <= offset + bits)
                    .map(|(_, width)| width)
                    .sum();
                covered >= bits || seen.iter().any(|(from, width)| *from <= offset && offset + bits <= from + width)
            });
            let first = format!("{}.{}", structure.name, path.split(['.', '[']).next().unwrap());
            if !inner
                && !theirs
                && !names.ours.contains(&first)
                && !names.ours.contains(&format!("{}.*", structure.name))
            {
                unlisted.push(format!("{}\t{path}", structure.name));
            }
        }
    }
    assert!(unlisted.is_empty(), "only ours, and not listed:\n{}", unlisted.join("\n"));
}
