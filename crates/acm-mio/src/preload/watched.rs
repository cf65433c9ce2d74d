//! A file that may be replaced while the daemon runs.
use crate::regular::{self, Stamp, State};
use core::fmt;
use std::{fs::File, io, path::PathBuf};

/// A path with its states at the last check and at the last reading.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) path: PathBuf,
    /// The state at the last reading, even if the reading failed.
    read: Option<State>,
    seen: Option<State>,
}

impl fmt::Display for Watched {
    /// Writes a text that differs for each state of the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.path.display(), self.state())
    }
}

impl Watched {
    pub(super) const fn new(path: PathBuf) -> Self {
        Self { path, read: None, seen: None }
    }

    fn state(&self) -> State {
        regular::state(&self.path)
    }

    /// Reports whether the file has changed since it was read, but not since the last check. A file that changes
    /// between checks is still being written.
    pub(super) fn has_settled(&mut self) -> bool {
        let now = Some(self.state());
        let settled = self.seen == now;
        self.seen = now;
        settled && self.read != now
    }

    /// Opens the file for reading.
    pub(super) fn open(&mut self) -> io::Result<File> {
        let opened = regular::open(&self.path);
        let state = opened.as_ref().map(|(_, metadata)| Stamp::of(metadata)).map_err(io::Error::kind);
        (self.read, self.seen) = (Some(state), Some(state));
        opened.map(|(file, _)| file)
    }

    /// Reports whether the path still has the file that was opened. A file that changed during the reading is read
    /// again.
    pub(super) fn is_still(&self) -> bool {
        self.read == Some(self.state())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn changed_file_has_settled_at_the_second_check() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let mut file = Watched::new(path.clone());
        assert!(!file.has_settled(), "the first check");
        assert!(file.open().is_err() && !file.has_settled(), "that the file is missing is not new");
        fs::write(&path, "one").unwrap();
        assert!(!file.has_settled(), "the file may be incomplete");
        fs::write(&path, "more").unwrap();
        assert!(!file.has_settled());
        assert!(file.has_settled());
        assert!(file.open().is_ok() && file.is_still());
        assert!(!file.has_settled() && !file.has_settled());
        fs::write(dir.path().join("new"), "more").unwrap();
        fs::rename(dir.path().join("new"), &path).unwrap();
        assert!(!file.is_still());
        assert!(!file.has_settled() && file.has_settled(), "another file of the same size");
        fs::remove_file(&path).unwrap();
        assert!(!file.is_still() && !file.has_settled() && file.has_settled());
    }

    #[test]
    fn file_that_is_not_regular_is_refused_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRUSR | nix::sys::stat::Mode::S_IWUSR).unwrap();
        // Without a writer, opening the pipe would block.
        let _writer = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let mut file = Watched::new(path.clone());
        assert_eq!(file.open().unwrap_err().to_string(), "not a regular file");
        assert!(!file.has_settled() && !file.has_settled(), "the refusal is not repeated");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(file.open().is_err() && !file.has_settled());
        fs::remove_dir(&path).unwrap();
        fs::write(&path, "one").unwrap();
        assert!(!file.has_settled() && file.has_settled() && file.open().is_ok());
    }
}
