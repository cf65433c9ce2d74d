//! The files of a recording: the newest has the name, older ones the name with `.1`, `.2` ...
use super::queue::Written;
use crate::{
    cli::RecordChoice,
    regular::{self, can_create},
};
use nix::{
    fcntl::{FcntlArg, OFlag, fcntl},
    libc,
    unistd::{AccessFlags, access},
};
use std::{
    collections::VecDeque,
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// The first bytes of a recording: the type of a section header block (pcapng).
const PCAPNG: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// The files of a recording. Only the owner may read them.
#[derive(Debug)]
pub(super) struct Files {
    path: PathBuf,
    size: u64,
    count: u32,
    file: File,
    /// Size of the newest file in bytes.
    written: u64,
    /// Sizes of the older files of this recording, newest first.
    older: VecDeque<u64>,
    /// True if the file is renamed; false for a pipe or a device.
    rotates: bool,
}

impl Files {
    /// Reports why the files could not be opened. Changes nothing.
    pub(super) fn check(choice: &RecordChoice, path: &Path) -> io::Result<()> {
        if is_renamed(choice, path)? { can_create(path) } else { Ok(access(path, AccessFlags::W_OK)?) }
    }

    /// Opens the newest file. An existing file is renamed to an older one.
    pub(super) fn open(choice: &RecordChoice, path: PathBuf) -> io::Result<Self> {
        let rotates = is_renamed(choice, &path)?;
        let file = if rotates {
            shift(&path, choice.files)?;
            begin(&path)?
        } else {
            // Opening a pipe does not wait for a reader. The writing thread waits for a reader.
            let file = OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(&path)?;
            fcntl(&file, FcntlArg::F_SETFL(OFlag::empty()))?;
            file
        };
        let older = VecDeque::new();
        Ok(Self { path, size: choice.size, count: choice.files, file, written: 0, older, rotates })
    }

    /// Reports whether `more` bytes need another file, given `gathered` bytes that are not yet written.
    pub(super) const fn is_full(&self, gathered: usize, more: usize) -> bool {
        let has = self.written.saturating_add(gathered as u64);
        self.rotates && has > 0 && has.saturating_add(more as u64) > self.size
    }

    /// Begins another file.
    pub(super) fn rotate(&mut self) -> io::Result<()> {
        shift(&self.path, self.count)?;
        self.file = begin(&self.path)?;
        self.older.push_front(core::mem::take(&mut self.written));
        self.older.truncate(usize::try_from(self.count.saturating_sub(1)).unwrap_or(usize::MAX));
        Ok(())
    }

    /// Returns the number and the size of the files of this recording.
    pub(super) fn written(&self) -> Written {
        let older = u32::try_from(self.older.len()).unwrap_or(u32::MAX);
        Written { files: older.saturating_add(1), bytes: self.older.iter().sum::<u64>() + self.written }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Reports whether the files are renamed, which a pipe or a device is not. Fails if one of them is not of a recording.
fn is_renamed(choice: &RecordChoice, path: &Path) -> io::Result<bool> {
    let rotates = match fs::symlink_metadata(path) {
        Ok(found) => found.is_file() || found.is_symlink(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) => return Err(error),
    };
    if rotates {
        (0..choice.files).try_for_each(|number| check(&named(path, number)))?;
    }
    Ok(rotates)
}

/// Fails if a file exists that is not of a recording: it would be renamed, and removed in the end. A link is renamed
/// itself.
fn check(path: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    let mut start = [0; PCAPNG.len()];
    let is_ours = found.is_symlink()
        || found.is_file()
            && (found.len() == 0 || regular::open(path)?.0.read_exact(&mut start).is_ok() && start == PCAPNG);
    if is_ours {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::AlreadyExists,
        format!("{} is not a recording; name another file", path.display()),
    ))
}

/// Creates a file. The caller has renamed an existing file. A link that was created since then is not followed.
fn begin(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn named(path: &Path, number: u32) -> PathBuf {
    if number == 0 {
        return path.to_owned();
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

/// Renames each file to the next older one, and removes the oldest.
fn shift(path: &Path, count: u32) -> io::Result<()> {
    let missing_is_fine = |result: io::Result<()>| match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    };
    if count == 1 {
        return missing_is_fine(fs::remove_file(path));
    }
    for number in (1..count).rev() {
        missing_is_fine(fs::rename(named(path, number - 1), named(path, number)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeMap, os::unix::fs::MetadataExt};

    fn files(folder: &Path) -> BTreeMap<String, String> {
        let entry = |entry: io::Result<fs::DirEntry>| {
            let entry = entry.unwrap();
            assert_eq!(entry.metadata().unwrap().mode() & 0o777, 0o600);
            (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap())
        };
        fs::read_dir(folder).unwrap().map(entry).collect()
    }

    fn map<const N: usize>(all: [(&str, &str); N]) -> BTreeMap<String, String> {
        all.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
    }

    // docs/deadlines.md: record-files
    #[test]
    fn newest_file_has_the_name_and_the_oldest_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        let choice = RecordChoice { path: path.clone(), size: 10, files: 3, masked: false, time: None };
        let mut own = Files::open(&choice, path.clone()).unwrap();
        assert!(!own.is_full(0, 1000) && own.is_full(1, 1000), "an empty file takes anything");
        own.write(b"one").unwrap();
        assert!(!own.is_full(0, 7) && own.is_full(0, 8) && own.is_full(1, 7));
        for text in ["two", "three", "four"] {
            own.rotate().unwrap();
            own.write(text.as_bytes()).unwrap();
        }
        assert_eq!(files(folder.path()), map([("t", "four"), ("t.1", "three"), ("t.2", "two")]));
        assert_eq!(own.written(), Written { files: 3, bytes: 12 }, "the first file was removed");
        for name in ["t", "t.1", "t.2"] {
            let path = folder.path().join(name);
            fs::write(&path, [&PCAPNG, &*fs::read(&path).unwrap()].concat()).unwrap();
        }
        // A second daemon does not remove the files of the first daemon.
        drop(own);
        let own = Files::open(&choice, path.clone()).unwrap();
        assert_eq!(files(folder.path()), map([("t", ""), ("t.1", "\n\r\r\nfour"), ("t.2", "\n\r\r\nthree")]));
        assert_eq!(own.written(), Written { files: 1, bytes: 0 }, "the others are of another recording");
        let mut own = Files::open(&RecordChoice { files: 1, ..choice }, path).unwrap();
        let older = map([("t", ""), ("t.1", "\n\r\r\nfour"), ("t.2", "\n\r\r\nthree")]);
        assert_eq!(files(folder.path()), older, "older files stay");
        own.write(b"one").unwrap();
        own.rotate().unwrap();
        assert_eq!(own.written(), Written { files: 1, bytes: 0 });
    }

    #[test]
    fn file_that_is_not_a_recording_is_neither_removed_nor_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        for (name, count) in [("t", 1), ("t", 3), ("t.2", 3)] {
            let other = folder.path().join(name);
            for content in ["precious", "\n\r\r", "\n\r\rx"] {
                fs::write(&other, content).unwrap();
                let choice = RecordChoice { path: path.clone(), size: 10, files: count, masked: false, time: None };
                let text = Files::open(&choice, path.clone()).unwrap_err().to_string();
                assert_eq!(text, format!("{} is not a recording; name another file", other.display()));
                assert_eq!(fs::read_to_string(&other).unwrap(), content);
            }
            fs::remove_file(&other).unwrap();
        }
    }

    #[test]
    fn link_is_not_followed_and_device_is_not_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("t"), folder.path().join("other"));
        fs::write(&other, "precious").unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        let choice = RecordChoice { path: path.clone(), size: 10, files: 2, masked: false, time: None };
        Files::open(&choice, path.clone()).unwrap().write(b"ours").unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "precious");
        assert_eq!(fs::read_to_string(&path).unwrap(), "ours");
        let mut device = Files::open(&choice, "/dev/full".into()).unwrap();
        assert!(!device.is_full(1, 1000) && device.write(b"x").is_err());
        assert!(Path::new("/dev/full").exists());
        assert!(Files::open(&choice, "/none/at/all".into()).is_err());
    }
}
