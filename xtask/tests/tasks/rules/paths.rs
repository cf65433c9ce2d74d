//! Paths that documents name.
use super::{none, read, root};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The top-level folders that paths begin with. `tests/` is often that of a crate.
const FOLDERS: [&str; 7] = [".ci/", "crates/", "dist/", "docs/", "fuzz/", "testdata/", "xtask/"];

#[test]
fn paths_in_documents_exist() {
    let mut defects = Vec::new();
    let top = fs::read_dir(root()).unwrap().chain(fs::read_dir(root().join("docs")).unwrap());
    let documents = top.map(|entry| entry.unwrap().path());
    for document in documents.filter(|path| path.extension().is_some_and(|extension| extension == "md")) {
        for (line, path) in paths(&read(&document)) {
            if !exists(&path) {
                defects.push(format!("{}:{line}: no {}", document.display(), path.display()));
            }
        }
    }
    none(defects);
}

#[test]
fn table_of_contents_has_each_page() {
    let contents = read(&root().join("docs/README.md"));
    let pages =
        fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let missing = pages.filter(|page| page.ends_with(".md") && page != "README.md");
    none(
        missing
            .filter(|page| !contents.contains(&format!("({page})")))
            .map(|page| format!("{page} is not in it"))
            .collect(),
    );
}

/// Reports whether a path exists in the workspace. A module may be a file or a folder, so that a path may lack the
/// extension of a Rust file.
fn exists(path: &Path) -> bool {
    let path = root().join(path);
    path.exists() || path.with_extension("rs").exists()
}

/// The paths in backticks, with their lines. Paths with placeholders in capitals or patterns are left out.
fn paths(text: &str) -> Vec<(usize, PathBuf)> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        for part in line.split('`').skip(1).step_by(2) {
            let is_path = FOLDERS.iter().any(|folder| part.starts_with(folder));
            let is_plain = !part.contains(|other: char| other.is_ascii_uppercase() || " *{}<>$:".contains(other));
            if is_path && is_plain {
                found.push((number, part.into()));
            }
        }
    }
    found
}

#[test]
fn placeholders_and_commands_are_no_paths() {
    let text = "`crates/a/src/`\n`crates/NAME/src`, `tests/*.rs` and `docs/b.md`\n`x/y` `.ci/mutants CRATE`\n";
    assert_eq!(paths(text), [(1, PathBuf::from("crates/a/src/")), (2, PathBuf::from("docs/b.md"))]);
}
