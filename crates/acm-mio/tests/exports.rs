//! The daemon exports the functions that libraries of providers use.
use std::{collections::BTreeSet, process::Command};

#[test]
fn daemon_exports_the_functions_of_providers_and_no_others() {
    let listed = Command::new("nm").args(["-D", "--defined-only", env!("CARGO_BIN_EXE_acm-mio")]).output();
    let listed = String::from_utf8(listed.expect("nm: install binutils").stdout).unwrap();
    let has: BTreeSet<&str> = listed.lines().filter_map(|line| line.split_once(" T ")).map(|(_, name)| name).collect();
    let expected: BTreeSet<&str> = acm_plugin::SYMBOLS.lines().collect();
    assert!(expected.len() >= 17);
    // No others: a function that a library defines must not be replaced by the daemon's.
    assert_eq!(has, expected);
}
