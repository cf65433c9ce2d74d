//! Packages of the published crates, features of tests, corpora of fuzz targets.
use super::{folder, metadata, read, root, sources};
use std::{collections::BTreeSet, env, fs, process::Command};

/// The names of the crates that may be published.
fn published() -> impl Iterator<Item = String> {
    metadata().packages.into_iter().filter(|package| package.publish.is_none()).map(|package| package.name.to_string())
}

/// The files of a package.
fn packed(name: &str) -> BTreeSet<String> {
    let mut list = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    list.args(["package", "--list", "--allow-dirty", "--offline", "-p", name]).current_dir(root());
    let output = list.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(String::from).collect()
}

/// Without this test, a missing file would be noticed only after the package has been downloaded.
#[test]
fn packages_have_every_file_that_they_include() {
    for name in published() {
        let files = packed(&name);
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "src/lib.rs"] {
            assert!(files.contains(file), "{name}: {file} is not packed");
        }
        let own = root().join("crates").join(&name);
        for file in files.iter().filter(|file| file.ends_with(".rs")) {
            let text = read(&own.join(file));
            for include in ["include_str!(\"", "include_bytes!(\"", "#[path = \""] {
                for other in text.split(include).skip(1).filter_map(|rest| rest.split('"').next()) {
                    let mut path: Vec<&str> = file.split('/').collect();
                    path.pop();
                    for part in other.split('/') {
                        let is_inside = if part == ".." { path.pop().is_some() } else { true };
                        assert!(is_inside, "{name}: {file} needs {other}, outside of the package");
                        path.extend(Some(part).filter(|part| *part != ".."));
                    }
                    assert!(files.contains(&path.join("/")), "{name}: {file} needs {other}");
                }
            }
        }
    }
}

/// Each crate that may be published contains the texts of its licences.
#[test]
fn published_crates_have_their_licences() {
    for package in metadata().packages.into_iter().filter(|package| package.publish.is_none()) {
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let text = read(&folder(&package).join(licence));
            assert_eq!(text, read(&root().join(licence)), "{}: {licence}", package.name);
        }
    }
}

#[test]
fn packages_have_no_private_features_and_examples() {
    let features = |name: &str| -> Vec<String> {
        let package = metadata().packages.into_iter().find(|package| package.name == name).unwrap();
        package.features.into_keys().collect()
    };
    let classes = ["acm", "baseboard", "cm", "congestion", "device", "opa", "packet", "perf", "umad"];
    let expected: BTreeSet<_> =
        ["arbitrary", "capture", "classes", "default", "serde", "std"].into_iter().chain(classes).collect();
    assert_eq!(features("ib-mad"), Vec::from_iter(expected));
    assert_eq!(features("acm-wire"), ["serde"]);
    let examples = packed("ib-mad").into_iter().filter_map(|file| Some(file.strip_prefix("examples/")?.to_owned()));
    let public = "analyser answer_queries build_path_query decode_pcap decode_umad fuzzer portinfo write_mads";
    assert_eq!(Vec::from_iter(examples), Vec::from_iter(public.split(' ').map(|name| format!("{name}.rs"))));
}

/// `cargo xtask test` runs the tests with these features: a test behind another one would never run.
#[test]
fn features_of_tests_are_enabled() {
    let mut named = BTreeSet::from(["xtask/demo".to_owned()]);
    for package in metadata().packages {
        for file in sources(&folder(&package).join("tests")).iter().filter(|file| !file.ends_with("rules/packages.rs"))
        {
            let text = read(file);
            let features = text.split("feature = \"").skip(1).filter_map(|rest| rest.split('"').next());
            named.extend(features.map(|feature| format!("{}/{feature}", package.name)));
        }
    }
    let command = read(&root().join("xtask/src/command.rs"));
    let given = command.split_once("FEATURES: &str = \"").unwrap().1.split('"').next().unwrap();
    assert_eq!(named, given.split(',').map(String::from).collect());
}

#[test]
fn each_fuzz_target_has_a_corpus() {
    let targets = sources(&root().join("fuzz/fuzz_targets"));
    assert!(targets.len() >= 15);
    for target in targets {
        let corpus = root().join("fuzz/corpus").join(target.file_stem().unwrap());
        assert!(fs::read_dir(&corpus).unwrap().next().is_some(), "{}", corpus.display());
    }
}

/// A function that has another name is tried by cargo-mutants again.
#[test]
fn equivalent_mutants_are_of_functions_that_exist() {
    let patterns = read(&root().join(".cargo/mutants.toml")).replace('\\', "");
    for pattern in patterns.lines().filter_map(|line| line.trim().strip_prefix("'^")) {
        let (file, change) = pattern.split_once(":.*: ").unwrap();
        // `replace a with b in T::f`, or `replace T::f -> R with c`.
        let name = change.trim_end_matches("$',").split(" -> ").next().unwrap();
        let function = name.rsplit([':', ' ']).next().unwrap();
        assert!(read(&root().join(file)).contains(&format!("fn {function}")), "{pattern}");
    }
}
