//! Opens only regular files and `/dev/null`, because reading a pipe would block the loop until its writers close it.
use nix::libc;
use std::{
    fs::{File, Metadata, OpenOptions},
    io,
    os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt},
    path::Path,
};

/// `/dev/null` (Linux's devices.txt), which administrators use for an empty file.
const NULL_DEVICE: u64 = libc::makedev(1, 3);

/// Identity of a file and of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub(crate) fn of(file: &Metadata) -> Self {
        Self {
            inode: (file.dev(), file.ino()),
            size: file.size(),
            modified: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
        }
    }
}

/// State of a path: the identity of its file, or the reason why there is no file.
pub(crate) type State = Result<Stamp, io::ErrorKind>;

/// Returns the state of a path.
pub(crate) fn state(path: &Path) -> State {
    metadata(path).map(|file| Stamp::of(&file)).map_err(|error| error.kind())
}

/// Returns the metadata of a regular file.
pub(crate) fn metadata(path: &Path) -> io::Result<Metadata> {
    only(std::fs::metadata(path)?)
}

/// Opens a regular file for reading.
pub(crate) fn open(path: &Path) -> io::Result<(File, Metadata)> {
    // The type is checked before opening, because opening a device may have an effect. O_NONBLOCK is set because a pipe
    // may have replaced the file since the check.
    metadata(path)?;
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let metadata = only(file.metadata()?)?;
    Ok((file, metadata))
}

fn only(metadata: Metadata) -> io::Result<Metadata> {
    let is_null = metadata.file_type().is_char_device() && metadata.rdev() == NULL_DEVICE;
    if metadata.is_file() || is_null {
        Ok(metadata)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
    }
}
