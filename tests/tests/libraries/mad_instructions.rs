//! Instruction counts of the measured work (`crates/ib-mad/benches/work`) by callgrind, and a search for panics in the
//! machine code of the query builders. Needs the Debian package valgrind.
//!
//! rustc builds the program against a release build of the library, because cargo would first build all development
//! dependencies in release mode.
#[path = "../../../crates/ib-mad/benches/work/mod.rs"]
mod work;

use ib_mad::{Gid, as_bytes};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
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

/// The measured program, and the assembly of the library and the program.
struct Build {
    program: PathBuf,
    assembly: [PathBuf; 2],
}

/// Builds with cargo's default release profile, without link-time optimization.
fn build() -> &'static Build {
    static BUILD: OnceLock<Build> = OnceLock::new();
    BUILD.get_or_init(|| {
        let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/ib-mad");
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("instructions");
        let deps = target.join("release/deps");
        let mut library = Command::new(env!("CARGO"));
        library.args(["rustc", "--quiet", "--release", "--lib"]).arg("--target-dir").arg(&target).current_dir(&package);
        // These variables belong to the run of the tests.
        library.env_remove("CARGO_BUILD_TARGET").env_remove("CARGO_ENCODED_RUSTFLAGS").env_remove("RUSTFLAGS");
        library
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_PROFILE_RELEASE_LTO", "false")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "false");
        let names = library.args(["--", "-C", "codegen-units=1", "--emit", "asm"]);
        output(names, "cargo");
        let program = target.join("program");
        let mut rustc = Command::new(Path::new(env!("CARGO")).with_file_name("rustc"));
        rustc.args(["--edition", "2024", "-C", "opt-level=3", "-C", "codegen-units=1", "--emit", "link,asm"]);
        rustc.arg("--extern").arg(format!("ib_mad={}", target.join("release/libib_mad.rlib").display()));
        rustc.arg("-L").arg(format!("dependency={}", deps.display())).arg("-o").arg(&program);
        output(rustc.arg(package.join("benches/work/instructions.rs")), "rustc");
        let mut libraries: Vec<PathBuf> = fs::read_dir(deps).unwrap().map(|entry| entry.unwrap().path()).collect();
        // An older build of the library may exist.
        libraries.retain(|path| path.extension().is_some_and(|extension| extension == "s"));
        libraries.sort_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
        Build { assembly: [libraries.pop().expect("the library's assembly"), program.with_extension("s")], program }
    })
}

/// Returns the instructions of the whole program, which does a piece of work `times` times.
fn collected(work: &str, times: u64) -> u64 {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(&build().program);
    let (_, text) = output(valgrind.args([work, &times.to_string()]), "valgrind");
    let count = text.lines().find_map(|line| line.split_once("Collected : ")).expect("callgrind's count").1;
    count.trim().parse().unwrap()
}

/// Returns the instructions of one piece of work with its call, without the loop around it.
fn instructions(work: &str, times: u64) -> u64 {
    (collected(work, times) - collected("nothing", times)) / times
}

#[test]
fn reading_fields_costs_as_much_as_offsets_by_hand() {
    let (ours, by_hand) = (instructions("parse", 1000), instructions("by-hand", 1000));
    println!("parse and read 5 fields of a path record: {ours}, by hand: {by_hand}");
    assert!((10..200).contains(&by_hand), "{by_hand} instructions are not those of 5 fields");
    assert!(ours * 10 <= by_hand * 12, "{ours} instructions, {by_hand} by hand");
}

/// The limits are twice the ratios of November 2026 to code written by hand, to detect additional copies or searches.
#[test]
fn other_work_costs_a_bounded_multiple_of_code_by_hand() {
    for (work, times, most) in [("path-query", 1000, 2), ("join", 1000, 8), ("dissect", 100, 4), ("reassemble", 10, 12)]
    {
        let (ours, by_hand) = (instructions(work, times), instructions(&format!("{work}-by-hand"), times));
        println!("{work}: {ours}, by hand: {by_hand}");
        assert!(by_hand >= 10, "{work}: {by_hand} instructions by hand");
        assert!(ours <= by_hand * most, "{work}: {ours} instructions, {by_hand} by hand");
    }
}

/// Returns the symbols that each function of the library and the program refers to in the assembly.
fn references() -> BTreeMap<String, BTreeSet<String>> {
    let mut references: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in build().assembly.iter() {
        let (assembly, mut current) = (fs::read_to_string(file).unwrap(), String::new());
        for line in assembly.lines() {
            // `name:` starts a function, and indented lines belong to it. Names of Rust are mangled.
            match line.strip_suffix(':').filter(|name| name.starts_with("_")) {
                Some(name) => {
                    name.clone_into(&mut current);
                    references.entry(current.clone()).or_default();
                }
                None if line.starts_with("\t.") => {}
                None => {
                    let words = line.split(|letter: char| !letter.is_alphanumeric() && !"_$.".contains(letter));
                    let names = words.filter(|word| word.starts_with("_ZN") || word.starts_with("_R"));
                    references.entry(current.clone()).or_default().extend(names.map(str::to_owned));
                }
            }
        }
    }
    references
}

/// Returns the functions of core and std that a function of the program calls directly or indirectly, for example
/// panics. memcpy and memset are not included, because they have names of C.
fn foreign(function: &str, references: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let of_the_program = |name: &&String| name.contains("4work") && name.contains(function);
    let first = references.keys().find(of_the_program).unwrap_or_else(|| panic!("no {function} in the assembly"));
    let (mut seen, mut next) = (BTreeSet::from([first]), vec![first]);
    while let Some(name) = next.pop() {
        next.extend(references.get(name).into_iter().flatten().filter(|callee| seen.insert(callee)));
    }
    seen.into_iter().filter(|name| !references.contains_key(*name)).cloned().collect()
}

#[test]
fn builders_have_no_panic_path() {
    let references = references();
    // The search finds an existing panic.
    let found = foreign("index_at", &references);
    assert!(found.iter().any(|name| name.contains("panic")), "{found:?}");
    for function in ["five_fields", "path_query", "join"] {
        assert_eq!(foreign(function, &references), [""; 0], "{function}");
    }
}

#[test]
fn measured_work_gives_correct_results() {
    let gid: Gid = "fe80::2:c903:0:10".parse().unwrap();
    let response = work::answer(gid);
    let (dgid, sgid, dlid, slid, pkey) = work::five_fields(as_bytes(&response)).unwrap();
    let by_hand = work::five_fields_by_hand(as_bytes(&response));
    assert_eq!(by_hand, Some((dgid.get(), sgid.get(), dlid.get(), slid.get(), pkey.get())));
    assert_eq!((dgid, pkey.get()), (gid, 0xffff));
    let mut buffer = vec![0; 70_000];
    assert_eq!(work::reassemble(&work::table_segments(), &mut buffer), 56 + 64 * work::RECORDS);
    let mut text = String::new();
    work::dissect(&work::port_info(), &mut text);
    assert!(text.starts_with("PortInfo{") && text.contains("port_state=active"), "{text}");
    assert_eq!(work::join(gid, gid).data.0[48], 1);
    assert_eq!(work::path_query_by_hand(gid.get(), gid.get()), as_bytes(&work::path_query(gid, gid)));
    assert_eq!(work::join_by_hand(gid.get(), gid.get()), as_bytes(&work::join(gid, gid)));
    let segments = work::table_segments();
    assert!(work::reassemble_by_hand(&segments, &mut buffer) >= 56 + 64 * work::RECORDS);
    assert_eq!(work::index_at(&[7], 0), 7);
}
