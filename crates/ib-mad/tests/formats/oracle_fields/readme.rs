//! Check of the numbers in the README.
use super::tables::rows;
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
