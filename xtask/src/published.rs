//! The crates that are published, and the tasks about them: packages, oldest compiler, changes of the interface.
use crate::{
    command::{self, cargo},
    error::TaskError,
    packages::Install,
};
use cargo_metadata::{Metadata, MetadataCommand};
use clap::Args;
use std::{path::Path, process::Command};

/// The crates that others build on: those below the line that are libraries for strangers.
const CRATES: &[&str] = &["ib-mad", "acm-wire"];

/// Builds the workspace with the oldest compiler that its manifest names.
///
/// # Errors
/// That toolchain is not here and cannot be had, or something does not build with it.
pub(crate) fn msrv(install: Install) -> Result<(), TaskError> {
    let version = oldest(&metadata()?)?;
    let with = |words: &[&str]| {
        let mut own = Command::new("rustup");
        own.args(["run", &version]).args(words).current_dir(command::root());
        // Of the toolchain that runs this task.
        for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN", "LD_LIBRARY_PATH"] {
            own.env_remove(name);
        }
        own
    };
    let lacking = |why: &str| TaskError::NoToolchain { version: version.clone(), why: why.to_owned() };
    if !command::exists("rustup") {
        return Err(lacking("rustup is not here"));
    }
    if !command::succeeds(&mut with(&["cargo", "--version"])) {
        if install.no_install {
            return Err(lacking("it is not installed, and --no-install was given"));
        }
        println!("Missing: Rust {version}");
        let mut get = Command::new("rustup");
        get.args(["toolchain", "install", &version, "--profile", "minimal"]);
        command::run(&mut get).map_err(|problem| lacking(&problem.to_string()))?;
    }
    // What the tests need besides may ask for a newer one.
    let words = ["cargo", "check", "--workspace", "--locked", "--features", command::TESTED];
    command::run(with(&words).args(["--target-dir", "target/msrv"]))
}

/// What `cargo xtask semver` is told.
#[derive(Args, Debug)]
pub(crate) struct Semver {
    /// The revision to compare with [default: the last tag].
    #[arg(long, value_name = "REVISION")]
    since: Option<String>,
    #[command(flatten)]
    install: Install,
}

/// Says what the changes of the published crates' interfaces mean for their version.
///
/// # Errors
/// There is no release to compare with, cargo-semver-checks cannot be had, or a change needs another version.
pub(crate) fn semver(semver: &Semver) -> Result<(), TaskError> {
    let since = match &semver.since {
        Some(revision) => revision.clone(),
        None => last_tag()?,
    };
    if !command::succeeds(&mut cargo(&["semver-checks", "--version"])) {
        if semver.install.no_install {
            return Err(TaskError::SemverChecksMissing);
        }
        println!("Missing: cargo-semver-checks; building it takes minutes");
        command::run(&mut cargo(&["install", "cargo-semver-checks", "--locked"]))?;
    }
    let packages = CRATES.iter().flat_map(|name| ["-p", name]);
    command::run(cargo(&["semver-checks", "--baseline-rev", &since]).args(packages))
}

/// [`semver()`] since the last release, if there is one.
///
/// # Errors
/// As there.
pub(crate) fn semver_since_release(install: Install) -> Result<(), TaskError> {
    match last_tag() {
        Err(TaskError::NoRelease) => {
            println!("There is no release (a tag) to compare the interfaces with");
            Ok(())
        }
        last => semver(&Semver { since: Some(last?), install }),
    }
}

/// Tests acm-client's user that has a runtime of its own. It is no member of the workspace, which refuses tokio.
///
/// # Errors
/// It does not build, or a test of it fails.
pub(crate) fn with_tokio() -> Result<(), TaskError> {
    let folder = command::root().join("examples/with-tokio");
    let target = command::root().join("target/with-tokio");
    command::run(cargo(&["fmt", "--check"]).current_dir(&folder))?;
    command::run(cargo(&["test", "--target-dir"]).arg(target).current_dir(&folder))
}

/// Builds a provider as somebody else would, in a workspace of its own.
///
/// # Errors
/// It does not build.
pub(crate) fn provider_hosts() -> Result<(), TaskError> {
    let folder = command::root().join("examples/provider-hosts");
    let target = command::root().join("target/provider-hosts");
    command::run(cargo(&["fmt", "--check"]).current_dir(&folder))?;
    command::run(cargo(&["build", "--target-dir"]).arg(target).current_dir(&folder))
}

fn last_tag() -> Result<String, TaskError> {
    let mut git = Command::new("git");
    git.args(["describe", "--tags", "--abbrev=0"]).current_dir(command::root());
    let said = git.output().map_err(|source| command::spawn(&git, source))?;
    let tag = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    if said.status.success() && !tag.is_empty() { Ok(tag) } else { Err(TaskError::NoRelease) }
}

/// Packs the published crates, and builds and tests each from its package, alone in an empty folder.
///
/// # Errors
/// A package lacks something that its crate or its tests need.
pub(crate) fn package() -> Result<(), TaskError> {
    let folder = tempfile::tempdir().map_err(|source| read("a temporary folder", source))?;
    let target = command::root().join("target/packaged");
    let mut pack = cargo(&["package", "--no-verify", "--allow-dirty", "--offline"]);
    pack.args(CRATES.iter().flat_map(|name| ["-p", name])).arg("--target-dir").arg(&target);
    command::run(&mut pack)?;
    let metadata = metadata()?;
    let mut patch = Vec::new();
    for name in CRATES {
        let version = metadata.packages.iter().find(|own| own.name == name).map(|own| own.version.to_string());
        let stem = format!("{name}-{}", version.unwrap_or_default());
        let archive = target.join("package").join(format!("{stem}.crate"));
        command::run(Command::new("tar").arg("xzf").arg(&archive).arg("-C").arg(folder.path()))?;
        patch.push(format!("patch.crates-io.{name}.path={:?}", folder.path().join(&stem)));
        let own = folder.path().join(&stem);
        // A package that nobody published yet is found in its folder.
        let others = patch.iter().filter(|line| !line.contains(&format!("crates-io.{name}."))).cloned();
        let others: Vec<String> = others.flat_map(|line| ["--config".to_owned(), line]).collect();
        for words in tests(name) {
            let mut test = cargo(words);
            test.arg("--offline").args(&others).arg("--target-dir").arg(target.join("build")).current_dir(&own);
            command::run(&mut test)?;
        }
    }
    Ok(())
}

/// What is run in a package's folder.
fn tests(name: &str) -> &'static [&'static [&'static str]] {
    match name {
        "ib-mad" => &[&["test", "--quiet", "--features", "serde,arbitrary"], &["build", "--no-default-features"]],
        _ => &[&["test", "--quiet", "--features", "serde"]],
    }
}

fn metadata() -> Result<Metadata, TaskError> {
    Ok(MetadataCommand::new().current_dir(command::root()).no_deps().exec()?)
}

/// The one `rust-version` of the workspace, without a third number: rustup's name of the toolchain.
fn oldest(metadata: &Metadata) -> Result<String, TaskError> {
    let version = metadata.packages.iter().find_map(|package| package.rust_version.as_ref());
    let version = version.ok_or_else(|| read("rust-version of Cargo.toml", std::io::ErrorKind::NotFound.into()))?;
    Ok(format!("{}.{}", version.major, version.minor))
}

fn read(what: impl AsRef<Path>, source: std::io::Error) -> TaskError {
    TaskError::Read { path: what.as_ref().into(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn oldest_compiler_is_the_manifests() {
        let manifest = fs::read_to_string(command::root().join("Cargo.toml")).unwrap();
        assert!(manifest.contains(&format!("rust-version = \"{}\"", oldest(&metadata().unwrap()).unwrap())));
    }
}
