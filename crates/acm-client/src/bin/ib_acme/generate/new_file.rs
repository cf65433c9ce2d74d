//! A file that gets its name when it is complete. Readers see the old file or the new one, and after a failure the old one
//! stays: an empty file would take the daemon's default names away.
use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown},
    path::{Path, PathBuf},
};

/// Mode of a file that did not exist: the daemon of another user reads it.
const MODE: u32 = 0o644;

/// A file that is being written. It is removed if it does not replace the other one.
#[derive(Debug)]
pub(super) struct NewFile {
    file: File,
    /// The file's own name; `None` if it is the destination, such as a pipe.
    own: Option<PathBuf>,
    destination: PathBuf,
}

impl NewFile {
    /// Creates the file beside its destination. The destination's links are followed, its owner and its mode are kept.
    pub(super) fn create(destination: impl AsRef<Path>) -> io::Result<Self> {
        let destination = destination.as_ref();
        let mut owner = None;
        let (destination, mode) = match fs::metadata(destination) {
            Ok(old) if !old.is_file() => {
                let file = OpenOptions::new().write(true).open(destination)?;
                return Ok(Self { file, own: None, destination: destination.to_owned() });
            }
            Ok(old) => {
                owner = Some((old.uid(), old.gid()));
                (destination.canonicalize()?, old.permissions().mode() & 0o777)
            }
            Err(_) => (destination.to_owned(), MODE),
        };
        let mut name = destination.clone().into_os_string();
        name.push(format!(".{}", std::process::id()));
        let own = PathBuf::from(name);
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&own)?;
        let new = Self { file, own: Some(own), destination };
        if let Some((user, group)) = owner {
            // Only root can do this for others, and nobody needs it for a file of his own.
            let _ = fchown(&new.file, Some(user), Some(group));
        }
        new.file.set_permissions(Permissions::from_mode(mode))?;
        Ok(new)
    }

    /// Writes the text and replaces the destination.
    pub(super) fn replace(mut self, text: &str) -> io::Result<()> {
        self.file.write_all(text.as_bytes())?;
        let Some(own) = &self.own else { return Ok(()) };
        self.file.sync_all()?;
        fs::rename(own, &self.destination)?;
        self.own = None;
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(own) = &self.own {
            let _ = fs::remove_file(own);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{chown, symlink};

    fn names(dir: &Path) -> Vec<String> {
        let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn file_has_its_name_when_it_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("cfg"), dir.path().join("link"));
        drop(NewFile::create(&path).unwrap());
        assert_eq!(names(dir.path()), [""; 0], "an unfinished file leaves nothing");
        NewFile::create(&path).unwrap().replace("one\n").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o644);
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        symlink("cfg", &link).unwrap();
        let new = NewFile::create(&link).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\n");
        new.replace("two\n").unwrap();
        assert_eq!(
            (fs::read_to_string(&path).unwrap(), names(dir.path())),
            ("two\n".into(), vec!["cfg".into(), "link".into()])
        );
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o640, "the mode stays");
        assert!(link.is_symlink());
        NewFile::create("/dev/null").unwrap().replace("three\n").unwrap();
        assert!(NewFile::create(dir.path()).is_err() && NewFile::create(dir.path().join("none/cfg")).is_err());
    }

    #[test]
    fn replaced_file_keeps_its_owner() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cfg");
        fs::write(&path, "one\n").unwrap();
        // Only root may give a file to another user.
        if chown(&path, Some(77), Some(78)).is_ok() {
            NewFile::create(&path).unwrap().replace("two\n").unwrap();
            let new = fs::metadata(&path).unwrap();
            assert_eq!((new.uid(), new.gid(), fs::read_to_string(&path).unwrap()), (77, 78, "two\n".into()));
        }
    }
}
