//! The record of an installation: a line for each file, with a hash of its content, and for each created directory.
use super::{Destination, InstallError};
use core::{
    fmt::{self, Display},
    hash::Hasher,
};
use siphasher::sip::SipHasher13;
use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

const FOLDER: &str = "folder";

/// The files and directories that `install` has written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// Each with the hash of its content. A file of two installations is listed twice.
    files: Vec<(u64, PathBuf)>,
    /// Outer directories before inner ones.
    folders: Vec<PathBuf>,
}

/// A hash that detects changes. It is no protection against an attacker.
fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(bytes);
    hasher.finish()
}

impl Record {
    /// Reads the record of an installation. Returns an empty record if there is none.
    pub(super) fn read(destination: &Destination) -> Result<Self, InstallError> {
        let path = destination.real(&destination.record());
        match fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text).ok_or(InstallError::Record(path)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(InstallError::io("reading", &path)(error)),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut record = Self::default();
        for line in text.lines() {
            let (word, path) = line.split_once(' ')?;
            if !path.starts_with('/') {
                return None;
            }
            match word {
                FOLDER => record.folders.push(path.into()),
                hash => record.files.push((u64::from_str_radix(hash, 16).ok()?, path.into())),
            }
        }
        Some(record)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub(super) fn add_file(&mut self, path: &Path, bytes: &[u8]) {
        self.files.push((hash(bytes), path.to_owned()));
    }

    pub(super) fn add_folder(&mut self, path: &Path) {
        if !self.folders.iter().any(|other| other == path) {
            self.folders.push(path.to_owned());
        }
    }

    /// Copies the lines of a file from another record.
    pub(super) fn copy(&mut self, other: &Self, path: &Path) {
        self.files.extend(other.files.iter().filter(|(_, other)| other == path).cloned());
    }

    /// A record with the files of both.
    pub(super) fn with(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.files.extend(other.files.iter().cloned());
        both
    }

    pub(super) fn has(&self, path: &Path) -> bool {
        self.files.iter().any(|(_, other)| other == path)
    }

    /// True if `install` has written these bytes to the file.
    pub(super) fn wrote(&self, path: &Path, bytes: &[u8]) -> bool {
        let hash = hash(bytes);
        self.files.iter().any(|(other, file)| *other == hash && file == path)
    }

    /// The files, each once.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        let is_first = |index: usize, path: &PathBuf| !self.files.iter().take(index).any(|(_, other)| other == path);
        let files = self.files.iter().enumerate();
        files.filter(move |(index, (_, path))| is_first(*index, path)).map(|(_, (_, path))| path.as_path())
    }

    /// The created directories, outer ones first.
    pub(super) fn folders(&self) -> impl DoubleEndedIterator<Item = &Path> {
        self.folders.iter().map(PathBuf::as_path)
    }
}

impl Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for folder in &self.folders {
            writeln!(f, "{FOLDER} {}", folder.display())?;
        }
        for (hash, path) in &self.files {
            writeln!(f, "{hash:016x} {}", path.display())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_survives_writing_and_reading() {
        let mut record = Record::default();
        record.add_folder(Path::new("/a"));
        record.add_folder(Path::new("/a/b"));
        record.add_folder(Path::new("/a"));
        record.add_file(Path::new("/a/b/c d"), b"text");
        let read = Record::parse(&record.to_string()).unwrap();
        assert_eq!(read, record);
        assert_eq!(read.folders().rev().collect::<Vec<_>>(), [Path::new("/a/b"), Path::new("/a")]);
        assert!(read.wrote(Path::new("/a/b/c d"), b"text"));
        assert!(!read.wrote(Path::new("/a/b/c d"), b"other") && !read.wrote(Path::new("/a"), b"text"));
        let both = record.with(&read);
        assert_eq!(both.files().count(), 1);
        for bad in ["folder", "folder a", "xyz /a", "12\n"] {
            assert_eq!(Record::parse(bad), None, "{bad}");
        }
    }
}
