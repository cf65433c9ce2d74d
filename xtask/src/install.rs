//! The tasks `install` and `uninstall`. They write and remove the files of the daemon, its clients and its libraries.
//! They start, stop, enable and disable nothing.
mod build;
mod destination;
mod enabled;
mod error;
mod files;
mod record;
mod writer;

pub(crate) use destination::Destination;
pub(crate) use error::InstallError;

use crate::packages;
use clap::Args;
use files::{FILES, FOLDERS, Programs};
use record::Record;
use std::path::{Path, PathBuf};
use writer::Writer;

/// The arguments of `install`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Installation {
    #[command(flatten)]
    destination: Destination,
    /// Install this daemon, and build nothing.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Install this client (ib_acme), too.
    #[arg(long, value_name = "FILE", requires = "program")]
    client: Option<PathBuf>,
    /// Install the library for C, too: libibacm.so and libibacm.a of this directory, with what C needs to use it.
    #[arg(long, value_name = "DIR", requires = "program")]
    library: Option<PathBuf>,
    /// Install this provider for C ibacm (libacmrs.so), too.
    #[arg(long, value_name = "FILE", requires = "program")]
    provider: Option<PathBuf>,
    #[command(flatten)]
    packages: packages::Install,
}

/// A file to write.
struct Planned {
    path: PathBuf,
    bytes: Vec<u8>,
    mode: u32,
}

/// The task `install`.
pub(crate) fn install(installation: &Installation) -> Result<(), InstallError> {
    let destination = &installation.destination;
    let programs = match &installation.program {
        None if destination.is_dry_run() => Programs::default(),
        None => build::release(installation.packages)?,
        daemon => {
            let Installation { client, library, provider, .. } = installation.clone();
            Programs { daemon: daemon.clone(), client, library, provider }
        }
    };
    if destination.needs_root() {
        return build::as_root("install", destination, &programs);
    }
    let (writer, old) = (Writer::new(destination), Record::read(destination)?);
    let mut new = Record::default();
    let planned = plan(destination, &writer, &programs, &old, &mut new)?;
    for folder in old.folders() {
        new.add_folder(folder);
    }
    let record = destination.record();
    let of_files = planned.iter().map(|file| file.path.as_path()).chain([record.as_path()]).filter_map(Path::parent);
    for folder in of_files.chain(FOLDERS.iter().map(Path::new)) {
        for made in writer.make_folder(folder)? {
            new.add_folder(&made);
        }
    }
    // Written before the files, together with the old record: `uninstall` can then undo an interrupted installation.
    writer.write(&record, new.with(&old).to_string().as_bytes(), 0o644)?;
    for Planned { path, bytes, mode } in &planned {
        writer.write(path, bytes, *mode)?;
    }
    for path in old.files().filter(|path| !new.has(path)) {
        remove(&writer, path, &old)?;
    }
    writer.put(&record, new.to_string().as_bytes(), 0o644)?;
    enabled::after_install(destination)
}

/// Returns the files to write, and adds them to `new`. A configuration file that has been changed is left out.
fn plan(
    destination: &Destination,
    writer: &Writer<'_>,
    programs: &Programs,
    old: &Record,
    new: &mut Record,
) -> Result<Vec<Planned>, InstallError> {
    let mut planned = Vec::new();
    for file in FILES.iter().filter(|file| file.is_installed(programs)) {
        let (path, bytes) = (file.path(destination), file.bytes(destination, programs)?);
        let present = if file.is_configuration { writer.read(&path)? } else { None };
        match present {
            Some(present) if present != bytes && !old.wrote(&path, &present) => {
                writer.leave(&path);
                new.copy(old, &path);
            }
            _ => {
                new.add_file(&path, &bytes);
                planned.push(Planned { path, bytes, mode: file.mode });
            }
        }
    }
    Ok(planned)
}

/// The task `uninstall`.
pub(crate) fn uninstall(destination: &Destination) -> Result<(), InstallError> {
    let links = enabled::links(destination)?;
    if !links.is_empty() {
        return Err(InstallError::Enabled(links));
    }
    let old = Record::read(destination)?;
    if old.is_empty() {
        return Err(InstallError::NotInstalled(destination.record()));
    }
    if destination.needs_root() {
        return build::as_root("uninstall", destination, &Programs::default());
    }
    let writer = Writer::new(destination);
    for path in old.files() {
        remove(&writer, path, &old)?;
    }
    writer.remove(&destination.record())?;
    for folder in old.folders().rev() {
        writer.remove_folder(folder)?;
    }
    println!("Configuration and logs are as they were. Next: systemctl daemon-reload");
    Ok(())
}

/// Removes a file if its content is what `install` has written.
fn remove(writer: &Writer<'_>, path: &Path, old: &Record) -> Result<(), InstallError> {
    match writer.read(path)? {
        Some(bytes) if old.wrote(path, &bytes) => writer.remove(path)?,
        Some(_) => writer.leave(path),
        None => {}
    }
    Ok(())
}
