//! The task `mutants`: changes to a crate, one at a time, that some test must notice.
mod outcome;
mod packages;

use crate::{
    command::{self, cargo},
    error::TaskError,
};
use clap::Args;
use outcome::{Known, Outcome};
use packages::Package;
use std::process::Command;

/// Where cargo-mutants writes to, from the workspace's folder.
const OUTPUT: &str = "target/mutants";

/// What cargo-mutants exits with when all went well but some changes passed the tests, or some tests did not end.
const MISSED: [i32; 2] = [2, 3];

/// What is changed.
#[derive(Args, Clone, Debug)]
pub(crate) struct Mutants {
    /// The crate that is changed.
    #[arg(value_enum, value_name = "CRATE", default_value_t = Package::AcmSansio)]
    package: Package,
    /// Only every N-th change, beginning with the K-th, K from 0: a sample from all files.
    #[arg(long, value_name = "K/N")]
    shard: Option<String>,
}

/// The task: the changes that no test notices, by file.
///
/// # Errors
/// [`TaskError::Survivors`] if there are more of them than the crate's target.
pub(crate) fn run(mutants: &Mutants) -> Result<(), TaskError> {
    if !command::succeeds(&mut cargo(&["mutants", "--version"])) {
        return Err(TaskError::CargoMutantsMissing);
    }
    let known = Known::read()?;
    let plan = mutants.package.plan();
    // cargo-mutants itself tries the changed crate's own tests only: a failing test of another would notice everything.
    let names = plan.packages.iter().flat_map(|name| ["--package", name]);
    command::run(cargo(&["test", "--quiet"]).args(names).args(plan.tests))?;
    match command::run(&mut cargo_mutants(mutants)) {
        Err(TaskError::Failed { status, .. }) if status.code().is_some_and(|code| MISSED.contains(&code)) => {}
        done => done?,
    }
    let outcome = Outcome::read(&command::root().join(OUTPUT), &known)?;
    println!("{outcome}, target {} %", plan.target);
    if outcome.is_over(plan.target) { Err(TaskError::Survivors(plan.target)) } else { Ok(()) }
}

fn cargo_mutants(Mutants { shard, package }: &Mutants) -> Command {
    let plan = package.plan();
    // The longest tests take half a minute, or two beside other work; a change that makes a loop endless is noticed by
    // that. The unchanged tree was tried already, and cargo-mutants would look for all tests in the changed crate.
    let mut command = cargo(&["mutants", "--baseline", "skip", "--timeout", "150", "--output", OUTPUT]);
    // Built once for each change: nobody looks at a backtrace.
    command.env("CARGO_PROFILE_DEV_DEBUG", "0").env("RUST_BACKTRACE", "0");
    command.args(plan.packages.first().iter().flat_map(|name| ["--package", name]));
    command.args(plan.packages.iter().flat_map(|name| ["--test-package", name]));
    command.args(plan.tests.iter().map(|tests| format!("--cargo-test-arg={tests}")));
    command.args(plan.without.iter().flat_map(|files| ["--exclude", files]));
    if let Some(shard) = shard {
        command.args(["--sharding", "round-robin", "--shard", shard]);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn the_core_is_tested_by_three_crates() {
        let line = command::line(&cargo_mutants(&Mutants { shard: Some("3/16".into()), package: Package::AcmSansio }));
        assert!(line.contains(" --package acm-sansio --test-package acm-sansio --test-package acm-sim "), "{line}");
        assert!(line.ends_with(" --test-package acm-fuzz --sharding round-robin --shard 3/16"), "{line}");
    }

    #[test]
    fn wire_crates_are_changed_without_macros_and_fuzz_bodies() {
        let line = |package| command::line(&cargo_mutants(&Mutants { shard: None, package }));
        let end = " --test-package acm-wire --cargo-test-arg=--lib --exclude fuzz.rs";
        assert!(line(Package::AcmWire).ends_with(end), "{}", line(Package::AcmWire));
        assert!(line(Package::IbMad).ends_with(" --exclude crates/ib-mad/src/wire/*"), "{}", line(Package::IbMad));
    }

    #[test]
    fn a_crate_is_tested_by_its_own_tests_first() {
        for package in Package::value_variants() {
            let name = package.to_possible_value().unwrap();
            assert_eq!(package.plan().packages.first(), Some(&name.get_name()));
        }
    }
}
