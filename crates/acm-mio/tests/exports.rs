//! The daemon has the functions that providers are linked against.
#![cfg(feature = "plugins")]
use std::{collections::BTreeSet, process::Command};

#[test]
fn libraries_find_what_they_take_of_a_daemon() {
    let listed = Command::new("nm").args(["-D", "--defined-only", env!("CARGO_BIN_EXE_acm-mio")]).output();
    let listed = String::from_utf8(listed.expect("nm: install binutils").stdout).unwrap();
    let has: BTreeSet<&str> = listed.lines().filter_map(|line| line.split_once(" T ")).map(|(_, name)| name).collect();
    let wanted: BTreeSet<&str> = acm_plugin::SYMBOLS.lines().collect();
    assert!(wanted.len() >= 17);
    // And nothing else: what a library defines itself stays its own.
    assert_eq!(has, wanted);
}
