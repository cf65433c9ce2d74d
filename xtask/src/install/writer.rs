//! Writes and removes files, and prints each path.
use super::{Destination, InstallError};
use std::{
    ffi::OsString,
    fs,
    io::{self, ErrorKind, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

/// Writes and removes files, or only prints their paths in a dry run. Takes paths without `--root`.
pub(super) struct Writer<'a> {
    destination: &'a Destination,
}

impl<'a> Writer<'a> {
    pub(super) const fn new(destination: &'a Destination) -> Self {
        Self { destination }
    }

    fn report(&self, done: &str, would: &str, path: &Path) {
        let done = if self.destination.is_dry_run() { would } else { done };
        println!("{done} {}", self.destination.real(path).display());
    }

    /// Prints that a file is left as it is.
    pub(super) fn leave(&self, path: &Path) {
        println!("left {}: it was changed, or is another's", self.destination.real(path).display());
    }

    /// Returns the content of a file, if there is one.
    pub(super) fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, InstallError> {
        let path = self.destination.real(path);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(InstallError::io("reading", &path)(error)),
        }
    }

    /// Writes a file and prints its path.
    pub(super) fn write(&self, path: &Path, bytes: &[u8], mode: u32) -> Result<(), InstallError> {
        self.report("wrote", "would write", path);
        self.put(path, bytes, mode)
    }

    /// Replaces a file in one step. A process that has opened the old file, or runs it, keeps the old content.
    pub(super) fn put(&self, path: &Path, bytes: &[u8], mode: u32) -> Result<(), InstallError> {
        if self.destination.is_dry_run() {
            return Ok(());
        }
        let path = self.destination.real(path);
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(".new");
        let new = path.with_file_name(name);
        let written = write_new(&new, bytes, mode).and_then(|()| fs::rename(&new, &path));
        written.map_err(|error| {
            // The new file is incomplete.
            let _ = fs::remove_file(&new);
            InstallError::io("writing", &path)(error)
        })
    }

    /// Creates a directory and its parents. Returns the created ones, outer ones first.
    pub(super) fn make_folder(&self, folder: &Path) -> Result<Vec<PathBuf>, InstallError> {
        let mut made: Vec<PathBuf> = folder
            .ancestors()
            .take_while(|folder| folder.parent().is_some() && !self.destination.real(folder).exists())
            .map(Path::to_owned)
            .collect();
        made.reverse();
        if self.destination.is_dry_run() {
            return Ok(Vec::new());
        }
        let real = self.destination.real(folder);
        fs::create_dir_all(&real).map_err(InstallError::io("creating", &real))?;
        for folder in &made {
            let real = self.destination.real(folder);
            println!("made {}", real.display());
            // Independent of the umask: the daemon runs as another user.
            let open = fs::set_permissions(&real, fs::Permissions::from_mode(0o755));
            open.map_err(InstallError::io("creating", &real))?;
        }
        Ok(made)
    }

    /// Removes a file and prints its path.
    pub(super) fn remove(&self, path: &Path) -> Result<(), InstallError> {
        self.report("removed", "would remove", path);
        if self.destination.is_dry_run() {
            return Ok(());
        }
        let path = self.destination.real(path);
        fs::remove_file(&path).map_err(InstallError::io("removing", &path))
    }

    /// Removes a directory if it is empty.
    pub(super) fn remove_folder(&self, folder: &Path) -> Result<(), InstallError> {
        if self.destination.is_dry_run() {
            return Ok(());
        }
        let real = self.destination.real(folder);
        match fs::remove_dir(&real) {
            Ok(()) => println!("removed {}", real.display()),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty) => {}
            Err(error) => return Err(InstallError::io("removing", &real)(error)),
        }
        Ok(())
    }
}

fn write_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(path)?;
    file.write_all(bytes)?;
    // The umask may have removed permissions.
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    file.sync_all()
}
