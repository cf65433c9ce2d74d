//! Tables of other programs.
use std::{fs, path::Path};

pub(super) fn oracle(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/oracle").join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(super) struct Row {
    pub(super) class: String,
    pub(super) attribute: String,
    pub(super) field: String,
    pub(super) offset: u32,
    pub(super) bits: u32,
    pub(super) host_order: bool,
    pub(super) notes: String,
    pub(super) source: String,
    pub(super) checked_by: String,
}

pub(super) fn rows() -> Vec<Row> {
    let table = oracle("mad-fields.tsv");
    let rows: Vec<Row> = table
        .lines()
        .skip(1)
        .map(|line| {
            let column: Vec<&str> = line.split('\t').collect();
            Row {
                class: column[0].into(),
                attribute: column[1].into(),
                field: column[2].into(),
                offset: column[3].parse().unwrap(),
                bits: column[4].parse().unwrap(),
                host_order: column[5] == "le",
                notes: column[6].into(),
                source: column[7].into(),
                checked_by: column[8].into(),
            }
        })
        .collect();
    assert_eq!(rows.len(), 2675, "2672 fields, and three attributes without data");
    rows
}

/// Returns the letters and digits of a name, in lower case.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|letter| letter.is_ascii_alphanumeric()).map(|letter| letter.to_ascii_lowercase()).collect()
}
