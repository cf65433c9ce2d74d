//! The task `check`: everything that runs no test program.
use crate::{
    command::{self, FEATURES, cargo, words},
    error::TaskError,
    packages::{self, Install},
    steps::Steps,
};
use std::process::Command;

/// Tests that run only in the virtual machine. Cargo builds them by name only.
pub(crate) const ON_REAL_KERNEL: [&str; 4] = ["--test", "vm_rxe", "--test", "vm_kernel"];

/// Crates that build without std.
const WITHOUT_STD: [&str; 8] = ["-p", "ib-mad", "-p", "acm-wire", "-p", "acm-sansio", "-p", "ib-sim"];
/// A target that has no std. `#![no_std]` in a crate does not apply to its dependencies.
const BARE: &str = "x86_64-unknown-none";

/// The task.
///
/// # Errors
/// A check fails, or needs a component or package that cannot be installed.
pub(crate) fn run(install: Install) -> Result<(), TaskError> {
    let mut steps = Steps::new(6);
    steps.run("packages and components", || {
        packages::ensure(packages::BUILD, install)?;
        for name in ["rustfmt", "clippy"] {
            let has_it = command::succeeds(&mut words(&format!("cargo {} --version", name.trim_start_matches("rust"))));
            add(has_it, name, &format!("rustup component add {name}"), install)?;
        }
        add(has_bare_target(), BARE, &format!("rustup target add {BARE}"), install)
    })?;
    steps.command("format", &mut words("cargo fmt --all --check"))?;
    steps.run("lints", || {
        [&["--all-targets"][..], &ON_REAL_KERNEL].into_iter().try_for_each(|targets| {
            let mut clippy = cargo(&["clippy", "--workspace", "--features", FEATURES]);
            command::run(clippy.args(targets).args(["--", "-D", "warnings"]))
        })
    })?;
    let mut doc = words("cargo doc --workspace --no-deps");
    steps.command("documentation", doc.env("RUSTDOCFLAGS", "-D warnings"))?;
    let mut bare = cargo(&["check", "--lib", "--no-default-features", "--target", BARE]);
    steps.command("build without std", bare.args(WITHOUT_STD))?;
    steps.command("rules and licences", &mut rules())?;
    print!("{steps}");
    Ok(())
}

/// Runs the tests of rules.
pub(crate) fn rules() -> Command {
    words("cargo test -p xtask --test tasks rules::")
}

/// Installs a part of the toolchain that is missing.
fn add(has_it: bool, what: &'static str, line: &str, install: Install) -> Result<(), TaskError> {
    if has_it {
        return Ok(());
    }
    if install.no_install || !command::exists("rustup") {
        return Err(TaskError::Missing { what, command: line.to_owned() });
    }
    println!("Missing in this toolchain: {what}");
    command::run(&mut words(line))
}

fn has_bare_target() -> bool {
    let rustc = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", BARE])
        .current_dir(command::root())
        .output();
    rustc.is_ok_and(|output| std::path::Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}
