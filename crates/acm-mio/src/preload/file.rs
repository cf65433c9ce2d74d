//! A file that may be replaced.
use crate::regular;
use core::fmt;
use std::{
    fs::{File, Metadata},
    io,
    os::unix::fs::MetadataExt,
    path::PathBuf,
};

/// What tells a file, and one state of it, from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    place: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(file: &Metadata) -> Self {
        Self {
            place: (file.dev(), file.ino()),
            size: file.size(),
            modified: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
        }
    }
}

/// What is there at a path: a state of a file, or why there is none.
type State = Result<Stamp, io::ErrorKind>;

/// A path, and what was there when it was looked at last.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) path: PathBuf,
    /// The state that was read, whatever came of it.
    read: Option<State>,
    seen: Option<State>,
}

impl fmt::Display for Watched {
    /// Another text for each state of the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.path.display(), self.state())
    }
}

impl Watched {
    pub(super) const fn new(path: PathBuf) -> Self {
        Self { path, read: None, seen: None }
    }

    fn state(&self) -> State {
        regular::metadata(&self.path).map(|file| Stamp::of(&file)).map_err(|error| error.kind())
    }

    /// Whether there is another state than the one that was read, and it was there already at the last look: a file that
    /// is being written is another one at each look.
    pub(super) fn has_settled_anew(&mut self) -> bool {
        let now = Some(self.state());
        let settled = self.seen == now;
        self.seen = now;
        settled && self.read != now
    }

    /// Opens it to be read now.
    pub(super) fn open(&mut self) -> io::Result<File> {
        let opened = regular::open(&self.path);
        let state = opened.as_ref().map(|(_, metadata)| Stamp::of(metadata)).map_err(io::Error::kind);
        (self.read, self.seen) = (Some(state), Some(state));
        opened.map(|(file, _)| file)
    }

    /// Whether it is still what was opened; what has changed while it was read is read again when it has settled.
    pub(super) fn is_still(&self) -> bool {
        self.read == Some(self.state())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_is_read_when_it_is_another_one_and_has_settled() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let mut file = Watched::new(path.clone());
        assert!(!file.has_settled_anew(), "the first look");
        assert!(file.open().is_err() && !file.has_settled_anew(), "that it is missing is known");
        fs::write(&path, "one").unwrap();
        assert!(!file.has_settled_anew(), "it may be half of it");
        fs::write(&path, "more").unwrap();
        assert!(!file.has_settled_anew());
        assert!(file.has_settled_anew());
        assert!(file.open().is_ok() && file.is_still());
        assert!(!file.has_settled_anew() && !file.has_settled_anew());
        fs::write(dir.path().join("new"), "more").unwrap();
        fs::rename(dir.path().join("new"), &path).unwrap();
        assert!(!file.is_still());
        assert!(!file.has_settled_anew() && file.has_settled_anew(), "another file of the same size");
        fs::remove_file(&path).unwrap();
        assert!(!file.is_still() && !file.has_settled_anew() && file.has_settled_anew());
    }
    #[test]
    fn what_is_no_regular_file_is_refused_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRUSR | nix::sys::stat::Mode::S_IWUSR).unwrap();
        // Without a writer, whoever opened it would wait for one.
        let _writer = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let mut file = Watched::new(path.clone());
        assert_eq!(file.open().unwrap_err().to_string(), "not a regular file");
        assert!(!file.has_settled_anew() && !file.has_settled_anew(), "and that is known");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(file.open().is_err() && !file.has_settled_anew());
        fs::remove_dir(&path).unwrap();
        fs::write(&path, "one").unwrap();
        assert!(!file.has_settled_anew() && file.has_settled_anew() && file.open().is_ok());
    }
}
