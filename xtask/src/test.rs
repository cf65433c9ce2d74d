//! The task `test`: all tests, those on a real kernel in a virtual machine beside the others.
use crate::{
    check::ON_REAL_KERNEL,
    command::{self, FEATURES, cargo},
    error::TaskError,
    packages::{self, Install},
    steps::Steps,
};
use std::{
    collections::BTreeSet,
    fs,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

/// Runs the tests whose paths follow, one after the other.
const RUN_ALL: &str = "status=0; for test; do \"$test\" --test-threads=1 || status=1; done; exit $status";

/// The task. Its last line is the number of tests that have passed and failed.
///
/// # Errors
/// A test has failed, or cannot be built.
pub(crate) fn run(install: Install, fast: bool) -> Result<(), TaskError> {
    let mut steps = Steps::new(if fast { 4 } else { 5 });
    steps.run("packages", || {
        let machine = if fast { &[] } else { packages::MACHINE };
        packages::ensure(
            &[packages::BUILD, packages::TEST, packages::PACKAGING, packages::PAGES, machine].concat(),
            install,
        )
    })?;
    let machine = steps.run("programs", || {
        // Tests start these. With a test among them, cargo chooses the same features of dependencies as for all tests.
        let mut build = cargo(&["build", "--workspace", "--bins", "--lib", "--features", FEATURES]);
        build
            .args(["resolve", "storm", "watch", "hosts"].iter().flat_map(|name| ["--example", name]))
            .args(ON_REAL_KERNEL);
        let built = command::build(&mut build)?;
        let is_test = |path: &&PathBuf| path.to_string_lossy().contains("/deps/vm_") && path.extension().is_none();
        // The script, and not this program: the build has replaced its file.
        let mut machine = command::words(".ci/vm-test");
        // vm_rxe is first: it compares all devices with its own two.
        machine.args(["--timeout", "1500", "--", "sh", "-c", RUN_ALL, "sh"]).args(built.iter().rev().filter(is_test));
        if fast { Ok(None) } else { Job::start("vm-test", &mut machine).map(Some) }
    })?;
    let (mut passed, mut failed) = (0, 0);
    let mut results = Vec::new();
    for (step, targets) in [("tests", &["--lib", "--bins", "--tests"][..]), ("examples in documentation", &["--doc"])] {
        let mut tests = cargo(&["test", "--workspace", "--no-fail-fast", "--features", FEATURES]);
        let tests = tests.args(targets).env("ACM_PROGRAMS", "built");
        results.push(steps.run(step, || Job::start("test", tests)?.finish(&mut passed, &mut failed)));
    }
    if let Some(machine) = machine {
        results.push(steps.run("tests on a real kernel", || machine.finish(&mut passed, &mut failed)));
    }
    print!("{steps}");
    results.iter().filter_map(|result| result.as_ref().err()).for_each(|error| println!("{error}"));
    println!("{passed} passed, {failed} failed");
    if results.iter().all(Result::is_ok) { Ok(()) } else { Err(TaskError::Tests) }
}

/// The task for some crates: their own tests, and those of the crates that depend on them directly.
///
/// # Errors
/// There is no such crate. A test has failed, or cannot be built.
pub(crate) fn run_crates(crates: &[String]) -> Result<(), TaskError> {
    let mut tests = cargo(&["test", "--no-fail-fast", "--lib", "--bins", "--tests"]);
    for name in dependants(crates)? {
        tests.args(["-p", &name]);
    }
    command::run(&mut tests)
}

/// The crates, and those that depend on one of them directly. The end-to-end tests are not among them, which use every
/// crate and take minutes.
fn dependants(crates: &[String]) -> Result<BTreeSet<String>, TaskError> {
    let mut tree = cargo(&["tree", "--workspace", "--depth", "1", "--prefix", "none", "--edges", "normal"]);
    tree.args(crates.iter().flat_map(|name| ["--invert", name]));
    let lines = command::output(&mut tree)?;
    let folder = format!("({}/", command::root().join("crates").display());
    let name = |line: &str| line.split_once(" v").filter(|_| line.contains(&folder)).map(|(name, _)| name.to_owned());
    Ok(lines.lines().filter_map(name).collect())
}

/// A command in the background, whose output goes to a file.
struct Job {
    line: String,
    process: Child,
    output: PathBuf,
}

impl Job {
    /// Starts a command; its output goes to the file `target/NAME.log`.
    fn start(name: &str, command: &mut Command) -> Result<Self, TaskError> {
        command::show(command);
        let output = command::root().join(format!("target/{name}.log"));
        let failed = |source| command::spawn(&Command::new(name), source);
        let file = fs::File::create(&output).map_err(failed)?;
        command.stdout(file.try_clone().map_err(failed)?).stderr(file).stdin(Stdio::null());
        Ok(Self { line: command::line(command), process: command.spawn().map_err(failed)?, output })
    }

    /// Shows the output until the command has ended, and adds the numbers of its tests.
    fn finish(mut self, passed: &mut u64, failed: &mut u64) -> Result<(), TaskError> {
        // Not through a pipe: a process that a test has left behind would keep it open.
        let id = format!("--pid={}", self.process.id());
        let mut tail = Command::new("tail");
        let mut shown = tail.args(["-n", "+1", "-s", "0.2", "-f", &id]).arg(&self.output).spawn();
        let status = self.process.wait();
        let status = status.and_then(|status| shown.as_mut().map_or(Ok(status), |tail| tail.wait().map(|_| status)));
        let status = status.map_err(|source| command::spawn(&tail, source))?;
        let text = fs::read(&self.output).unwrap_or_default();
        for (count, word) in String::from_utf8_lossy(&text).lines().filter_map(counts).flatten() {
            *(if word == "passed" { &mut *passed } else { &mut *failed }) += count;
        }
        if status.success() { Ok(()) } else { Err(TaskError::Failed { command: self.line, status }) }
    }
}

/// The numbers in a line `test result: ok. 3 passed; 0 failed; ...`.
fn counts(line: &str) -> Option<[(u64, &str); 2]> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let mut counts = counts.split("; ").filter_map(|part| part.split_once(' '));
    let mut next = || counts.next().and_then(|(count, word)| Some((count.parse().ok()?, word)));
    Some([next()?, next()?])
}

#[cfg(test)]
mod tests {
    use super::counts;

    #[test]
    fn numbers_of_tests_are_those_of_the_summary() {
        let summary = "test result: FAILED. 40 passed; 2 failed; 1 ignored; 0 measured; finished in 0.50s";
        assert_eq!(counts(summary), Some([(40, "passed"), (2, "failed")]));
        assert_eq!(counts("all doctests ran in 0.34s; merged doctests compilation took 0.34s"), None);
    }
}
