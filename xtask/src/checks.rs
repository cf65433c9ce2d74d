//! The tasks `test` and `ci`: a row of steps, each one command.
use crate::{
    command::{self, TESTED, cargo},
    error::TaskError,
    no_std,
    packages::{self, Install},
    published,
    stopwatch::Stopwatch,
    test_run, vm,
};
use core::{fmt, time::Duration};
use std::process::Command;

/// The task `test`. The test runner has the last word on the screen.
pub(crate) fn test(install: Install, fast: bool) -> Result<(), TaskError> {
    let mut steps = Steps::default();
    ready(&mut steps, install)?;
    if !fast {
        build(&mut steps, install)?;
        real_kernel(&mut steps)?;
    }
    tests(steps)
}

/// The task `ci`: [`test()`], what cargo-deny finds beyond that, the oldest compiler, the packages of published crates,
/// their interfaces since the last release, the examples that are no part of the workspace, and each fuzz target for 15 s;
/// what that needs is installed.
pub(crate) fn ci(install: Install) -> Result<(), TaskError> {
    let mut steps = Steps::default();
    ready(&mut steps, install)?;
    build(&mut steps, install)?;
    steps.step("cargo-deny", || cargo_deny(install))?;
    steps.step("oldest compiler", || published::msrv(install))?;
    steps.step("packages", published::package)?;
    steps.step("interfaces", || published::semver_since_release(install))?;
    steps.command("fuzzing", Command::new("fuzz/run").current_dir(command::root()))?;
    steps.step("example with tokio", published::with_tokio)?;
    steps.step("example of a provider", published::provider_hosts)?;
    real_kernel(&mut steps)?;
    tests(steps)
}

fn ready(steps: &mut Steps, install: Install) -> Result<(), TaskError> {
    let packages: Vec<_> = packages::BUILD.iter().chain(packages::TEST).copied().collect();
    steps.step("packages", || packages::ensure(&packages, install))?;
    steps.step("rules", rules)
}

/// The task `rules`.
pub(crate) fn rules() -> Result<(), TaskError> {
    command::run(&mut cargo(&["test", "-p", "xtask", "--test", "tasks", "rules::"]))
}

/// What is built or looked at besides the tests.
fn build(steps: &mut Steps, install: Install) -> Result<(), TaskError> {
    component("rustfmt", &["fmt", "--version"], install)?;
    component("clippy", &["clippy", "--version"], install)?;
    steps.command("format", &mut cargo(&["fmt", "--all", "--check"]))?;
    let lint = |targets: &[&str]| {
        let mut clippy = cargo(&["clippy", "--workspace", "--features", TESTED]);
        clippy.args(targets).args(["--", "-D", "warnings"]);
        clippy
    };
    steps.command("lints", &mut lint(&["--all-targets"]))?;
    // What runs by name only is not among all targets.
    let by_name: Vec<&str> = vm::TESTS.iter().flat_map(|test| ["--test", test]).collect();
    steps.command("lints of tests on a real kernel", &mut lint(&by_name))?;
    let mut doc = cargo(&["doc", "--workspace", "--no-deps"]);
    steps.command("documentation", doc.env("RUSTDOCFLAGS", "-D warnings"))?;
    steps.step("without std", || no_std::build(install))
}

/// All of `deny.toml` but advisories, which change from day to day without a change of ours.
fn cargo_deny(install: Install) -> Result<(), TaskError> {
    if !command::succeeds(&mut cargo(&["deny", "--version"])) {
        if install.no_install {
            return Err(TaskError::CargoDenyMissing);
        }
        println!("Missing: cargo-deny; building it takes minutes");
        command::run(&mut cargo(&["install", "cargo-deny", "--locked"]))?;
    }
    command::run(&mut cargo(&["deny", "check", "licenses", "bans", "sources"]))
}

/// The tests that need a real kernel's RDMA stack: in a virtual machine, by the task `vm-test`. Needs root.
fn real_kernel(steps: &mut Steps) -> Result<(), TaskError> {
    let own = std::env::current_exe().map_err(|source| command::spawn(&Command::new("xtask"), source))?;
    steps.command("tests on a real kernel", Command::new(own).arg("vm-test").current_dir(command::root()))
}

fn tests(mut steps: Steps) -> Result<(), TaskError> {
    steps.command("programs", &mut command::build_programs())?;
    let mut tests = cargo(&["test", "--workspace", "--no-fail-fast", "--features", TESTED]);
    tests.env("ACM_PROGRAMS", "built");
    test_run::run(&mut tests, &steps.to_string())
}

/// Makes sure that a part of the toolchain is here: a minimal one lacks it.
fn component(name: &'static str, probe: &[&str], install: Install) -> Result<(), TaskError> {
    if command::succeeds(&mut cargo(probe)) {
        return Ok(());
    }
    if install.no_install || !command::exists("rustup") {
        return Err(TaskError::ComponentMissing(name));
    }
    println!("Missing in this toolchain: {name}");
    command::run(Command::new("rustup").args(["component", "add", name]).current_dir(command::root()))
}

/// Steps that were done, with how long they took.
#[derive(Debug, Default)]
struct Steps(Vec<(String, Duration)>);

impl Steps {
    fn step(&mut self, name: &str, work: impl FnOnce() -> Result<(), TaskError>) -> Result<(), TaskError> {
        let watch = Stopwatch::start();
        work()?;
        self.0.push((name.to_owned(), watch.elapsed()));
        Ok(())
    }

    fn command(&mut self, name: &str, command: &mut Command) -> Result<(), TaskError> {
        self.step(name, || command::run(command))
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.0.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        let total: Duration = self.0.iter().map(|(_, took)| took).sum();
        for (name, took) in &self.0 {
            writeln!(f, "  {name:width$}  {:7.1} s", took.as_secs_f64())?;
        }
        write!(f, "  {:width$}  {:7.1} s", "all before the tests", total.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_is_not_counted() {
        let mut steps = Steps::default();
        steps.command("good", &mut Command::new("true")).unwrap();
        assert!(steps.command("bad", &mut Command::new("false")).is_err());
        let names: Vec<_> = steps.0.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["good"]);
    }

    #[test]
    fn times_are_a_table() {
        let steps = Steps(vec![("a".into(), Duration::from_millis(1250)), ("longer".into(), Duration::from_secs(70))]);
        assert_eq!(steps.to_string(), "  a           1.2 s\n  longer     70.0 s\n  all before the tests     71.2 s");
    }
}
