//! Programs and libraries of other projects, and scripts.
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Returns the path of a program.
///
/// # Panics
/// With the name of the Debian package, if the program is not installed.
#[must_use]
pub fn program(name: &str, package: &str) -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    // The PATH of some users lacks these directories.
    let folders = env::split_paths(&path).chain(["/usr/sbin", "/usr/local/sbin", "/sbin"].map(PathBuf::from));
    let mut paths = folders.map(|folder| folder.join(name));
    paths.find(|path| path.is_file()).unwrap_or_else(|| missing(name, package))
}

/// Returns the path of a shared library below `/usr/lib`.
///
/// # Panics
/// With the name of the Debian package, if the library is not installed.
#[must_use]
pub fn library(name: &str, package: &str) -> PathBuf {
    let folders = fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths = folders.chain([Path::new("/usr/lib").to_owned()]).map(|folder| folder.join(name));
    paths.find(|path| path.is_file()).unwrap_or_else(|| missing(name, package))
}

/// Writes a shell script that can be executed. Another process writes it: a descriptor of this one would be inherited by
/// a process that another test starts at this instant, and a file that is open for writing cannot be executed.
pub fn write_script(path: &Path, text: &str) {
    let words = ["-c", "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod 755 \"$0\""];
    let status = Command::new("sh").args(words).arg(path).arg(text).status().unwrap();
    assert!(status.success(), "{}: {status}", path.display());
}

fn missing(name: &str, package: &str) -> ! {
    panic!("this test needs {name}: install the Debian package {package} (apt-get install {package})")
}
