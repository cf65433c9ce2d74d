//! Builds the programs with optimization, and runs the task with sudo.
use super::{Destination, InstallError, destination, files::Programs};
use crate::{
    command,
    packages::{self, BUILD},
};
use std::{path::PathBuf, process::Command};

/// Builds the programs and libraries.
pub(super) fn release(install: packages::Install) -> Result<Programs, InstallError> {
    packages::ensure(BUILD, install)?;
    Ok(Programs {
        daemon: Some(build("acm-mio", "--bin acm-mio", "acm-mio")?),
        client: Some(build("acm-client", "--bin ib_acme", "ib_acme")?),
        library: build("acm-capi", "--lib", "libibacm.so")?.parent().map(PathBuf::from),
        provider: Some(build("acmrs", "--lib", "libacmrs.so")?),
    })
}

/// Builds a target of a package, and returns the file of this name.
fn build(package: &'static str, target: &str, name: &str) -> Result<PathBuf, InstallError> {
    let mut cargo = command::words(&format!("cargo build --release --locked -p {package} {target}"));
    let built = command::build(&mut cargo)?;
    built.into_iter().find(|file| file.ends_with(name)).ok_or(InstallError::NotBuilt(package))
}

/// Runs the rest of the task with sudo: the build needs no root, the files do.
pub(super) fn as_root(task: &str, destination: &Destination, programs: &Programs) -> Result<(), InstallError> {
    let mut own = Command::new(destination::own());
    own.arg(task).args(destination.arguments());
    for (option, program) in [
        ("--program", &programs.daemon),
        ("--client", &programs.client),
        ("--library", &programs.library),
        ("--provider", &programs.provider),
    ] {
        if let Some(program) = program {
            own.arg(option).arg(program);
        }
    }
    if !command::exists("sudo") {
        let words: Vec<_> =
            [own.get_program()].into_iter().chain(own.get_args()).map(|word| word.to_string_lossy()).collect();
        return Err(InstallError::NotRoot(words.join(" ")));
    }
    let mut sudo = Command::new("sudo");
    sudo.arg(own.get_program()).args(own.get_args());
    Ok(command::run(&mut sudo)?)
}
