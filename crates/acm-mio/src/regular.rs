//! Regular files, and `/dev/null`. Nothing else is read: a pipe has no end for as long as somebody may write, and the
//! loop would wait.
use nix::libc;
use std::{
    fs::{File, Metadata, OpenOptions},
    io,
    os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt},
    path::Path,
};

/// `/dev/null`, with which people say that there is no file (Linux's devices.txt).
const NULL_DEVICE: u64 = libc::makedev(1, 3);

/// What is at a path, if that is a regular file.
pub(crate) fn metadata(path: &Path) -> io::Result<Metadata> {
    only(std::fs::metadata(path)?)
}

/// Opens a regular file to be read.
pub(crate) fn open(path: &Path) -> io::Result<(File, Metadata)> {
    // What is no file is not opened at all, and what has become none since does not make the reader wait.
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
