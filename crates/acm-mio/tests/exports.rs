//! The daemon exports the functions that libraries of providers use.
use std::{collections::BTreeSet, process::Command};

#[test]
fn daemon_exports_the_functions_of_providers_and_no_others() {
    let listed = Command::new("nm").args(["-D", "--defined-only", env!("CARGO_BIN_EXE_acm-mio")]).output();
    let listed = String::from_utf8(listed.expect("nm: install binutils").stdout).unwrap();
    // Functions, and the variable.
    let symbols = listed.lines().filter_map(|line| line.split_once(" T ").or(line.split_once(" D ")));
    let has: BTreeSet<&str> = symbols.map(|(_, name)| name).collect();
    let expected: BTreeSet<&str> = acm_plugin::SYMBOLS.lines().collect();
    assert!(expected.len() >= 18 && expected.contains("opts_file"));
    // No others: a function that a library defines must not be replaced by the daemon's.
    assert_eq!(has, expected);
}
