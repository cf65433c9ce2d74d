//! `ib_acme vfabric` with a daemon that has paths to one peer.
use super::{failure::Failure, vfabric::Vfabric};
use crate::{
    output::Output,
    testing::{PEER, with_daemon},
};
use acm_client::ib_mad::{Gid, sa::PathRecord};
use clap::Parser;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    vfabric: Vfabric,
}

/// Runs the command. Returns its result, its output, and the paths that it queried.
fn run(words: &[&str]) -> (Result<(), Failure>, String, Vec<PathRecord>) {
    let mut out = Output::in_memory();
    let (result, queried) = with_daemon(|socket| {
        let line = Line::parse_from([&["vfabric", "-S", socket], words].concat());
        line.vfabric.run(&mut out)
    });
    (result, String::from_utf8(out.into_bytes()).unwrap(), queried)
}

#[test]
fn quality_of_service_class_is_part_of_the_query() {
    for (words, expected) in [(&["--qos-class", "5"][..], 5), (&[], 0)] {
        let (result, text, queried) = run(&[&["--to", PEER], words].concat());
        assert!(result.is_ok(), "{text}");
        let classes: Vec<u16> = queried.iter().map(|path| path.qos_sl.qos_class()).collect();
        assert_eq!(classes, [expected], "{text}");
    }
}

#[test]
fn one_missing_path_is_a_failure_and_the_others_are_printed() {
    let (result, text, queried) = run(&["--to", PEER, "--to", "fe80::3"]);
    assert!(matches!(result, Err(Failure::Printed)), "{result:?}");
    assert_eq!(queried.len(), 2);
    assert!(text.lines().any(|line| line.starts_with(&format!("any      {PEER}  "))), "{text}");
    assert!(text.contains("any to fe80::3: no path: "), "{text}");
    assert!(run(&["--to", PEER]).0.is_ok());
}

/// `fd00::9` may be a GID or an IPv6 address. A GID of another subnet has no path.
#[test]
fn address_with_another_prefix_than_the_local_gid_is_resolved() {
    for (dest, expected) in [("fd00::9", PEER), ("fe80::9", "fe80::9")] {
        let (_, text, queried) = run(&["--to", dest]);
        let dgids: Vec<Gid> = queried.iter().map(|path| path.dgid).collect();
        assert_eq!(dgids, [expected.parse().unwrap()], "{text}");
    }
}
