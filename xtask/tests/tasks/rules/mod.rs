//! Rules of CONTRIBUTING.md that neither rustc nor clippy checks. `cargo xtask check` runs these tests.
mod arrows;
mod circles;
mod licences;
mod methods;
mod packages;
mod paths;
mod roots;
mod rows;
mod tables;
mod waits;
mod words;

use cargo_metadata::{Metadata, MetadataCommand, Package};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The directory of the workspace.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The packages of the workspace.
fn metadata() -> Metadata {
    MetadataCommand::new().current_dir(root()).no_deps().exec().unwrap()
}

fn folder(package: &Package) -> &Path {
    package.manifest_path.parent().unwrap().as_std_path()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The Rust files in a directory and its directories, in order, without links to files of other crates.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let files = |path: PathBuf| {
        let is_source = path.extension().is_some_and(|extension| extension == "rs") && !path.is_symlink();
        if path.is_dir() { sources(&path) } else { Vec::from_iter(is_source.then_some(path)) }
    };
    entries.into_iter().flat_map(files).collect()
}

/// A path as editors follow it: from the directory of the workspace.
fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// Fails with a list of defects.
#[track_caller]
fn none(defects: Vec<String>) {
    assert!(defects.is_empty(), "{} defects:\n  {}", defects.len(), defects.join("\n  "));
}
