//! The task `mutants`: changes to a crate, one at a time, that some test must notice.
use crate::{
    command::{self, cargo},
    error::TaskError,
};
use clap::{Args, ValueEnum};
use std::process::Command;

/// What is changed.
#[derive(Args, Clone, Debug)]
pub(crate) struct Mutants {
    /// Only every N-th change, beginning with the K-th, K from 0: a sample from all files.
    #[arg(long, value_name = "K/N")]
    shard: Option<String>,
    /// The crate that is changed.
    #[arg(long, value_enum, default_value_t = Package::AcmSansio)]
    package: Package,
}

/// A crate that can be changed.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Package {
    AcmSansio,
    AcmMio,
    IbDevice,
    IbSim,
}

impl Package {
    /// Its name, and after it the other crates whose tests are its tests too.
    const fn names(self) -> &'static [&'static str] {
        match self {
            Self::AcmSansio => &["acm-sansio", "acm-sim", "acm-fuzz"],
            Self::AcmMio => &["acm-mio"],
            Self::IbDevice => &["ib-device"],
            Self::IbSim => &["ib-sim"],
        }
    }
}

/// The task. A change that no test notices fails it.
pub(crate) fn run(mutants: &Mutants) -> Result<(), TaskError> {
    if !command::succeeds(&mut cargo(&["mutants", "--version"])) {
        return Err(TaskError::CargoMutantsMissing);
    }
    // cargo-mutants itself tries the changed crate's own tests only: a failing test of another would notice everything.
    let names = mutants.package.names().iter().flat_map(|name| ["--package", name]);
    command::run(cargo(&["test", "--quiet"]).args(names))?;
    command::run(&mut cargo_mutants(mutants))
}

fn cargo_mutants(Mutants { shard, package }: &Mutants) -> Command {
    // The longest tests take some 15 seconds; a change that makes a loop endless is noticed by that.
    let mut command = cargo(&["mutants", "--timeout", "60", "--output", "target/mutants"]);
    // Built once for each change: nobody looks at a backtrace.
    command.env("CARGO_PROFILE_DEV_DEBUG", "0").env("RUST_BACKTRACE", "0");
    command.args(package.names().first().iter().flat_map(|name| ["--package", name]));
    command.args(package.names().iter().flat_map(|name| ["--test-package", name]));
    if let Some(shard) = shard {
        command.args(["--sharding", "round-robin", "--shard", shard]);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_is_tested_by_three_crates() {
        let line = command::line(&cargo_mutants(&Mutants { shard: Some("3/16".into()), package: Package::AcmSansio }));
        assert!(line.contains(" --package acm-sansio --test-package acm-sansio --test-package acm-sim "), "{line}");
        assert!(line.ends_with(" --test-package acm-fuzz --sharding round-robin --shard 3/16"), "{line}");
    }

    #[test]
    fn other_crates_have_their_own_tests_and_all_changes() {
        let line = command::line(&cargo_mutants(&Mutants { shard: None, package: Package::IbSim }));
        assert!(line.ends_with(" --package ib-sim --test-package ib-sim"), "{line}");
    }
}
