//! Instructions of the measured work (`examples/work`), counted by callgrind, and the search for panics in the machine
//! code of the query builders. Feature `live`; needs the Debian packages valgrind and binutils.
//!
//! The program is built by rustc itself against a release build of the library: cargo would first build every
//! development dependency in release.
#![cfg(feature = "live")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::std_instead_of_core,
    unreachable_pub,
    reason = "test code"
)]
#[path = "../examples/work/mod.rs"]
mod work;

use ib_mad::{Gid, as_bytes};
use std::{
    collections::{BTreeMap, BTreeSet},
    io::ErrorKind,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

fn output(command: &mut Command, package: &str) -> (String, String) {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = match command.output() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            panic!("{name} is missing: install the Debian package {package}")
        }
        output => output.unwrap(),
    };
    let (out, err) = (String::from_utf8_lossy(&output.stdout).into(), String::from_utf8_lossy(&output.stderr).into());
    assert!(output.status.success(), "{name}: {err}");
    (out, err)
}

/// The measured program, in release.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("instructions");
        let mut library = Command::new(env!("CARGO"));
        library.args(["build", "--quiet", "--release", "--lib", "--manifest-path"]).arg(package.join("Cargo.toml"));
        // Of the run of the tests, not of this one.
        library.env_remove("CARGO_BUILD_TARGET").env_remove("CARGO_ENCODED_RUSTFLAGS").env_remove("RUSTFLAGS");
        output(library.arg("--target-dir").arg(&target), "cargo");
        let release = target.join("release");
        let program = target.join("program");
        let mut rustc = Command::new(Path::new(env!("CARGO")).with_file_name("rustc"));
        rustc.args(["--edition", "2024", "-C", "opt-level=3", "-o"]).arg(&program);
        rustc.arg("--extern").arg(format!("ib_mad={}", release.join("libib_mad.rlib").display()));
        rustc.arg("-L").arg(format!("dependency={}", release.join("deps").display()));
        output(rustc.arg(package.join("examples/instructions.rs")), "rustc");
        program
    })
}

/// Instructions of the whole program when it does a piece of work so often.
fn collected(work: &str, times: u64) -> u64 {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program());
    let (_, text) = output(valgrind.args([work, &times.to_string()]), "valgrind");
    let count = text.lines().find_map(|line| line.split_once("Collected : ")).expect("callgrind's count").1;
    count.trim().parse().unwrap()
}

/// Instructions of one piece of work, with the call of it and without the loop around it.
fn instructions(work: &str, times: u64) -> u64 {
    (collected(work, times) - collected("nothing", times)) / times
}

#[test]
fn reading_costs_what_offsets_by_hand_cost() {
    let (ours, by_hand) = (instructions("parse", 1000), instructions("by-hand", 1000));
    println!("parse and read 5 fields of a path record: {ours}, by hand: {by_hand}");
    assert!((10..200).contains(&by_hand), "{by_hand} instructions are not those of 5 fields");
    assert!(ours * 10 <= by_hand * 12, "{ours} instructions, {by_hand} by hand");
}

/// The bounds are twice what it was in November 2026; they are to notice a copy or a search that crept in.
#[test]
fn other_work_stays_in_its_bounds() {
    for (work, times, bound) in
        [("path-query", 1000, 240), ("join", 1000, 240), ("dissect", 100, 70_000), ("reassemble", 10, 270_000)]
    {
        let count = instructions(work, times);
        println!("{work}: {count}");
        assert!((10..=bound).contains(&count), "{work}: {count} instructions, at most {bound} are expected");
    }
}

/// What each function of the program calls or jumps to, by demangled name.
fn calls() -> BTreeMap<String, BTreeSet<String>> {
    let (code, _) = output(Command::new("objdump").args(["-d", "-C", "--no-show-raw-insn"]).arg(program()), "binutils");
    let mut calls: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut current = String::new();
    for line in code.lines() {
        // `0000000000001234 <name>:` starts a function, `  1234: call 5678 <name+0x9>` is a line of it.
        let Some((start, name)) = line.split_once('<') else { continue };
        if let Some(name) = name.strip_suffix(">:").filter(|_| !start.contains(':')) {
            name.clone_into(&mut current);
            calls.entry(current.clone()).or_default();
        } else if let Some(name) = name.strip_suffix('>') {
            let name = name.rsplit_once("+0x").map_or(name, |(name, _)| name);
            calls.entry(current.clone()).or_default().insert(name.to_owned());
        }
    }
    calls
}

/// Functions about panics that can be reached from a function of the program.
fn panics_below(start: &str, calls: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let named = |name: &&String| name.split("::h").next().is_some_and(|name| name.ends_with(start));
    let first = calls.keys().find(named).unwrap_or_else(|| panic!("no function {start} in the program"));
    let (mut seen, mut next) = (BTreeSet::from([first]), vec![first]);
    while let Some(name) = next.pop() {
        next.extend(calls.get(name).into_iter().flatten().filter(|callee| seen.insert(callee)));
    }
    seen.into_iter().filter(|name| name.contains("panic") || name.contains("unwrap_failed")).cloned().collect()
}

#[test]
fn builders_have_no_panic_path() {
    let calls = calls();
    // The search finds a panic where there is one.
    assert!(!panics_below("::work::panics", &calls).is_empty());
    for builder in ["::work::path_query", "::work::join", "::work::five_fields"] {
        assert_eq!(panics_below(builder, &calls), [""; 0], "{builder}");
    }
}

/// What is counted does what its name says.
#[test]
fn the_measured_work_is_right() {
    let gid: Gid = "fe80::2:c903:0:10".parse().unwrap();
    let answer = work::answer(gid);
    let (dgid, sgid, dlid, slid, pkey) = work::five_fields(as_bytes(&answer)).unwrap();
    let by_hand = work::five_fields_by_hand(as_bytes(&answer));
    assert_eq!(by_hand, Some((dgid.get(), sgid.get(), dlid.get(), slid.get(), pkey.get())));
    assert_eq!((dgid, pkey.get()), (gid, 0xffff));
    let mut buffer = vec![0; 70_000];
    assert_eq!(work::reassemble(&work::table_segments(), &mut buffer), 56 + 64 * work::RECORDS);
    let mut text = String::new();
    work::dissect(&work::port_info(), &mut text);
    assert!(text.starts_with("PortInfo{") && text.contains("port_state=active"), "{text}");
    assert_eq!(work::join(gid, gid).data.0[48], 1);
    assert_eq!(work::panics(&[7], 0), 7);
}
