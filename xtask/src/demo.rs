//! The task `demo`: builds the daemon and the demonstration, and runs it.
use crate::{
    command::{self, cargo},
    error::TaskError,
};
use std::{
    env,
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Command, Stdio},
};

/// How the demonstration runs.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Demo {
    /// The number of nodes, each with a daemon: up to the embedded fabric's 64.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(2..=64))]
    nodes: u8,
    /// Leave the fabric and the daemons running until Ctrl-C, and show commands to try.
    #[arg(long)]
    keep: bool,
}

/// The task. Returns only if it fails: the demonstration takes the place of this process.
///
/// # Errors
/// The daemon cannot be built, or the demonstration cannot be started.
pub(crate) fn run(demo: Demo) -> Result<(), TaskError> {
    let folder = own_target();
    // Without its default features the daemon needs no C library, so the demonstration needs no Debian package.
    let mut build = cargo(&["build", "-p", "acm-mio", "-p", "xtask", "--bins"]);
    build.args(["--no-default-features", "--features", "xtask/demo", "--target-dir"]).arg(&folder);
    // It is built once: without what makes the next build faster, and without debug information.
    build.env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0");
    println!("[1/2] build the daemon");
    command::run(&mut build)?;
    println!("[2/2] run it");
    let mut program = Command::new(command::root().join(&folder).join("debug/demo"));
    program.arg(command::root().join(&folder).join("debug/acm-mio")).arg(format!("--nodes={}", demo.nodes));
    if demo.keep {
        program.arg("--keep");
    }
    let error = program.stdin(Stdio::null()).exec();
    Err(command::spawn(&program, error))
}

/// The directory `demo` beside the directory of this program's profile. The demonstration's daemon finds no devices, so
/// it must not lie where other programs look for the daemon.
fn own_target() -> PathBuf {
    let program = env::current_exe().unwrap_or_default();
    let target = program.ancestors().nth(2).unwrap_or(command::root());
    target.strip_prefix(command::root()).unwrap_or(target).join("demo")
}
