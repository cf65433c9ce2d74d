//! The tasks `install` and `uninstall`. They write and remove the files of the list, and print the path of each. They
//! start, stop, enable and disable nothing.
use crate::{
    build, command,
    error::TaskError,
    files::{Content, Folders},
    packages,
};
use clap::Args;
use std::{
    ffi::OsString,
    fs, io,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

/// The arguments of `install`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Installation {
    #[command(flatten)]
    folders: Folders,
    /// Build nothing: install the programs and libraries of this directory.
    #[arg(long, value_name = "DIR")]
    built: Option<PathBuf>,
    #[command(flatten)]
    packages: packages::Install,
}

/// The task `install`. A configuration file that exists stays as it is.
///
/// # Errors
/// A program cannot be built, or a file cannot be read or written.
pub(crate) fn install(installation: &Installation) -> Result<(), TaskError> {
    let folders = &installation.folders;
    check_root(folders, "install")?;
    let built = match &installation.built {
        Some(built) => built.clone(),
        None => build::programs(installation.packages, build::Target::Machine)?,
    };
    // Everything is read before the first file is written.
    let contents: Vec<_> =
        folders.files().map(|file| Ok((file, file.content(folders, &built)?))).collect::<Result<_, TaskError>>()?;
    for (file, content) in contents {
        let path = file.path(folders);
        let real = folders.real(&path);
        if file.is_configuration() && real.exists() {
            continue;
        }
        write(&real, &content, file.mode()).map_err(TaskError::io("writing", &real))?;
        println!("{}", path.display());
    }
    Ok(())
}

/// The task `uninstall`. A configuration file that was changed stays.
///
/// # Errors
/// A file cannot be read or removed.
pub(crate) fn uninstall(folders: &Folders) -> Result<(), TaskError> {
    check_root(folders, "uninstall")?;
    for file in folders.files() {
        let path = file.path(folders);
        let real = folders.real(&path);
        if file.is_configuration() {
            let Content::Bytes(installed) = file.content(folders, Path::new(""))? else { continue };
            if fs::read(&real).is_ok_and(|present| present != installed) {
                continue;
            }
        }
        match fs::remove_file(&real) {
            Ok(()) => println!("{}", path.display()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(TaskError::io("removing", &real)(error)),
        }
        if let Some(folder) = real.parent().filter(|folder| folder.ends_with(file.package)) {
            // It is not empty before the last file.
            let _ = fs::remove_dir(folder);
        }
    }
    Ok(())
}

fn check_root(folders: &Folders, task: &str) -> Result<(), TaskError> {
    let may = command::is_root() || !folders.is_this_machine();
    if may { Ok(()) } else { Err(TaskError::NotRoot(format!("cargo xtask {task}"))) }
}

/// Replaces a file in one step. A process that has opened the old file, or runs it, keeps the old content.
fn write(path: &Path, content: &Content, mode: u32) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    let mut name = OsString::from(".new.");
    name.push(path.file_name().unwrap_or_default());
    let new = folder.join(name);
    // Left by a run that was interrupted.
    let _ = fs::remove_file(&new);
    match content {
        Content::Bytes(bytes) => {
            fs::write(&new, bytes)?;
            // Independent of the umask: the daemon runs as another user.
            fs::set_permissions(&new, fs::Permissions::from_mode(mode))?;
        }
        Content::Link(target) => symlink(target, &new)?,
    }
    fs::rename(&new, path)
}
