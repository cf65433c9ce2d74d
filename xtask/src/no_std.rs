//! Builds of the crates that must do without std, where std is not there to be linked.
//!
//! `#![no_std]` in a crate says nothing of the crates below it. So they are built for a target that has no std; where it
//! cannot be had, against a copy of this machine's libraries that std has been left out of.
use crate::{
    command::{self, cargo},
    error::TaskError,
    packages::Install,
};
use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

/// Crates that must build without std.
const CRATES: &[&str] = &["ib-mad", "acm-wire", "acm-sansio", "ib-sim"];

/// A target of x86-64 without an operating system.
const BARE: &str = "x86_64-unknown-none";

/// The libraries that there are without std, and those of the compiler's that they need.
const WITHOUT_STD: &[&str] = &["libcore-", "liballoc-", "libcompiler_builtins-"];

/// Builds [`CRATES`] without their defaults.
///
/// # Errors
/// One of them, or what it depends on, needs std.
pub(crate) fn build(install: Install) -> Result<(), TaskError> {
    if bare_target(install)? {
        return command::run(&mut build_for(BARE));
    }
    println!("The target {BARE} is not here: building against this machine's libraries without std");
    let (sysroot, host) = (said(&["--print", "sysroot"])?, said(&["--print", "host-tuple"])?);
    let folder = tempfile::tempdir().map_err(|source| TaskError::Read { path: "a temporary folder".into(), source })?;
    let libraries = Path::new(&sysroot).join("lib/rustlib").join(&host).join("lib");
    without_std(&libraries, folder.path(), &host).map_err(|source| TaskError::Read { path: libraries, source })?;
    // With a target named, programs of the build (macros, build scripts) keep their std. What was built with std does
    // not go with what is built without.
    let flags = format!("--sysroot={}", folder.path().display());
    command::run(build_for(&host).env("RUSTFLAGS", flags).args(["--target-dir", "target/no-std"]))
}

fn build_for(target: &str) -> Command {
    let mut build = cargo(&["build", "--lib", "--no-default-features", "--target", target]);
    build.args(CRATES.iter().flat_map(|name| ["-p", name]));
    build
}

/// Whether [`BARE`] is here, or could be had.
fn bare_target(install: Install) -> Result<bool, TaskError> {
    let folder = said(&["--print", "target-libdir", "--target", BARE])?;
    if has_core(Path::new(&folder)) {
        return Ok(true);
    }
    if install.no_install || !command::exists("rustup") {
        return Ok(false);
    }
    println!("Missing in this toolchain: the target {BARE}");
    Ok(command::run(Command::new("rustup").args(["target", "add", BARE]).current_dir(command::root())).is_ok())
}

fn has_core(folder: &Path) -> bool {
    files(folder).is_ok_and(|files| files.iter().any(|(name, _)| name.starts_with("libcore-")))
}

/// Makes `sysroot` one whose libraries are those of `libraries` but std.
fn without_std(libraries: &Path, sysroot: &Path, host: &str) -> io::Result<()> {
    let folder = sysroot.join("lib/rustlib").join(host).join("lib");
    fs::create_dir_all(&folder)?;
    for (name, path) in files(libraries)? {
        if WITHOUT_STD.iter().any(|library| name.starts_with(library)) {
            symlink(path, folder.join(name))?;
        }
    }
    Ok(())
}

fn files(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let entry = |entry: io::Result<fs::DirEntry>| {
        entry.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
    };
    fs::read_dir(folder)?.map(entry).collect()
}

/// The one line that this toolchain's compiler says.
fn said(args: &[&str]) -> Result<String, TaskError> {
    // By way of rustup as cargo is: the same toolchain.
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    let output = command::output(command.args(args).current_dir(command::root()))?;
    Ok(output.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a library of `source` can be built in a sysroot without std.
    fn builds(source: &str) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let (sysroot, host) = (said(&["--print", "sysroot"]).unwrap(), said(&["--print", "host-tuple"]).unwrap());
        let libraries = Path::new(&sysroot).join("lib/rustlib").join(&host).join("lib");
        without_std(&libraries, folder.path(), &host).unwrap();
        fs::write(folder.path().join("lib.rs"), source).unwrap();
        let mut rustc = Command::new("rustc");
        rustc.args(["--crate-type", "rlib", "--target", &host, "--sysroot"]).arg(folder.path()).arg("lib.rs");
        command::succeeds(rustc.current_dir(folder.path()))
    }

    #[test]
    fn std_is_not_there_and_alloc_is() {
        assert!(builds("#![no_std] extern crate alloc; pub fn f() -> alloc::vec::Vec<u8> { alloc::vec![1] }"));
        assert!(!builds("#![no_std] extern crate std; pub fn f() -> std::vec::Vec<u8> { std::vec![1] }"));
        assert!(!builds("pub fn f() {}"));
    }

    #[test]
    fn all_are_built_for_one_target() {
        let line = command::line(&build_for(BARE));
        assert!(line.contains("--no-default-features --target x86_64-unknown-none -p ib-mad"), "{line}");
        assert!(CRATES.iter().all(|name| line.contains(name)), "{line}");
    }
}
