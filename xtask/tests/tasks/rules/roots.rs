//! The roots of crates and their module files.
use super::{arrows::is_below_the_line, folder, metadata, none, read, shown, sources};
use std::path::{Path, PathBuf};

/// Lints that the root of every crate that ships denies (rule 8). As lints of the workspace they would hold in tests.
const AGAINST_PANICS: [&str; 6] =
    ["unwrap_used", "expect_used", "panic", "indexing_slicing", "cast_possible_truncation", "cast_sign_loss"];
/// Crates for tests: they may panic.
const FOR_TESTS: [&str; 3] = ["acm-sim", "acm-fuzz", "acm-tests"];
/// Crates that may have unsafe code (rule 5).
const WITH_UNSAFE: [&str; 7] =
    ["acm-capi", "acm-plugin", "acm-provider", "acm-shm", "ib-device", "ib-sim-preload", "ib-verbs-sys"];
/// Module files with functions: the library of one function for each fuzz target, and a class whose messages are in
/// other files.
const WITH_FUNCTIONS: [&str; 2] = ["crates/acm-fuzz/src/lib.rs", "crates/ib-mad/src/cm/mod.rs"];

/// The roots of the library and the programs of a package.
pub(super) fn roots(src: &Path) -> Vec<PathBuf> {
    let is_root = |file: &PathBuf| {
        let (folder, name) = (file.parent().unwrap(), file.file_name().unwrap());
        (name == "lib.rs" || name == "main.rs") && (folder == src || folder.parent() == Some(&src.join("bin")))
    };
    sources(src).into_iter().filter(is_root).collect()
}

#[test]
fn roots_have_the_lints_of_their_crate() {
    let mut defects = Vec::new();
    for package in metadata().workspace_packages() {
        let name = package.name.as_str();
        for root in roots(&folder(package).join("src")) {
            let (text, file) = (read(&root), shown(&root));
            let has = |line: &str| text.lines().any(|other| other == line);
            if !WITH_UNSAFE.contains(&name) && !has("#![forbid(unsafe_code)]") {
                defects.push(format!("{file}: no `#![forbid(unsafe_code)]` (rule 5)"));
            }
            if is_below_the_line(name) && root.ends_with("src/lib.rs") && !has("#![no_std]") {
                defects.push(format!("{file}: no `#![no_std]` (rule 2)"));
            }
            let text: String = text.split_whitespace().collect();
            let denied: String = text.split("#![deny(").skip(1).filter_map(|rest| rest.split(')').next()).collect();
            let denies = |lint: &&str| denied.split(',').any(|it| it == format!("clippy::{lint}"));
            if !FOR_TESTS.contains(&name) && !AGAINST_PANICS.iter().all(denies) {
                defects.push(format!("{file}: does not deny clippy's lints against panics (rule 8)"));
            }
        }
    }
    none(defects);
}

#[test]
fn module_files_have_no_functions() {
    let mut defects = Vec::new();
    for package in metadata().workspace_packages() {
        for file in sources(&folder(package).join("src")) {
            let is_module_file = file.ends_with("mod.rs") || file.ends_with("lib.rs");
            let is_test = file.components().any(|part| part.as_os_str() == "tests");
            if is_module_file && !is_test && !WITH_FUNCTIONS.contains(&shown(&file).as_str()) {
                let line = first_function(&read(&file));
                defects
                    .extend(line.map(|line| format!("{}:{line}: a function in a module file (rule 9)", shown(&file))));
            }
        }
    }
    none(defects);
}

/// The line of the first function with a body outside of macros and tests, in code that rustfmt has formatted.
fn first_function(text: &str) -> Option<usize> {
    let mut in_macro = false;
    for (number, line) in (1..).zip(text.lines()) {
        in_macro = if in_macro { line != "}" } else { line.starts_with("macro_rules!") };
        if line == "#[cfg(test)]" && text.lines().nth(number).is_some_and(|next| next.ends_with('{')) {
            return None;
        }
        let words = line.trim_start().split(' ').take_while(|word| !word.contains("//"));
        let mut words =
            words.skip_while(|word| word.starts_with("pub") || ["const", "unsafe", "extern"].contains(word));
        if !in_macro && words.next() == Some("fn") && !line.ends_with(';') {
            return Some(number);
        }
    }
    None
}

#[test]
fn functions_are_found_outside_of_macros_and_tests() {
    assert_eq!(first_function("mod a;\npub(crate) use a::A;\nfn f() {\n}"), Some(3));
    assert_eq!(first_function("struct A;\nimpl A {\n    pub const fn f(&self) -> u8 {\n"), Some(3));
    assert_eq!(first_function("trait T {\n    fn f(&self);\n}\ntype F = fn(u8) -> u8;\n"), None);
    assert_eq!(first_function("macro_rules! m {\n    () => {\n        fn f() {}\n    };\n}\n"), None);
    assert_eq!(first_function("#[cfg(test)]\nmod tests {\n    fn f() {\n"), None);
    assert_eq!(first_function("#[cfg(test)]\nmod tests;\nfn f() {\n"), Some(3));
}
