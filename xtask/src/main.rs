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
mod build;
mod check;
mod command;
mod demo;
mod dist;
mod error;
mod files;
mod glibc;
mod install;
mod packages;
mod pages;
mod steps;
mod test;

use clap::{Parser, Subcommand};
use error::TaskError;
use packages::Install;
use std::{env, os::unix::process::CommandExt, process::ExitCode};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about, arg_required_else_help = true)]
struct Xtask {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Show daemons on a simulated fabric, and a node that is resolved five ways. Needs no hardware, no root and no
    /// Debian package.
    Demo(demo::Demo),
    /// Build packages of all programs and libraries: .deb and .rpm. Installs missing Debian packages and
    /// cargo-auditable.
    Dist(dist::Dist),
    /// Build and install all programs and libraries on this machine. Prints the files that it writes. Starts and
    /// enables nothing. Needs root, but not with --root.
    Install(install::Installation),
    /// Remove the files that `install` writes. Logs and changed configuration stay.
    Uninstall(files::Folders),
    /// Check format, lints, documentation, the build without std, dependencies, licences, and the tests that documents
    /// name. Runs no other test. Installs missing packages and components.
    Check {
        #[command(flatten)]
        install: Install,
    },
    /// Check the rules that no compiler checks: dependencies, licences, tests that documents name, first words of
    /// comments. Part of `check`.
    #[command(aliases = ["deps", "deviations"])]
    Rules {
        #[arg(long, hide = true)]
        list: bool,
    },
    /// Run every test. Those on a real kernel run in a virtual machine, beside the others. Installs missing Debian
    /// packages. Needs root. With crates, run only what a change of these crates can break first: their own tests and
    /// those of the crates that depend on them directly. Installs nothing.
    Test {
        /// Crates to test: acm-sansio, ib-mad, ...
        crates: Vec<String>,
        #[command(flatten)]
        install: Install,
        /// Leave out the tests in the virtual machine.
        #[arg(long)]
        fast: bool,
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
    let result = match Xtask::parse().task {
        Task::Demo(demo) => demo::run(demo),
        Task::Dist(dist) => dist::run(&dist),
        Task::Install(installation) => install::install(&installation),
        Task::Uninstall(folders) => install::uninstall(&folders),
        Task::Check { install } => check::run(install),
        Task::Rules { list: _ } => command::run(&mut check::rules()),
        Task::Test { crates, .. } if !crates.is_empty() => test::run_crates(&crates),
        Task::Test { install, fast, .. } => test::run(install, fast),
        Task::VmTest { .. } => vm_test(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // The number of tests that have failed is the last line.
        Err(TaskError::Tests) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The task `vm-test`: the script takes the destination of this process, so its exit status is the task's.
fn vm_test() -> Result<(), TaskError> {
    packages::ensure(&[packages::MACHINE, packages::PAGES].concat(), Install { no_install: false })?;
    let mut script = command::words(".ci/vm-test");
    // As they were typed: clap would remove a leading `--`.
    let error = script.args(env::args_os().skip(2)).env("FEATURES", command::FEATURES).exec();
    Err(command::spawn(&script, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn command_line_is_consistent() {
        Xtask::command().debug_assert();
    }
}
