//! Builds the files that are installed and not in the repository, with optimization.
use crate::{
    command::{self, cargo},
    error::TaskError,
    glibc,
    packages::{self, BUILD, Install, PAGES},
};
use std::{env, fs, os::unix::process::CommandExt, path::PathBuf, process::Command};

/// The packages whose programs and libraries are installed.
const PACKAGES: [&str; 7] = ["acm-mio", "acm-client", "acm-capi", "acmrs", "ib-sim", "ib-sim-preload", "acm-trace"];
const PROGRAMS: [&str; 9] = [
    "acm-mio",
    "acmctl",
    "ib_acme",
    "libibacm.so",
    "libibacm.a",
    "libacmrs.so",
    "ib-sim",
    "libib_sim_preload.so",
    "acm-replay",
];

/// The shells with completions of ib_acme.
const SHELLS: [&str; 3] = ["bash", "fish", "zsh"];

/// The place where programs and libraries will run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// This machine: they need its C library.
    Machine,
    /// Machines with the packages: they need an older C library. Each program and library has the list of its
    /// dependencies in the form of cargo-auditable, which scanners for vulnerabilities read.
    Packages,
}

/// Builds the programs and libraries, and returns their directory. Equal sources give equal bytes, wherever they lie.
///
/// # Errors
/// A package or a tool is missing and cannot be installed, or the build fails.
pub(crate) fn programs(install: Install, target: Target) -> Result<PathBuf, TaskError> {
    packages::ensure(&[BUILD, PAGES].concat(), install)?;
    let (mut build, libraries) = match target {
        Target::Machine => (cargo(&["build"]), String::new()),
        Target::Packages => {
            ensure_auditable(install)?;
            (cargo(&["auditable", "build"]), glibc::rustflags(install)?)
        }
    };
    build.args(["--locked", "--profile", "dist", "--lib", "--bins", "--target-dir", "target/dist/build"]);
    build.args(PACKAGES.iter().flat_map(|name| ["-p", name]));
    let root = command::root().display();
    let home = env::var("CARGO_HOME").unwrap_or_else(|_| env::var("HOME").unwrap_or_default() + "/.cargo");
    let remap = format!("--remap-path-prefix={root}=/usr/src/acm --remap-path-prefix={home}=/usr/src/cargo");
    build
        .env("RUSTFLAGS", format!("{remap} {libraries}"))
        .env("CFLAGS", format!("-ffile-prefix-map={root}=/usr/src/acm"))
        .env("CARGO_INCREMENTAL", "0");
    let files = command::build(&mut build)?;
    let built = command::root().join("target/dist/built");
    fs::create_dir_all(&built).map_err(TaskError::io("creating", &built))?;
    for name in PROGRAMS {
        let missing = || TaskError::Missing { what: name, command: command::line(&build) };
        let file = files.iter().find(|file| file.ends_with(name)).ok_or_else(missing)?;
        fs::copy(file, built.join(name)).map_err(TaskError::io("copying", file))?;
    }
    for (name, shell) in ["acm-ib_acme", "ib_acme"].into_iter().flat_map(|name| SHELLS.map(|shell| (name, shell))) {
        let mut client = Command::new(built.join("ib_acme"));
        // The script is for the name that the program is started by.
        let output = client.arg0(name).args(["--completions", shell]).output();
        let script = output.map_err(|source| command::spawn(&client, source))?.stdout;
        let file = built.join(format!("{name}.{shell}"));
        fs::write(&file, script).map_err(TaskError::io("writing", &file))?;
    }
    Ok(built)
}

fn ensure_auditable(install: Install) -> Result<(), TaskError> {
    let what = "cargo-auditable";
    let line = format!("cargo install {what} --locked");
    match command::exists(what) {
        true => Ok(()),
        false if install.no_install => Err(TaskError::Missing { what, command: line }),
        false => command::run(&mut command::words(&line)),
    }
}

/// Returns a line of git about the last commit, in this format.
///
/// # Errors
/// Git is missing, or this is no clone.
pub(crate) fn last_commit(format: &str) -> Result<String, TaskError> {
    let mut git = Command::new("git");
    git.args(["log", "-1", &format!("--format={format}"), "--date=format-local:%a %b %d %Y"]);
    let output = git.env("TZ", "UTC").current_dir(command::root()).output();
    let output = output.map_err(|source| command::spawn(&git, source))?;
    if !output.status.success() {
        return Err(TaskError::Failed { command: command::line(&git), status: output.status });
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
