//! Writing and removing, each said.
use super::{InstallError, Place};
use std::{
    ffi::OsString,
    fs,
    io::{self, ErrorKind, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

/// What writes and removes at a place, or only says so. Its paths are those without `--root`.
pub(super) struct Hand<'a> {
    place: &'a Place,
}

impl<'a> Hand<'a> {
    pub(super) const fn new(place: &'a Place) -> Self {
        Self { place }
    }

    fn say(&self, done: &str, would: &str, path: &Path) {
        let done = if self.place.is_dry_run() { would } else { done };
        println!("{done} {}", self.place.real(path).display());
    }

    /// Says that a file stays.
    pub(super) fn leave(&self, path: &Path) {
        println!("left {}: it was changed, or is another's", self.place.real(path).display());
    }

    /// What is in a file, if it is there.
    pub(super) fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, InstallError> {
        let path = self.place.real(path);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(InstallError::io("reading", &path)(error)),
        }
    }

    /// Writes a file and says so.
    pub(super) fn write(&self, path: &Path, bytes: &[u8], mode: u32) -> Result<(), InstallError> {
        self.say("wrote", "would write", path);
        self.put(path, bytes, mode)
    }

    /// Writes a file in one step: who has the old one open, or runs it, keeps it.
    pub(super) fn put(&self, path: &Path, bytes: &[u8], mode: u32) -> Result<(), InstallError> {
        if self.place.is_dry_run() {
            return Ok(());
        }
        let path = self.place.real(path);
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(".new");
        let new = path.with_file_name(name);
        let written = write_new(&new, bytes, mode).and_then(|()| fs::rename(&new, &path));
        written.map_err(|error| {
            // What is there of it is of no use.
            let _ = fs::remove_file(&new);
            InstallError::io("writing", &path)(error)
        })
    }

    /// Makes a folder and those above it, and gives those that were not there, outermost first.
    pub(super) fn make_folder(&self, folder: &Path) -> Result<Vec<PathBuf>, InstallError> {
        let mut made: Vec<PathBuf> = folder
            .ancestors()
            .take_while(|folder| folder.parent().is_some() && !self.place.real(folder).exists())
            .map(Path::to_owned)
            .collect();
        made.reverse();
        if self.place.is_dry_run() {
            return Ok(Vec::new());
        }
        let real = self.place.real(folder);
        fs::create_dir_all(&real).map_err(InstallError::io("creating", &real))?;
        for folder in &made {
            let real = self.place.real(folder);
            println!("made {}", real.display());
            // Whatever the caller's umask is: the daemon is another user.
            let open = fs::set_permissions(&real, fs::Permissions::from_mode(0o755));
            open.map_err(InstallError::io("creating", &real))?;
        }
        Ok(made)
    }

    /// Removes a file and says so.
    pub(super) fn remove(&self, path: &Path) -> Result<(), InstallError> {
        self.say("removed", "would remove", path);
        if self.place.is_dry_run() {
            return Ok(());
        }
        let path = self.place.real(path);
        fs::remove_file(&path).map_err(InstallError::io("removing", &path))
    }

    /// Removes a folder if nothing is in it.
    pub(super) fn remove_folder(&self, folder: &Path) -> Result<(), InstallError> {
        if self.place.is_dry_run() {
            return Ok(());
        }
        let real = self.place.real(folder);
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
    // The umask may have taken something away.
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    file.sync_all()
}
