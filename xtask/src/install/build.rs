//! The programs with optimization, and root for who is not.
use super::{InstallError, Place, files::Programs, place};
use crate::{
    built, command,
    packages::{self, BUILD},
};
use std::{path::PathBuf, process::Command};

/// Builds what is not built, and says where it is.
pub(super) fn release(install: packages::Install) -> Result<Programs, InstallError> {
    packages::ensure(BUILD, install)?;
    Ok(Programs {
        daemon: Some(build("acm-mio", "acm-mio")?),
        client: Some(build("acm-client", "ib_acme")?),
        library: Some(library("acm-capi", "libibacm.so")?),
        provider: Some(library("acmrs", PROVIDER)?.join(PROVIDER)),
    })
}

/// The provider for C ibacm.
const PROVIDER: &str = "libacmrs.so";

/// The folder of a library.
fn library(package: &'static str, name: &str) -> Result<PathBuf, InstallError> {
    let mut cargo = command::cargo(&["build", "--release", "--locked", "-p", package, "--lib"]);
    built::library(&mut cargo, name).map_err(InstallError::Build)?.ok_or(InstallError::NotBuilt(package))
}

fn build(package: &'static str, name: &str) -> Result<PathBuf, InstallError> {
    let mut cargo = command::cargo(&["build", "--release", "--locked", "-p", package, "--bin", name]);
    built::program(&mut cargo).map_err(InstallError::Build)?.ok_or(InstallError::NotBuilt(package))
}

/// Has the rest done by sudo: building is nobody else's, writing is root's.
pub(super) fn as_root(task: &str, place: &Place, programs: &Programs) -> Result<(), InstallError> {
    let mut own = Command::new(place::own());
    own.arg(task).args(place.arguments());
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
