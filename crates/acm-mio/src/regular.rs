//! Opens regular files and `/dev/null` only: reading a pipe would block the loop until its writers close it.
use nix::libc;
use std::{
    fs::{File, Metadata, OpenOptions},
    io,
    os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt},
    path::Path,
};

/// `/dev/null` (Linux's devices.txt), which administrators use for an empty file.
const NULL_DEVICE: u64 = libc::makedev(1, 3);

/// Returns the metadata of a regular file.
pub(crate) fn metadata(path: &Path) -> io::Result<Metadata> {
    only(std::fs::metadata(path)?)
}

/// Opens a regular file for reading.
pub(crate) fn open(path: &Path) -> io::Result<(File, Metadata)> {
    // Checked before opening, which may have an effect on a device. O_NONBLOCK: a pipe may have replaced the file
    // since.
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
