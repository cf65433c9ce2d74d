//! The tasks `install` and `uninstall`: the daemon, its clients and their files onto this machine, and away again. They
//! write and remove files; they start, stop, enable and disable nothing.
mod build;
mod enabled;
mod error;
mod files;
mod hand;
mod place;
mod record;

pub(crate) use error::InstallError;
pub(crate) use place::Place;

use crate::packages;
use clap::Args;
use files::{FILES, FOLDERS, Programs};
use hand::Hand;
use record::Record;
use std::path::{Path, PathBuf};

/// What `install` is told.
#[derive(Args, Clone, Debug)]
pub(crate) struct Installation {
    #[command(flatten)]
    place: Place,
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

/// A file as it is to be.
struct Planned {
    path: PathBuf,
    bytes: Vec<u8>,
    mode: u32,
}

/// The task `install`.
pub(crate) fn install(installation: &Installation) -> Result<(), InstallError> {
    let place = &installation.place;
    let programs = match &installation.program {
        None if place.is_dry_run() => Programs::default(),
        None => build::release(installation.packages)?,
        daemon => {
            let Installation { client, library, provider, .. } = installation.clone();
            Programs { daemon: daemon.clone(), client, library, provider }
        }
    };
    if place.needs_root() {
        return build::as_root("install", place, &programs);
    }
    let (hand, old) = (Hand::new(place), Record::read(place)?);
    let mut new = Record::default();
    let planned = plan(place, &hand, &programs, &old, &mut new)?;
    for folder in old.folders() {
        new.add_folder(folder);
    }
    let record = place.record();
    let of_files = planned.iter().map(|file| file.path.as_path()).chain([record.as_path()]).filter_map(Path::parent);
    for folder in of_files.chain(FOLDERS.iter().map(Path::new)) {
        for made in hand.make_folder(folder)? {
            new.add_folder(&made);
        }
    }
    // Before the files, with those of the old record: what an interrupted installation leaves can be taken away, too.
    hand.write(&record, new.with(&old).to_string().as_bytes(), 0o644)?;
    for Planned { path, bytes, mode } in &planned {
        hand.write(path, bytes, *mode)?;
    }
    for path in old.files().filter(|path| !new.has(path)) {
        remove(&hand, path, &old)?;
    }
    hand.put(&record, new.to_string().as_bytes(), 0o644)?;
    enabled::after_install(place)
}

/// What is to be written; `new` has it, too. A configuration file that somebody changed is not among it.
fn plan(
    place: &Place,
    hand: &Hand<'_>,
    programs: &Programs,
    old: &Record,
    new: &mut Record,
) -> Result<Vec<Planned>, InstallError> {
    let mut planned = Vec::new();
    for file in FILES.iter().filter(|file| file.is_wanted(programs)) {
        let (path, bytes) = (file.path(place), file.bytes(place, programs)?);
        let present = if file.is_configuration { hand.read(&path)? } else { None };
        match present {
            Some(present) if present != bytes && !old.wrote(&path, &present) => {
                hand.leave(&path);
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
pub(crate) fn uninstall(place: &Place) -> Result<(), InstallError> {
    let links = enabled::links(place)?;
    if !links.is_empty() {
        return Err(InstallError::Enabled(links));
    }
    let old = Record::read(place)?;
    if old.is_empty() {
        return Err(InstallError::NotInstalled(place.record()));
    }
    if place.needs_root() {
        return build::as_root("uninstall", place, &Programs::default());
    }
    let hand = Hand::new(place);
    for path in old.files() {
        remove(&hand, path, &old)?;
    }
    hand.remove(&place.record())?;
    for folder in old.folders().rev() {
        hand.remove_folder(folder)?;
    }
    println!("Configuration and logs are as they were. Next: systemctl daemon-reload");
    Ok(())
}

/// Removes a file if it is what was installed.
fn remove(hand: &Hand<'_>, path: &Path, old: &Record) -> Result<(), InstallError> {
    match hand.read(path)? {
        Some(bytes) if old.wrote(path, &bytes) => hand.remove(path)?,
        Some(_) => hand.leave(path),
        None => {}
    }
    Ok(())
}
