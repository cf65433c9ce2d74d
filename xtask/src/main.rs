//! Tasks of this project: `cargo xtask --help`.
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
mod built;
mod checks;
mod command;
mod demo;
mod error;
mod install;
mod no_std;
mod packages;
mod published;
mod slowest;
mod stopwatch;
mod test_run;
mod vm;

use clap::{Parser, Subcommand};
use demo::Demo;
use error::TaskError;
use install::{Installation, Place};
use packages::Install;
use published::Semver;
use std::{env, process::ExitCode};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about, arg_required_else_help = true)]
struct Xtask {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Show it: daemons on a simulated fabric, node2 resolved five ways. Needs no hardware, no root, no package.
    Demo(Demo),
    /// Install the daemon, its units and its files on this machine: builds it, writes files, says which and what to do
    /// next. Starts and enables nothing. Needs root to write, and asks sudo for it; not with --root.
    Install(Installation),
    /// Remove what `install` wrote. Configuration, logs and what was changed since stay.
    Uninstall(Place),
    /// Check the crates' arrows, licences, format, lints, documentation and builds without std, then run every test: on a
    /// real kernel in a virtual machine, and here. Installs what is missing. Needs root.
    Test {
        #[command(flatten)]
        install: Install,
        /// Only run the tests that need no virtual machine: no format, no lints, no other builds, no real kernel.
        #[arg(long)]
        fast: bool,
    },
    /// All of `test`, what only cargo-deny finds, `msrv`, `package`, `semver`, each fuzz target for 15 s, and the examples
    /// with workspaces of their own. Installs what these need, too (toolchains, cargo-deny, cargo-fuzz), which takes minutes.
    Ci {
        #[command(flatten)]
        install: Install,
    },
    /// Build the workspace with the oldest Rust that it is for, by rustup's toolchain of that version. Part of `ci`.
    Msrv {
        #[command(flatten)]
        install: Install,
    },
    /// Pack the published crates, then build and test each from its package alone. Part of `ci`.
    Package,
    /// Say what the changes of the published crates' interfaces since a revision mean for their version. Needs
    /// cargo-semver-checks, and installs it.
    Semver(Semver),
    /// Check the rules that no compiler checks: dependencies, licences, tests that documents name, first words of comments.
    #[command(aliases = ["deps", "deviations"])]
    Rules {
        #[arg(long, hide = true)]
        list: bool,
    },
    /// Measure the daemon: `cargo bench -p acm-tests --bench cached`.
    Bench {
        /// Handed on to cargo.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Run the tests for a real kernel, or a command, in a virtual machine with Linux's RDMA stack.
    #[command(disable_help_flag = true)]
    VmTest {
        /// `[--timeout SECONDS] [--memory MIB] [--out DIR] [-- COMMAND [ARG...]]`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
}

fn main() -> ExitCode {
    let done = match Xtask::parse().task {
        Task::Demo(demo) => demo::run(demo),
        Task::Install(installation) => {
            install::install(&installation).map_err(|problem| TaskError::Install(problem.into()))
        }
        Task::Uninstall(place) => install::uninstall(&place).map_err(|problem| TaskError::Install(problem.into())),
        Task::Test { install, fast } => checks::test(install, fast),
        Task::Ci { install } => checks::ci(install),
        Task::Msrv { install } => published::msrv(install),
        Task::Package => published::package(),
        Task::Semver(semver) => published::semver(&semver),
        Task::Rules { list: _ } => checks::rules(),
        Task::Bench { args } => {
            command::run(command::cargo(&["bench", "-p", "acm-tests", "--bench", "cached"]).args(args))
        }
        // As they were written: clap would take a leading `--` away.
        Task::VmTest { .. } => return vm::run(env::args().skip(2)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("xtask: {problem}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn command_line_is_consistent() {
        Xtask::command().debug_assert();
    }

    #[test]
    fn every_task_parses() {
        for words in [
            "demo",
            "demo --keep --nodes 64",
            "install",
            "install --prefix /opt/acm --root /x --dry-run --program /y --library /z --provider /p",
            "uninstall --prefix /opt/acm --root /x --dry-run",
            "test --no-install --fast",
            "ci --no-install",
            "msrv --no-install",
            "package",
            "semver --since v0.1.0 --no-install",
            "rules",
            "bench -- 16 128",
            "vm-test -- ls",
        ] {
            let parsed = Xtask::try_parse_from(["cargo xtask"].into_iter().chain(words.split(' ')));
            assert!(parsed.is_ok(), "{words}: {parsed:?}");
        }
        assert!(Xtask::try_parse_from(["cargo xtask", "demo", "--nodes", "65"]).is_err(), "the fabric has 64");
        assert!(Xtask::try_parse_from(["cargo xtask", "rules", "--fast"]).is_err());
    }
}
