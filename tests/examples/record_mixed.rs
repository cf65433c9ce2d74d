//! Writes `testdata/traces/mixed.pcapng`: the recording (`acm-mio --record`) of a node between two nodes with Debian's
//! C ibacm, through device files on a simulated fabric. `cargo run -p acm-tests --example record_mixed [FILE]`, as
//! root, with the package `ibacm` installed.
//!
//! Unlike the sessions of acm-sim, this session runs in real time, so each recording differs.
use acm_tests::{Kind, Lab, LabNode};
use acm_trace::Replay;
use nix::sys::signal::Signal;
use std::{env, fs, path::PathBuf};

/// Resolves each node from the other by name, IPv4 and IPv6 address.
fn both_ways(one: &LabNode, other: &LabNode) {
    for (from, to) in [(one, other), (other, one)] {
        let (a, b) = (from.number, to.number);
        let pairs = [
            ["n".to_owned(), format!("node{a}"), format!("node{b}")],
            ["i".to_owned(), format!("10.77.0.{a}"), format!("10.77.0.{b}")],
            ["i".to_owned(), format!("fd00::{a}"), format!("fd00::{b}")],
        ];
        for [kind, source, dest] in pairs {
            let path = from.acme(&["-f", &kind, "-s", &source, "-d", &dest]).path();
            println!("node{a} ({:?}) found {dest} at LID {}", from.kind, path.dlid);
        }
    }
}

fn main() {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/traces/mixed.pcapng");
    let file = env::args_os().nth(1).map_or_else(|| PathBuf::from(default), PathBuf::from);
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("trace");
    let lab = Lab::new(3, &[]);
    let before = lab.start(1, Kind::C, &[]);
    let mut ours = lab.start_recording(2, &[], &record);
    let after = lab.start(3, Kind::C, &[]);
    both_ways(&ours, &before);
    both_ways(&ours, &after);
    // A cached path, an unknown name, and a node that restarts.
    both_ways(&ours, &before);
    let unknown = ours.acme(&["-f", "n", "-s", "node2", "-d", "nobody"]);
    println!("{}", unknown.finished.stdout.trim_end());
    drop(after);
    let after = lab.start(3, Kind::C, &[]);
    both_ways(&ours, &after);
    println!("{}", lab.fabric.control("rereg 2 1").trim_end());
    ours.wait_for("join successful", 2);
    both_ways(&ours, &before);
    ours.process.signal(Signal::SIGTERM);
    assert_eq!(ours.process.wait().code, Some(0));

    let trace = fs::read(&record).unwrap();
    let done = Replay::default().run(trace.as_slice()).unwrap();
    assert!(done.notes.is_empty() && done.not_compared == 0, "{done:?}");
    println!("{} ({} bytes): {} inputs, {} outputs", file.display(), trace.len(), done.inputs, done.outputs);
    fs::write(file, trace).unwrap();
}
