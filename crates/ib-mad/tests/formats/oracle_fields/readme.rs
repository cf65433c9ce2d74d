//! Check of the numbers in the README, and of what the documentation says about sources.
use super::{
    names::{names, structure_of, structures},
    tables::rows,
};
use std::collections::{BTreeMap, BTreeSet};

/// The table of coverage is derived from the columns `source` and `checked_by`.
#[test]
fn readme_has_the_numbers_of_the_oracle() {
    let readme = include_str!("../../../README.md");
    let mut classes: BTreeMap<String, [BTreeSet<String>; 4]> = BTreeMap::new();
    for row in rows() {
        let counts = classes.entry(row.class).or_default();
        let all = format!("{},{}", row.source, row.checked_by);
        let has = [true, row.checked_by.contains("tshark"), all.contains("libibmad"), all.contains("ib_types")];
        for (count, _) in counts.iter_mut().zip(has).filter(|(_, has)| *has) {
            count.insert(row.attribute.clone());
        }
    }
    for (class, counts) in classes {
        let [all, wireshark, libibmad, opensm] = counts.map(|count| count.len());
        let line = format!("| {class} | {all} | {wireshark} | {libibmad} | {opensm} |");
        assert!(readme.contains(&line), "{line}");
    }
}

/// A field that libibmad alone has may be wrong, as the log of a channel adapter was. The documentation of its structure
/// says so.
#[test]
fn documentation_names_layouts_that_rest_on_libibmad_alone() {
    let sources = [
        include_str!("../../../src/perf/port_extended_speeds.rs"),
        include_str!("../../../src/perf/port_flow.rs"),
        include_str!("../../../src/perf/port_lanes.rs"),
        include_str!("../../../src/perf/port_service_levels.rs"),
    ]
    .concat();
    let (all, names) = (structures(), names());
    let mut alone = BTreeMap::new();
    for row in rows().iter().filter(|row| row.source == "libibmad:fields.c") {
        if ["", "libibmad"].contains(&row.checked_by.as_str()) {
            *alone.entry(structure_of(row, &names, &all).unwrap().0.name).or_insert(0) += 1;
        }
    }
    let marked: BTreeSet<&str> = sources
        .split("wire! {")
        .filter(|block| block.contains("libibmad is the only public source"))
        .filter_map(|block| block.split("pub struct ").nth(1)?.split(' ').next())
        .collect();
    assert_eq!(alone.keys().copied().collect::<BTreeSet<_>>(), marked);
    let readme = include_str!("../../../README.md");
    let numbers =
        format!("{} positions of {} attributes rest on libibmad alone", alone.values().sum::<u32>(), alone.len());
    assert!(readme.contains(&numbers), "{numbers}");
}
