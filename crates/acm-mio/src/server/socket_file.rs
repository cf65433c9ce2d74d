//! The file of the clients' unix socket. C ibacm replaces it without a look at the process that serves it: an `ibacm` that
//! is started by hand beside the service takes its new clients.
use crate::lock;
use acm_sansio::Time;
use acm_wire::files::opts::Options;
use core::time::Duration;
use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// Shortest interval between two looks at the file.
const LOOK: Duration = Duration::from_secs(10);

/// The file of a socket that this process serves.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    /// Identity of the file; `None` if there is none.
    identity: Option<(u64, u64)>,
    next_look: Time,
}

impl SocketFile {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), identity: identity(path), next_look: Time::ZERO + LOOK }
    }

    /// Reports whether every user may connect: to the file, and by the directories on the way to it.
    pub(super) fn is_for_all(&self) -> bool {
        let allows = |path: &Path, bit| fs::metadata(path).is_ok_and(|file| file.mode() & bit == bit);
        let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        allows(&path, 0o002) && path.ancestors().skip(1).all(|dir| allows(dir, 0o001))
    }

    /// Looks at the file if it is time. Returns what to report if it has changed since the last look.
    pub(super) fn look(&mut self, now: Time) -> Option<String> {
        if now < self.next_look {
            return None;
        }
        self.next_look = now + LOOK;
        let before = core::mem::replace(&mut self.identity, identity(&self.path));
        if self.identity == before {
            return None;
        }
        let path = self.path.display();
        let restart = "then restart this daemon and its socket";
        if self.identity.is_none() {
            return Some(format!("socket {path} was removed: new clients find no daemon; {restart}"));
        }
        let lock_file = Options::default().lock_file;
        let holder = match lock::holder(Path::new(lock_file)) {
            Ok(Some(pid)) => format!(" (process {pid} has {lock_file})"),
            _ => String::new(),
        };
        Some(format!(
            "socket {path}: another program has replaced it and gets the new clients{holder}; stop that, {restart}"
        ))
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaced_and_removed_files_are_reported_once() {
        let dir = tempfile::tempdir().unwrap();
        let [path, other] = ["sock", "other"].map(|name| dir.path().join(name));
        fs::write(&path, "").unwrap();
        let mut file = SocketFile::new(&path);
        let mut looks = (1..).map(|times| Time::ZERO + LOOK * times);
        let mut look = |file: &mut SocketFile| file.look(looks.next().unwrap());
        assert_eq!(look(&mut file), None);
        fs::write(&other, "").unwrap();
        fs::rename(&other, &path).unwrap();
        assert_eq!(file.look(Time::ZERO + LOOK), None, "it is not time");
        let line = look(&mut file).unwrap();
        assert!(line.contains("/sock: another program has replaced it and gets the new clients"), "{line}");
        assert_eq!(look(&mut file), None);
        fs::remove_file(&path).unwrap();
        assert!(look(&mut file).unwrap().contains("was removed"));
    }
}
