//! The daemon with optimization, and root for who is not.
use super::{InstallError, Place, place};
use crate::{
    built, command,
    packages::{self, BUILD},
};
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// Builds the daemon, if it is not built, and says where it is.
pub(super) fn release(install: packages::Install) -> Result<PathBuf, InstallError> {
    packages::ensure(BUILD, install)?;
    let mut cargo = command::cargo(&["build", "--release", "--locked", "-p", "acm-mio", "--bin", "acm-mio"]);
    built::program(&mut cargo).map_err(InstallError::Build)?.ok_or(InstallError::NotBuilt)
}

/// Has the rest done by sudo: building is nobody else's, writing is root's.
pub(super) fn as_root(task: &str, place: &Place, program: Option<&Path>) -> Result<(), InstallError> {
    let mut own = Command::new(place::own());
    own.arg(task).args(place.arguments());
    if let Some(program) = program {
        own.arg("--program").arg(program);
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
